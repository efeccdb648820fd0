//===- Strategy.h - Ways to implement a kernel ------------------*- C++ -*-===//
//
// A strategy knows one way to write code for a class of kernels, and says
// whether it applies to one. Its match with a kernel on a target tells which
// decisions (knobs) there are, what the analytic model expects of a choice, and
// writes the code.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_STRATEGY_STRATEGY_H
#define KERNELBRAIN_STRATEGY_STRATEGY_H

#include "kernelbrain/Core/Estimate.h"
#include "kernelbrain/Core/Recipe.h"
#include "kernelbrain/Core/Target.h"
#include "kernelbrain/Dialect/KB/KB.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kernelbrain::strategy {

/// What Match::instantiate() made. The lowering of the function may count on,
/// and has to keep, these forms (measured; each one lost costs a factor):
/// - Vectors have one dimension and the register's size, or that of a half or
///   smaller one on the way to a scalar; no vector-to-scf lowering is needed
///   but for `vector.create_mask`, `maskedload` and `maskedstore`.
/// - Arguments are read through `memref.reinterpret_cast` to one dimension
///   (`expand-strided-metadata` or `finalize-memref-to-llvm` lowers it).
/// - `arith.cmpf` with `arith.select` on the same operands is one instruction;
///   nothing may turn it into `maximumf`, and `arith-expand` must not run on
///   `maximumf`.
/// - `fastmath<contract>` lets LLVM fuse; `vector.reduction <add>` carries
///   `fastmath<reassoc>`. Flags are never widened: NaN and infinities are kept.
/// - `vector.store` with `nontemporal` and `alignment = 64` stands under a test
///   of the address and before an `llvm.x86.sse.sfence`.
/// - `llvm.call_intrinsic` names x86 instructions of the target's features.
/// - An outermost `scf.parallel` over one index, from 0 in steps of 1, without
///   results, is the only form of threads: with `threads` set, its iterations
///   run on that many threads of the OpenMP runtime, and the loop ends when all
///   have. One iteration a thread is the rule: it works off its part of an axis
///   with loops of its own. What iterations write must not overlap, also in the
///   workspace; an alloca inside is the iteration's own; each fences the stores
///   that it makes past the caches. A knob `threads` with values up to
///   Target::threads, 1 without such a loop, leaves the choice to the search.
/// - Operations of math that strategies do not approximate (f64, sin, pow, ...)
///   stay vectors and go to libm an element at a time.
///
/// For a GPU (target kind "cuda") the function is the host's side: a straight
/// line of `gpu.launch`, each of which sees what those before it wrote, with
/// arith and affine computations of sizes in between. All memrefs lie in the
/// device's memory, the workspace included; nothing of them is touched outside
/// of launches. A launch
/// - captures memrefs of the function, or casts of them, and integers, and has
///   no asynchronous dependencies. Its block is static, its grid may depend on
///   dynamic dimensions;
/// - holds gpu (ids, barrier, shuffle, workgroup attributions,
///   dynamic_shared_memory), arith, math, scf, cf, memref, and vector of one
///   dimension. Loads and stores of vectors say their `alignment`, without
///   which they fall apart into elements;
/// - may carry `nvvm.minctasm`, `nvvm.maxnreg` and `nvvm.cluster_dim`, which go
///   to the kernel;
/// - gets `exp2`, `log2`, `sqrt`, `rsqrt`, `tanh` and divisions of f32 with
///   `fastmath<afn>` as single instructions, and other operations of math from
///   NVIDIA's libdevice.
/// Inputs are known not to be written and results not to be aliased.
struct Instance {
  /// `func.func @<kernel>(memref...) -> i32` in the given module: a dense
  /// row-major memref for each kernel argument (inputs, then outputs), then
  /// `memref<Nxi8>` if there is a workspace. Returns 0, or 1 where it declines
  /// before anything is written. Only arith, math, scf, memref, vector, cf and
  /// LLVM operations; no allocation on the heap.
  mlir::func::FuncOp function;
  int64_t workspaceBytes = 0;
  int64_t threads = 1; ///< that the function runs on, its caller's included
  /// Coarse features for the archive of the search.
  Json features = Json::object();
};

/// A kernel that a strategy applies to on one target. The kernel is read once,
/// when this is made, and outlives it unchanged.
class Match {
public:
  Match(kb::KernelOp kernel, const Target &target)
      : target(target), kernel(kernel) {}
  virtual ~Match() = default;
  /// The defaults are the analytic model's choice and make a legal recipe.
  const SearchSpace &space() const { return knobs; }
  /// Expected time and resource limits of a recipe that violates no constraint.
  virtual Estimate estimate(const Recipe &recipe) const = 0;
  /// Writes the code. Emits a diagnostic and fails for a recipe that is not of
  /// the space, or that cannot be honoured.
  mlir::FailureOr<Instance> instantiate(const Recipe &recipe,
                                        mlir::ModuleOp module) const;

protected:
  kb::KernelOp getKernel() const { return kernel; }

  /// space() without the names of the strategy.
  virtual SearchSpace makeSpace() const = 0;
  /// instantiate() for a recipe of the space; without the feature `strategy`.
  virtual mlir::FailureOr<Instance> write(const Recipe &recipe,
                                          mlir::ModuleOp module) const = 0;

  const Target target;

private:
  friend class Strategy;
  kb::KernelOp kernel;
  SearchSpace knobs;
};

/// A match, or null and in `mismatch` why there is none, as a clause: "the row
/// length is dynamic".
using MatchFunction = std::unique_ptr<Match>(kb::KernelOp kernel,
                                             const Target &target,
                                             std::string &mismatch);

/// One way to write code for a class of kernels.
class Strategy {
public:
  /// `revision` changes whenever the code or the space that it makes changes.
  Strategy(const std::string &name, const std::string &revision,
           const std::string &targetKind, std::function<MatchFunction> matcher);
  const std::string &getName() const { return name; }
  /// Hash of name and revision.
  const std::string &getVersion() const { return version; }
  /// The kind of targets that it writes code for: Target::kind.
  const std::string &getTargetKind() const { return targetKind; }
  std::unique_ptr<Match> match(kb::KernelOp kernel, const Target &target,
                               std::string &mismatch) const;

private:
  std::string name, version, targetKind;
  std::function<MatchFunction> matcher;
};

/// All strategies, in a fixed order.
class StrategyLibrary {
public:
  StrategyLibrary();
  const std::vector<Strategy> &all() const { return strategies; }
  const Strategy *find(llvm::StringRef name) const;
  /// Hash of the names and versions of all strategies.
  std::string hash() const;

private:
  std::vector<Strategy> strategies;
};

} // namespace kernelbrain::strategy

#endif // KERNELBRAIN_STRATEGY_STRATEGY_H
