//===- DeviceTest.cpp - Launches to artifacts -----------------------------===//

#include "DeviceFixture.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

using namespace kernelbrain;
using namespace kernelbrain::compile;

namespace {
constexpr const char scale[] = R"(
  func.func @scale(%x: memref<1024xf32>, %o: memref<1024xf32>) -> i32 {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c128 = arith.constant 128 : index
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c128, %sy = %c1, %sz = %c1) {
      %t = arith.muli %bx, %c128 : index
      %u = arith.addi %t, %tx : index
      %i = arith.muli %u, %c4 : index
      %v = vector.load %x[%i] {alignment = 16} : memref<1024xf32>, vector<4xf32>
      %e = math.exp2 %v fastmath<afn> : vector<4xf32>
      vector.store %e, %o[%i] {alignment = 16} : memref<1024xf32>, vector<4xf32>
      gpu.terminator
    } {nvvm.minctasm = 4 : i32}
    %s = arith.constant 0 : i32
    return %s : i32
  })";

/// The line in which a function of the LLVM dialect begins.
llvm::StringRef headOf(const std::string &text, const std::string &name) {
  return llvm::StringRef(text)
      .split("llvm.func @" + name + "(")
      .second.split('\n')
      .first;
}

TEST_F(DeviceTest, ALaunchBecomesPtx) {
  BuiltVariant built = build(scale, Output::AssemblyText);
  ASSERT_EQ(built.disposition, Disposition::Passed) << built.reason;
  for (const char *part :
       {".entry scale_0(", ".reqntid 128", ".minnctapersm 4", "ld.global.nc.v4",
        "st.global.v4", "ex2.approx.ftz.f32"})
    EXPECT_TRUE(holds(built.bytes, part)) << part << "\n" << built.bytes;
}

/// `text` with each `from` replaced.
std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

TEST_F(DeviceTest, NontemporalLoadsLeaveTheCacheAlone) {
  std::string marked = replaced(scale, "vector.load %x[%i] {alignment = 16}",
                                "vector.load %x[%i] {alignment = 16, "
                                "nontemporal = true}");
  BuiltVariant built = build(marked, Output::AssemblyText);
  ASSERT_EQ(built.disposition, Disposition::Passed) << built.reason;
  EXPECT_TRUE(holds(built.bytes, "ld.global.cs.v4.b32")) << built.bytes;
  EXPECT_FALSE(holds(built.bytes, "ld.global.nc")) << built.bytes;
  // Three elements are no whole instruction, and may be misaligned.
  for (const auto &[from, to] : {std::pair("vector<4xf32>", "vector<3xf32>"),
                                 std::pair("alignment = 16, nontemporal",
                                           "alignment = 8, nontemporal")}) {
    BuiltVariant other =
        build(replaced(marked, from, to), Output::AssemblyText);
    ASSERT_EQ(other.disposition, Disposition::Passed) << other.reason;
    EXPECT_FALSE(holds(other.bytes, "ld.global.cs")) << other.bytes;
  }
  EXPECT_EQ(build(marked, Output::Artifact, "emulated").disposition,
            Disposition::Passed);
}

TEST_F(DeviceTest, AnArtifactHoldsItsImageAndTellsOfItsLaunches) {
  BuiltVariant built = build(scale, Output::Artifact);
  ASSERT_EQ(built.disposition, Disposition::Passed) << built.reason;
  EXPECT_TRUE(holds(built.bytes, "libKernelBrainCudaRuntime.so"));
  ASSERT_EQ(built.manifest.libraries,
            std::vector<std::string>{"libKernelBrainCudaRuntime.so"});
  ASSERT_EQ(built.manifest.launches.size(), 1u);
  const Json &launch = built.manifest.launches[0];
  EXPECT_EQ(launch["function"], "scale_0");
  EXPECT_EQ(launch["grid"], Json({2, 1, 1}));
  EXPECT_EQ(launch["block"], Json({128, 1, 1}));
}

