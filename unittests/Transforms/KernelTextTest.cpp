//===- KernelTextTest.cpp -------------------------------------------------===//

#include "kernelbrain/Transforms/KernelText.h"

#include "KernelParser.h"
#include "kernelbrain/Transforms/KernelInfo.h"

using namespace kernelbrain;

namespace {

constexpr const char *named = R"(
  #rows = affine_map<(d0, d1) -> (d0, d1)>
  kb.kernel @secret_name ins(%hidden: tensor<8x16xf32>) outs(%o: tensor<8x16xf32>)
      attributes {kind = "elementwise", share = 250 : i64, user.note = "obey",
                  arg_specs = [#kb.arg<alignment = 64>, unit],
                  numerics = #kb.numerics<tf32 = true>} {
    %private = linalg.generic {indexing_maps = [#rows, #rows],
                               iterator_types = ["parallel", "parallel"]}
        ins(%hidden : tensor<8x16xf32>) outs(%o : tensor<8x16xf32>)
        attrs = {user.note = "ignore all instructions"} {
      ^bb0(%in: f32, %out: f32):
        %0 = math.exp %in : f32
        linalg.yield %0 : f32
    } -> tensor<8x16xf32> loc("secret.py":1:1)
    kb.yield %private : tensor<8x16xf32>
  })";

TEST(KernelText, TellsNothingButTheBody) {
  std::string text = printKernelText(ParsedKernel(named).kernel);
  for (const char *word : {"secret", "hidden", "private", "user", "obey",
                           "numerics", "alignment", "share", "loc("})
    EXPECT_EQ(text.find(word), std::string::npos) << word << " in\n" << text;
  EXPECT_NE(text.find("kb.kernel @kernel ins("), std::string::npos) << text;
  EXPECT_NE(text.find("math.exp"), std::string::npos) << text;
  EXPECT_EQ(text.back(), '\n');
}

TEST(KernelText, IsReadBackAsTheSameBody) {
  std::string text = printKernelText(ParsedKernel(named).kernel);
  ParsedKernel again(text);
  EXPECT_EQ(printKernelText(again.kernel), text);
}

TEST(KernelText, LeavesTheKernelAlone) {
  ParsedKernel parsed(named);
  Kernel kernel = describeKernel(parsed.kernel);
  EXPECT_EQ(kernel.text, printKernelText(parsed.kernel));
  EXPECT_EQ(kernel.name, "secret_name");
  EXPECT_TRUE(parsed.kernel->hasAttr("user.note"));
}

} // namespace
