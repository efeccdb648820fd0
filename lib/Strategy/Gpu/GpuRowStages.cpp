//===- GpuRowStages.cpp - Rows that wait in shared memory -----------------===//

#include "GpuRowEmitter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace kernelbrain::strategy;

void GpuRowEmitter::setUpStages() {
  stages.clear();
  isStaged.clear();
  int64_t elements = vectorsPerThread(program, gpu) * gpu.threads * gpu.lanes;
  for (const Node *node : stagedInputs(program, plan, gpu))
    stages[node] =
        launch.addWorkgroupAttribution(sharedType(elements, node->type), loc);
  if (gpu.stage == Staging::Copied && isAligned && !isPeeled)
    copyToStages();
}

/// All of the thread's vectors at once, which takes no registers.
void GpuRowEmitter::copyToStages() {
  int64_t all = vectorsPerThread(program, gpu), step = gpu.group() * gpu.lanes;
  int64_t whole = program.reducedExtent().factor / step;
  Value column = mulIndex(lane, index(gpu.lanes));
  bool hasCopies = false;
  for (const Node *node : stagedInputs(program, plan, gpu)) {
    int64_t bytes = gpu.lanes * elementBytes(node->type);
    if (bytes != 4 && bytes != 8 && bytes != 16)
      continue;
    hasCopies = isStaged[node] = true;
    Value from = addIndex(rowOffset(node->access, node->operands, row), column);
    auto copy = [&](Value number) {
      Value source =
          pointerTo(flat[node->access.argument],
                    addIndex(from, mulIndex(number, index(step))), node->type,
                    static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
      Value target =
          pointerTo(stages[node], placeInStage(number), node->type,
                    static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
      NVVM::CpAsyncOp::create(builder, loc, target, source,
                              static_cast<uint32_t>(bytes),
                              bytes == 16 ? NVVM::LoadCacheModifierKind::CG
                                          : NVVM::LoadCacheModifierKind::CA,
                              /*cpSize=*/Value());
    };
    emitLoop(index(0), index(whole), 1, {}, [&](Value number, ValueRange) {
      copy(number);
      return Values();
    });
    for (int64_t number = whole; number < all; ++number)
      emitIf(less(addIndex(column, index(number * step)),
                  index(program.reducedExtent().factor)),
             [&] { copy(index(number)); });
  }
  if (!hasCopies)
    return;
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, /*n=*/0);
}

/// Of the thread's vector of that number.
GpuRowEmitter::Value GpuRowEmitter::placeInStage(Value number) {
  Value place = addIndex(mulIndex(number, index(gpu.threads)), thread);
  return mulIndex(place, index(gpu.lanes));
}

/// The value of a node in a slot. Inputs with a stage are read from there once
/// they are in it; each thread reads what it has left itself.
void GpuRowEmitter::evaluate(Node *node, GpuSlot &slot) {
  Value stage = stages.lookup(node);
  if (!stage || !slot.place) {
    valueIn(node, slot, row);
    return;
  }
  Value at = placeInStage(slot.place);
  if (isStaged.lookup(node))
    slot.memo[node] = loadLanes(stage, at, node->type, slot.lanes, true);
  else
    storeLanes(valueIn(node, slot, row), stage, at, true);
}
