//===- Lease.cpp - One timing at a time on a device -----------------------===//

#include "kernelbrain/Evaluate/Device/Lease.h"

#include "kernelbrain/Evaluate/Device/Clock.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace kernelbrain::evaluate {

std::string defaultLeaseFile(const std::string &place) {
  return "/tmp/kernelbrain-timing" + (place.empty() ? "" : "-gpu-" + place) +
         ".lock";
}

static int openLeaseFile(const std::string &path) {
  // A file of another user in a sticky folder must be opened without O_CREAT.
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file >= 0 || errno != ENOENT)
    return file;
  file =
      ::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file >= 0)
    ::fchmod(file, 0666); // whatever the umask says; fails for others' files
  return file;
}

Result<TimingLease> TimingLease::take(const std::string &path,
                                      int64_t deadlineMs) {
  int file = openLeaseFile(path);
  if (file < 0)
    return Error{"cannot open the timing lease '" + path +
                 "': " + std::strerror(errno)};
  TimingLease lease(file);
  int64_t deadline = nowNs() + deadlineMs * 1000000;
  while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return Error{"cannot lock '" + path + "': " + std::strerror(errno)};
    if (nowNs() > deadline)
      return Error{"the timing lease '" + path +
                   "' has been held by another process for " +
                   std::to_string(deadlineMs) + " ms"};
    ::usleep(2000);
  }
  return lease;
}

TimingLease::TimingLease(TimingLease &&other) noexcept
    : file(std::exchange(other.file, -1)) {}

TimingLease &TimingLease::operator=(TimingLease &&other) noexcept {
  std::swap(file, other.file);
  return *this;
}

TimingLease::~TimingLease() {
  if (file >= 0)
    ::close(file);
}

} // namespace kernelbrain::evaluate
