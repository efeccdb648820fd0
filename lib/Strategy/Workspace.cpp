//===- Workspace.cpp - Intermediates in one buffer of the caller ----------===//

#include "kernelbrain/Strategy/Stock.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kernelbrain::strategy {

namespace {
/// An allocation with the stretch of the entry block in which it lives.
struct Slot {
  memref::AllocOp alloc;
  memref::DeallocOp dealloc;
  unsigned first, last;
  int64_t bytes, offset = 0;

  bool meets(const Slot &other) const {
    return first <= other.last && other.first <= last;
  }
};
} // namespace

constexpr int64_t slotAlignment = 64;

static memref::DeallocOp soleDealloc(memref::AllocOp alloc) {
  memref::DeallocOp found;
  for (Operation *user : alloc->getUsers())
    if (auto dealloc = dyn_cast<memref::DeallocOp>(user)) {
      if (found)
        return {};
      found = dealloc;
    }
  // Elsewhere it may be conditional.
  return found && found->getBlock() == alloc->getBlock() ? found
                                                         : memref::DeallocOp();
}

static std::optional<int64_t> staticBytes(MemRefType type) {
  unsigned bits = type.getElementType().isIndex() ? 64
                  : type.getElementType().isIntOrFloat()
                      ? type.getElementTypeBitWidth()
                      : 0;
  if (!type.hasStaticShape() || !type.getLayout().isIdentity() || !bits)
    return std::nullopt;
  return type.getNumElements() * llvm::divideCeil(bits, 8);
}

static SmallVector<Slot> collectSlots(func::FuncOp function) {
  Block &entry = function.front();
  DenseMap<Operation *, unsigned> position;
  for (auto [index, op] : llvm::enumerate(entry))
    position[&op] = index;
  SmallVector<Slot> slots;
  function.walk([&](memref::AllocOp alloc) {
    std::optional<int64_t> bytes = staticBytes(alloc.getType());
    memref::DeallocOp dealloc = soleDealloc(alloc);
    Operation *top = entry.findAncestorOpInBlock(*alloc);
    if (!bytes || !dealloc || !top)
      return;
    slots.push_back(
        {alloc, dealloc, position[top],
         position[entry.findAncestorOpInBlock(*dealloc)],
         static_cast<int64_t>(llvm::alignTo(*bytes, slotAlignment))});
  });
  return slots;
}

/// First fit in the order of the program. Returns the bytes of all.
static int64_t placeSlots(MutableArrayRef<Slot> slots) {
  int64_t total = 0;
  for (size_t index = 0; index < slots.size(); ++index) {
    Slot &slot = slots[index];
    for (bool moved = true; moved;) {
      moved = false;
      for (Slot &other : slots.take_front(index))
        if (slot.meets(other) && slot.offset < other.offset + other.bytes &&
            other.offset < slot.offset + slot.bytes) {
          slot.offset = other.offset + other.bytes;
          moved = true;
        }
    }
    total = std::max(total, slot.offset + slot.bytes);
  }
  return total;
}

int64_t packWorkspace(func::FuncOp function) {
  SmallVector<Slot> slots = collectSlots(function);
  int64_t total = placeSlots(slots);
  if (total == 0)
    return 0;
  OpBuilder builder(function.getContext());
  auto type = MemRefType::get({total}, builder.getI8Type());
  if (failed(function.insertArgument(function.getNumArguments(), type, {},
                                     function.getLoc())))
    return 0;
  Value workspace = function.front().getArguments().back();
  for (Slot &slot : slots) {
    builder.setInsertionPoint(slot.alloc);
    Location loc = slot.alloc.getLoc();
    Value offset = arith::ConstantIndexOp::create(builder, loc, slot.offset);
    Value view = memref::ViewOp::create(builder, loc, slot.alloc.getType(),
                                        workspace, offset, ValueRange());
    slot.dealloc.erase();
    slot.alloc.replaceAllUsesWith(view);
    slot.alloc.erase();
  }
  return total;
}

} // namespace kernelbrain::strategy
