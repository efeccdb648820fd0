//===- CoreJsonTest.cpp - JSON forms of the vocabulary --------------------===//

#include "kernelbrain/Core/Artifact.h"
#include "kernelbrain/Core/Measurement.h"

#include <gtest/gtest.h>
#include <limits>

using namespace kernelbrain;

static Argument argument() {
  Argument argument;
  argument.isOutput = true;
  argument.type = ElementType::BF16;
  argument.shape = {4, -1, -2};
  argument.domain.low = -std::numeric_limits<double>::infinity();
  argument.domain.high = 0.1;
  argument.alignment = 64;
  return argument;
}

static Kernel kernel() {
  Kernel kernel;
  kernel.name = "softmax";
  kernel.hash = "abc";
  kernel.kind = "row-reduction";
  kernel.arguments = {Argument(), argument()};
  kernel.dimHints = {128, 7};
  kernel.numerics.reassociate = false;
  kernel.numerics.tf32 = true;
  kernel.flops = 1e12;
  kernel.boundaryBytes = int64_t(1) << 40;
  kernel.share = 0.25;
  kernel.asserts = true;
  return kernel;
}

/// What is written and read is the same, also as text.
template <typename T, typename Parse>
static void expectRoundTrip(const T &value, Parse parse) {
  std::string text = dumpJson(toJson(value));
  Result<Json> json = parseJson(text);
  ASSERT_TRUE(json);
  Result<T> back = parse(*json);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(dumpJson(toJson(*back)), text);
}

static Argument stridedMemref(int64_t rowStride, int64_t offset) {
  Argument memref = argument();
  memref.isMemref = true;
  memref.layout = Layout{{rowStride, 35, 1}, offset};
  return memref;
}

TEST(CoreJson, LayoutsThatDenseBuffersFit) {
  EXPECT_TRUE(fitsDense(argument(), {4, 5, 7}));
  EXPECT_FALSE(fitsDense(stridedMemref(35, 0), {4, 5, 7}));
  EXPECT_TRUE(fitsDense(stridedMemref(175, 0), {4, 5, 35}));
  EXPECT_TRUE(fitsDense(stridedMemref(-1, -1), {4, 5, 35}));
  EXPECT_FALSE(fitsDense(stridedMemref(-1, 2), {4, 5, 35}));
  EXPECT_TRUE(fitsDense(stridedMemref(9, 0), {1, 5, 35}));
  Json json = toJson(stridedMemref(1, 0));
  json["layout"]["strides"] = {1, 1};
  EXPECT_FALSE(argumentFromJson(json));
}

TEST(CoreJson, RoundTrips) {
  expectRoundTrip(argument(), argumentFromJson);
  expectRoundTrip(stridedMemref(-1, 3), argumentFromJson);
  expectRoundTrip(kernel(), kernelFromJson);
  Measurement measurement;
  measurement.disposition = Disposition::Incorrect;
  measurement.reason = "at [3]";
  measurement.rung = 2;
  measurement.timeNs = 12;
  measurement.speedup = Ratio{0.9, 1, std::numeric_limits<double>::infinity()};
  measurement.error = std::numeric_limits<double>::infinity();
  measurement.pageFaults = 4;
  measurement.costNs = 99;
  measurement.details = {{"sets", 3}};
  expectRoundTrip(measurement, measurementFromJson);
  measurement.speedup.reset();
  expectRoundTrip(measurement, measurementFromJson);
  Manifest manifest;
  manifest.kind = "kernel";
  manifest.entry = "softmax";
  manifest.arguments = {argument()};
  manifest.dims = 2;
  manifest.workspaceBytes = 4096;
  manifest.features = {{"strategy", "rows"}};
  manifest.irHash = "a";
  manifest.codeHash = "b";
  expectRoundTrip(manifest, manifestFromJson);
  Manifest program;
  program.kind = "program";
  program.functions = {{"main", {Argument()}, {argument()}}};
  expectRoundTrip(program, manifestFromJson);
}

TEST(CoreJson, MembersSurvive) {
  Result<Argument> back = argumentFromJson(toJson(argument()));
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->isOutput);
  EXPECT_EQ(back->shape, argument().shape);
  EXPECT_EQ(*back->domain.low, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(*back->domain.high, 0.1);
  EXPECT_EQ(toJson(Argument())["domain"], Json::object()); // absent bounds
  Result<Kernel> parsed = kernelFromJson(toJson(kernel()));
  ASSERT_TRUE(parsed);
  EXPECT_FALSE(parsed->numerics.reassociate);
  EXPECT_TRUE(parsed->numerics.contract);
  EXPECT_EQ(parsed->boundaryBytes, int64_t(1) << 40);
}

TEST(CoreJson, BadFormsAreErrors) {
  Json json = toJson(argument());
  json["type"] = "f8";
  EXPECT_EQ(argumentFromJson(json).error().message,
            "argument: member 'type': unknown element type \"f8\"");
  json = toJson(kernel());
  json["arguments"][1].erase("shape");
  EXPECT_EQ(kernelFromJson(json).error().message,
            "kernel: member 'arguments': argument: member 'shape' is missing");
  EXPECT_FALSE(measurementFromJson({{"disposition", "good"}}));
  EXPECT_FALSE(measurementFromJson(Json::array()));
  EXPECT_FALSE(ratioFromJson({{"low", 1}, {"middle", 1}}));
  EXPECT_FALSE(manifestFromJson({{"kind", "library"}}));
  EXPECT_FALSE(manifestFromJson({{"kind", "kernel"}})); // no entry
}

TEST(CoreJson, EveryDispositionHasAName) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(Disposition::HarnessFault); ++i) {
    auto disposition = static_cast<Disposition>(i);
    names.insert(toString(disposition));
    EXPECT_EQ(dispositionFromString(toString(disposition)), disposition);
  }
  EXPECT_EQ(names.size(), 16u);
  EXPECT_FALSE(dispositionFromString("Passed"));
  EXPECT_TRUE(isCorrect(Disposition::Slower));
  EXPECT_FALSE(isCorrect(Disposition::Suspicious));
}

TEST(CoreJson, ElementTypes) {
  for (ElementType type :
       {ElementType::I1, ElementType::I8, ElementType::I16, ElementType::I32,
        ElementType::I64, ElementType::Index, ElementType::F16,
        ElementType::BF16, ElementType::F32, ElementType::F64})
    EXPECT_EQ(elementTypeFromString(toString(type)), type);
  EXPECT_FALSE(elementTypeFromString("i4"));
  EXPECT_EQ(byteSize(ElementType::I1), 1);
  EXPECT_EQ(byteSize(ElementType::Index), 8);
  EXPECT_TRUE(isFloat(ElementType::BF16));
  EXPECT_FALSE(isFloat(ElementType::I16));
}
