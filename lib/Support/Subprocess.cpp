//===- Subprocess.cpp - Child processes -----------------------------------===//

#include "kernelbrain/Support/Subprocess.h"

#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <set>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace kernelbrain {

//===----------------------------------------------------------------------===//
// Starting
//===----------------------------------------------------------------------===//

std::vector<std::string> scrubbedEnvironment() {
  static const std::set<std::string> kept = {
      // a user's, and what ssh and srun in front of a worker need
      "PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "LD_LIBRARY_PATH",
      "SSH_AUTH_SOCK",
      // the toolkit, GPUs and their driver
      "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",
      "KB_CUDA_DRIVER", "KB_COMPUTE_SANITIZER", "KB_CUPTI",
      "KB_EMULATED_DEVICES",
      // sanitizers
      "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS"};
  std::vector<std::string> environment;
  for (char **entry = environ; *entry; ++entry) {
    std::string text = *entry;
    if (kept.count(text.substr(0, text.find('='))) ||
        text.rfind("SLURM_", 0) == 0)
      environment.push_back(std::move(text));
  }
  return environment;
}

namespace {
/// Closes a descriptor once and marks it closed.
void closeFd(int &fd) {
  if (fd >= 0)
    ::close(fd);
  fd = -1;
}

/// A pipe whose ends are close-on-exec and above 2: a parent without standard
/// streams would otherwise get ends that the child's dup2 calls overwrite.
struct Pipe {
  int read = -1, write = -1;
  ~Pipe() {
    closeFd(read);
    closeFd(write);
  }
  bool open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      return false;
    read = raise(ends[0]);
    write = raise(ends[1]);
    return read >= 0 && write >= 0;
  }

private:
  static int raise(int fd) {
    if (fd > 2)
      return fd;
    int raised = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    ::close(fd);
    return raised;
  }
};

struct SpawnSettings {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

std::vector<char *> pointers(const std::vector<std::string> &texts) {
  std::vector<char *> result;
  for (const std::string &text : texts)
    result.push_back(const_cast<char *>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

void prepare(SpawnSettings &settings, const Pipe &input, const Pipe &output,
             const SubprocessOptions &options) {
  posix_spawn_file_actions_adddup2(&settings.actions, input.read, 0);
  posix_spawn_file_actions_adddup2(&settings.actions, output.write, 1);
  if (options.mergeStderr)
    posix_spawn_file_actions_adddup2(&settings.actions, output.write, 2);
  else if (!options.inheritStderr)
    posix_spawn_file_actions_addopen(&settings.actions, 2, "/dev/null",
                                     O_WRONLY, 0);
  bool inherits = options.inherited >= 0;
  if (inherits)
    posix_spawn_file_actions_adddup2(&settings.actions, options.inherited, 3);
  // A host that loads the plugin may hold descriptors without close-on-exec.
  posix_spawn_file_actions_addclosefrom_np(&settings.actions, inherits ? 4 : 3);
  // Ignored signals stay ignored over exec, so give the child the defaults.
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD})
    sigaddset(&defaults, signal);
  posix_spawnattr_setsigmask(&settings.attributes, &none);
  posix_spawnattr_setsigdefault(&settings.attributes, &defaults);
  posix_spawnattr_setpgroup(&settings.attributes, 0);
  int group = options.sharesGroup ? 0 : POSIX_SPAWN_SETPGROUP;
  posix_spawnattr_setflags(&settings.attributes,
                           static_cast<short>(group | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF));
}
} // namespace

Result<Subprocess> Subprocess::start(const SubprocessOptions &options) {
  if (options.arguments.empty())
    return Error{"no program to start"};
  const std::string &program = options.arguments.front();
  auto failure = [&](int code) {
    return Error{"cannot start '" + program + "': " + std::strerror(code)};
  };
  Pipe input, output;
  if (!input.open() || !output.open())
    return failure(errno);
  SpawnSettings settings;
  prepare(settings, input, output, options);
  std::vector<std::string> environment =
      options.environment.empty() ? scrubbedEnvironment() : options.environment;
  Subprocess process;
  if (int code =
          posix_spawn(&process.child, program.c_str(), &settings.actions,
                      &settings.attributes, pointers(options.arguments).data(),
                      pointers(environment).data())) {
    process.child = -1;
    return failure(code);
  }
  process.signalled = options.sharesGroup ? process.child : -process.child;
  process.toChild = std::exchange(input.write, -1);
  process.fromChild = std::exchange(output.read, -1);
  // Cannot name another process: the child is not reaped before this.
  process.pidfd =
      static_cast<int>(::syscall(SYS_pidfd_open, process.child, 0u));
  if (process.pidfd < 0)
    return failure(errno);
  return process;
}

//===----------------------------------------------------------------------===//
// Ending
//===----------------------------------------------------------------------===//

