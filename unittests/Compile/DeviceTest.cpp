//===- DeviceTest.cpp - Launches to artifacts -----------------------------===//

#include "kernelbrain/Compile/VariantBuilder.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

using namespace kernelbrain;
using namespace kernelbrain::compile;

namespace {
/// Writes the function that it was made with.
class TextStrategy : public strategy::Strategy {
public:
  explicit TextStrategy(std::string text, int64_t workspaceBytes = 0)
      : text(std::move(text)), workspaceBytes(workspaceBytes) {}
  llvm::StringRef getName() const override { return "text"; }
  llvm::StringRef getVersion() const override { return "1"; }
  llvm::StringRef getTargetKind() const override { return "cuda"; }
  SearchSpace space(kb::KernelOp, const Target &) const override {
    SearchSpace space;
    space.strategy = "text";
    return space;
  }
  Estimate estimate(kb::KernelOp, const Target &,
                    const Recipe &) const override {
    return {};
  }
  mlir::FailureOr<strategy::Instance>
  instantiate(kb::KernelOp kernel, const Target &, const Recipe &,
              mlir::ModuleOp module) const override {
    auto parsed =
        mlir::parseSourceString<mlir::ModuleOp>(text, kernel.getContext());
    if (!parsed)
      return mlir::failure();
    strategy::Instance instance;
    instance.function = *parsed->getOps<mlir::func::FuncOp>().begin();
    instance.function->remove();
    module.push_back(instance.function);
    instance.workspaceBytes = workspaceBytes;
    return instance;
  }

protected:
  std::string findMismatch(kb::KernelOp, const Target &) const override {
    return "";
  }

private:
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
                     const char *chip = "sm_90a") {
    std::vector<std::unique_ptr<strategy::Strategy>> strategies;
    strategies.push_back(std::make_unique<TextStrategy>(function));
    auto toolchain = Toolchain::create(*makeCudaTarget(chip), strategies);
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

constexpr const char scale[] = R"(
  func.func @scale(%x: memref<1024xf32>, %o: memref<1024xf32>) -> i32 {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c128 = arith.constant 128 : index
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c128, %sy = %c1, %sz = %c1) {
      %t = arith.muli %bx, %c128 : index
      %u = arith.addi %t, %tx : index
      %i = arith.muli %u, %c4 : index
      %v = vector.load %x[%i] {alignment = 16} : memref<1024xf32>, vector<4xf32>
      %e = math.exp2 %v fastmath<afn> : vector<4xf32>
      vector.store %e, %o[%i] {alignment = 16} : memref<1024xf32>, vector<4xf32>
      gpu.terminator
    } {nvvm.minctasm = 4 : i32}
    %s = arith.constant 0 : i32
    return %s : i32
  })";

bool holds(const std::string &text, llvm::StringRef part) {
  return llvm::StringRef(text).contains(part);
}

TEST_F(DeviceTest, ALaunchBecomesPtx) {
  BuiltVariant built = build(scale, Output::AssemblyText);
  ASSERT_EQ(built.disposition, Disposition::Passed) << built.reason;
  for (const char *part :
       {".entry scale_0(", ".reqntid 128", ".minnctapersm 4", "ld.global.nc.v4",
        "st.global.v4", "ex2.approx.ftz.f32"})
    EXPECT_TRUE(holds(built.bytes, part)) << part << "\n" << built.bytes;
}

TEST_F(DeviceTest, AnArtifactHoldsItsImageAndTellsOfItsLaunches) {
  BuiltVariant built = build(scale, Output::Artifact);
  ASSERT_EQ(built.disposition, Disposition::Passed) << built.reason;
  EXPECT_TRUE(holds(built.bytes, "libKernelBrainCudaRuntime.so"));
  ASSERT_EQ(built.manifest.libraries,
            std::vector<std::string>{"libKernelBrainCudaRuntime.so"});
  ASSERT_EQ(built.manifest.launches.size(), 1u);
  const Json &launch = built.manifest.launches[0];
  EXPECT_EQ(launch["function"], "scale_0");
  EXPECT_EQ(launch["grid"], Json({2, 1, 1}));
  EXPECT_EQ(launch["block"], Json({128, 1, 1}));
}
} // namespace
