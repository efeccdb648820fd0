//===- FunctionRun.h - Calls of one function of programs --------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_EVALUATE_DEVICE_FUNCTIONRUN_H
#define KERNELBRAIN_LIB_EVALUATE_DEVICE_FUNCTIONRUN_H

#include "kernelbrain/Evaluate/Device/KernelBank.h"
#include "kernelbrain/Evaluate/Protocol/Messages.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelbrain::evaluate {

/// A tensor or scalar that a call gave, dense.
struct ProgramValue {
  std::string name;   ///< "result 0", "argument 2"
  ElementType type;   ///< in the program
  ElementType stored; ///< in `bytes`: f64 for a float of a promoted program
  std::vector<int64_t> shape;
  std::string bytes;
  /// Of an argument that is a value in the program: its caller must expect no
  /// more of the buffer.
  bool mayStay = false;

  int64_t count() const;
  double real(int64_t element) const;
  int64_t integer(int64_t element) const;
};

/// What one call of a function gave: its results, then the arguments that it
/// changed.
struct CallValues {
  std::vector<ProgramValue> values;
  int64_t ns = 0; ///< of the call alone
};

/// One function that is called in programs on the same random inputs, each
/// program in a runner of its own.
class FunctionRun {
public:
  /// `promoted`: the programs have f64 for every float of `function`.
  FunctionRun(const CheckerOptions &options, const ProgramRequest &request,
              const FunctionSignature &function, bool promoted)
      : options(options), request(request), function(function),
        promoted(promoted) {}

  /// Fails if there is not enough memory, or an argument cannot be dense.
  Status createBuffers();
  /// Calls the function of the program at `path` once.
  Outcome callOnce(const std::string &path, int64_t deadlineMs,
                   CallValues &values);
  /// A runner with programs in its slots, and fresh inputs in the buffers.
  Outcome start(const std::vector<std::string> &paths,
                std::optional<RunnerProcess> &runner);
  /// The members of `call` and `time`.
  Json describeCall() const;

private:
  ElementType storedType(const Argument &argument) const {
    return promoted && isFloat(argument.type) ? ElementType::F64
                                              : argument.type;
  }
  int64_t bytesOfArgument(size_t k) const {
    const Argument &argument = function.arguments[k];
    return bytesOf(argument, storedType(argument), dims);
  }
  void drawInputs();
  std::vector<uint64_t> hashInputs();
  Outcome takeResults(const Json &reply, CallValues &values);

  const CheckerOptions &options;
  const ProgramRequest &request;
  const FunctionSignature &function;
  bool promoted;
  std::vector<int64_t> dims;
  mutable std::optional<SharedBuffers> buffers;
  int64_t room = 64; ///< bytes for results, in the last slot
};

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_LIB_EVALUATE_DEVICE_FUNCTIONRUN_H