TEST_F(DeviceTest, ChecksOfAccessesEndTheLaunch) {
  BuiltVariant text = build(scale, Output::VerifiedText);
  ASSERT_EQ(text.disposition, Disposition::Passed) << text.reason;
  EXPECT_TRUE(holds(text.bytes, "llvm.intr.trap"));
  for (const char *chip : {"sm_90a", "emulated"}) {
    BuiltVariant built = build(scale, Output::Verified, chip);
    EXPECT_EQ(built.disposition, Disposition::Passed) << built.reason;
  }
}

TEST_F(DeviceTest, EqualRecipesGiveEqualBytes) {
  for (const char *chip : {"sm_90a", "emulated"}) {
    BuiltVariant first = build(scale, Output::Artifact, chip);
    BuiltVariant second = build(scale, Output::Artifact, chip);
    EXPECT_EQ(first.bytes, second.bytes);
    EXPECT_EQ(first.manifest.irHash, second.manifest.irHash);
  }
}

/// A block of 32 threads with `bytes` of workgroup memory.
std::string withWorkgroupMemory(int64_t bytes) {
  std::string type = "memref<" + std::to_string(bytes / 4) +
                     "xf32, #gpu.address_space<workgroup>>";
  return R"(
  func.func @scale(%x: memref<1024xf32>, %o: memref<1024xf32>) -> i32 {
    %c1 = arith.constant 1 : index
    %c31 = arith.constant 31 : index
    %c32 = arith.constant 32 : index
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1)
               workgroup(%w : )" +
         type + R"() {
      %v = memref.load %x[%tx] : memref<1024xf32>
      memref.store %v, %w[%tx] : )" +
         type + R"(
      gpu.barrier
      %u = arith.subi %c31, %tx : index
      %r = memref.load %w[%u] : )" +
         type + R"(
      memref.store %r, %o[%tx] : memref<1024xf32>
      gpu.terminator
    }
    %s = arith.constant 0 : i32
    return %s : i32
  })";
}

TEST_F(DeviceTest, WorkgroupMemoryIsBoundedByTheChip) {
  EXPECT_EQ(build(withWorkgroupMemory(40 << 10), Output::Artifact, "sm_80")
                .disposition,
            Disposition::Passed);
  BuiltVariant refused =
      build(withWorkgroupMemory(64 << 10), Output::Artifact, "sm_80");
  EXPECT_EQ(refused.disposition, Disposition::OutOfResources);
  EXPECT_EQ(refused.reason, "a block has 65536 bytes of workgroup memory, more "
                            "than 49152");
  EXPECT_EQ(build(withWorkgroupMemory(64 << 10), Output::Artifact, "sm_120")
                .disposition,
            Disposition::OutOfResources);
  EXPECT_EQ(build(withWorkgroupMemory(200 << 10), Output::Artifact, "sm_90a")
                .disposition,
            Disposition::Passed);
  EXPECT_EQ(build(withWorkgroupMemory(228 << 10), Output::Artifact, "sm_90a")
                .disposition,
            Disposition::OutOfResources);
}

TEST_F(DeviceTest, TheEmulatedGpuHasTheTableOfItsLoader) {
  BuiltVariant built =
      build(withWorkgroupMemory(128), Output::Artifact, "emulated");
  ASSERT_EQ(built.disposition, Disposition::Passed) << built.reason;
  EXPECT_TRUE(holds(built.bytes, "kbemu_table"));
  EXPECT_TRUE(holds(built.bytes, "scale_0"));
  EXPECT_TRUE(holds(built.bytes, "kbemu_needs_scale_0"));
}

