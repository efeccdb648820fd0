//===- Threads.cpp - Loops that threads share -----------------------------===//

#include "ProgramEmitter.h"
#include "RowStrategies.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kernelbrain;
using namespace kernelbrain::strategy;

double kernelbrain::strategy::imbalance(int64_t parts, int64_t threads) {
  parts = std::max<int64_t>(parts, 1);
  return double(llvm::divideCeil(parts, threads) * threads) / double(parts);
}

//===----------------------------------------------------------------------===//
// The knob
//===----------------------------------------------------------------------===//

/// A kernel that takes less than this is over before threads have gained much.
static constexpr double leastNs = 50000;

void kernelbrain::strategy::addThreads(SearchSpace &space, const Target &target,
                                       int64_t parts, double serialNs,
                                       const std::string &description) {
  std::vector<KnobValue> numbers{int64_t(1)};
  for (int64_t number = 2; number <= std::min(target.threads, parts); ++number)
    if (number <= 8 || number % 8 == 0 || number == target.threads)
      numbers.push_back(number);
  if (numbers.size() == 1)
    return;
  KnobValue otherwise = serialNs > leastNs ? numbers.back() : numbers.front();
  space.knobs.push_back(Knob{"threads", std::move(numbers), otherwise,
                             description, /*structural=*/true,
                             /*safest=*/{}});
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

void ProgramEmitter::emitThreads(function_ref<void()> body) {
  if (options.threads == 1)
    return body();
  OpBuilder::InsertionGuard guard(builder);
  auto loop = scf::ParallelOp::create(builder, loc, ValueRange{index(0)},
                                      ValueRange{index(options.threads)},
                                      ValueRange{index(1)});
  thread = loop.getInductionVars().front();
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  body();
  thread = nullptr;
}

std::pair<Value, Value> ProgramEmitter::partOf(Value count) {
  if (!thread)
    return {index(0), count};
  auto boundary = [&](Value number) -> Value {
    return arith::DivUIOp::create(builder, loc, mulIndex(count, number),
                                  index(options.threads));
  };
  return {boundary(thread), boundary(addIndex(thread, index(1)))};
}

void ProgramEmitter::emitOnce(function_ref<void()> body) {
  if (!thread)
    return body();
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       thread, index(options.threads - 1));
  auto choice = scf::IfOp::create(builder, loc, isLast);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  body();
}

void ProgramEmitter::forSteps(Value from, int64_t length, int64_t step,
                              bool isShared, Steps body) {
  int64_t count = length / step, whole = count * step;
  auto loop = [&](Value begin, Value end) {
    emitLoop(begin, end, step, {}, [&](Value at, ValueRange) {
      body(addIndex(from, at), step);
      return Values();
    });
  };
  if (count && isShared && thread) {
    auto [first, last] = partOf(index(count));
    loop(mulIndex(first, index(step)), mulIndex(last, index(step)));
  } else if (count == 1) {
    body(from, step);
  } else if (count) {
    loop(index(0), index(whole));
  }
  auto rest = [&] { body(addIndex(from, index(whole)), length - whole); };
  if (whole == length)
    return;
  if (isShared)
    emitOnce(rest);
  else
    rest();
}
