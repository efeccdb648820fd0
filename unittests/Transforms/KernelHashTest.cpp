//===- KernelHashTest.cpp -------------------------------------------------===//

#include "kernelbrain/Transforms/KernelHash.h"

#include "KernelParser.h"

using namespace kernelbrain;

namespace {

std::string hashOf(const std::string &text) {
  return kernelHash(ParsedKernel(text).kernel);
}

const char *const base = R"(
  kb.kernel @k ins(%x: tensor<4xf32>) outs(%o: tensor<4xf32>) {
    %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
    kb.yield %0 : tensor<4xf32>
  })";

TEST(KernelHash, IsStable) {
  EXPECT_EQ(hashOf(base).size(), 32u);
  EXPECT_EQ(hashOf(base), hashOf(base));
}

TEST(KernelHash, IgnoresNamesLocationsAndWhatTheSearchKeeps) {
  EXPECT_EQ(hashOf(base), hashOf(R"(
    kb.kernel private @other ins(%a: tensor<4xf32>) outs(%b: tensor<4xf32>)
        attributes {kind = "elementwise", share = 5 : i64,
                    budget = #kb.budget<variants = 3>} {
      %named = linalg.exp ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>)
          -> tensor<4xf32> loc("elsewhere")
      kb.yield %named : tensor<4xf32>
    } loc("somewhere"))"));
}

TEST(KernelHash, SeesOperations) {
  EXPECT_NE(hashOf(base), hashOf(R"(
    kb.kernel @k ins(%x: tensor<4xf32>) outs(%o: tensor<4xf32>) {
      %0 = linalg.abs ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
      kb.yield %0 : tensor<4xf32>
    })"));
}

TEST(KernelHash, SeesWiring) {
  const char *const first = R"(
    kb.kernel @k ins(%x: tensor<4xf32>, %y: tensor<4xf32>) outs(%o: tensor<4xf32>) {
      %0 = linalg.sub ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
      kb.yield %0 : tensor<4xf32>
    })";
  const char *const second = R"(
    kb.kernel @k ins(%x: tensor<4xf32>, %y: tensor<4xf32>) outs(%o: tensor<4xf32>) {
      %0 = linalg.sub ins(%y, %x : tensor<4xf32>, tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
      kb.yield %0 : tensor<4xf32>
    })";
  EXPECT_NE(hashOf(first), hashOf(second));
}

TEST(KernelHash, SeesConstantsAndMaps) {
  auto kernel = [](const std::string &value, const std::string &map) {
    return R"(
    kb.kernel @k ins(%x: tensor<4x4xf32>) outs(%o: tensor<4x4xf32>) {
      %c = arith.constant )" +
           value + R"( : f32
      %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> )" +
           map + R"(>, affine_map<(d0, d1) -> (d0, d1)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%x : tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %c : f32
        linalg.yield %s : f32
      } -> tensor<4x4xf32>
      kb.yield %0 : tensor<4x4xf32>
    })";
  };
  std::string hash = hashOf(kernel("1.0", "(d0, d1)"));
  EXPECT_EQ(hash, hashOf(kernel("1.0", "(d0, d1)")));
  EXPECT_NE(hash, hashOf(kernel("2.0", "(d0, d1)")));
  EXPECT_NE(hash, hashOf(kernel("1.0", "(d1, d0)")));
}

TEST(KernelHash, SeesPromisesAndPolicy) {
  auto kernel = [](const std::string &attributes) {
    return "kb.kernel @k ins(%x: tensor<4xi64>) outs(%o: tensor<4xi64>) " +
           attributes + " { kb.yield %o : tensor<4xi64> }";
  };
  std::string plain = hashOf(kernel(""));
  EXPECT_NE(plain, hashOf(kernel("attributes {arg_specs = [#kb.arg<alignment "
                                 "= 64>, unit]}")));
  EXPECT_NE(plain, hashOf(kernel("attributes {numerics = #kb.numerics<tf32 = "
                                 "true>}")));
}

TEST(KernelHash, SeesWhichArgumentIsAnOutput) {
  EXPECT_NE(hashOf("kb.kernel @k ins(%x: tensor<4xi64>) outs() {}"),
            hashOf("kb.kernel @k ins() outs(%x: tensor<4xi64>) { kb.yield %x "
                   ": tensor<4xi64> }"));
}

TEST(KernelHash, SeesTheBytesOfResourcesNotTheirNames) {
  auto kernel = [](const std::string &name, const std::string &bytes) {
    return "kb.kernel @k ins() outs(%o: tensor<1xf32>) {\n"
           "  %c = arith.constant dense_resource<" +
           name +
           "> : tensor<1xf32>\n  kb.yield %c : tensor<1xf32>\n}\n"
           "{-# dialect_resources: { builtin: { " +
           name + ": \"0x04000000" + bytes + "\" } } #-}";
  };
  std::string hash = hashOf(kernel("a", "0000803F"));
  EXPECT_EQ(hash, hashOf(kernel("b", "0000803F")));
  EXPECT_NE(hash, hashOf(kernel("a", "00000040")));
}

} // namespace
