//===- GpuStrategyTest.cpp - Tests of the strategies for GPUs -------------===//

#include "kernelbrain/Strategy/RowProgram.h"
#include "kernelbrain/Strategy/Strategy.h"

#include "TestKernels.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

using namespace kernelbrain;
using namespace kernelbrain::strategy;

static Target hopper() { return *makeCudaTarget("sm_90a"); }

namespace {
struct GpuTestKernel : TestKernel {
  using TestKernel::TestKernel;
  std::unique_ptr<Match> match(const std::string &name) {
    return TestKernel::match(name, hopper());
  }
  /// Launches of the code for a recipe, or -1.
  int64_t launches(const std::string &name, const Recipe &recipe) {
    context.loadDialect<mlir::gpu::GPUDialect>();
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    auto instance = match(name)->instantiate(recipe, *module);
    if (mlir::failed(instance) || mlir::failed(mlir::verify(*module)))
      return -1;
    int64_t count = 0;
    module->walk([&](mlir::gpu::LaunchOp) { ++count; });
    return count;
  }
};
} // namespace

static const char *columnSum = R"(
kb.kernel @k ins(%x: tensor<4096x512xf32>) outs(%y: tensor<512xf32>) {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%y : tensor<512xf32>) -> tensor<512xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<4096x512xf32>) outs(%f : tensor<512xf32>) dimensions = [0]
  kb.yield %s : tensor<512xf32>
})";

static const char *transpose = R"(
kb.kernel @k ins(%x: tensor<1024x768xbf16>) outs(%y: tensor<768x1024xbf16>) {
  %0 = linalg.transpose ins(%x : tensor<1024x768xbf16>) outs(%y : tensor<768x1024xbf16>) permutation = [1, 0]
  kb.yield %0 : tensor<768x1024xbf16>
})";

static const char *prefixes = R"(
kb.kernel @k ins(%x: tensor<64x256xf32>) outs(%y: tensor<64x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 256 : index
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%a = %f, %o = %y) -> (tensor<64xf32>, tensor<64x256xf32>) {
    %c = tensor.extract_slice %x[0, %j] [64, 1] [1, 1] : tensor<64x256xf32> to tensor<64xf32>
    %s = linalg.add ins(%a, %c : tensor<64xf32>, tensor<64xf32>) outs(%a : tensor<64xf32>) -> tensor<64xf32>
    %w = tensor.insert_slice WRITTEN into %o[0, %j] [64, 1] [1, 1] : tensor<64xf32> into tensor<64x256xf32>
    scf.yield %s, %w : tensor<64xf32>, tensor<64x256xf32>
  }
  kb.yield %r#1 : tensor<64x256xf32>
})";

static std::string prefixesOf(const std::string &written) {
  std::string source = prefixes;
  return source.replace(source.find("WRITTEN"), 7, written);
}

static void expectAllPriced(GpuTestKernel &test, const std::string &name) {
  auto match = test.match(name);
  ASSERT_TRUE(match) << test.mismatch;
  const SearchSpace &space = match->space();
  Recipe recipe = space.defaultRecipe();
  EXPECT_EQ(space.violation(recipe), "");
  Estimate best = match->estimate(recipe);
  EXPECT_EQ(best.rejection, "");
  EXPECT_GT(best.timeNs, best.boundNs);
  for (const Knob &knob : space.knobs)
    for (const KnobValue &value : knob.values) {
      Recipe changed = recipe;
      changed.knobs[knob.name] = value;
      if (!space.violation(changed).empty())
        continue;
      Estimate estimate = match->estimate(changed);
      if (estimate.rejection.empty())
        EXPECT_GE(estimate.timeNs, 0.99 * best.timeNs) << knob.name;
    }
}

TEST(GpuStrategyTest, DefaultsAreTheModelsChoice) {
  for (const auto &[source, name] :
       std::vector<std::pair<std::string, std::string>>{
           {columnSum, "gpu-columnwise"},
           {transpose, "gpu-layout"},
           {prefixesOf("%s"), "gpu-scan"}}) {
    GpuTestKernel test(source);
    expectAllPriced(test, name);
  }
}

TEST(GpuStrategyTest, SharedReductionsTakeALaunchMore) {
  GpuTestKernel test(columnSum);
  Recipe recipe = test.match("gpu-columnwise")->space().defaultRecipe();
  recipe.knobs["vector"] = int64_t(1);
  recipe.knobs["splits"] = int64_t(1);
  EXPECT_EQ(test.launches("gpu-columnwise", recipe), 1);
  recipe.knobs["splits"] = int64_t(8);
  EXPECT_EQ(test.launches("gpu-columnwise", recipe), 2);
}

TEST(GpuStrategyTest, RefusesWhatItsSpaceDoesNotHold) {
  GpuTestKernel test(transpose);
  Recipe recipe = test.match("gpu-layout")->space().defaultRecipe();
  EXPECT_GT(test.launches("gpu-layout", recipe), 0);
  recipe.knobs["tile_rows"] = int64_t(48);
  EXPECT_EQ(test.launches("gpu-layout", recipe), -1);
}

