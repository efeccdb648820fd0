//===- Result.h - The error type of plain code ------------------*- C++ -*-===//
//
// A Result<T> holds a value or an Error. It is for failures of our own world
// (disk full, worker missing, bad option); a variant that fails is data and has
// a Disposition instead (Core/Measurement.h).
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_SUPPORT_RESULT_H
#define KERNELBRAIN_SUPPORT_RESULT_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace kernelbrain {

/// What went wrong, as one sentence in LLVM style (lower-case start, no
/// period). Context is prepended on the way up: "cannot open store '/x': ...".
struct Error {
  std::string message;

  /// Returns this error with `context` and a colon in front.
  Error withContext(const std::string &context) const {
    return Error{context + ": " + message};
  }
};

/// A value or an Error. Must be looked at: `if (!result) return
/// result.error()`.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : storage(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : storage(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return storage.index() == 0; }
  T &operator*() & { return get(); }
  const T &operator*() const & {
    assert(*this && "a Result that holds an error has no value");
    return std::get<0>(storage);
  }
  T &&operator*() && { return std::move(get()); }
  T *operator->() { return &get(); }
  const T *operator->() const { return &**this; }
  const Error &error() const { return std::get<1>(storage); }

private:
  T &get() {
    assert(*this && "a Result that holds an error has no value");
    return std::get<0>(storage);
  }
  std::variant<T, Error> storage;
};

/// Success or an Error.
template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : failure(std::move(error)) {}

  explicit operator bool() const { return !failure; }
  const Error &error() const { return *failure; }

private:
  std::optional<Error> failure;
};

using Status = Result<void>;

} // namespace kernelbrain

#endif // KERNELBRAIN_SUPPORT_RESULT_H
