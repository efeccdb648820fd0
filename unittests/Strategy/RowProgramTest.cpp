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
  EXPECT_EQ(countReductions(*moments), 3);
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

namespace {
/// A program over rows of 64 elements of one input, for rewrites.
class RewriteTest : public ::testing::Test {
protected:
  RewriteTest() : test(momentsSource), program(&test.context) {
    program.axes = {Extent{4, {}}, Extent{64, {}}};
    program.numRowAxes = 1;
    access.strides = {Extent{64, {}}, Extent{1, {}}};
    rowAccess.strides = {Extent{1, {}}, Extent{0, {}}};
  }
  Node *op(llvm::StringRef name, std::initializer_list<Node *> operands) {
    return program.op(name, (*operands.begin())->type,
                      llvm::ArrayRef(operands.begin(), operands.size()));
  }
  Node *sum(Node *x) {
    return program.reduce(ReduceKind::AddF, x,
                          program.floatConstant(0, x->type));
  }
  /// How often an operation is left with `node` as the only result.
  int count(Node *node, const RewriteOptions &options, llvm::StringRef name) {
    program.outputs = {{node, access}};
    rewritten = rewriteProgram(program, options);
    return llvm::count_if(rewritten->live(),
                          [&](Node *each) { return each->isOp(name); });
  }

  TestKernel test;
  RowProgram program;
  Access access, rowAccess;
  mlir::Type f16 = mlir::Float16Type::get(&test.context),
             f32 = mlir::Float32Type::get(&test.context),
             f64 = mlir::Float64Type::get(&test.context);
  std::unique_ptr<RowProgram> rewritten;
};
} // namespace

TEST_F(RewriteTest, DivisionsByConstantsStayWhereTheInverseIsNoNormalNumber) {
  RewriteOptions options;
  options.reassociate = true;
  auto divisions = [&](mlir::Type type, double divisor) {
    Node *x = program.input(access, {}, type);
    return count(op("arith.divf", {x, program.floatConstant(divisor, type)}),
                 options, "arith.divf");
  };
  EXPECT_EQ(divisions(f32, 3), 0);
  EXPECT_EQ(divisions(f32, 1e-40), 1);
  EXPECT_EQ(divisions(f32, 0x1p127), 1); // 2^-127 is a denormal
  EXPECT_EQ(divisions(f16, 1024), 0);    // exact
  EXPECT_EQ(divisions(f16, 3), 1);       // would be rounded twice
  EXPECT_EQ(divisions(f16, 0x1p-16), 1); // 2^16 is infinite
  EXPECT_EQ(divisions(f64, 3), 0);
  options.reassociate = false;
  EXPECT_EQ(divisions(f32, 3), 1);
}

TEST_F(RewriteTest, ReciprocalsAreGuardedUnlessTheDivisorIsKnown) {
  RewriteOptions options;
  options.reciprocal = true;
  Node *x = program.input(access, {}, f32);
  EXPECT_EQ(count(op("arith.divf", {x, sum(x)}), options, "arith.mulf"), 1);
  ASSERT_EQ(rewritten->guards.size(), 1u);
  EXPECT_EQ(rewritten->guards[0].low, 0x1p-126);
  EXPECT_EQ(rewritten->guards[0].high, 0x1p126);
  // A sum with e^0 in it.
  Node *max = program.reduce(ReduceKind::MaximumF, x,
                             program.floatConstant(-INFINITY, f32));
  Node *exp = op("math.exp", {op("arith.subf", {x, max})});
  EXPECT_EQ(count(op("arith.divf", {exp, sum(exp)}), options, "arith.mulf"), 1);
  EXPECT_TRUE(rewritten->guards.empty());
  // Divided by f16 there would be one more rounding in each element.
  Node *half = program.input(access, {}, f16);
  EXPECT_EQ(count(op("arith.divf", {half, sum(half)}), options, "arith.divf"),
            1);
  EXPECT_TRUE(rewritten->guards.empty());
}

