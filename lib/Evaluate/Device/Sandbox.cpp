//===- Sandbox.cpp - What a runner gives up before it loads code ----------===//

#include "kernelbrain/Evaluate/Device/Sandbox.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KB_HAS_ADDRESS_SANITIZER 1
#endif
#endif

namespace kernelbrain::evaluate {

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {
/// As of Landlock ABI 6; older kernels take the first part of it.
struct LandlockRules {
  uint64_t files, network, scope;
};
} // namespace

/// What the CUDA driver reads once it runs.
static constexpr const char *driverReads[] = {
    "/proc/self",     "/proc/driver/nvidia", "/proc/devices",
    "/proc/cpuinfo",  "/proc/meminfo",       "/proc/sys/vm",
    "/sys",           "/etc/nvidia",         "/usr/share/nvidia",
    "/usr/local/cuda"};

/// NVIDIA's character devices.
static std::vector<std::string> gpuDevices() {
  std::vector<std::string> paths = {"/dev/null"};
  if (DIR *folder = ::opendir("/dev")) {
    while (dirent *entry = ::readdir(folder))
      if (std::strncmp(entry->d_name, "nvidia", 6) == 0)
        paths.push_back(std::string("/dev/") + entry->d_name);
    ::closedir(folder);
  }
  return paths;
}

static void allowPath(int ruleset, const std::string &path, uint64_t access) {
  landlock_path_beneath_attr beneath{};
  beneath.allowed_access = access;
  beneath.parent_fd = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (beneath.parent_fd < 0)
    return; // what is not there need not be allowed
  ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH,
            &beneath, 0);
  ::close(beneath.parent_fd);
}

static bool restrictFiles(const SandboxOptions &options) {
  long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0,
                           LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1)
    return false;
  int rights = version >= 5 ? 16 : version >= 3 ? 15 : version == 2 ? 14 : 13;
  LandlockRules rules = {(uint64_t(1) << rights) - 1, 0, 0};
  size_t size = 8;
  if (version >= 4) {
    rules.network = 3; // bind and connect of TCP
    size = 16;
  }
  if (version >= 6) {
    rules.scope = 3; // abstract sockets and signals to outside
    size = 24;
  }
  int ruleset = int(::syscall(SYS_landlock_create_ruleset, &rules, size, 0));
  if (ruleset < 0)
    return false;
  for (const std::string &path : options.readable)
    allowPath(ruleset, path, LANDLOCK_ACCESS_FS_READ_FILE);
  if (options.useGpu) {
    for (const char *path : driverReads)
      allowPath(ruleset, path, LANDLOCK_ACCESS_FS_READ_FILE);
    uint64_t use = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;
    constexpr uint64_t deviceControl = uint64_t(1) << 15;
    for (const std::string &path : gpuDevices())
      allowPath(ruleset, path, version >= 5 ? use | deviceControl : use);
  }
  bool done = ::syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  ::close(ruleset);
  return done;
}

//===----------------------------------------------------------------------===//
// System calls
//===----------------------------------------------------------------------===//

#ifdef __x86_64__
/// A deny list: a library may need any harmless call, and files are ruled by
/// Landlock. Denied calls fail with EPERM so that the caller can go on.
static bool restrictCalls(const SandboxOptions &options) {
  std::vector<uint32_t> denied = {
      SYS_socket,      SYS_socketpair, SYS_connect,
      SYS_bind,        SYS_ptrace,     SYS_process_vm_readv,
      SYS_mount,       SYS_unshare,    SYS_process_vm_writev,
      SYS_setns,       SYS_bpf,        SYS_io_uring_setup,
      SYS_keyctl,      SYS_add_key,    SYS_request_key,
      SYS_kill,        SYS_tkill,      SYS_pidfd_send_signal,
      SYS_execve,      SYS_execveat,   SYS_perf_event_open,
      SYS_pidfd_getfd, SYS_prlimit64,  SYS_setrlimit,
      SYS_userfaultfd, SYS_shmget,     SYS_setpgid,
      SYS_setsid,      SYS_vfork,      SYS_chmod,
      SYS_fchmod,      SYS_fchmodat};
  if (!options.allowFork)
    denied.push_back(SYS_fork);
  if (!options.allowMemoryFiles)
    denied.push_back(SYS_memfd_create);
  std::vector<sock_filter> program = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      // Calls of the x32 ABI have numbers of their own.
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      // A filter cannot look into clone3's arguments; libc falls back to clone.
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)};
  for (uint32_t number : denied) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  // Threads, other processes in the same memory, forks.
  auto verdict = [](bool allowed) -> sock_filter {
    return BPF_STMT(BPF_RET | BPF_K,
                    allowed ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EPERM);
  };
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 6));
  program.push_back(
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1));
  program.push_back(verdict(options.allowThreads));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_VM, 0, 1));
  program.push_back(verdict(false));
  program.push_back(verdict(options.allowFork));
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  sock_fprog filter{static_cast<unsigned short>(program.size()),
                    program.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}
#else
static bool restrictCalls(const SandboxOptions &) { return false; }
#endif

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

#ifndef KB_HAS_ADDRESS_SANITIZER
static int64_t mappedBytes() {
  long pages = 0;
  if (FILE *file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%ld", &pages) != 1)
      pages = 0;
    std::fclose(file);
  }
  return int64_t(pages) * ::sysconf(_SC_PAGESIZE);
}
#endif

static bool limit(__rlimit_resource resource, uint64_t value) {
  rlimit limits{value, value};
  return ::setrlimit(resource, &limits) == 0;
}

static bool setLimits(const SandboxOptions &options) {
  // Memory files grow as others do.
  bool done = limit(RLIMIT_CORE, 0) &&
              (options.allowMemoryFiles || limit(RLIMIT_FSIZE, 0)) &&
              limit(RLIMIT_NOFILE, options.useGpu ? 1024 : 64);
#ifndef KB_HAS_ADDRESS_SANITIZER // which reserves terabytes
  if (options.addressSpaceBytes > 0)
    done &= limit(RLIMIT_AS, mappedBytes() + options.addressSpaceBytes);
#endif
  return done;
}

std::vector<std::string> enterSandbox(const SandboxOptions &options) {
  std::vector<std::string> measures;
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (setLimits(options))
    measures.push_back("limits");
  if (restrictFiles(options))
    measures.push_back("landlock");
  if (restrictCalls(options))
    measures.push_back("seccomp");
  return measures;
}

} // namespace kernelbrain::evaluate
