//===- FaultServer.cpp - kb-compile --serve with bad strategies -----------===//
//
//   kb-compile-faults [DEADLINE-MS [MEMORY-BYTES [JOBS [CHIP]]]]
//
// CHIP is a GPU's name; without one, it builds for this CPU.
// The strategy `fault` does, when it writes code, what its knob `kind` says;
// `never` applies to nothing.
//
//===----------------------------------------------------------------------===//

#include "kernelbrain/Compile/HostTarget.h"
#include "kernelbrain/Compile/Server.h"
#include "llvm/Support/ErrorHandling.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace kernelbrain;
using namespace kernelbrain::compile;
using namespace mlir;

static volatile int sink;
static char *volatile kept; ///< allocations that nobody reads may be left out

// Not a tail call, not foldable: every level keeps its frame.
static int recurse(int depth) {
  volatile char frame[256];
  frame[depth & 255] = static_cast<char>(depth);
  if (depth < 0)
    return 0;
  return recurse(depth + 1) + frame[(depth * 7) & 255];
}

/// What a process without rights reports for each attempt.
static std::string tryEverything() {
  std::string report;
  auto attempt = [&](const char *what, long result) {
    report += std::string(report.empty() ? "" : " ") + what + '=' +
              (result < 0 ? strerrorname_np(errno) : "ok");
  };
  attempt("read", open("/etc/passwd", O_RDONLY));
  attempt("write", open("/tmp/kb-compile-faults", O_CREAT | O_WRONLY, 0600));
  attempt("socket", socket(AF_INET, SOCK_STREAM, 0));
  attempt("kill", kill(getppid(), 0));
  pid_t copy = fork();
  if (copy == 0)
    _exit(0);
  attempt("fork", copy);
  char *none[] = {nullptr};
  attempt("exec", execve("/bin/true", none, none));
  return report;
}

static void misbehave(const std::string &kind, kb::KernelOp kernel) {
  if (kind == "abort")
    abort();
  if (kind == "null-write")
    *reinterpret_cast<volatile int *>(8) = 1;
  if (kind == "stack")
    sink = recurse(0);
  if (kind == "memory")
    while (true)
      kept = new char[1 << 20];
  if (kind == "malloc")
    while (true)
      memset(kept = static_cast<char *>(malloc(1 << 20)), 1, 1 << 20);
  if (kind == "exit-0")
    _exit(0);
  if (kind == "exit-1")
    exit(1);
  if (kind == "fatal")
    llvm::report_fatal_error("no such instruction");
  if (kind == "closes-and-loops")
    for (int fd = 3; fd < 64; ++fd)
      close(fd);
  if (kind == "loop" || kind == "closes-and-loops")
    while (true)
      sink = 1;
  if (kind == "attacks")
    kernel.emitError(tryEverything());
}

namespace {
class FaultMatch : public strategy::Match {
public:
  using Match::Match;
  Estimate estimate(const Recipe &recipe) const override {
    Estimate estimate;
    if (kindOf(recipe) == "early")
      abort();
    if (kindOf(recipe) == "rejected")
      estimate.rejection = "40 accumulators need more than 32 registers";
    return estimate;
  }

private:
  SearchSpace makeSpace() const override {
    Knob kind;
    kind.name = "kind";
    for (const char *value :
         {"abort", "null-write", "stack", "memory", "malloc", "exit-0",
          "exit-1", "fatal", "loop", "closes-and-loops", "attacks", "early",
          "rejected", "wide", "long", "invalid"})
      kind.values.push_back(value);
    SearchSpace space;
    space.knobs.push_back(kind);
    return space;
  }
  FailureOr<strategy::Instance> write(const Recipe &recipe,
                                      ModuleOp module) const override {
    std::string kind = kindOf(recipe);
    misbehave(kind, getKernel());
    if (kind != "wide" && kind != "long" && kind != "invalid")
      return failure();
    return makeFunction(kind, getKernel(), module);
  }

  static std::string kindOf(const Recipe &recipe) {
    return std::get<std::string>(recipe.knobs.at("kind"));
  }
  static FailureOr<strategy::Instance>
  makeFunction(const std::string &kind, kb::KernelOp kernel, ModuleOp module);
};
} // namespace

/// A kernel of the right signature with too wide vectors, too many operations,
/// or an operation that nothing lowers.
FailureOr<strategy::Instance> FaultMatch::makeFunction(const std::string &kind,
                                                       kb::KernelOp kernel,
                                                       ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = kernel.getLoc();
  SmallVector<Type> types;
  for (Type type : kernel.getBody().getArgumentTypes())
    types.push_back(MemRefType::get(cast<ShapedType>(type).getShape(),
                                    cast<ShapedType>(type).getElementType()));
  auto function = func::FuncOp::create(
      builder, loc, kernel.getSymName(),
      builder.getFunctionType(types, {builder.getI32Type()}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  Value out = function.getArguments().back();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Type element = cast<ShapedType>(out.getType()).getElementType();
  if (kind == "wide") {
    auto wide = VectorType::get({64, 128}, element);
    Value value =
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(wide));
    vector::StoreOp::create(builder, loc, value, out, ValueRange{zero, zero});
  }
  for (int count = 0; kind == "long" && count < 30000; ++count) {
    Value value =
        memref::LoadOp::create(builder, loc, out, ValueRange{zero, zero});
    memref::StoreOp::create(builder, loc, value, out, ValueRange{zero, zero});
  }
  if (kind == "invalid") {
    Value tensor =
        tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>{4}, element);
    Value value =
        tensor::ExtractOp::create(builder, loc, tensor, ValueRange{zero});
    memref::StoreOp::create(builder, loc, value, out, ValueRange{zero, zero});
  }
  Value ok =
      arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  func::ReturnOp::create(builder, loc, ok);
  strategy::Instance instance;
  instance.function = function;
  return instance;
}

int main(int argc, char **argv) {
  ServerOptions options;
  if (argc > 1)
    options.deadlineMs = atoll(argv[1]);
  if (argc > 2)
    options.memoryLimitBytes = atoll(argv[2]);
  if (argc > 3)
    options.jobs = atoi(argv[3]);
  auto target = argc > 4 ? makeCudaTarget(argv[4]) : makeTarget();
  const strategy::Strategy strategies[] = {
      {"fault", "1", target->kind,
       [](kb::KernelOp kernel, const Target &target, std::string &) {
         return std::make_unique<FaultMatch>(kernel, target);
       }},
      {"never", "1", target->kind,
       [](kb::KernelOp, const Target &, std::string &mismatch) {
         mismatch = "the moon is full";
         return nullptr;
       }}};
  auto toolchain = Toolchain::create(*target, strategies);
  DialectRegistry registry;
  registerCompileDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  preloadDialects(context);
  _exit(serve(STDIN_FILENO, STDOUT_FILENO, options, *toolchain, "faults",
              context));
}
