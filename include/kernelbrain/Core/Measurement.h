//===- Measurement.h - What became of a variant -----------------*- C++ -*-===//

#ifndef KERNELBRAIN_CORE_MEASUREMENT_H
#define KERNELBRAIN_CORE_MEASUREMENT_H

#include "kernelbrain/Core/Profile.h"
#include "kernelbrain/Support/Json.h"

#include <cstdint>
#include <optional>
#include <string>

namespace kernelbrain {

/// How a variant ended. Written to journals by name: do not rename.
enum class Disposition {
  NotApplicable,  ///< the strategy does not apply to this kernel
  Duplicate,      ///< same recipe, lowered IR or code as an earlier variant
  InvalidRecipe,  ///< does not parse or verify, breaks a constraint or policy
  BuildFailed,    ///< lowering, code generation or linking failed
  OutOfResources, ///< over a limit of registers, memory, vector size, code size
  LaunchFailed,   ///< the entry returned a failure status, or declined
  Crashed,        ///< the runner died in it
  TimedOut,       ///< build or run was over its deadline
  Incorrect,      ///< results beyond the bound, or memory that is not its own
  Suspicious,     ///< faster than physics allows
  Unstable,       ///< could not be timed quietly
  Slower,         ///< correct, not better than what it had to beat
  Passed,         ///< correct and better
  RolledBack,     ///< was a winner, lost at acceptance
  NotRun,         ///< budget
  HarnessFault    ///< our own failure, never held against the variant
};
const char *toString(Disposition disposition);
std::optional<Disposition> dispositionFromString(const std::string &text);
/// True where the variant is known to compute the right results.
bool isCorrect(Disposition disposition);

/// A ratio (baseline time / variant time: above 1 is faster) with its interval.
struct Ratio {
  double low = 0, middle = 0, high = 0;
};
Json toJson(const Ratio &ratio);
Result<Ratio> ratioFromJson(const Json &json);

/// What the device said about one variant.
struct Measurement {
  Disposition disposition = Disposition::NotRun;
  std::string reason;           ///< short; names place and value
  int rung = 0;                 ///< the highest rung reached (docs/Search.md)
  int64_t timeNs = 0;           ///< lower quartile of one call, 0 if not timed
  std::optional<Ratio> speedup; ///< over the baseline
  double error = 0; ///< largest scaled error, in units of the bound (1 = at it)
  int64_t pageFaults = 0;         ///< minor faults of one timed call
  int64_t costNs = 0;             ///< device time that this answer took
  std::optional<Profile> profile; ///< rung 5
  Json details;                   ///< evidence: per check, per input set
};
Json toJson(const Measurement &measurement);
Result<Measurement> measurementFromJson(const Json &json);

} // namespace kernelbrain

#endif // KERNELBRAIN_CORE_MEASUREMENT_H
