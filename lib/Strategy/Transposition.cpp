//===- Transposition.cpp - Square tiles in registers ----------------------===//

#include "LayoutEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kernelbrain::strategy;

/// Picks groups of `size` elements of two vectors, by number; groups of the
/// second one follow those of the first.
static Value pickGroups(OpBuilder &builder, Location loc, Value a, Value b,
                        ArrayRef<int64_t> groups, int64_t size) {
  SmallVector<int64_t> mask;
  for (int64_t group : groups)
    for (int64_t element = 0; element < size; ++element)
      mask.push_back(group * size + element);
  return vector::ShuffleOp::create(builder, loc, a, b, mask);
}

/// The low or high halves of all 128-bit lanes, interleaved by `size`.
static Value unpack(OpBuilder &builder, Location loc, Value a, Value b,
                    int64_t lanes, int64_t perLane, int64_t size, bool high) {
  SmallVector<int64_t> groups;
  int64_t half = perLane / size / 2, all = lanes / size;
  for (int64_t lane = 0; lane < lanes / perLane; ++lane)
    for (int64_t at = 0; at < half; ++at) {
      int64_t group = lane * 2 * half + at + (high ? half : 0);
      groups.append({group, all + group});
    }
  return pickGroups(builder, loc, a, b, groups, size);
}

/// The n x n matrix of 128-bit lanes that n vectors are, transposed.
static SmallVector<Value> transposeLanes(OpBuilder &builder, Location loc,
                                         ArrayRef<Value> x, int64_t perLane) {
  auto pick = [&](Value a, Value b, ArrayRef<int64_t> groups) {
    return pickGroups(builder, loc, a, b, groups, perLane);
  };
  if (x.size() == 1)
    return {x[0]};
  if (x.size() == 2)
    return {pick(x[0], x[1], {0, 2}), pick(x[0], x[1], {1, 3})};
  const SmallVector<int64_t, 4> even{0, 2, 4, 6}, odd{1, 3, 5, 7};
  Value a = pick(x[0], x[1], even), b = pick(x[0], x[1], odd);
  Value c = pick(x[2], x[3], even), d = pick(x[2], x[3], odd);
  return {pick(a, c, even), pick(b, d, even), pick(a, c, odd), pick(b, d, odd)};
}

/// In the instructions that x86 has: unpacking in lanes of 128 bits, then
/// shuffling the lanes.
SmallVector<Value> kernelbrain::strategy::emitTransposition(OpBuilder &builder,
                                                            Location loc,
                                                            ValueRange rows) {
  SmallVector<Value> x(rows);
  auto type = cast<VectorType>(x[0].getType());
  int64_t lanes = type.getNumElements();
  int64_t perLane = std::min(lanes, 16 / elementBytes(type.getElementType()));
  for (int64_t size = 1; size < perLane; size *= 2)
    for (int64_t i = 0; i < lanes; ++i)
      if (!(i & size)) {
        Value low = unpack(builder, loc, x[i], x[i + size], lanes, perLane,
                           size, /*high=*/false);
        x[i + size] = unpack(builder, loc, x[i], x[i + size], lanes, perLane,
                             size, /*high=*/true);
        x[i] = low;
      }
  // Position p of a group of rows holds column p with its bits reversed.
  SmallVector<Value> columns(lanes);
  for (int64_t p = 0; p < perLane; ++p) {
    int64_t column = 0;
    for (int64_t bit = 1; bit < perLane; bit *= 2)
      column = column * 2 + ((p & bit) != 0);
    SmallVector<Value> groups;
    for (int64_t first = 0; first < lanes; first += perLane)
      groups.push_back(x[first + p]);
    for (auto [lane, value] :
         llvm::enumerate(transposeLanes(builder, loc, groups, perLane)))
      columns[lane * perLane + column] = value;
  }
  return columns;
}
