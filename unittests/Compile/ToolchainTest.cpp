//===- ToolchainTest.cpp - Targets, code generation, linking --------------===//

#include "kernelbrain/Compile/Codegen.h"
#include "kernelbrain/Compile/HostTarget.h"
#include "kernelbrain/Compile/Link.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include "gtest/gtest.h"
#include <algorithm>

using namespace kernelbrain;
using namespace kernelbrain::compile;

namespace {
TEST(HostTargetTest, DescribesThisMachine) {
  auto target = makeTarget();
  ASSERT_TRUE(target);
  EXPECT_EQ(target->kind, "host");
  EXPECT_FALSE(target->chip.empty());
  EXPECT_FALSE(target->features.empty());
  EXPECT_TRUE(std::is_sorted(target->features.begin(), target->features.end()));
}

#ifdef __x86_64__
TEST(HostTargetTest, ANamedCpuHasExactlyItsFeatures) {
  auto target = makeTarget("x86-64-v3");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->chip, "x86-64-v3");
  EXPECT_TRUE(target->hasFeature("avx2"));
  EXPECT_FALSE(target->hasFeature("avx512f"));
  EXPECT_EQ(target->vectorBytes(), 32);
  EXPECT_EQ(featureString(*target), "");
}

TEST(HostTargetTest, FeatureStringTellsTheDifferenceFromTheName) {
  auto target = makeTarget("x86-64-v3");
  ASSERT_TRUE(target);
  auto &features = target->features;
  features.erase(std::find(features.begin(), features.end(), "fma"));
  features.push_back("avx512f");
  std::sort(features.begin(), features.end());
  EXPECT_EQ(featureString(*target), "+avx512f,-fma");
}
#endif

TEST(HostTargetTest, RefusesAnUnknownCpu) {
  auto target = makeTarget("z80");
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().message, "unknown CPU 'z80'");
}

#ifdef __x86_64__
/// The size after optimisation of a function with `count` loops.
size_t optimizedSize(unsigned count, bool bounded) {
  std::string text = R"(
    declare float @llvm.exp.f32(float)
    define void @f(ptr %x) {
    entry:
      br label %loop0)";
  for (unsigned index = 0; index < count; ++index) {
    std::string loop = R"(
    loop#:
      %k# = phi i64 [0, %from], [%n#, %loop#]
      %p# = getelementptr float, ptr %x, i64 %k#
      %v# = load float, ptr %p#
      %e# = call float @llvm.exp.f32(float %v#)
      store float %e#, ptr %p#
      %n# = add i64 %k#, 1
      %c# = icmp ne i64 %n#, 48
      br i1 %c#, label %loop#, label %to)";
    auto replace = [&](const std::string &from, const std::string &to) {
      for (size_t at; (at = loop.find(from)) != std::string::npos;)
        loop.replace(at, from.size(), to);
    };
    replace("#", std::to_string(index));
    replace("%from",
            index == 0 ? "%entry" : "%loop" + std::to_string(index - 1));
    replace("%to",
            index + 1 == count ? "%done" : "%loop" + std::to_string(index + 1));
    text += loop;
  }
  text += R"(
    done:
      ret void
    })";
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  auto generator = CodeGenerator::create(*makeTarget("x86-64-v3"));
  (*generator)->prepare(*module);
  (*generator)->optimize(*module, bounded);
  return module->getFunction("f")->getInstructionCount();
}

TEST(CodegenTest, BoundedOptimisationUnrollsLargeFunctionsLess) {
  EXPECT_EQ(optimizedSize(1, true), optimizedSize(1, false));
  EXPECT_LT(optimizedSize(27, true), 5 * optimizedSize(1, true));
}

