//===- Sandbox.cpp - What a fork may do -----------------------------------===//

#include "Sandbox.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace kernelbrain::compile {

//===----------------------------------------------------------------------===//
// Landlock: no path
//===----------------------------------------------------------------------===//

/// 0 where the kernel has no Landlock.
static int landlockVersion() {
  long version = syscall(SYS_landlock_create_ruleset, nullptr, 0,
                         LANDLOCK_CREATE_RULESET_VERSION);
  return version < 0 ? 0 : static_cast<int>(version);
}

static void allow(int rules, const char *path, uint64_t accesses) {
  landlock_path_beneath_attr rule = {};
  rule.allowed_access = accesses;
  rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
  if (rule.parent_fd < 0)
    return;
  syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  close(rule.parent_fd);
}

/// What it takes to start `program`: itself, the loader, shared libraries.
static void allowProgram(int rules, const std::string &program) {
  constexpr uint64_t read = LANDLOCK_ACCESS_FS_READ_FILE,
                     run = read | LANDLOCK_ACCESS_FS_EXECUTE;
  allow(rules, program.c_str(), run);
  allow(rules, "/lib64/ld-linux-x86-64.so.2", run);
  for (const char *path : {"/lib", "/lib64", "/usr/lib", "/usr/lib64"})
    allow(rules, path, read);
  allow(rules, "/etc/ld.so.cache", read);
  allow(rules, "/dev/null", read | LANDLOCK_ACCESS_FS_WRITE_FILE);
}

/// A rule set that handles every access and allows none but for `program`.
static bool restrictFiles(const std::string &program) {
  int version = landlockVersion();
  if (version < 1)
    return false;
  // The header may be older than the kernel: this is the layout of version 6.
  struct {
    uint64_t files, network, scoped;
  } handled = {(uint64_t(1) << 13) - 1, 0, 0};
  size_t size = sizeof(uint64_t);
  if (version >= 2)
    handled.files |= uint64_t(1) << 13; // Linking across folders.
  if (version >= 3)
    handled.files |= uint64_t(1) << 14; // Truncating.
  if (version >= 4) {
    handled.network = 3; // TCP bind and connect.
    size = 2 * sizeof(uint64_t);
  }
  if (version >= 6) {
    handled.scoped = 3; // Abstract sockets, signals.
    size = 3 * sizeof(uint64_t);
  }
  int rules = syscall(SYS_landlock_create_ruleset, &handled, size, 0);
  if (rules < 0)
    return false;
  if (!program.empty())
    allowProgram(rules, program);
  bool done = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
  close(rules);
  return done;
}

//===----------------------------------------------------------------------===//
// Seccomp: a list of denied system calls
//===----------------------------------------------------------------------===//

#ifdef __x86_64__
static bool filterSystemCalls(bool startsProgram) {
  std::vector<uint32_t> denied = {SYS_socket,
                                  SYS_socketpair,
                                  SYS_connect,
                                  SYS_bind,
                                  SYS_ptrace,
                                  SYS_process_vm_readv,
                                  SYS_process_vm_writev,
                                  SYS_mount,
                                  SYS_unshare,
                                  SYS_setns,
                                  SYS_bpf,
                                  SYS_io_uring_setup,
                                  SYS_keyctl,
                                  SYS_kill,
                                  SYS_tkill,
                                  SYS_pidfd_send_signal,
                                  SYS_userfaultfd,
                                  SYS_perf_event_open};
  if (!startsProgram)
    denied.insert(denied.end(),
                  {SYS_execve, SYS_execveat, SYS_fork, SYS_vfork, SYS_clone});
  std::vector<sock_filter> program = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1), // x32 calls
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  for (uint32_t number : denied) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  // clone3's flags are behind a pointer; libraries fall back to clone.
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1));
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
  // abort() signals its own process. (That of a started program gets no
  // further than its end.)
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 3));
  program.push_back(
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                             static_cast<uint32_t>(getpid()), 1, 0));
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  sock_fprog filter{static_cast<unsigned short>(program.size()),
                    program.data()};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}
static bool canFilterSystemCalls() {
  return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
}
#else
static bool filterSystemCalls(bool) { return false; }
static bool canFilterSystemCalls() { return false; }
#endif

static std::string describe(bool files, bool calls) {
  if (!files && !calls)
    return "none";
  return std::string(files ? "landlock" : "") + (files && calls ? ", " : "") +
         (calls ? "seccomp" : "");
}

std::string enterSandbox(const std::string &program) {
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  bool files = restrictFiles(program);
  bool calls = filterSystemCalls(!program.empty());
  return describe(files, calls);
}

std::string describeSandbox() {
  return describe(landlockVersion() >= 1, canFilterSystemCalls());
}

} // namespace kernelbrain::compile
