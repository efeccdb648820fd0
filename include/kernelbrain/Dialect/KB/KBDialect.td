//===- KBDialect.td - The kb dialect ------------------------*- tablegen -*-===//

#ifndef KERNELBRAIN_DIALECT_KB_KBDIALECT_TD
#define KERNELBRAIN_DIALECT_KB_KBDIALECT_TD

include "mlir/IR/DialectBase.td"

def KB_Dialect : Dialect {
  let name = "kb";
  let summary = "Kernels that are searched for and spliced back";
  let description = [{
    A *kernel* (`kb.kernel`) is a region of tensor operations moved out of a
    program; a `kb.call` stands where it was. A search gives it *variants*
    (`kb.variant`), of which one may be `selected` and carry an implementation.
    Kernels and variants live in a nested `module @kb.kernels` with private
    visibility, which bufferization and the conversions to LLVM leave alone.
  }];
  let cppNamespace = "::kernelbrain::kb";
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect"];
  let extraClassDeclaration = [{
    void registerAttributes();
    /// The nested module that holds kernels and variants.
    static ::llvm::StringRef getKernelsModuleName() { return "kb.kernels"; }
    /// The nested module that keeps, to read, the device code of what is
    /// spliced.
    static ::llvm::StringRef getBinariesModuleName() { return "kb.binaries"; }
    /// Discardable unit attribute of a function: outline it whole.
    static ::llvm::StringRef getKernelMarkerName() { return "kb.kernel"; }
    /// Discardable #kb.numerics of a function or module: the policy for all
    /// kernels that are cut from it.
    static ::llvm::StringRef getNumericsMarkerName() { return "kb.numerics"; }
    /// Discardable unit attribute of an operation: leave it alone.
    static ::llvm::StringRef getSkipMarkerName() { return "kb.skip"; }
  }];
}

#endif // KERNELBRAIN_DIALECT_KB_KBDIALECT_TD
