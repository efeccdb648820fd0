//===- DeviceFixture.h - Functions of launches as strategies ----*- C++ -*-===//

#ifndef KERNELBRAIN_UNITTESTS_COMPILE_DEVICEFIXTURE_H
#define KERNELBRAIN_UNITTESTS_COMPILE_DEVICEFIXTURE_H

#include "kernelbrain/Compile/VariantBuilder.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

namespace kernelbrain::compile {

/// Writes the function that it was made with.
class TextMatch : public strategy::Match {
public:
  TextMatch(kb::KernelOp kernel, const Target &target, std::string text,
            int64_t workspaceBytes)
      : Match(kernel, target), text(std::move(text)),
        workspaceBytes(workspaceBytes) {}
  Estimate estimate(const Recipe &) const override { return {}; }

private:
  SearchSpace makeSpace() const override { return {}; }
  mlir::FailureOr<strategy::Instance>
  write(const Recipe &, mlir::ModuleOp module) const override {
    auto parsed =
        mlir::parseSourceString<mlir::ModuleOp>(text, getKernel().getContext());
    if (!parsed)
      return mlir::failure();
    strategy::Instance instance;
    instance.function = *parsed->getOps<mlir::func::FuncOp>().begin();
    instance.function->remove();
    module.push_back(instance.function);
    instance.workspaceBytes = workspaceBytes;
    return instance;
  }

  std::string text;
  int64_t workspaceBytes;
};

class DeviceTest : public testing::Test {
protected:
  DeviceTest() {
    mlir::DialectRegistry registry;
    registerCompileDialects(registry);
    context.appendDialectRegistry(registry);
    context.disableMultithreading();
    preloadDialects(context);
  }

  /// Builds `function` as an implementation of the kernel.
  BuiltVariant build(const std::string &function, Output output,
                     const char *chip = "sm_90a", int64_t workspaceBytes = 0) {
    strategy::Strategy text(
        "text", "1", "cuda",
        [=](kb::KernelOp kernel, const Target &target, std::string &) {
          return std::make_unique<TextMatch>(kernel, target, function,
                                             workspaceBytes);
        });
    auto toolchain = Toolchain::create(*makeCudaTarget(chip), text);
    EXPECT_TRUE(toolchain) << toolchain.error().message;
    auto kernel = parseKernelSource(R"(
      kb.kernel @scale ins(%x: tensor<1024xf32>) outs(%o: tensor<1024xf32>) {
        kb.yield %x : tensor<1024xf32>
      })",
                                    context);
    EXPECT_TRUE(kernel) << kernel.error().message;
    Recipe recipe;
    recipe.strategy = "text";
    return buildVariant(*kernel, recipe, output, *toolchain,
                        [](const char *) {});
  }

  mlir::MLIRContext context;
};

inline bool holds(const std::string &text, llvm::StringRef part) {
  return llvm::StringRef(text).contains(part);
}

} // namespace kernelbrain::compile

#endif // KERNELBRAIN_UNITTESTS_COMPILE_DEVICEFIXTURE_H
