//===- EmulatedLaunch.cpp - Device code on the host's CPU -----------------===//

#include "EmulatedLaunch.h"

#include "EmulatedBlock.h"
#include "kernelbrain/Core/Target.h"
#include "kernelbrain/Runtime/CudaDriver.h"

#include <csignal>
#include <cstdio>
#include <iterator>
#include <ucontext.h>

namespace kernelbrain::emulator {

const KbEmulator table = {
    [](int32_t which) { return Block::current->index(which); },
    [] { Block::current->barrier(); },
    [](int32_t mode, int32_t bits, int32_t operand, int32_t width,
       int32_t *valid) {
      return Block::current->shuffle(mode, bits, operand, width, valid);
    },
    [] { return Block::current->dynamicShared(); },
    [] { Block::current->fail(cuda::LaunchFailed); },
    [] { return Block::current->staticShared(); },
    [] { Block::current->clusterArrive(); },
    [] { Block::current->clusterWait(); },
    [](void *mine, int32_t rank) {
      return Block::current->clusterShared(mine, rank);
    },
};

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

namespace {

constexpr int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};

void failByAddress() { Block::current->fail(cuda::IllegalAddress); }
void failByTrap() { Block::current->fail(cuda::LaunchFailed); }

/// Lets the faulting thread go on in a function that ends the launch.
void onFault(int signal, siginfo_t *, void *context) {
  if (!Block::current) {
    ::signal(signal, SIG_DFL); // no device code: it faults again, and dies
    return;
  }
  bool isAddress = signal == SIGSEGV || signal == SIGBUS;
  greg_t *registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  registers[REG_RSP] = reinterpret_cast<greg_t>(Block::current->stackTop() - 8);
  registers[REG_RIP] =
      reinterpret_cast<greg_t>(isAddress ? &failByAddress : &failByTrap);
}

/// Catches faults on a stack of their own (a thread's may be used up) while it
/// lives.
class FaultHandlers {
public:
  FaultHandlers() {
    static char stack[64 << 10];
    stack_t own = {};
    own.ss_sp = stack;
    own.ss_size = sizeof stack;
    ::sigaltstack(&own, &stackBefore);
    struct sigaction action = {};
    action.sa_sigaction = onFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (size_t k = 0; k < std::size(signals); ++k)
      ::sigaction(signals[k], &action, &before[k]);
  }
  ~FaultHandlers() {
    for (size_t k = 0; k < std::size(signals); ++k)
      ::sigaction(signals[k], &before[k], nullptr);
    ::sigaltstack(&stackBefore, nullptr);
  }

private:
  struct sigaction before[std::size(signals)] = {};
  stack_t stackBefore = {};
};

} // namespace

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

static void explainDeadlock(const Cluster &cluster) {
  unsigned waiting[3] = {};
  for (const Block &block : cluster.blocks)
    block.countWaiting(waiting);
  std::fprintf(stderr,
               "emulated GPU: threads wait for each other for ever: of %u, %u "
               "at a barrier, %u in a shuffle and %u for the cluster\n",
               cluster.live, waiting[0], waiting[1], waiting[2]);
}

/// Runs the cluster of which a block is the first; false if the launch is to
/// end.
static bool runCluster(Cluster &cluster, const unsigned (&first)[3]) {
  const Launch &launch = cluster.launch;
  cluster.arrived = 0;
  cluster.live = unsigned(cluster.blocks.size()) * launch.block[0] *
                 launch.block[1] * launch.block[2];
  for (Block &block : cluster.blocks)
    if (!block.start(first)) {
      cluster.result.code = cuda::OutOfMemory;
      return false;
    }
  for (bool moves = true; moves;) {
    moves = false;
    for (Block &block : cluster.blocks)
      moves |= block.run();
  }
  if (cluster.result.code == 0 && cluster.live > 0) {
    explainDeadlock(cluster);
    cluster.result.code = cuda::LaunchFailed;
  }
  return cluster.result.code == 0;
}

int checkLaunch(const Launch &launch, const KbEmulatorNeeds &needs,
                size_t mostSharedBytes) {
  uint64_t threads = 1, blocks = 1;
  bool fits = true;
  for (int k = 0; k < 3; ++k) {
    unsigned size = launch.cluster[k], needed = unsigned(needs.cluster[k]);
    threads *= launch.block[k];
    blocks *= size;
    if (launch.grid[k] == 0 || (k > 0 && launch.grid[k] > 65535))
      return cuda::InvalidValue;
    fits &= size && launch.grid[k] % size == 0 && (!needed || size == needed);
  }
  int64_t most = makeCudaTarget(emulatedChip)->gpu->sharedBytesPerBlock;
  if (threads == 0 || threads > 1024 || launch.sharedBytes > mostSharedBytes ||
      int64_t(launch.staticBytes + launch.sharedBytes) > most)
    return cuda::InvalidValue;
  return fits && blocks <= 8 ? cuda::Success : cuda::InvalidClusterSize;
}

LaunchResult runLaunch(const Launch &launch) {
  FaultHandlers handlers;
  Cluster cluster(launch);
  const unsigned *size = launch.cluster;
  for (unsigned rank = 0; rank < size[0] * size[1] * size[2]; ++rank)
    cluster.blocks.emplace_back(cluster, rank);
  unsigned first[3];
  for (first[2] = 0; first[2] < launch.grid[2]; first[2] += size[2])
    for (first[1] = 0; first[1] < launch.grid[1]; first[1] += size[1])
      for (first[0] = 0; first[0] < launch.grid[0]; first[0] += size[0])
        if (!runCluster(cluster, first))
          return cluster.result;
  return cluster.result;
}

} // namespace kernelbrain::emulator
