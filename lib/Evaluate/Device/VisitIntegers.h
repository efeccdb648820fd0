//===- VisitIntegers.h - The kept integers of an output ---------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_EVALUATE_DEVICE_VISITINTEGERS_H
#define KERNELBRAIN_LIB_EVALUATE_DEVICE_VISITINTEGERS_H

#include "kernelbrain/Evaluate/Device/Numbers.h"
#include "kernelbrain/Evaluate/Device/Verdict.h"

namespace kernelbrain::evaluate {

/// Calls visit(element, value, reference) for all kept integers until it
/// returns false.
template <typename Visit>
void visitIntegers(const OutputReference &reference, ElementType type,
                   const void *data, Visit visit) {
  TileGrid grid(reference.extents);
  size_t at = 0;
  for (int64_t tile : reference.tiles)
    for (int64_t row = 0; row < TileGrid::edge; ++row) {
      TileGrid::Run run = grid.run(tile, row);
      for (int64_t k = 0; k < run.count; ++k, ++at) {
        int64_t element = run.begin + k;
        if (!visit(element, loadInteger(type, data, element),
                   reference.integers[at]))
          return;
      }
    }
}

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_LIB_EVALUATE_DEVICE_VISITINTEGERS_H
