//===- GpuEmitter.cpp - What emitters of device code share ----------------===//

#include "GpuEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kernelbrain::strategy;

/// The widest access of a thread, in bytes.
static constexpr int64_t accessBytes = 16;

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

bool GpuEmitter::hasVectors(unsigned argument) const {
  auto isVector = [&](const Access &access) {
    return access.argument == argument &&
           access.strides[program.vectorAxis].isOne();
  };
  for (const Output &output : program.outputs)
    if (isVector(output.access))
      return true;
  return llvm::any_of(program.live(), [&](const Node *node) {
    return node->kind == Node::Kind::Input && isVector(node->access);
  });
}

/// True if all arguments start on a multiple of `bytes`; null if callers
/// promise it.
Value GpuEmitter::argumentsAligned(int64_t bytes) {
  auto known = alignment.find(bytes);
  if (known != alignment.end())
    return known->second;
  Value bits;
  for (unsigned argument = 0; argument < program.shapes.size(); ++argument) {
    kb::ArgAttr spec = kernel.getArgSpec(argument);
    if (!hasVectors(argument) ||
        bytes <= elementBytes(program.elementTypes[argument]) ||
        (spec && spec.getAlignment() % bytes == 0))
      continue;
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(
        builder, loc, function.getArgument(argument));
    bits = bits ? arith::OrIOp::create(builder, loc, bits, address).getResult()
                : address;
  }
  if (bits) {
    Value low = arith::AndIOp::create(builder, loc, bits, index(bytes - 1));
    bits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, low,
                                 index(0));
  }
  return alignment[bytes] = bits;
}

GpuEmitter::Launch GpuEmitter::beginLaunch(ArrayRef<Value> grid,
                                           ArrayRef<int64_t> threads,
                                           ArrayRef<MemRefType> shared) {
  Value extents[6];
  for (unsigned axis = 0; axis < 3; ++axis) {
    extents[axis] = axis < grid.size() ? grid[axis] : index(1);
    extents[3 + axis] = index(axis < threads.size() ? threads[axis] : 1);
  }
  Launch launch;
  launch.op =
      gpu::LaunchOp::create(builder, loc, extents[0], extents[1], extents[2],
                            extents[3], extents[4], extents[5]);
  gpu::KernelDim3 blocks = launch.op.getBlockIds();
  gpu::KernelDim3 ids = launch.op.getThreadIds();
  launch.block[0] = blocks.x;
  launch.block[1] = blocks.y;
  launch.block[2] = blocks.z;
  launch.thread[0] = ids.x;
  launch.thread[1] = ids.y;
  launch.thread[2] = ids.z;
  for (MemRefType type : shared)
    launch.shared.push_back(launch.op.addWorkgroupAttribution(type, loc));
  return launch;
}

void GpuEmitter::emitLaunch(ArrayRef<Value> grid, ArrayRef<int64_t> threads,
                            ArrayRef<MemRefType> shared, int64_t vectorBytes,
                            llvm::function_ref<void(Launch &)> body) {
  Value isAligned = argumentsAligned(std::min(vectorBytes, accessBytes));
  auto emitOne = [&](ArrayRef<Value> extents, bool aligned) {
    Launch launch = beginLaunch(extents, threads, shared);
    launch.isAligned = aligned;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&launch.op.getBody().front());
    body(launch);
    builder.setInsertionPointToEnd(&launch.op.getBody().front());
    gpu::TerminatorOp::create(builder, loc);
  };
  if (!isAligned)
    return emitOne(grid, true);
  Values whole(grid), none(grid);
  whole[0] =
      arith::SelectOp::create(builder, loc, isAligned, grid[0], index(0));
  none[0] = arith::SelectOp::create(builder, loc, isAligned, index(0), grid[0]);
  emitOne(whole, true);
  emitOne(none, false);
}

MemRefType GpuEmitter::sharedType(int64_t elements, Type type) {
  return MemRefType::get(
      {elements}, type, MemRefLayoutAttrInterface(),
      gpu::AddressSpaceAttr::get(builder.getContext(),
                                 gpu::GPUDialect::getWorkgroupAddressSpace()));
}

void GpuEmitter::barrier() { gpu::BarrierOp::create(builder, loc); }

void GpuEmitter::emitIf(Value condition, llvm::function_ref<void()> body) {
  auto choice = scf::IfOp::create(builder, loc, condition,
                                  /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  body();
}

Value GpuEmitter::less(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, a, b);
}

Value GpuEmitter::divideUp(Value a, int64_t b) {
  if (b == 1)
    return a;
  return arith::DivUIOp::create(builder, loc, addIndex(a, index(b - 1)),
                                index(b));
}