TEST_F(RewriteTest, NarrowingGuardsWhatLeavesTheRange) {
  RewriteOptions options;
  options.narrowF64 = true;
  auto squares = [&](mlir::Type type) {
    Node *x = program.op("arith.extf", f64, program.input(access, {}, type));
    return sum(op("arith.mulf", {x, x}));
  };
  Node *x = program.input(access, {}, f32);
  auto normed = [&](Node *square) {
    Node *norm = program.op("arith.truncf", f32, op("math.sqrt", {square}));
    return op("arith.mulf", {x, norm});
  };
  EXPECT_EQ(count(normed(squares(f32)), options, "arith.truncf"), 0);
  EXPECT_TRUE(canGuardNarrowing(program));
  ASSERT_EQ(rewritten->guards.size(), 1u);
  EXPECT_EQ(rewritten->guards[0].low, 0x1p-100);
  EXPECT_EQ(rewritten->guards[0].high, 0x1p100);
  EXPECT_TRUE(rewritten->guards[0].value->isReduction());
  // Squares of f16 are all in the range of f32.
  count(normed(squares(f16)), options, "arith.truncf");
  EXPECT_TRUE(rewritten->guards.empty());
  // Nothing tells that one element has left it.
  Node *wide = program.op("arith.extf", f64, x);
  Node *root = op("math.sqrt", {op("arith.mulf", {wide, wide})});
  count(program.op("arith.truncf", f32, root), options, "arith.truncf");
  EXPECT_FALSE(canGuardNarrowing(program));
}

TEST_F(RewriteTest, MomentsAreGuardedAgainstCancellation) {
  std::string reason;
  auto moments = importRowProgram(test.kernel(), reason);
  ASSERT_TRUE(moments) << reason;
  RewriteOptions options;
  options.narrowF64 = options.reassociate = options.oneSweepMoments = true;
  auto narrow = rewriteProgram(*moments, options);
  int shares = 0;
  for (const Guard &guard : narrow->guards) {
    shares += guard.scale != nullptr;
    // What random rows hardly ever fail, and loses three bits at most.
    if (guard.scale)
      EXPECT_EQ(guard.low, 0.125);
  }
  EXPECT_EQ(shares, 1);
  EXPECT_EQ(narrow->guards.size(), 3u); // and both sums themselves
  options.oneSweepMoments = false;
  for (const Guard &guard : rewriteProgram(*moments, options)->guards)
    EXPECT_FALSE(guard.scale);
}

TEST(PiecesTest, ConcatenationsAreCutWhereTheirPartsMeet) {
  TestKernel test(R"(
    kb.kernel @k ins(%x: tensor<4x6xf32>, %y: tensor<3x6xf32>) outs(%o: tensor<9x6xf32>) {
      %zero = arith.constant 0.0 : f32
      %0 = tensor.concat dim(0) %x, %y : (tensor<4x6xf32>, tensor<3x6xf32>) -> tensor<7x6xf32>
      %1 = tensor.pad %0 low[0, 0] high[2, 0] {
      ^bb0(%i: index, %j: index):
        tensor.yield %zero : f32
      } : tensor<7x6xf32> to tensor<9x6xf32>
      kb.yield %1 : tensor<9x6xf32>
    })");
  std::string reason = "old";
  auto pieces = importPieces(test.kernel(), reason);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(reason, "");
  // Each is one run of memory.
  std::vector<int64_t> lengths, starts;
  for (const auto &piece : pieces) {
    ASSERT_EQ(piece->axes.size(), 1u);
    lengths.push_back(piece->columns().factor);
    starts.push_back(piece->outputs[0].access.offset);
  }
  EXPECT_EQ(lengths, (std::vector<int64_t>{24, 18, 12}));
  EXPECT_EQ(starts, (std::vector<int64_t>{0, 24, 42}));
  EXPECT_EQ(importRowProgram(test.kernel(), reason), nullptr);
}

TEST(PiecesTest, ReductionsAreRefused) {
  TestKernel test(momentsSource);
  std::string reason;
  EXPECT_TRUE(importPieces(test.kernel(), reason).empty());
  EXPECT_EQ(reason, "a reduction runs across the rows");
}
