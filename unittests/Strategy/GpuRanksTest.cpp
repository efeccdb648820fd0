//===- GpuRanksTest.cpp - Tests of what the model proposes first ----------===//

#include "kernelbrain/Strategy/Strategy.h"

#include "TestKernels.h"

#include <gtest/gtest.h>

using namespace kernelbrain;
using namespace kernelbrain::strategy;

namespace {
/// The default recipe of a strategy, and its time on an H200.
struct Proposal {
  Recipe recipe;
  Estimate estimate;
  int64_t number(const std::string &knob) const {
    return std::get<int64_t>(recipe.knobs.at(knob));
  }
};
} // namespace

static Proposal propose(TestKernel &test, const std::string &name) {
  std::unique_ptr<Match> match = test.match(name, *makeCudaTarget("sm_90a"));
  Recipe recipe = match->space().defaultRecipe();
  return {recipe, match->estimate(recipe)};
}

static std::string replaced(std::string source, const std::string &from,
                            const std::string &to) {
  for (size_t at = 0; (at = source.find(from, at)) != std::string::npos;
       at += to.size())
    source.replace(at, from.size(), to);
  return source;
}

static const char *softmax = R"(
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
kb.kernel @k ins(%x: tensor<RxCxf32>) outs(%y: tensor<RxCxf32>) {
  %z = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<Rxf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<Rxf32>) -> tensor<Rxf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<RxCxf32>) outs(%f : tensor<Rxf32>) dimensions = [1]
  %w = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %m : tensor<RxCxf32>, tensor<Rxf32>) outs(%y : tensor<RxCxf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<RxCxf32>
  %g = linalg.fill ins(%z : f32) outs(%e : tensor<Rxf32>) -> tensor<Rxf32>
  %s = linalg.reduce { arith.addf } ins(%w : tensor<RxCxf32>) outs(%g : tensor<Rxf32>) dimensions = [1]
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%w, %s : tensor<RxCxf32>, tensor<Rxf32>) outs(%y : tensor<RxCxf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<RxCxf32>
  kb.yield %r : tensor<RxCxf32>
})";

static std::string softmaxOf(const std::string &rows,
                             const std::string &columns) {
  std::string source = replaced(softmax, "<Rx", "<" + rows + "x");
  return replaced(source, "xCx", "x" + columns + "x");
}

TEST(GpuRanksTest, ShortRowsAreForNoMoreThanAWarp) {
  for (const auto &[rows, columns] :
       std::vector<std::pair<std::string, std::string>>{
           {"6", "40"}, {"1", "100"}, {"64", "768"}, {"4096", "64"}}) {
    TestKernel test(softmaxOf(rows, columns));
    Proposal best = propose(test, "gpu-rowwise");
    EXPECT_LE(best.number("threads"), 32 * best.number("rows"))
        << rows << "x" << columns;
  }
}

TEST(GpuRanksTest, FewShortRowsAreNotForBlocks) {
  for (const char *columns : {"40", "1000"}) {
    TestKernel test(softmaxOf("6", columns));
    Proposal rows = propose(test, "gpu-rowwise");
    Proposal blocks = propose(test, "gpu-longrows");
    EXPECT_LT(rows.estimate.timeNs, blocks.estimate.timeNs) << columns;
    EXPECT_LT(blocks.number("members"), 1024);
  }
  // A row of 64 MiB is.
  TestKernel test(softmaxOf("1", "16777216"));
  EXPECT_GT(propose(test, "gpu-rowwise").estimate.timeNs,
            propose(test, "gpu-longrows").estimate.timeNs);
}

/// Sixteen channels a group, each with a factor of its own.
static const char *groups = R"(
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#group = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#channel = affine_map<(d0, d1, d2, d3) -> (d1, d2)>
kb.kernel @k ins(%x: tensor<16x32x16x2048xf32>, %c: tensor<32x16xf32>) outs(%y: tensor<16x32x16x2048xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<16x32xf32>) -> tensor<16x32xf32>
  %s = linalg.generic {indexing_maps = [#id, #group], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
    ins(%x : tensor<16x32x16x2048xf32>) outs(%f : tensor<16x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<16x32xf32>
  %r = linalg.generic {indexing_maps = [#id, #group, #channel, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%x, %s, %c : tensor<16x32x16x2048xf32>, tensor<16x32xf32>, tensor<32x16xf32>) outs(%y : tensor<16x32x16x2048xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    %1 = arith.mulf %0, %d : f32
    linalg.yield %1 : f32
  } -> tensor<16x32x16x2048xf32>
  kb.yield %r : tensor<16x32x16x2048xf32>
})";

TEST(GpuRanksTest, LongGroupsAreReadOnce) {
  TestKernel test(groups);
  Proposal once = propose(test, "gpu-rowwise");
  EXPECT_GT(once.number("cluster"), 1);
  EXPECT_GT(once.number("stage"), 0);
  // Several blocks a multiprocessor, so that loads and stores overlap.
  EXPECT_LE(once.number("threads"), 512);
  EXPECT_LT(once.estimate.timeNs,
            propose(test, "gpu-longrows").estimate.timeNs);
}

static std::string sumOf(int64_t inputs) {
  std::string ins, types, names, body, last = "%a0";
  for (int64_t input = 0; input < inputs; ++input) {
    std::string number = std::to_string(input), comma = input ? ", " : "";
    ins += comma + "%x" + number + ": tensor<8192x8192xbf16>";
    names += comma + "%x" + number;
    types += comma + "tensor<8192x8192xbf16>";
    if (input)
      body += "    %s" + number + " = arith.addf " + last + ", %a" + number +
              " : bf16\n";
    last = input ? "%s" + number : last;
  }
  std::string arguments;
  for (int64_t input = 0; input < inputs; ++input)
    arguments += "%a" + std::to_string(input) + ": bf16, ";
  std::string maps;
  for (int64_t input = 0; input <= inputs; ++input)
    maps += std::string(input ? ", " : "") + "#id";
  return "#id = affine_map<(d0, d1) -> (d0, d1)>\nkb.kernel @k ins(" + ins +
         ") outs(%y: tensor<8192x8192xbf16>) {\n  %r = linalg.generic "
         "{indexing_maps = [" +
         maps + "], iterator_types = [\"parallel\", \"parallel\"]} ins(" +
         names + " : " + types +
         ") outs(%y : tensor<8192x8192xbf16>) {\n  ^bb0(" + arguments +
         "%o: bf16):\n" + body + "    linalg.yield " + last +
         " : bf16\n  } -> tensor<8192x8192xbf16>\n  kb.yield %r : "
         "tensor<8192x8192xbf16>\n}";
}

TEST(GpuRanksTest, ThreadsWithManyInputsTakeOneVectorOfEach) {
  TestKernel many(sumOf(6)), few(sumOf(1));
  EXPECT_EQ(propose(many, "gpu-elementwise").number("vectors"), 1);
  EXPECT_EQ(propose(few, "gpu-elementwise").number("vectors"), 2);
}
