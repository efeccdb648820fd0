//===- StrategyTest.cpp - Tests of the library of strategies --------------===//

#include "kernelbrain/Strategy/Strategy.h"

#include "TestKernels.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

using namespace kernelbrain;
using namespace kernelbrain::strategy;

static Target wideTarget() {
  Target target;
  target.features = {"avx2", "avx512f", "avx512vl", "fma"};
  return target;
}

TEST(StrategyLibraryTest, FindsByName) {
  StrategyLibrary library;
  ASSERT_TRUE(library.find("rowwise"));
  ASSERT_TRUE(library.find("elementwise"));
  ASSERT_TRUE(library.find("columnwise"));
  ASSERT_TRUE(library.find("contraction"));
  ASSERT_TRUE(library.find("layout"));
  EXPECT_FALSE(library.find("nothing"));
  EXPECT_NE(library.find("rowwise")->getVersion(),
            library.find("elementwise")->getVersion());
  EXPECT_EQ(library.hash(), StrategyLibrary().hash());
}

TEST(StrategyTest, EveryRecipeOfTheSpaceCanBePricedAndTheDefaultBuilt) {
  TestKernel test(momentsSource);
  EXPECT_FALSE(test.match("elementwise", wideTarget()));
  EXPECT_EQ(test.mismatch, "it reduces along its rows");
  auto rowwise = test.match("rowwise", wideTarget());
  ASSERT_TRUE(rowwise) << test.mismatch;
  const SearchSpace &space = rowwise->space();
  Recipe recipe = space.defaultRecipe();
  EXPECT_EQ(space.violation(recipe), "");
  for (const Knob &knob : space.knobs)
    for (const KnobValue &value : knob.values) {
      Recipe changed = recipe;
      changed.knobs[knob.name] = value;
      Estimate estimate = rowwise->estimate(changed);
      EXPECT_EQ(estimate.rejection, "") << knob.name;
      EXPECT_GT(estimate.timeNs, estimate.boundNs) << knob.name;
      EXPECT_EQ(estimate.timeNs, rowwise->estimate(changed).timeNs);
    }
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&test.context));
  auto instance = rowwise->instantiate(recipe, *module);
  ASSERT_TRUE(mlir::succeeded(instance));
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
  EXPECT_EQ(instance->function.getSymName(), "k");
  EXPECT_EQ(instance->workspaceBytes, 0);
  EXPECT_EQ(instance->features["sweeps"], 1);
  EXPECT_EQ(instance->features["strategy"], "rowwise");
}

TEST(StrategyTest, AnotherTargetHasAnotherSpace) {
  TestKernel test(momentsSource);
  Target narrow = wideTarget();
  narrow.features = {"avx2", "fma"};
  SearchSpace space = test.match("rowwise", narrow)->space();
  EXPECT_EQ(space.find("vector_bytes")->otherwise, KnobValue(int64_t(32)));
  Recipe wide = test.match("rowwise", wideTarget())->space().defaultRecipe();
  EXPECT_NE(space.violation(wide), "");
  EXPECT_FALSE(test.match("rowwise", *makeCudaTarget("sm_90a")));
  EXPECT_EQ(test.mismatch, "it writes code for 'host'");
}

TEST(StrategyTest, TilesOfContractionsFitTheRegisters) {
  TestKernel test(productSource);
  Target narrow = wideTarget();
  narrow.features = {"avx2", "fma"};
  for (const Target &target : {wideTarget(), narrow}) {
    auto contraction = test.match("contraction", target);
    ASSERT_TRUE(contraction) << test.mismatch;
    const SearchSpace &space = contraction->space();
    EXPECT_EQ(space.violation(space.defaultRecipe()), "");
    int registers = target.vectorBytes() == 64 ? 32 : 16;
    for (const KnobValue &value : space.find("tile")->values) {
      int rows = 0, vectors = 0;
      ASSERT_EQ(sscanf(std::get<std::string>(value).c_str(), "%dx%d", &rows,
                       &vectors),
                2);
      EXPECT_LT(rows * vectors + vectors, registers);
      EXPECT_LE(rows, 48);
    }
  }
}

TEST(StrategyTest, PackedOperandsLieInTheWorkspace) {
  TestKernel test(productSource);
  auto contraction = test.match("contraction", wideTarget());
  Recipe recipe = contraction->space().defaultRecipe();
  auto workspace = [&](int64_t left, int64_t right) {
    recipe.knobs["pack_left"] = left;
    recipe.knobs["pack_right"] = right;
    recipe.knobs["prefetch"] = int64_t(0);
    recipe.knobs["tile"] = "12x2";
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::ModuleOp::create(mlir::UnknownLoc::get(&test.context));
    auto instance = contraction->instantiate(recipe, *module);
    EXPECT_TRUE(mlir::succeeded(instance));
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
    EXPECT_EQ(instance->function.getNumArguments(), left || right ? 4u : 3u);
    return instance->workspaceBytes;
  };
  EXPECT_EQ(workspace(0, 0), 0);
  // Four tiles of 12 rows in panels of 16, and three panels of 32 columns.
  EXPECT_EQ(workspace(1, 0), 4 * 16 * 32 * 4);
  EXPECT_EQ(workspace(1, 1), 4 * 16 * 32 * 4 + 3 * 32 * 32 * 4);
}

TEST(StrategyTest, ThreadsPackIntoWorkspacesOfTheirOwn) {
  TestKernel test(productSource);
  Target target = wideTarget();
  target.threads = 2;
  auto contraction = test.match("contraction", target);
  Recipe recipe = contraction->space().defaultRecipe();
  recipe.knobs["tile"] = "12x2";
  recipe.knobs["pack_left"] = recipe.knobs["pack_right"] = int64_t(1);
  auto build = [&](int64_t threads) {
    recipe.knobs["threads"] = threads;
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::ModuleOp::create(mlir::UnknownLoc::get(&test.context));
    auto instance = contraction->instantiate(recipe, *module);
    EXPECT_TRUE(mlir::succeeded(instance));
    EXPECT_EQ(instance->threads, threads);
    return instance->workspaceBytes;
  };
  // Two of the four tiles of rows each, and all three panels of columns.
  EXPECT_EQ(build(1), 4 * 16 * 32 * 4 + 3 * 32 * 32 * 4);
  EXPECT_EQ(build(2), 2 * (2 * 16 * 32 * 4 + 3 * 32 * 32 * 4));
}
