//===- GpuTensorCores.cpp - Products of half precision --------------------===//

#include "GpuContraction.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kernelbrain::strategy;

/// Two neighbours along k, in one register.
Value GpuContractionEmitter::fragment(const GpuOperand &operand, int64_t length,
                                      Value shared, Value at, Value depth) {
  Type type = operand.node->type;
  int64_t row = pitch(operand, length);
  Value pair;
  if (liesAlongDepth(operand)) {
    pair = loadLanes(shared, addIndex(mulIndex(at, index(row)), depth), type, 2,
                     /*isAligned=*/true);
  } else {
    Values halves;
    for (int64_t next : {0, 1})
      halves.push_back(memref::LoadOp::create(
          builder, loc, shared,
          addIndex(mulIndex(addIndex(depth, index(next)), index(row)), at)));
    pair = fromLanes(halves, type);
  }
  if (type.isF16())
    return pair;
  Value word = vector::BitCastOp::create(
      builder, loc, VectorType::get({1}, builder.getI32Type()), pair);
  return vector::ExtractOp::create(builder, loc, word, 0);
}

/// mma.sync of 16 rows, 8 columns and 16 steps of k: lane 4g + t holds rows g
/// and g + 8, columns g of the right operand, and steps 2t, 2t + 1, 2t + 8 and
/// 2t + 9.
ProgramEmitter::Values GpuContractionEmitter::addStepTensor(ValueRange old) {
  Values sums(old);
  Value g = arith::DivUIOp::create(builder, loc, lane, index(4));
  Value t =
      mulIndex(arith::RemUIOp::create(builder, loc, lane, index(4)), index(2));
  Value row = addIndex(ownRow, g);
  Value column = addIndex(mulIndex(ownColumn, index(tile.columns)), g);
  bool isF16 = left.node->type.isF16();
  auto kind = isF16 ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
  Type f32 = builder.getF32Type();
  Type four = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                               {f32, f32, f32, f32});
  for (int64_t step = 0; step < tile.tileDepth; step += 16) {
    Value low = addIndex(t, index(step)), high = addIndex(t, index(step + 8));
    SmallVector<Values> b;
    for (int64_t j = 0; j < tile.columns; j += 8) {
      Value at = addIndex(column, index(j));
      b.push_back(
          {fragment(right, tile.tileColumns, launch->shared[1], at, low),
           fragment(right, tile.tileColumns, launch->shared[1], at, high)});
    }
    auto sum = sums.begin();
    for (int64_t i = 0; i < tile.rows; i += 16) {
      Value above = addIndex(row, index(i)),
            below = addIndex(row, index(i + 8));
      Values a;
      for (Value depth : {low, high})
        for (Value at : {above, below})
          a.push_back(
              fragment(left, tile.tileRows, launch->shared[0], at, depth));
      for (const Values &columns : b) {
        auto product = NVVM::MmaOp::create(
            builder, loc, four, a, columns, ValueRange(Values(sum, sum + 4)),
            ArrayRef<int64_t>{16, 8, 16}, std::nullopt, std::nullopt,
            std::array<NVVM::MMATypes, 2>{kind, kind},
            std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                           NVVM::MMALayout::col});
        for (int64_t part = 0; part < 4; ++part)
          *sum++ = LLVM::ExtractValueOp::create(builder, loc,
                                                product.getResult(), part);
      }
    }
  }
  return sums;
}
