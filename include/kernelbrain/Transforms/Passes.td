//===- Passes.td - Pure passes on kernels -------------------*- tablegen -*-===//

#ifndef KERNELBRAIN_TRANSFORMS_PASSES_TD
#define KERNELBRAIN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def InlinePass : Pass<"kb-inline", "::mlir::ModuleOp"> {
  let summary = "Puts kernels back where they are called";
  let description = [{
    Replaces every `kb.call` of a `kb.kernel` by the kernel's body and removes
    the kernels, with their variants, that nothing calls any more, and the
    module `@kb.kernels` once it is empty. The result computes what the program
    computed before `kb-outline`.

    With `keep-selected`, calls of kernels that have a selected variant stay.

    Errors: a call on buffers, whose body on tensors cannot take its place.
  }];
  let options = [
    Option<"keepSelected", "keep-selected", "bool", "false",
           "Leave calls of kernels that have a selected variant">,
  ];
}

#endif // KERNELBRAIN_TRANSFORMS_PASSES_TD