ProgramEmitter::Values GpuEmitter::digits(Value number,
                                          ArrayRef<Value> extents) {
  Values result(extents.size());
  for (size_t digit = extents.size(); digit-- > 0;) {
    APInt extent;
    if (matchPattern(extents[digit], m_ConstantInt(&extent)) &&
        extent.isOne()) {
      result[digit] = index(0);
      continue;
    }
    if (digit == 0) {
      result[0] = number;
      break;
    }
    result[digit] =
        arith::RemUIOp::create(builder, loc, number, extents[digit]);
    number = arith::DivUIOp::create(builder, loc, number, extents[digit]);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

ProgramEmitter::Value GpuEmitter::pointerTo(Value memref, Value place,
                                            Type type, unsigned addressSpace) {
  Type i64 = builder.getI64Type();
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  address = addIndex(address, mulIndex(place, index(elementBytes(type))));
  address = arith::IndexCastOp::create(builder, loc, i64, address);
  return LLVM::IntToPtrOp::create(
      builder, loc,
      LLVM::LLVMPointerType::get(builder.getContext(), addressSpace), address);
}

ProgramEmitter::Values GpuEmitter::lanesOf(Value vector) {
  auto type = dyn_cast<VectorType>(vector.getType());
  if (!type)
    return {vector};
  Values lanes;
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane)
    lanes.push_back(vector::ExtractOp::create(builder, loc, vector, lane));
  return lanes;
}

Value GpuEmitter::fromLanes(ArrayRef<Value> lanes, Type type) {
  return vector::FromElementsOp::create(
      builder, loc, VectorType::get({int64_t(lanes.size())}, type), lanes);
}

static IntegerAttr alignmentOf(OpBuilder &builder, Type type, int64_t lanes) {
  return builder.getI64IntegerAttr(
      std::min(accessBytes, lanes * elementBytes(type)));
}

Value GpuEmitter::loadLanes(Value memref, Value offset, Type type,
                            int64_t lanes, bool isAligned, bool nontemporal) {
  if (!lanes)
    return memref::LoadOp::create(builder, loc, memref, offset);
  if (isAligned && lanes > 1) {
    auto op = vector::LoadOp::create(
        builder, loc, VectorType::get({lanes}, type), memref, offset);
    op.setAlignmentAttr(alignmentOf(builder, type, lanes));
    op.setNontemporal(nontemporal);
    return op;
  }
  Values values;
  for (int64_t lane = 0; lane < lanes; ++lane)
    values.push_back(memref::LoadOp::create(builder, loc, memref,
                                            addIndex(offset, index(lane))));
  return fromLanes(values, type);
}

void GpuEmitter::storeLanes(Value value, Value memref, Value offset,
                            bool isAligned) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type) {
    memref::StoreOp::create(builder, loc, value, memref, offset);
    return;
  }
  int64_t lanes = type.getNumElements();
  if (isAligned && lanes > 1) {
    auto op = vector::StoreOp::create(builder, loc, value, memref, offset);
    op.setAlignmentAttr(alignmentOf(builder, type.getElementType(), lanes));
    return;
  }
  for (auto [lane, element] : llvm::enumerate(lanesOf(value)))
    memref::StoreOp::create(builder, loc, element, memref,
                            addIndex(offset, index(lane)));
}

static bool divides(int64_t lanes, const Extent &stride) {
  return stride.factor % lanes == 0;
}

int64_t kernelbrain::strategy::fittingLanes(const RowProgram &program,
                                            int64_t most) {
  unsigned along = program.vectorAxis;
  auto fits = [&](const Access &access, int64_t lanes) {
    if (!access.strides[along].isOne())
      return access.strides[along].isZero();
    bool result = access.offset % lanes == 0;
    for (auto [axis, stride] : llvm::enumerate(access.strides))
      result &= axis == along || divides(lanes, stride);
    for (const Extent &stride : access.dynamicStrides)
      result &= divides(lanes, stride);
    return result;
  };
  for (; most > 1; most /= 2) {
    bool all = divides(most, program.axes[along]);
    for (const Node *node : program.live())
      all =
          all && (node->kind != Node::Kind::Input || fits(node->access, most));
    for (const Output &output : program.outputs)
      all = all && fits(output.access, most);
    if (all)
      break;
  }
  return most;
}

/// Lanes exchange words of 32 bits.
Value GpuEmitter::fromLane(Value value, gpu::ShuffleMode mode,
                           int64_t operand) {
  Type type = value.getType();
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  bool isIndex = isa<IndexType>(type), isFloat = isa<FloatType>(type);
  unsigned bits = isIndex ? 64 : type.getIntOrFloatBitWidth();
  Type integer = builder.getIntegerType(bits);
  auto move = [&](Value word) -> Value {
    return gpu::ShuffleOp::create(builder, loc, word, operand, warpThreads,
                                  mode)
        .getShuffleResult();
  };
  Value word = value;
  if (isIndex)
    word = arith::IndexCastOp::create(builder, loc, i64, word);
  if (isFloat)
    word = arith::BitcastOp::create(builder, loc, integer, word);
  if (bits == 64) {
    Value by =
        arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(32));
    Value high = arith::ShRUIOp::create(builder, loc, word, by);
    Value low = arith::TruncIOp::create(builder, loc, i32, word);
    high = arith::TruncIOp::create(builder, loc, i32, high);
    low = arith::ExtUIOp::create(builder, loc, i64, move(low));
    high = arith::ExtUIOp::create(builder, loc, i64, move(high));
    high = arith::ShLIOp::create(builder, loc, high, by);
    word = arith::OrIOp::create(builder, loc, low, high);
  } else {
    if (bits < 32)
      word = arith::ExtUIOp::create(builder, loc, i32, word);
    word = move(word);
    if (bits < 32)
      word = arith::TruncIOp::create(builder, loc, integer, word);
  }
  if (isFloat)
    return arith::BitcastOp::create(builder, loc, type, word);
  return isIndex
             ? arith::IndexCastOp::create(builder, loc, type, word).getResult()
             : word;
}
