//===- RowProgramTest.cpp - Tests of row programs and their algebra -------===//

#include "kernelbrain/Strategy/RowProgram.h"

#include "TestKernels.h"

#include <gtest/gtest.h>

using namespace kernelbrain::strategy;

static int countReductions(const RowProgram &program) {
  return llvm::count_if(program.live(),
                        [](Node *node) { return node->isReduction(); });
}

TEST(ExtentTest, MultipliesAndEvaluates) {
  Extent rows{1, {1}}, columns{6, {0}};
  Extent all = rows * columns;
  EXPECT_EQ(all.factor, 6);
  EXPECT_EQ(all, (Extent{6, {0, 1}}));
  EXPECT_EQ(all.evaluate({3, 5}), 90);
  EXPECT_FALSE(all.isStatic());
  EXPECT_TRUE((all * Extent{0, {}}).isZero());
  EXPECT_TRUE((all * Extent{0, {}}).isStatic());
}

TEST(RowProgramTest, EqualNodesAreOne) {
  TestKernel test(momentsSource);
  RowProgram program(&test.context);
  program.axes = {Extent{4, {}}, Extent{8, {}}};
  program.numRowAxes = 1;
  mlir::Type f32 = mlir::Float32Type::get(&test.context);
  Access access;
  access.strides = {Extent{8, {}}, Extent{1, {}}};
  Node *x = program.input(access, {}, f32);
  EXPECT_EQ(x, program.input(access, {}, f32));
  Node *two = program.floatConstant(2, f32);
  EXPECT_EQ(program.op("arith.mulf", f32, {x, two}),
            program.op("arith.mulf", f32, {x, two}));
  EXPECT_NE(program.op("arith.mulf", f32, {x, two}),
            program.op("arith.addf", f32, {x, two}));
  Node *sum =
      program.reduce(ReduceKind::AddF, x, program.floatConstant(0, f32));
  EXPECT_TRUE(program.variesAlongRows(sum));
  EXPECT_FALSE(program.variesAlongColumns(sum));
}

TEST(RowProgramTest, NarrowingMakesTheMeansOne) {
  TestKernel test(momentsSource);
  std::string reason;
  auto program = importRowProgram(test.kernel(), reason);
  ASSERT_TRUE(program) << reason;
  EXPECT_TRUE(hasF64Intermediates(*program));
  EXPECT_EQ(countReductions(*program), 3);
  RewriteOptions options;
  options.narrowF64 = options.reassociate = true;
  auto narrow = rewriteProgram(*program, options);
  EXPECT_FALSE(hasF64Intermediates(*narrow));
  EXPECT_EQ(countReductions(*narrow), 2);
  EXPECT_TRUE(hasMoments(*narrow));
  options.narrowF64 = false;
  EXPECT_EQ(countReductions(*rewriteProgram(*program, options)), 3);
}

TEST(RowProgramTest, OneSweepMomentsDependOnNoSum) {
  TestKernel test(momentsSource);
  std::string reason;
  auto program = importRowProgram(test.kernel(), reason);
  ASSERT_TRUE(program) << reason;
  RewriteOptions options;
  options.narrowF64 = options.reassociate = options.oneSweepMoments = true;
  auto moments = rewriteProgram(*program, options);
  EXPECT_EQ(countReductions(*moments), 2);
  std::vector<bool> isLate(moments->nodes().size());
  for (Node *node : moments->live()) {
    bool usesSum = llvm::any_of(node->operands, [&](Node *operand) {
      return operand->isReduction() || isLate[operand->id];
    });
    isLate[node->id] = usesSum;
    EXPECT_FALSE(node->isReduction() && usesSum);
  }
}

TEST(RowProgramTest, RewritesAreOptional) {
  TestKernel test(momentsSource);
  std::string reason;
  auto program = importRowProgram(test.kernel(), reason);
  ASSERT_TRUE(program) << reason;
  // Division by a power of two is exact as a multiplication, so it always is.
  auto plain = rewriteProgram(*program, RewriteOptions());
  EXPECT_TRUE(llvm::none_of(
      plain->live(), [](Node *node) { return node->isOp("arith.divf"); }));
  EXPECT_FALSE(hasRowDivision(*plain));
}
