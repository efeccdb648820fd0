//===- Runner.cpp - The process that variants run in ----------------------===//

#include "kernelbrain/Evaluate/Device/Runner.h"

#include "CudaDevice.h"
#include "DeviceProfiler.h"
#include "RunnerCalls.h"

#include "kernelbrain/Evaluate/Device/Sandbox.h"
#include "kernelbrain/Support/Frame.h"

#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kernelbrain::evaluate {

namespace {

constexpr int buffersFd = 3;

class Runner {
public:
  Runner(const RunnerOptions &options, int replies)
      : options(options), replies(replies) {}
  int serve();

private:
  struct Loaded {
    void *library = nullptr;
    int32_t (*invoke)(void **) = nullptr;
    bool onDevice = false; ///< it takes device pointers
  };

  Json answer(const Json &request);
  Json map(const Json &request);
  Json load(const Json &request);
  Json run(const Json &request);
  Json callFunction(const Json &request);
  Json time(const Json &request);
  Json profile(const Json &request);
  Status openDevice(const Json &forbidden, SandboxOptions &sandbox);
  /// The call of a kernel that `request` describes, for `slot`.
  Result<Call> kernelCall(const Json &request, size_t slot);
  Result<ProgramCall> programCall(const Json &request, size_t slot);
  Result<Loaded *> loaded(size_t slot);
  bool allocateWorkspace(size_t slot, int64_t size);

  const RunnerOptions &options;
  int replies;
  char *base = nullptr;
  int64_t bytes = 0;
  Loaded slots[2];
  std::unique_ptr<CudaDevice> device;
  std::optional<DeviceProfiler> profiler;
  void *workspaces[2] = {};
  int64_t workspaceBytes[2] = {};
};

} // namespace

Json failed(const std::string &reason) {
  return {{"type", "failed"}, {"reason", reason}};
}

/// Where kb-worker is installed with its libraries, and in a build tree.
static std::string runtimeLibrary() {
  char self[PATH_MAX];
  ssize_t length = ::readlink("/proc/self/exe", self, sizeof self);
  std::string path(self, size_t(std::max<ssize_t>(length, 0)));
  return path.substr(0, path.rfind('/') + 1) +
         "../lib/libKernelBrainCudaRuntime.so";
}

/// All that needs rights which the sandbox takes is done before.
Status Runner::openDevice(const Json &forbidden, SandboxOptions &sandbox) {
  Result<std::unique_ptr<CudaDevice>> opened = CudaDevice::open(options.device);
  if (!opened)
    return opened.error();
  device = std::move(*opened);
  if (!options.memcheck)
    if (Status status =
            device->mirror(base, forbidden.get<std::vector<int64_t>>());
        !status)
      return status;
  if (options.profile)
    profiler = DeviceProfiler::open(options.device);
  // Artifacts name it; one that is loaded is not looked for again. Where it is
  // not, they find their own.
  ::dlopen(runtimeLibrary().c_str(), RTLD_NOW | RTLD_LOCAL);
  sandbox.useGpu = true;
  sandbox.readable.push_back(device->driverFolder());
  // The driver reserves address space for all there is, has threads of its own,
  // and the emulated one loads its code from memory files.
  sandbox.addressSpaceBytes = 0;
  sandbox.allowThreads = true;
  sandbox.allowMemoryFiles = device->isEmulated();
  return {};
}

Json Runner::map(const Json &request) {
  bytes = getIntegerOr(request, "bytes", 0);
  void *mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_POPULATE, buffersFd, 0);
  if (mapped == MAP_FAILED)
    return failed("cannot map the shared buffers");
  base = static_cast<char *>(mapped);
  ::close(buffersFd);
  for (const Json &page : request["forbidden"])
    ::mprotect(base + page.get<int64_t>(), 4096, PROT_NONE);
  // Memory that was allocated once stays: a kernel that allocates must not be
  // timed together with the page faults of a fresh mapping.
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, INT_MAX);
  ::mallopt(M_TOP_PAD, 64 << 20);
  ::mallopt(M_ARENA_MAX, 1);
  SandboxOptions sandbox;
  sandbox.readable = options.readable;
  sandbox.addressSpaceBytes = options.addressSpaceBytes;
  sandbox.allowFork = options.allowFork;
  sandbox.allowThreads = options.threads > 1;
  if (options.device >= 0)
    if (Status status = openDevice(request["forbidden"], sandbox); !status)
      return failed(status.error().message);
  // The tool would have to be let out with everything it does.
  std::vector<std::string> measures;
  if (!options.memcheck)
    measures = enterSandbox(sandbox);
  return {{"type", "mapped"}, {"sandbox", measures}};
}

