//===- DeviceClusterTest.cpp - Clusters of blocks in artifacts ------------===//

#include "DeviceFixture.h"

using namespace kernelbrain;
using namespace kernelbrain::compile;

namespace {

/// Each block of a cluster writes what the next one has.
constexpr const char cluster[] = R"(
  func.func @scale(%x: memref<1024xf32>, %o: memref<1024xf32>) -> i32 {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c32, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1)
               workgroup(%w : memref<32xf32, #gpu.address_space<workgroup>>) {
      %rank = gpu.cluster_block_id x
      %blocks = gpu.cluster_dim_blocks x
      %number = gpu.cluster_id x
      %first = arith.muli %number, %blocks : index
      %block = arith.addi %first, %rank : index
      %past = arith.muli %block, %c32 : index
      %i = arith.addi %past, %tx : index
      %v = memref.load %x[%i] : memref<1024xf32>
      memref.store %v, %w[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
      nvvm.cluster.arrive {aligned}
      nvvm.cluster.wait {aligned}
      %next = arith.addi %rank, %c1 : index
      %other = arith.remui %next, %blocks : index
      %of = arith.index_cast %other : index to i32
      %a = memref.extract_aligned_pointer_as_index %w
         : memref<32xf32, #gpu.address_space<workgroup>> -> index
      %b = arith.index_cast %a : index to i64
      %mine = llvm.inttoptr %b : i64 to !llvm.ptr<3>
      %theirs = nvvm.mapa %mine, %of : !llvm.ptr<3> -> !llvm.ptr<7>
      %r = llvm.load %theirs : !llvm.ptr<7> -> f32
      memref.store %r, %o[%i] : memref<1024xf32>
      nvvm.cluster.arrive {aligned}
      nvvm.cluster.wait {aligned}
      gpu.terminator
    } {nvvm.cluster_dim = array<i32: 4, 1, 1>}
    %s = arith.constant 0 : i32
    return %s : i32
  })";

TEST_F(DeviceTest, ClustersAreAPropertyOfTheKernel) {
  BuiltVariant ptx = build(cluster, Output::AssemblyText);
  ASSERT_EQ(ptx.disposition, Disposition::Passed) << ptx.reason;
  for (const char *part :
       {".reqnctapercluster 4", "mapa.shared::cluster", "ld.shared::cluster",
        "%cluster_ctaid.x", "%cluster_nctaid.x", "%clusterid.x"})
    EXPECT_TRUE(holds(ptx.bytes, part)) << part << "\n" << ptx.bytes;
  BuiltVariant emulated = build(cluster, Output::LoweredText, emulatedChip);
  ASSERT_EQ(emulated.disposition, Disposition::Passed) << emulated.reason;
  EXPECT_TRUE(
      holds(emulated.bytes, "@kbemu_needs_scale_0(dense<[128, 4, 1, 1]>"))
      << emulated.bytes;
  EXPECT_EQ(build(cluster, Output::Artifact, emulatedChip).disposition,
            Disposition::Passed);
}

} // namespace