TEST(GpuStrategyTest, ReadsScans) {
  for (const auto &[written, exclusive] :
       std::vector<std::pair<std::string, bool>>{{"%s", false}, {"%a", true}}) {
    GpuTestKernel test(prefixesOf(written));
    std::string reason;
    RowScan scan = importScan(test.kernel(), reason);
    ASSERT_TRUE(scan.program) << reason;
    EXPECT_EQ(scan.exclusive, exclusive);
    EXPECT_EQ(scan.kind, ReduceKind::AddF);
  }
  GpuTestKernel other(prefixesOf("%c"));
  std::string reason;
  EXPECT_FALSE(importScan(other.kernel(), reason).program);
  EXPECT_EQ(reason, "a loop writes something else than what it carries");
}

static std::string pooling(int64_t window) {
  std::string source = R"(
kb.kernel @k ins(%x: tensor<2x3x32x32xf32>) outs(%y: tensor<2x3x32x32xf32>) {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, HIGH, HIGH] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f32
  } : tensor<2x3x32x32xf32> to tensor<2x3xSIZExSIZExf32>
  %w = tensor.empty() : tensor<WxWxf32>
  %f = linalg.fill ins(%z : f32) outs(%y : tensor<2x3x32x32xf32>) -> tensor<2x3x32x32xf32>
  %s = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%p, %w : tensor<2x3xSIZExSIZExf32>, tensor<WxWxf32>) outs(%f : tensor<2x3x32x32xf32>) -> tensor<2x3x32x32xf32>
  kb.yield %s : tensor<2x3x32x32xf32>
})";
  auto replace = [&](const std::string &name, int64_t value) {
    for (size_t at; (at = source.find(name)) != std::string::npos;)
      source.replace(at, name.size(), std::to_string(value));
  };
  replace("HIGH", window - 2);
  replace("SIZE", 31 + window);
  replace("W", window);
  return source;
}

TEST(GpuStrategyTest, WritesWindowsOut) {
  GpuTestKernel test(pooling(3));
  std::string reason;
  auto pieces = importPieces(test.kernel(), reason, /*windows=*/true);
  ASSERT_EQ(pieces.size(), 1u) << reason;
  EXPECT_FALSE(pieces[0]->hasReduction());
  unsigned inputs = 0, clamped = 0;
  for (const Node *node : pieces[0]->live())
    if (node->kind == Node::Kind::Input) {
      ++inputs;
      clamped += !node->access.clamps.empty();
    }
  EXPECT_EQ(inputs, 9u);
  EXPECT_EQ(clamped, 8u); // all but the middle
  // Without windows there are reductions, which pieces do not have.
  EXPECT_TRUE(importPieces(test.kernel(), reason).empty());
}

TEST(GpuStrategyTest, LeavesLargeWindowsAlone) {
  GpuTestKernel test(pooling(9));
  EXPECT_FALSE(test.match("gpu-layout"));
  EXPECT_EQ(test.mismatch, "it reduces over more than a small window");
}

TEST(GpuStrategyTest, HostStrategiesLeaveGpusAlone) {
  GpuTestKernel test(transpose);
  EXPECT_FALSE(test.match("layout"));
  EXPECT_EQ(test.mismatch, "it writes code for 'host'");
  EXPECT_FALSE(test.TestKernel::match("gpu-layout", Target()));
  EXPECT_EQ(test.mismatch, "it writes code for 'cuda'");
}

static const char *rowSum = R"(
kb.kernel @k ins(%x: tensor<4096x8192xf32>) outs(%y: tensor<4096xf32>) {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%y : tensor<4096xf32>) -> tensor<4096xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<4096x8192xf32>) outs(%f : tensor<4096xf32>) dimensions = [1]
  kb.yield %s : tensor<4096xf32>
})";

TEST(GpuRowsTest, DefaultsAreLegalAndTheBestOfTheModel) {
  GpuTestKernel test(rowSum);
  EXPECT_FALSE(test.match("gpu-elementwise"));
  auto rows = test.match("gpu-rowwise");
  ASSERT_TRUE(rows) << test.mismatch;
  const SearchSpace &space = rows->space();
  Recipe best = space.defaultRecipe();
  EXPECT_EQ(space.violation(best), "");
  double least = rows->estimate(best).timeNs;
  for (const char *name : {"threads", "vectors", "rows"})
    for (const KnobValue &value : space.find(name)->values) {
      Recipe changed = best;
      changed.knobs[name] = value;
      if (!space.violation(changed).empty())
        continue;
      Estimate estimate = rows->estimate(changed);
      if (estimate.rejection.empty())
        EXPECT_GE(estimate.timeNs, least) << name;
    }
  // One launch, and one for arguments that are not aligned.
  EXPECT_EQ(test.launches("gpu-rowwise", best), 2);
}

TEST(GpuRowsTest, TooManyRegistersAreRejected) {
  std::string source = rowSum;
  for (size_t at; (at = source.find("8192")) != std::string::npos;)
    source.replace(at, 4, "65536");
  GpuTestKernel test(source);
  auto rows = test.match("gpu-rowwise");
  Recipe recipe = rows->space().defaultRecipe();
  EXPECT_EQ(rows->estimate(recipe).rejection, "");
  recipe.knobs["threads"] = int64_t(512);
  recipe.knobs["rows"] = int64_t(1);
  recipe.knobs["cluster"] = int64_t(1);
  recipe.knobs["vectors"] = int64_t(16);
  recipe.knobs["lanes"] = int64_t(8);
  EXPECT_NE(rows->estimate(recipe).rejection, "");
}
