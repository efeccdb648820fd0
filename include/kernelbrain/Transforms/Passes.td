//===- Passes.td - Pure passes on kernels -------------------*- tablegen -*-===//

#ifndef KERNELBRAIN_TRANSFORMS_PASSES_TD
#define KERNELBRAIN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def NormalizePass : Pass<"kb-normalize", "::mlir::ModuleOp"> {
  let summary = "Brings tensor programs into the form that kernels are cut from";
  let description = [{
    Lowers TOSA to linalg, inlines calls, and simplifies: dead results,
    constants in bodies, small powers, broadcasts as indexing maps, biases as
    epilogues, gathers through constant indices as reshapes, unit dimensions.
    Products, convolutions and pooling keep their names. Public functions and
    declarations stay, as do functions marked `kb.kernel` and `kb.skip`; the
    latter are not touched at all.

    A sum may change its order where the policy `kb.numerics` of the function
    or module (a discardable `#kb.numerics`) allows it; it does by default. f64
    values stay f64.

    A function with a TOSA operation that upstream cannot lower stays in TOSA,
    with a remark.
  }];
  let dependentDialects = [
    "::kernelbrain::kb::KBDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::index::IndexDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::tosa::TosaDialect",
  ];
}

def OutlinePass : Pass<"kb-outline", "::mlir::ModuleOp"> {
  let summary = "Moves regions worth a kernel into kernels";
  let description = [{
    Partitions the tensor operations of every function, also in loops and
    branches, into regions of a known class (`kind`), moves each into a
    `kb.kernel` of the private nested `module @kb.kernels`, and leaves a
    `kb.call`. Equal bodies share one kernel. Fills, masks, small constants and
    widening casts are repeated in each kernel that uses them; constants of more
    than 64 elements become arguments; a dynamic extent is taken from an
    argument. `cf.assert` in a body stays, exactly once.

    A function marked `kb.kernel` is outlined whole; an operation or function
    marked `kb.skip` is left alone. What no kernel can hold stays as it is, and
    a remark says why.

    `print-regions` writes one line for each region to the error stream: name,
    class, number of operations, bytes that cross its border, operations, share
    of the estimated time; and why it stays, or of which kernel it is a copy.
  }];
  let dependentDialects = [
    "::kernelbrain::kb::KBDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::mlir::affine::AffineDialect", "::mlir::func::FuncDialect",
    "::mlir::index::IndexDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tosa::TosaDialect",
  ];
  let options = [
    Option<"kernelNames", "kernels", "std::string", "\"\"",
           "Outline only the kernels whose names match this expression">,
    Option<"printRegions", "print-regions", "bool", "false",
           "Write the regions to the error stream">,
    Option<"normalize", "normalize", "bool", "true",
           "Run kb-normalize first">,
  ];
}

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

def SplicePass : Pass<"kb-splice", "::mlir::ModuleOp"> {
  let summary = "Puts the implementations of selected variants into the program";
  let description = [{
    Every kernel with a `selected` variant becomes four functions of the module,
    all internal: the *shim* `@<kernel>` on memrefs of fully dynamic layout, the
    implementation `@<kernel>_impl` (LLVM dialect, ABI version 1), and
    `@<kernel>_baseline`, the kernel's body on memrefs of any strides. The shim
    calls the implementation with pointers, extents and workspace; where the
    buffers are not dense, an extent is 0, or the implementation declines, it
    calls the baseline; any other status goes to `@kbFail(name, status)`, a weak
    function that prints and aborts. Kernels without a selected variant are put
    back as `kb-inline` does. Names that the module has already get a suffix.

    `emit` says how far the program is lowered:

    * `tensor`: `kb.call`s name the shims and bufferize to calls of them without
      a copy. `@kb.kernels` stays until `kb-strip`, which must come before a
      bufferization that is not bounded by functions.
    * `memref`: bufferized as upstream's default passes do, with identity layouts
      at function boundaries, and freed by the deallocation pipeline; upstream
      dialects only, no attribute of the kb dialect.
    * `llvm`: that, lowered to the LLVM dialect, with a C entry
      `_mlir_ciface_<function>` for each public function.

    A splice adds no copy and no allocation but one of the workspace, where the
    variant needs one, for each call.

    A variant with a `gpu.binary` runs on an NVIDIA GPU, and the program needs
    `libKernelBrainCudaRuntime.so`. Its shim takes buffers of the host: one more
    function, `@<kernel>_staged`, copies inputs to the device, calls the
    implementation there and copies outputs back. The binary, which nobody
    loads, goes to the private `module @kb.binaries`.

    With `placement=device` (levels `memref` and `llvm`) their buffers are the
    device's: arguments and results of functions that such kernels use are
    device pointers, what lies between them is allocated by `kbcuAllocate` in
    stream order, and nothing is copied or waited for. A kernel whose buffers
    the host touches by more than kernels, allocations, dense views and
    functions' borders is put back, with a remark. There is no baseline to fall
    back to: what an implementation declines goes to `@kbFail` as status 1.

    Errors: an implementation whose signature is not that of ABI version 1 for
    the kernel; operations in it that are neither functions nor globals; an
    unknown level or placement; what the upstream passes refuse.
  }];
  let options = [
    Option<"emit", "emit", "std::string", "\"memref\"",
           "Level of the program: tensor, memref or llvm">,
    Option<"placement", "placement", "std::string", "\"host\"",
           "Where the buffers of device kernels live: host or device">,
    Option<"hostEntries", "host-entries", "bool", "false",
           "With placement=device, public functions take buffers of the host all "
           "the same, and copy them once a call">,
  ];
}

def StripPass : Pass<"kb-strip", "::mlir::ModuleOp"> {
  let summary = "Removes kernels, variants and attributes of the kb dialect";
  let description = [{
    Leaves upstream operations and attributes, and `kb.call`s of shims, which
    bufferization turns into upstream operations.

    Errors: a `kb.call` of a kernel, which would lose its callee.
  }];
}

#endif // KERNELBRAIN_TRANSFORMS_PASSES_TD