/// Kernels for GPUs do; programs are compared with their buffers on the host.
static bool takesDevicePointers(const char *text) {
  Result<Json> manifest = parseJson(text);
  return manifest && manifest->is_object() &&
         getStringOr(*manifest, "kind", "") == "kernel" &&
         getStringOr(manifest->value("target", Json::object()), "kind", "") ==
             "cuda";
}

Json Runner::load(const Json &request) {
  auto slot = size_t(getIntegerOr(request, "slot", 0));
  if (slot >= 2)
    return failed("no such slot");
  std::string path = getStringOr(request, "path", "");
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  // A program may call what its user's process defines: the functions that do
  // not get there can be called all the same.
  if (!library)
    library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library)
    return failed(::dlerror());
  auto *manifest = static_cast<const char *>(::dlsym(library, "kb_manifest"));
  if (!manifest)
    return failed("'" + path + "' has no symbol 'kb_manifest'");
  slots[slot].library = library;
  slots[slot].invoke =
      reinterpret_cast<int32_t (*)(void **)>(::dlsym(library, "kb_invoke"));
  bool onDevice = takesDevicePointers(manifest);
  // A workspace of the other memory is of no use.
  if (slots[slot].onDevice != onDevice)
    workspaceBytes[slot] = 0;
  slots[slot].onDevice = onDevice;
  if (slots[slot].onDevice && !device)
    return failed("'" + path + "' is for a GPU, which is not in use");
  return {{"type", "loaded"}, {"manifest", std::string(manifest)}};
}

Result<Runner::Loaded *> Runner::loaded(size_t slot) {
  if (slot >= 2 || !slots[slot].library)
    return Error{"nothing is loaded in that slot"};
  return &slots[slot];
}