TEST(CodegenTest, KnowsForeignMachines) {
  auto generator = CodeGenerator::create(*makeTarget());
  ASSERT_TRUE(generator);
  const CodeGenerator &own = **generator;
  EXPECT_EQ(own.mismatch("", ""), "");
  EXPECT_EQ(own.mismatch("x86_64-unknown-linux-gnu", ""), "");
  EXPECT_EQ(own.mismatch("", "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-"
                             "f80:128-n8:16:32:64-S128"),
            ""); // What LLVM 17 wrote.
  EXPECT_NE(own.mismatch("aarch64-unknown-linux-gnu", "")
                .find("the module is for 'aarch64-unknown-linux-gnu'"),
            std::string::npos);
  EXPECT_NE(own.mismatch("x86_64-pc-windows-msvc", ""), "");
  EXPECT_NE(own.mismatch("", "E-m:e-i64:64-n32:64")
                .find("the module has the data layout 'E-m:e-i64:64-n32:64'"),
            std::string::npos);
  EXPECT_NE(own.mismatch("", "nonsense").find("invalid data layout"),
            std::string::npos);
}
#endif

class LinkTest : public testing::Test {
protected:
  /// Compiles LLVM IR.
  std::string object(const char *text) {
    llvm::LLVMContext context;
    llvm::SMDiagnostic diagnostic;
    auto module = llvm::parseAssemblyString(text, diagnostic, context);
    EXPECT_TRUE(module) << diagnostic.getMessage().str();
    auto generator = CodeGenerator::create(*makeTarget());
    EXPECT_TRUE(generator);
    (*generator)->prepare(*module);
    (*generator)->optimize(*module);
    auto bytes = (*generator)->emitObject(*module);
    EXPECT_TRUE(bytes);
    return *bytes;
  }
  Result<std::string> link(const char *text, const LinkOptions &options = {}) {
    std::string bytes = object(text);
    auto linker = Linker::create();
    EXPECT_TRUE(linker);
    return linker->link({llvm::StringRef(bytes)}, options);
  }
  static bool holds(const std::string &bytes, const char *text) {
    return bytes.find(text) != std::string::npos;
  }
};

constexpr const char callsOut[] = R"(
  declare double @exp(double)
  declare void @nobody_knows()
  define double @f(double %x) {
    call void @nobody_knows()
    %y = call double @exp(double %x)
    ret double %y
  })";

TEST_F(LinkTest, UndefinedSymbolsAreErrorsUnlessAllowed) {
  auto refused = link(callsOut);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(holds(refused.error().message, "undefined symbol: nobody_knows"))
      << refused.error().message;
  LinkOptions options;
  options.allowUndefined = true;
  auto allowed = link(callsOut, options);
  ASSERT_TRUE(allowed) << allowed.error().message;
  EXPECT_TRUE(holds(*allowed, "libm.so"));
}

TEST_F(LinkTest, NeedsLibrariesOnlyWhereTheyAreUsed) {
  auto bytes = link("define i32 @f() { ret i32 7 }");
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_FALSE(holds(*bytes, "libm.so"));
  EXPECT_FALSE(holds(*bytes, "libc.so"));
  EXPECT_TRUE(holds(*bytes, "kernel.so"));
}

TEST_F(LinkTest, EqualInputsGiveEqualBytes) {
  const char *text = "define i32 @f() { ret i32 7 }";
  auto first = link(text), second = link(text);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
}

TEST_F(LinkTest, RefusesWhatIsNoObject) {
  auto linker = Linker::create();
  ASSERT_TRUE(linker);
  EXPECT_FALSE(linker->link({llvm::StringRef("hello")}, {}));
}

TEST_F(LinkTest, KeepsTheCpuOfAFunctionThatHasOne) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(
      R"(define void @a() "target-cpu"="x86-64-v2" { ret void }
         define void @b() { ret void })",
      diagnostic, context);
  ASSERT_TRUE(module);
  auto target = makeTarget();
  auto generator = CodeGenerator::create(*target);
  (*generator)->prepare(*module);
  auto cpu = [&](const char *name) {
    return module->getFunction(name)
        ->getFnAttribute("target-cpu")
        .getValueAsString()
        .str();
  };
  EXPECT_EQ(cpu("a"), "x86-64-v2");
  EXPECT_EQ(cpu("b"), target->chip);
}
} // namespace