Subprocess::Subprocess(Subprocess &&other) noexcept
    : child(std::exchange(other.child, -1)), signalled(other.signalled),
      toChild(std::exchange(other.toChild, -1)),
      fromChild(std::exchange(other.fromChild, -1)),
      pidfd(std::exchange(other.pidfd, -1)), ended(std::move(other.ended)) {}

Subprocess &Subprocess::operator=(Subprocess &&other) noexcept {
  std::swap(child, other.child);
  std::swap(signalled, other.signalled);
  std::swap(toChild, other.toChild);
  std::swap(fromChild, other.fromChild);
  std::swap(pidfd, other.pidfd);
  std::swap(ended, other.ended);
  return *this;
}

Subprocess::~Subprocess() {
  kill();
  closeFd(toChild);
  closeFd(fromChild);
  closeFd(pidfd);
}

void Subprocess::closeInput() { closeFd(toChild); }

void Subprocess::signalGroup(int signal) {
  if (child > 0 && !ended)
    ::kill(signalled, signal);
}

void Subprocess::kill() {
  if (child <= 0 || ended)
    return;
  signalGroup(SIGKILL);
  wait(-1);
}

static std::string describeEnd(const siginfo_t &info) {
  if (info.si_code == CLD_EXITED)
    return info.si_status == 0
               ? std::string()
               : "exit status " + std::to_string(info.si_status);
  const char *name = sigdescr_np(info.si_status);
  return "signal " + std::to_string(info.si_status) + " (" +
         (name ? name : "unknown") + ")";
}

/// Polls `fd` for input until `milliseconds` have passed (-1: for ever).
static bool waitReadable(int fd, int milliseconds) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point deadline =
      Clock::now() + std::chrono::milliseconds(milliseconds);
  for (;;) {
    int left = milliseconds;
    if (milliseconds > 0)
      left = static_cast<int>(std::max<int64_t>(
          0,
          std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now())
              .count()));
    pollfd entry{fd, POLLIN, 0};
    int count = ::poll(&entry, 1, left);
    if (count > 0)
      return true;
    if (count == 0 || errno != EINTR)
      return false;
  }
}

std::optional<std::string> Subprocess::wait(int milliseconds) {
  if (ended || child <= 0)
    return ended ? *ended : std::string();
  // Without a pidfd (start() failed half way) the child has been killed, and
  // waitid blocks only until that takes effect.
  if (pidfd >= 0 && !waitReadable(pidfd, milliseconds))
    return std::nullopt;
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) <
             0 &&
         errno == EINTR)
    ;
  // What the child left behind dies with it. Its number names no other group
  // as long as it has not been reaped.
  ::kill(signalled, SIGKILL);
  int result = 0;
  while ((result = ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED)) <
             0 &&
         errno == EINTR)
    ;
  // A host that ignores SIGCHLD has its children reaped for it.
  ended = result == 0 ? describeEnd(info) : "unknown end of the process";
  return ended;
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

static std::string folderOf(const std::string &path) {
  char resolved[PATH_MAX];
  if (!::realpath(path.c_str(), resolved))
    return {};
  std::string text = resolved;
  return text.substr(0, text.rfind('/'));
}

static bool isProgram(const std::string &path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) && ::access(resolved, X_OK) == 0;
}

static std::vector<std::string> programFolders() {
  std::vector<std::string> folders;
  auto add = [&](const std::string &folder) {
    if (!folder.empty() &&
        std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(folder);
  };
  Dl_info info;
  std::vector<std::string> own = {"/proc/self/exe"};
  if (::dladdr(reinterpret_cast<void *>(&isProgram), &info) && info.dli_fname)
    own.insert(own.begin(), info.dli_fname);
  for (const std::string &path : own) {
    std::string folder = folderOf(path);
    add(folder);
    if (!folder.empty())
      add(folderOf(folder) + "/bin");
  }
  std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
  for (size_t start = 0; start < path.size();) {
    size_t end = std::min(path.find(':', start), path.size());
    add(path.substr(start, end - start));
    start = end + 1;
  }
  return folders;
}

Result<std::string> findProgram(const std::string &name,
                                const std::string &option,
                                const char *variable) {
  auto given = [&](const std::string &path,
                   const std::string &by) -> Result<std::string> {
    if (isProgram(path))
      return path;
    return Error{"cannot find '" + name + "': '" + path + "', given by " + by +
                 ", is not an executable file"};
  };
  if (!option.empty())
    return given(option, "an option");
  const char *value = variable ? std::getenv(variable) : nullptr;
  if (value && *value)
    return given(value, std::string("the environment variable ") + variable);
  std::string tried;
  for (const std::string &folder : programFolders()) {
    std::string path = folder + "/" + name;
    if (isProgram(path))
      return path;
    tried += (tried.empty() ? "" : ", ") + folder;
  }
  return Error{"cannot find '" + name + "' (looked in " + tried + ")"};
}

} // namespace kernelbrain