/// Two pointers into one buffer, and one into another.
constexpr const char aliases[] = R"(
  func.func @scale(%x: memref<1024xf32>, %o: memref<1024xf32>) -> i32 {
    %c1 = arith.constant 1 : index
    %low = memref.subview %o[0] [512] [1] : memref<1024xf32> to memref<512xf32>
    %high = memref.subview %o[512] [512] [1]
          : memref<1024xf32> to memref<512xf32, strided<[1], offset: 512>>
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
      %v = memref.load %x[%tx] : memref<1024xf32>
      memref.store %v, %low[%tx] : memref<512xf32>
      memref.store %v, %high[%tx] : memref<512xf32, strided<[1], offset: 512>>
      gpu.terminator
    }
    %s = arith.constant 0 : i32
    return %s : i32
  })";

TEST_F(DeviceTest, PointersIntoOneBufferMayMeet) {
  BuiltVariant built = build(aliases, Output::LoweredText);
  ASSERT_EQ(built.disposition, Disposition::Passed) << built.reason;
  llvm::StringRef head = headOf(built.bytes, "scale_0");
  EXPECT_EQ(head.count("llvm.noalias"), 1u) << head.str();
  EXPECT_EQ(head.count("llvm.readonly"), 1u) << head.str();
}

TEST_F(DeviceTest, PartsOfTheWorkspaceDoNotMeet) {
  auto noAlias = [&](const char *secondOffset) {
    BuiltVariant built = build(std::string(R"(
  func.func @scale(%x: memref<1024xf32>, %o: memref<1024xf32>,
                   %w: memref<8192xi8>) -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %at = arith.constant )") + secondOffset +
                                   R"( : index
    %a = memref.view %w[%c0][] : memref<8192xi8> to memref<1024xf32>
    %b = memref.view %w[%at][] : memref<8192xi8> to memref<1024xf32>
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
      %v = memref.load %a[%tx] : memref<1024xf32>
      memref.store %v, %b[%tx] : memref<1024xf32>
      gpu.terminator
    }
    %s = arith.constant 0 : i32
    return %s : i32
  })",
                               Output::LoweredText, "sm_90a", 8192);
    EXPECT_EQ(built.disposition, Disposition::Passed) << built.reason;
    return headOf(built.bytes, "scale_0").count("llvm.noalias");
  };
  EXPECT_EQ(noAlias("4096"), 2u);
  EXPECT_EQ(noAlias("4092"), 0u);
}

TEST_F(DeviceTest, RefusesGridsThatNoGpuHas) {
  BuiltVariant built = build(R"(
  func.func @scale(%x: memref<1024xf32>, %o: memref<1024xf32>) -> i32 {
    %s = arith.constant 0 : i32
    %c1 = arith.constant 1 : index
    %large = arith.constant 3000000000 : index
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %large, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
      gpu.terminator
    }
    return %s : i32
  })",
                             Output::Artifact);
  EXPECT_EQ(built.disposition, Disposition::BuildFailed);
  EXPECT_EQ(built.reason, "launch of 'scale_0' with a size of 3000000000");
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

constexpr const char callsErf[] = R"(
  declare float @__nv_erff(float)
  define ptx_kernel void @k(ptr %p) {
    %x = load float, ptr %p
    %y = call float @__nv_erff(float %x)
    store float %y, ptr %p
    ret void
  })";

class DeviceCodeTest : public testing::Test {
protected:
  void make(const char *chip, CudaToolkit toolkit) {
    auto made =
        DeviceCodeGenerator::create(*makeCudaTarget(chip), std::move(toolkit));
    ASSERT_TRUE(made) << made.error().message;
    generator = std::move(*made);
  }
  std::unique_ptr<llvm::Module> parse(const char *text) {
    llvm::SMDiagnostic diagnostic;
    return llvm::parseAssemblyString(text, diagnostic, context);
  }

  llvm::LLVMContext context;
  std::unique_ptr<DeviceCodeGenerator> generator;
};

TEST_F(DeviceCodeTest, WithoutAToolkitTheImageIsPtx) {
  make("sm_120", {});
  auto module = parse("define ptx_kernel void @k() { ret void }");
  ASSERT_TRUE(generator->link(*module));
  auto ptx = generator->emitPtx(*module);
  ASSERT_TRUE(ptx);
  EXPECT_TRUE(holds(*ptx, ".version 8.7\n.target sm_120")) << *ptx;
  DeviceImage image = generator->assemble(*ptx);
  EXPECT_EQ(image.disposition, Disposition::Passed);
  EXPECT_EQ(image.bytes, *ptx + '\0');
}

