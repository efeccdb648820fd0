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
  EXPECT_FALSE(library.find("nothing"));
  EXPECT_NE(library.find("rowwise")->getVersion(),
            library.find("elementwise")->getVersion());
  EXPECT_EQ(library.hash(), StrategyLibrary().hash());
}

TEST(StrategyTest, EveryRecipeOfTheSpaceCanBePricedAndTheDefaultBuilt) {
  TestKernel test(momentsSource);
  StrategyLibrary library;
  const Strategy &rowwise = *library.find("rowwise");
  ASSERT_EQ(rowwise.mismatch(test.kernel(), wideTarget()), "");
  EXPECT_NE(library.find("elementwise")->mismatch(test.kernel(), wideTarget()),
            "");
  SearchSpace space = rowwise.space(test.kernel(), wideTarget());
  Recipe recipe = space.defaultRecipe();
  EXPECT_EQ(space.violation(recipe), "");
  for (const Knob &knob : space.knobs)
    for (const KnobValue &value : knob.values) {
      Recipe changed = recipe;
      changed.knobs[knob.name] = value;
      Estimate estimate =
          rowwise.estimate(test.kernel(), wideTarget(), changed);
      EXPECT_EQ(estimate.rejection, "") << knob.name;
      EXPECT_GT(estimate.timeNs, estimate.boundNs) << knob.name;
      EXPECT_EQ(estimate.timeNs,
                rowwise.estimate(test.kernel(), wideTarget(), changed).timeNs);
    }
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&test.context));
  auto instance =
      rowwise.instantiate(test.kernel(), wideTarget(), recipe, *module);
  ASSERT_TRUE(mlir::succeeded(instance));
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
  EXPECT_EQ(instance->function.getSymName(), "k");
  EXPECT_EQ(instance->workspaceBytes, 0);
  EXPECT_EQ(instance->features["sweeps"], 1);
}

TEST(StrategyTest, AnotherTargetHasAnotherSpace) {
  TestKernel test(momentsSource);
  StrategyLibrary library;
  const Strategy &rowwise = *library.find("rowwise");
  Target narrow = wideTarget();
  narrow.features = {"avx2", "fma"};
  SearchSpace space = rowwise.space(test.kernel(), narrow);
  EXPECT_EQ(space.find("vector_bytes")->otherwise, KnobValue(int64_t(32)));
  Recipe wide = rowwise.space(test.kernel(), wideTarget()).defaultRecipe();
  EXPECT_NE(space.violation(wide), "");
  Target device = wideTarget();
  device.kind = "cuda";
  EXPECT_EQ(rowwise.mismatch(test.kernel(), device),
            "the target is not the host");
}
