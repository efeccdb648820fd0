//===- DeviceLoads.cpp - Loads that leave caches as they are --------------===//

#include "Device.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace kernelbrain::compile {

static constexpr int64_t wordBytes = 4;

/// PTX and its constraints for `words` registers of 32 bits: a load whose lines
/// are the first to go again from the second-level cache.
static std::pair<std::string, std::string> streamingLoad(int64_t words) {
  std::string results = words > 1 ? "{" : "", constraints;
  for (int64_t word = 0; word < words; ++word) {
    results += (word ? ", $" : "$") + std::to_string(word);
    constraints += "=r,";
  }
  results += words > 1 ? "}" : "";
  std::string width = words > 1 ? ".v" + std::to_string(words) : "";
  return {"ld.global.cs" + width + ".b32 " + results + ", [$" +
              std::to_string(words) + "];",
          constraints + "l"};
}

/// The code generator does not know what nontemporal means to a GPU. Loads of
/// 4, 8 or 16 bytes on multiples of their size become instructions that do.
static void lowerLoad(LLVM::LoadOp load) {
  OpBuilder builder(load);
  Location loc = load.getLoc();
  Type type = load.getType(), element = getElementTypeOrSelf(type);
  if (!element.isIntOrFloat())
    return;
  auto vectorType = dyn_cast<VectorType>(type);
  int64_t bits = int64_t(element.getIntOrFloatBitWidth()) *
                 (vectorType ? vectorType.getNumElements() : 1);
  int64_t words = bits / (8 * wordBytes);
  bool isWhole = words * 8 * wordBytes == bits &&
                 (words == 1 || words == 2 || words == 4) &&
                 load.getAlignment().value_or(0) * 8 >= uint64_t(bits);
  if (!isWhole)
    return;
  auto global = LLVM::LLVMPointerType::get(
      builder.getContext(),
      static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
  Value address =
      LLVM::AddrSpaceCastOp::create(builder, loc, global, load.getAddr());
  Type word = builder.getI32Type(), result = word;
  if (words > 1)
    result = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                              SmallVector<Type>(words, word));
  auto [text, constraints] = streamingLoad(words);
  Value value =
      LLVM::InlineAsmOp::create(
          builder, loc, result, address, text, constraints,
          /*has_side_effects=*/false, /*is_align_stack=*/false,
          LLVM::TailCallKind::None, /*asm_dialect=*/{}, /*operand_attrs=*/{})
          .getResult(0);
  if (words > 1) {
    Value vector =
        LLVM::PoisonOp::create(builder, loc, VectorType::get({words}, word));
    for (int64_t at = 0; at < words; ++at)
      vector = LLVM::InsertElementOp::create(
          builder, loc, vector,
          LLVM::ExtractValueOp::create(builder, loc, value, at),
          LLVM::ConstantOp::create(builder, loc, word,
                                   builder.getI32IntegerAttr(at)));
    value = vector;
  }
  load.replaceAllUsesWith(
      Value(LLVM::BitcastOp::create(builder, loc, type, value)));
  load.erase();
}

void lowerNontemporalLoads(gpu::GPUModuleOp module) {
  SmallVector<LLVM::LoadOp> loads;
  module.walk([&](LLVM::LoadOp load) {
    if (load.getNontemporal() &&
        load.getAddr().getType().getAddressSpace() <= 1)
      loads.push_back(load);
  });
  for (LLVM::LoadOp load : loads)
    lowerLoad(load);
}

} // namespace kernelbrain::compile
