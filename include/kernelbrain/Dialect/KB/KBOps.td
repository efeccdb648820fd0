//===- KBOps.td - Operations of the kb dialect --------------*- tablegen -*-===//

#ifndef KERNELBRAIN_DIALECT_KB_KBOPS_TD
#define KERNELBRAIN_DIALECT_KB_KBOPS_TD

include "kernelbrain/Dialect/KB/KBAttributes.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class KB_Op<string mnemonic, list<Trait> traits = []>
    : Op<KB_Dialect, mnemonic, traits>;

def KB_KernelOp : KB_Op<"kernel", [
    IsolatedFromAbove, Symbol, SingleBlockImplicitTerminator<"YieldOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a region of tensor operations worth an implementation of its own";
  let description = [{
    The block arguments are the inputs (`ins`, read-only) and then the
    destinations (`outs`), all ranked tensors. `kb.yield` returns one value for
    each destination, of its type. A destination may be used in the body as an
    init of destination-style operations; its old value is not read unless the
    call says so.

    `kind` is the class of the region ("row-reduction", "elementwise",
    "contraction", ...). `arg_specs`, if present, holds one `#kb.arg` for each
    argument. `share` is the estimated share of the program's time in
    thousandths.

    ```mlir
    kb.kernel @gelu ins(%x: tensor<64x128xf32>) outs(%y: tensor<64x128xf32>)
        attributes {kind = "elementwise"} {
      %0 = linalg.generic ... ins(%x) outs(%y) ...
      kb.yield %0 : tensor<64x128xf32>
    }
    ```

    Errors: an argument that is no ranked tensor; a number of `arg_specs` that
    differs from that of the arguments; a yield whose types differ from the
    destinations'.
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    OptionalAttr<StrAttr>:$sym_visibility,
    I64Attr:$num_inputs,
    OptionalAttr<StrAttr>:$kind,
    OptionalAttr<ArrayAttr>:$arg_specs,
    OptionalAttr<KB_NumericsAttr>:$numerics,
    OptionalAttr<KB_BudgetAttr>:$budget,
    DefaultValuedAttr<I64Attr, "0">:$share);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
                                 "::mlir::TypeRange":$inputs,
                                 "::mlir::TypeRange":$outputs)>];
  let extraClassDeclaration = [{
    ::mlir::Block::BlockArgListType getInputs() {
      return getBody().getArguments().take_front(getNumInputs());
    }
    ::mlir::Block::BlockArgListType getOutputs() {
      return getBody().getArguments().drop_front(getNumInputs());
    }
    YieldOp getYield();
    /// The promise about argument `index`; null if there is none.
    ArgAttr getArgSpec(unsigned index);
    /// The extents of each argument as in Core/Kernel.h: -(k + 1) stands for
    /// the k-th distinct dynamic dimension, in the order of its first
    /// appearance. Dimensions count as one where the body cannot run unless
    /// they are equal (shared loops, casts, sizes taken from `tensor.dim`).
    ::llvm::SmallVector<::llvm::SmallVector<int64_t>> getShapes();
    /// The number of distinct dynamic dimensions.
    int64_t getNumDynamicDims();
  }];
}

def KB_YieldOp : KB_Op<"yield", [Pure, Terminator, ReturnLike,
                                 HasParent<"KernelOp">]> {
  let summary = "returns the results of a kernel";
  let description = [{
    ```mlir
    kb.yield %0, %1 : tensor<8xf32>, tensor<8xi64>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), "build($_builder, $_state, ::mlir::ValueRange());">];
}

def KB_CallOp : KB_Op<"call", [
    AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface,
        ["bufferizesToMemoryRead", "bufferizesToMemoryWrite",
         "getAliasingValues", "bufferize", "bufferizesToElementwiseAccess",
         "mustBufferizeInPlace"]>]> {
  let summary = "calls a kernel";
  let description = [{
    A destination-style operation on tensors, or on memrefs without results.
    Destinations are write-only unless `reads_outputs` says otherwise for them,
    and never alias an input. Before the splice the callee is
    `@kb.kernels::@name`, a `kb.kernel`; after it a `func.func` on memrefs of
    fully dynamic layout (the *shim*), to which the call bufferizes without a
    copy. A call of a kernel whose body may fail has `asserts`: it is not
    removed, merged or moved past other effects.

    ```mlir
    %r = kb.call @kb.kernels::@gelu ins(%x : tensor<64x128xf32>)
                                    outs(%e : tensor<64x128xf32>)
                                    -> tensor<64x128xf32>
    ```

    Errors: results that do not match the tensor destinations; an unknown
    callee, or one whose signature differs; bufferizing a call whose callee is
    no shim.
  }];
  let arguments = (ins
    SymbolRefAttr:$callee,
    Variadic<AnyTypeOf<[AnyRankedTensor, AnyRankedOrUnrankedMemRef]>>:$inputs,
    Variadic<AnyTypeOf<[AnyRankedTensor, AnyRankedOrUnrankedMemRef]>>:$outputs,
    OptionalAttr<DenseBoolArrayAttr>:$reads_outputs,
    UnitAttr:$asserts);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $callee `ins` `(` ($inputs^ `:` type($inputs))? `)`
    `outs` `(` ($outputs^ `:` type($outputs))? `)` attr-dict
    (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
    /// True if the old value of destination `index` is read.
    bool readsOutput(unsigned index) {
      auto reads = getReadsOutputs();
      return reads && (*reads)[index];
    }
    /// Writes a call of `shim` with one buffer for each operand, cast to the
    /// layouts of the shim. A shim with one more argument takes a workspace
    /// there, which is allocated before the call. Emits a diagnostic and fails
    /// where the buffers do not fit.
    ::mlir::LogicalResult callShim(::mlir::OpBuilder &builder,
                                   ::mlir::func::FuncOp shim,
                                   ::mlir::ValueRange buffers);
  }];
}

def KB_VariantOp : KB_Op<"variant", [
    IsolatedFromAbove, SymbolTable, SingleBlock, NoTerminator,
    NoRegionArguments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a variant of a kernel that is worth keeping";
  let description = [{
    The winner of a search (`selected`) or a runner-up. `recipe` is its JSON
    form. The region of a selected variant holds its optimised implementation:
    an `llvm.func` of ABI version 1 named after the kernel, and what it needs:
    functions, globals and aliases of the LLVM dialect. One for an NVIDIA GPU
    takes pointers into the device's memory and calls `kbcuLaunch`; beside the
    globals with its image stands one `gpu.binary` with the same code to read.

    ```mlir
    kb.variant @gelu attributes {recipe = "{...}", selected,
        measurement = #kb.measurement<disposition = "passed">} {
      llvm.func @gelu(%x: !llvm.ptr, ...) -> i32 { ... }
    }
    ```

    Errors: an unknown kernel; two selected variants of one kernel; a selected
    one without an implementation; other operations in it, or two binaries.
  }];
  let arguments = (ins
    FlatSymbolRefAttr:$kernel,
    StrAttr:$recipe,
    OptionalAttr<KB_MeasurementAttr>:$measurement,
    OptionalAttr<KB_ProvenanceAttr>:$provenance,
    DefaultValuedAttr<I64Attr, "0">:$workspace_bytes,
    UnitAttr:$selected);
  let regions = (region SizedRegion<1>:$implementation);
  let assemblyFormat =
      "$kernel attr-dict-with-keyword $implementation";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The code for the GPU, to read; null if the variant runs on the host.
    ::mlir::gpu::BinaryOp getBinary();
  }];
}

#endif // KERNELBRAIN_DIALECT_KB_KBOPS_TD
