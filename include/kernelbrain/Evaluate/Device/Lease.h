//===- Lease.h - One timing at a time on a device ---------------*- C++ -*-===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_LEASE_H
#define KERNELBRAIN_EVALUATE_DEVICE_LEASE_H

#include "kernelbrain/Support/Result.h"

#include <cstdint>
#include <string>

namespace kernelbrain::evaluate {

/// Holds a lock (flock) on a file until it is destroyed, so that two runs do
/// not time on one device at once. The kernel releases it if the process dies.
class TimingLease {
public:
  /// Waits up to `deadlineMs`; creates the file, for all users, if need be.
  static Result<TimingLease> take(const std::string &path, int64_t deadlineMs);
  TimingLease(TimingLease &&other) noexcept;
  TimingLease &operator=(TimingLease &&other) noexcept;
  ~TimingLease();

private:
  explicit TimingLease(int file) : file(file) {}
  int file = -1;
};

/// A file in the folder for temporary files: that of the host, or of the GPU at
/// `place` (CudaDescription).
std::string defaultLeaseFile(const std::string &place = "");

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_DEVICE_LEASE_H
