//===- KBAttributes.td - Attributes of the kb dialect -------*- tablegen -*-===//

#ifndef KERNELBRAIN_DIALECT_KB_KBATTRIBUTES_TD
#define KERNELBRAIN_DIALECT_KB_KBATTRIBUTES_TD

include "kernelbrain/Dialect/KB/KBDialect.td"
include "mlir/IR/AttrTypeBase.td"

class KB_Attr<string name, string attrMnemonic>
    : AttrDef<KB_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def KB_ArgAttr : KB_Attr<"Arg", "arg"> {
  let summary = "what callers promise about one tensor argument";
  let description = [{
    `low` and `high` bound the values: for integers the half-open interval
    [low, high), for floats the closed one. `alignment` is that of the base
    address, in bytes. `dim_hints` gives, for each dynamic dimension of the
    argument in order, the extent at which to tune.

    ```mlir
    #kb.arg<low = 0 : i64, high = 8192 : i64, alignment = 64>
    ```

    Errors: an alignment that is no power of two; bounds of different types;
    low above high; a hint below 1.
  }];
  let parameters = (ins
    OptionalParameter<"::mlir::TypedAttr">:$low,
    OptionalParameter<"::mlir::TypedAttr">:$high,
    DefaultValuedParameter<"int64_t", "1">:$alignment,
    OptionalParameter<"::mlir::DenseI64ArrayAttr">:$dim_hints);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def KB_NumericsAttr : KB_Attr<"Numerics", "numerics"> {
  let summary = "what a variant may do to the numbers";
  let description = [{
    The policy says what a variant may do; the measured error bound decides.
    `reassociate` sums in any order; `contract` fuses multiply and add;
    `narrow_f64_intermediates` computes f64 values that lie between narrower
    inputs and outputs in f32; `skip_intermediate_rounding` keeps a value that
    the program rounds to a narrower type; `approx_math` and `tf32` allow more
    error than the bound otherwise admits; `deterministic` demands bitwise equal
    results of two runs.

    ```mlir
    #kb.numerics<narrow_f64_intermediates = false>
    ```
  }];
  let parameters = (ins
    DefaultValuedParameter<"bool", "true">:$reassociate,
    DefaultValuedParameter<"bool", "true">:$contract,
    DefaultValuedParameter<"bool", "true">:$narrow_f64_intermediates,
    DefaultValuedParameter<"bool", "true">:$skip_intermediate_rounding,
    DefaultValuedParameter<"bool", "false">:$approx_math,
    DefaultValuedParameter<"bool", "false">:$tf32,
    DefaultValuedParameter<"bool", "true">:$deterministic);
  let assemblyFormat = "`<` struct(params) `>`";
}

def KB_BudgetAttr : KB_Attr<"Budget", "budget"> {
  let summary = "limits of the search for one kernel";
  let description = [{
    Zero means: no limit of this kind but that of the whole module.

    ```mlir
    #kb.budget<variants = 64, seconds = 20>
    ```
  }];
  let parameters = (ins
    DefaultValuedParameter<"int64_t", "0">:$variants,
    DefaultValuedParameter<"int64_t", "0">:$seconds,
    DefaultValuedParameter<"int64_t", "0">:$tokens);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def KB_MeasurementAttr : KB_Attr<"Measurement", "measurement"> {
  let summary = "what the device said about a variant";
  let description = [{
    `disposition` is one of the names of Core/Measurement.h. Times are those of
    one call; the speedup over the baseline and the ends of its interval are
    in thousandths; `error_permille` is the largest error in thousandths of the
    bound.

    ```mlir
    #kb.measurement<disposition = "passed", time_ns = 1080000,
      baseline_ns = 21600000, speedup_low = 19600, speedup = 20000,
      speedup_high = 20400, error_permille = 310>
    ```
  }];
  let parameters = (ins
    StringRefParameter<>:$disposition,
    DefaultValuedParameter<"int64_t", "0">:$time_ns,
    DefaultValuedParameter<"int64_t", "0">:$baseline_ns,
    DefaultValuedParameter<"int64_t", "0">:$speedup_low,
    DefaultValuedParameter<"int64_t", "0">:$speedup,
    DefaultValuedParameter<"int64_t", "0">:$speedup_high,
    DefaultValuedParameter<"int64_t", "0">:$error_permille);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def KB_ProvenanceAttr : KB_Attr<"Provenance", "provenance"> {
  let summary = "where a variant comes from";
  let description = [{
    `proven` is false where no device has checked the variant (a dry run, or a
    database entry whose artifact hash differs from the proven one).

    ```mlir
    #kb.provenance<proposer = "builtin", run = "0f3c", ticket = 17,
      artifact = "9b21", proven = true>
    ```
  }];
  let parameters = (ins
    StringRefParameter<>:$proposer,
    OptionalParameter<"::mlir::StringAttr">:$run,
    DefaultValuedParameter<"int64_t", "0">:$ticket,
    OptionalParameter<"::mlir::StringAttr">:$artifact,
    DefaultValuedParameter<"bool", "false">:$proven);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // KERNELBRAIN_DIALECT_KB_KBATTRIBUTES_TD