TEST_F(DeviceCodeTest, EveryChipHasAPtxThatKnowsIt) {
  for (const std::string &chip : cudaChips()) {
    if (chip == emulatedChip)
      continue;
    make(chip.c_str(), {});
    auto module = parse("define ptx_kernel void @k() { ret void }");
    ASSERT_TRUE(generator->link(*module));
    auto ptx = generator->emitPtx(*module);
    ASSERT_TRUE(ptx) << chip;
    EXPECT_TRUE(holds(*ptx, (".target " + chip).c_str())) << *ptx;
    if (chip == "sm_103a" || chip == "sm_121")
      EXPECT_TRUE(holds(*ptx, ".version 8.8")) << *ptx;
  }
}

TEST_F(DeviceCodeTest, OnlyWhatNeedsLibdeviceMissesIt) {
  make("sm_90a", {});
  auto module = parse(callsErf);
  Status linked = generator->link(*module);
  ASSERT_FALSE(linked);
  EXPECT_TRUE(holds(linked.error().message,
                    "'__nv_erff' is in NVIDIA's libdevice, which is neither"))
      << linked.error().message;
  CudaToolkit toolkit = CudaToolkit::find();
  if (toolkit.libdevice.empty())
    GTEST_SKIP() << "no libdevice";
  make("sm_90a", std::move(toolkit));
  EXPECT_TRUE(generator->link(*module));
}

TEST_F(DeviceCodeTest, PtxasIsStoppedAndItsErrorsAreData) {
  make("sm_90a", CudaToolkit::find());
  if (generator->assembler().empty())
    GTEST_SKIP() << "no ptxas";
  auto module = parse("define ptx_kernel void @k() { ret void }");
  ASSERT_TRUE(generator->link(*module));
  auto ptx = generator->emitPtx(*module);
  ASSERT_TRUE(ptx);
  EXPECT_EQ(generator->assemble(*ptx, 0).disposition, Disposition::TimedOut);
  DeviceImage image = generator->assemble(*ptx);
  ASSERT_EQ(image.disposition, Disposition::Passed) << image.reason;
  EXPECT_TRUE(llvm::StringRef(image.bytes)
                  .starts_with("\x7f"
                               "ELF"));
  EXPECT_TRUE(image.functions.contains("k"));
  image = generator->assemble("nonsense");
  EXPECT_EQ(image.disposition, Disposition::BuildFailed);
  EXPECT_TRUE(holds(image.reason, "Missing .version directive"))
      << image.reason;
}

TEST(PtxasReportTest, NumbersOfEachFunction) {
  Json functions = parsePtxasReport(R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'a' for 'sm_90a'
ptxas info    : Function properties for a
    16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 16 bytes cumulative stack size, 4224 bytes smem
ptxas info    : Compiling entry function 'b' for 'sm_90a'
ptxas info    : Function properties for b
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
)");
  EXPECT_EQ(functions["a"], (Json{{"registers", 64},
                                  {"shared_bytes", 4224},
                                  {"spill_bytes", 32},
                                  {"stack_bytes", 16}}));
  EXPECT_EQ(functions["b"]["registers"], 8);
  EXPECT_EQ(functions["b"]["spill_bytes"], 0);
}

TEST(PtxasReportTest, LossesOfWhatTheCodeIsAbout) {
  EXPECT_EQ(findLoss("ptxas info : (C7509) other\n"), "");
  EXPECT_EQ(findLoss("ptxas info : x\nptxas info : (C7510) Potential "
                     "Performance Loss: wgmma.mma_async\n"),
            "ptxas info : (C7510) Potential Performance Loss: wgmma.mma_async");
}
} // namespace