/// A workspace ends, within its alignment, at a page that cannot be touched,
/// and follows another one.
bool Runner::allocateWorkspace(size_t slot, int64_t size) {
  if (slots[slot].onDevice) {
    device->release(workspaces[slot]);
    workspaces[slot] = device->allocate(size);
    workspaceBytes[slot] = size;
    return workspaces[slot];
  }
  constexpr int64_t page = 4096, alignment = 64;
  int64_t room = (size + page - 1) / page * page;
  void *mapped = ::mmap(nullptr, room + 2 * page, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return false;
  char *first = static_cast<char *>(mapped) + page;
  if (::mprotect(first, room, PROT_READ | PROT_WRITE) != 0)
    return false;
  // The old one stays mapped: a call that was made before may name it.
  workspaces[slot] =
      first + room - (size + alignment - 1) / alignment * alignment;
  workspaceBytes[slot] = size;
  return true;
}

Result<Call> Runner::kernelCall(const Json &request, size_t slot) {
  Result<Loaded *> artifact = loaded(slot);
  if (!artifact)
    return artifact.error();
  if (!(*artifact)->invoke)
    return Error{"the artifact has no symbol 'kb_invoke'"};
  bool onDevice = (*artifact)->onDevice;
  if (onDevice && options.memcheck)
    if (Status status = device->mirrorExactly(
            base, request["offsets"].get<std::vector<int64_t>>(),
            request["bytes"].get<std::vector<int64_t>>());
        !status)
      return status.error();
  std::vector<void *> words;
  for (const Json &json : request["offsets"]) {
    auto offset = json.get<int64_t>();
    words.push_back(onDevice ? device->address(offset) : base + offset);
  }
  for (const Json &extent : request["dims"])
    words.push_back(reinterpret_cast<void *>(extent.get<int64_t>()));
  int64_t size = request["workspace"].at(slot).get<int64_t>();
  if (size != workspaceBytes[slot] && !allocateWorkspace(slot, size))
    return Error{"cannot allocate the workspace"};
  int poison = int(getIntegerOr(request, "poison", 255));
  if (size > 0 && onDevice)
    device->fill(workspaces[slot], poison, size);
  else if (size > 0)
    std::memset(workspaces[slot], poison, size);
  words.push_back(size > 0 ? workspaces[slot] : nullptr);
  words.push_back(nullptr); // the stream
  auto *invoke = (*artifact)->invoke;
  // The callee gets a copy: it must not change the words of the next call.
  return Call([words, invoke, scratch = words]() mutable {
    scratch = words;
    return invoke(scratch.data());
  });
}

Json Runner::run(const Json &request) {
  auto slot = size_t(getIntegerOr(request, "slot", 0));
  Result<Call> call = kernelCall(request, slot);
  if (!call)
    return failed(call.error().message);
  if (slots[slot].onDevice)
    return runOnDevice(request, *call, *device);
  if (getBoolOr(request, "fork", false))
    return runInChild(*call);
  return ran(measure(*call, 1), 0);
}

Result<ProgramCall> Runner::programCall(const Json &request, size_t slot) {
  Result<Loaded *> artifact = loaded(slot);
  if (!artifact)
    return artifact.error();
  std::string name = "_mlir_ciface_" + getStringOr(request, "function", "");
  void *address = ::dlsym((*artifact)->library, name.c_str());
  if (!address)
    return Error{"the program has no symbol '" + name + "'"};
  return ProgramCall::create(request, address, base, bytes);
}

Json Runner::callFunction(const Json &request) {
  Result<ProgramCall> call =
      programCall(request, size_t(getIntegerOr(request, "slot", 0)));
  if (!call)
    return failed(call.error().message);
  call->call(/*keep=*/true);
  Result<Json> results = call->takeResults(
      base, getIntegerOr(request, "area", 0), getIntegerOr(request, "room", 0));
  if (!results)
    return failed(results.error().message);
  return {{"type", "called"}, {"results", *results}};
}

Json Runner::time(const Json &request) {
  if (request.contains("function")) {
    Result<ProgramCall> a = programCall(request, 0),
                        b = programCall(request, 1);
    if (!a || !b)
      return failed((a ? b : a).error().message);
    Call calls[2] = {[&a] { return a->call(false); },
                     [&b] { return b->call(false); }};
    return timePairs(request, calls);
  }
  Result<Call> a = kernelCall(request, 0), b = kernelCall(request, 1);
  if (!a || !b)
    return failed((a ? b : a).error().message);
  Call calls[2] = {*a, *b};
  if (slots[0].onDevice != slots[1].onDevice)
    return failed("one artifact is for a GPU, the other is not");
  return slots[0].onDevice ? timePairsOnDevice(request, calls, *device)
                           : timePairs(request, calls);
}

Json Runner::profile(const Json &request) {
  auto slot = size_t(getIntegerOr(request, "slot", 0));
  Result<Call> call = kernelCall(request, slot);
  if (!call)
    return failed(call.error().message);
  if (!profiler || !slots[slot].onDevice)
    return failed("this runner reads no counters");
  Result<Profile> profile = profiler->profile(request, *call, *device);
  if (!profile)
    return failed(profile.error().message);
  return {{"type", "profiled"}, {"profile", toJson(*profile)}};
}

Json Runner::answer(const Json &request) {
  std::string type = getStringOr(request, "type", "");
  if (type == "map")
    return map(request);
  if (!base)
    return failed("no buffers are mapped");
  if (type == "load")
    return load(request);
  if (type == "run")
    return run(request);
  if (type == "fetch" && device)
    return fetchArguments(request, *device);
  if (type == "call")
    return callFunction(request);
  if (type == "time")
    return time(request);
  if (type == "profile")
    return profile(request);
  return failed("unknown request '" + type + "'");
}

int Runner::serve() {
  for (;;) {
    Result<std::optional<Frame>> frame = readFrame(0);
    if (!frame || !*frame)
      return frame ? 0 : 1;
    if (!writeFrame(replies, {answer((*frame)->message), ""}))
      return 1;
  }
}

int serveRunner(const RunnerOptions &options) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A sanitizer's handlers would turn a crash into an exit.
  for (int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP})
    ::signal(fault, SIG_DFL);
  // Code that prints (a failing cf.assert does) must not write into replies.
  int replies = ::fcntl(1, F_DUPFD_CLOEXEC, 10);
  int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (replies < 0 || null < 0 || ::dup2(null, 1) < 0 || ::dup2(null, 2) < 0)
    return 1;
  Runner runner(options, replies);
  // Code that was loaded may have registered exit handlers: run none.
  ::_exit(runner.serve());
}

} // namespace kernelbrain::evaluate
