//===- KernelInfoTest.cpp -------------------------------------------------===//

#include "kernelbrain/Transforms/KernelInfo.h"

#include "KernelParser.h"

using namespace kernelbrain;

namespace {

Kernel describe(const std::string &text) {
  return describeKernel(ParsedKernel(text).kernel);
}

TEST(KernelInfo, DescribesArgumentsAndWork) {
  Kernel kernel = describe(R"(
    kb.kernel @k ins(%x: tensor<8x16xf32>, %i: tensor<8xi64>) outs(%o: tensor<8x16xf32>)
        attributes {kind = "elementwise", share = 250 : i64,
                    arg_specs = [#kb.arg<alignment = 64>,
                                 #kb.arg<low = 0 : i64, high = 16 : i64>, unit],
                    numerics = #kb.numerics<tf32 = true>} {
      %0 = linalg.exp ins(%x : tensor<8x16xf32>) outs(%o : tensor<8x16xf32>) -> tensor<8x16xf32>
      kb.yield %0 : tensor<8x16xf32>
    })");
  EXPECT_EQ(kernel.name, "k");
  EXPECT_EQ(kernel.kind, "elementwise");
  EXPECT_EQ(kernel.hash.size(), 32u);
  EXPECT_DOUBLE_EQ(kernel.share, 0.25);
  EXPECT_TRUE(kernel.numerics.tf32);
  EXPECT_FALSE(kernel.asserts);
  ASSERT_EQ(kernel.arguments.size(), 3u);
  EXPECT_FALSE(kernel.arguments[1].isOutput);
  EXPECT_TRUE(kernel.arguments[2].isOutput);
  EXPECT_EQ(kernel.arguments[0].alignment, 64);
  EXPECT_EQ(kernel.arguments[1].type, ElementType::I64);
  EXPECT_EQ(kernel.arguments[1].domain.low, 0.0);
  EXPECT_EQ(kernel.arguments[1].domain.high, 16.0);
  EXPECT_FALSE(kernel.arguments[2].domain.low.has_value());
  EXPECT_EQ(kernel.arguments[0].shape, (std::vector<int64_t>{8, 16}));
  EXPECT_DOUBLE_EQ(kernel.flops, 8 * 8 * 16); // exp counts as 8 operations
  // The unused argument is not read.
  EXPECT_EQ(kernel.boundaryBytes, 2 * 4 * 8 * 16);
}

TEST(KernelInfo, FindsEqualExtents) {
  Kernel kernel = describe(R"(
    kb.kernel @k ins(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) outs(%o: tensor<?x?xf32>)
        attributes {arg_specs = [#kb.arg<dim_hints = [32, 64]>, unit, unit]} {
      %0 = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
                         outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
      kb.yield %0 : tensor<?x?xf32>
    })");
  EXPECT_EQ(kernel.arguments[0].shape, (std::vector<int64_t>{-1, -2}));
  EXPECT_EQ(kernel.arguments[1].shape, (std::vector<int64_t>{-2, -3}));
  EXPECT_EQ(kernel.arguments[2].shape, (std::vector<int64_t>{-1, -3}));
  EXPECT_EQ(kernel.dimHints, (std::vector<int64_t>{32, 64, defaultDynamicDim}));
}

TEST(KernelInfo, HintsAreWrittenWhereStrategiesFindThem) {
  ParsedKernel parsed(R"(
    kb.kernel @k ins(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) outs(%o: tensor<?x?xf32>)
        attributes {arg_specs = [#kb.arg<dim_hints = [32, 64]>, #kb.arg<alignment = 64>, unit]} {
      %0 = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
                         outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
      kb.yield %0 : tensor<?x?xf32>
    })");
  Kernel before = describeKernel(parsed.kernel, 200);
  addDimHints(parsed.kernel, before);
  auto hints = [&](unsigned index) {
    return parsed.kernel.getArgSpec(index).getDimHints().asArrayRef().vec();
  };
  EXPECT_EQ(hints(0), (std::vector<int64_t>{32, 64}));
  EXPECT_EQ(hints(1), (std::vector<int64_t>{64, 200}));
  EXPECT_EQ(hints(2), (std::vector<int64_t>{32, 200}));
  EXPECT_EQ(parsed.kernel.getArgSpec(1).getAlignment(), 64);
  // What it is tuned at is no part of what it is.
  Kernel after = describeKernel(parsed.kernel, 1000);
  EXPECT_EQ(after.dimHints, before.dimHints);
  EXPECT_EQ(after.hash, before.hash);
}

TEST(KernelInfo, KeepsExtentsApartThatNothingProvesEqual) {
  Kernel kernel = describe(R"(
    kb.kernel @k ins(%a: tensor<?xf32>, %b: tensor<?xf32>) outs(%o: tensor<?xf32>, %p: tensor<?xf32>) {
      %0 = linalg.exp ins(%a : tensor<?xf32>) outs(%o : tensor<?xf32>) -> tensor<?xf32>
      %1 = linalg.exp ins(%b : tensor<?xf32>) outs(%p : tensor<?xf32>) -> tensor<?xf32>
      kb.yield %0, %1 : tensor<?xf32>, tensor<?xf32>
    })");
  EXPECT_EQ(kernel.arguments[0].shape, std::vector<int64_t>{-1});
  EXPECT_EQ(kernel.arguments[1].shape, std::vector<int64_t>{-2});
  EXPECT_EQ(kernel.arguments[2].shape, std::vector<int64_t>{-1});
  EXPECT_EQ(kernel.arguments[3].shape, std::vector<int64_t>{-2});
}

TEST(KernelInfo, FollowsExtentsThroughReshapes) {
  Kernel kernel = describe(R"(
    kb.kernel @k ins(%a: tensor<?x1xf32>) outs(%o: tensor<?xf32>) {
      %0 = tensor.collapse_shape %a [[0, 1]] : tensor<?x1xf32> into tensor<?xf32>
      %1 = linalg.exp ins(%0 : tensor<?xf32>) outs(%o : tensor<?xf32>) -> tensor<?xf32>
      kb.yield %1 : tensor<?xf32>
    })");
  EXPECT_EQ(kernel.arguments[0].shape, (std::vector<int64_t>{-1, 1}));
  EXPECT_EQ(kernel.arguments[1].shape, std::vector<int64_t>{-1});
}

TEST(KernelInfo, CountsWhatAGatherReads) {
  Kernel kernel = describe(R"(
    #id = affine_map<(d0) -> (d0)>
    kb.kernel @k ins(%i: tensor<4xi64>, %x: tensor<1000xf32>) outs(%o: tensor<4xf32>) {
      %n = arith.constant 1000 : index
      %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%i : tensor<4xi64>) outs(%o : tensor<4xf32>) {
      ^bb0(%a: i64, %b: f32):
        %c = arith.index_cast %a : i64 to index
        %p = arith.cmpi ult, %c, %n : index
        cf.assert %p, "bounds"
        %v = tensor.extract %x[%c] : tensor<1000xf32>
        linalg.yield %v : f32
      } -> tensor<4xf32>
      kb.yield %0 : tensor<4xf32>
    })");
  EXPECT_TRUE(kernel.asserts);
  EXPECT_EQ(kernel.boundaryBytes, 4 * 8 + 4 * 4 + 4 * 4);
}

TEST(KernelInfo, CountsLoops) {
  Kernel kernel = describe(R"(
    kb.kernel @k ins(%x: tensor<4xf32>) outs(%o: tensor<4xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %0 = scf.for %i = %c0 to %c5 step %c1 iter_args(%y = %x) -> tensor<4xf32> {
        %1 = linalg.abs ins(%y : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
        scf.yield %1 : tensor<4xf32>
      }
      kb.yield %0 : tensor<4xf32>
    })");
  EXPECT_DOUBLE_EQ(kernel.flops, 5 * 4);
}

TEST(KernelInfo, RooflineTakesTheSlowerOfMemoryAndArithmetic) {
  Kernel kernel;
  kernel.boundaryBytes = 80;
  kernel.flops = 60;
  EXPECT_DOUBLE_EQ(rooflineNs(kernel), 10);
  kernel.flops = 6000;
  EXPECT_DOUBLE_EQ(rooflineNs(kernel), 100);
}

TEST(KernelInfo, KnowsTheElementTypesOfTheAbi) {
  mlir::MLIRContext context;
  mlir::Builder builder(&context);
  EXPECT_EQ(coreElementType(builder.getI1Type()), ElementType::I1);
  EXPECT_EQ(coreElementType(builder.getIndexType()), ElementType::Index);
  EXPECT_EQ(coreElementType(builder.getBF16Type()), ElementType::BF16);
  EXPECT_EQ(coreElementType(builder.getIntegerType(7)), std::nullopt);
  EXPECT_EQ(coreElementType(builder.getIntegerType(8, false)), std::nullopt);
  EXPECT_EQ(coreElementType(mlir::ComplexType::get(builder.getF32Type())),
            std::nullopt);
}

} // namespace
