//===- KernelInfo.cpp - A kernel in the words of Core ---------------------===//

#include "kernelbrain/Transforms/KernelInfo.h"

#include "OpClass.h"
#include "kernelbrain/Transforms/KernelHash.h"
#include "kernelbrain/Transforms/KernelText.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace kernelbrain;

std::optional<ElementType> kernelbrain::coreElementType(Type type) {
  if (type.isIndex())
    return ElementType::Index;
  if (type.isF16())
    return ElementType::F16;
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isF32())
    return ElementType::F32;
  if (type.isF64())
    return ElementType::F64;
  if (!type.isSignlessInteger())
    return std::nullopt;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return ElementType::I1;
  case 8:
    return ElementType::I8;
  case 16:
    return ElementType::I16;
  case 32:
    return ElementType::I32;
  case 64:
    return ElementType::I64;
  default:
    return std::nullopt;
  }
}

static std::optional<double> boundOf(TypedAttr bound) {
  if (auto integer = dyn_cast_or_null<IntegerAttr>(bound))
    return integer.getValue().signedRoundToDouble();
  if (auto number = dyn_cast_or_null<FloatAttr>(bound))
    return number.getValueAsDouble();
  return std::nullopt;
}

namespace {

class Describer {
public:
  Describer(kb::KernelOp kernel, int64_t dynamicDim)
      : op(kernel), shapes(kernel.getShapes()), dynamicDim(dynamicDim) {}

  Kernel run();

private:
  Argument describe(BlockArgument argument);
  int64_t hintFor(BlockArgument argument, int64_t position);
  double work(Block &block);
  int64_t bytesRead(BlockArgument argument);
  int64_t bytesOf(Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return countElements(tensor, dynamicDim) *
           byteSizeOf(tensor.getElementType());
  }

  kb::KernelOp op;
  SmallVector<SmallVector<int64_t>> shapes;
  int64_t dynamicDim;
  Kernel kernel;
};

int64_t Describer::hintFor(BlockArgument argument, int64_t position) {
  if (kb::ArgAttr spec = op.getArgSpec(argument.getArgNumber()))
    if (DenseI64ArrayAttr hints = spec.getDimHints())
      if (position < hints.size())
        return hints[position];
  return dynamicDim;
}

Argument Describer::describe(BlockArgument argument) {
  auto type = cast<RankedTensorType>(argument.getType());
  Argument result;
  result.isOutput = argument.getArgNumber() >= op.getNumInputs();
  if (std::optional<ElementType> element =
          coreElementType(type.getElementType()))
    result.type = *element;
  int64_t position = 0;
  for (int64_t extent : shapes[argument.getArgNumber()]) {
    result.shape.push_back(extent);
    if (extent >= 0)
      continue;
    // The first argument with a distinct extent gives the hint.
    int64_t hint = hintFor(argument, position++);
    if (kernel.dimHints.size() == static_cast<size_t>(-extent - 1))
      kernel.dimHints.push_back(hint);
  }
  if (kb::ArgAttr spec = op.getArgSpec(argument.getArgNumber())) {
    result.domain = {boundOf(spec.getLow()), boundOf(spec.getHigh())};
    result.alignment = spec.getAlignment();
  }
  return result;
}

double Describer::work(Block &block) {
  double flops = 0;
  for (Operation &inner : block) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(inner)) {
      OpFacts facts = analyzeOp(linalgOp, dynamicDim);
      flops += facts.readsNothing ? 0 : facts.flops;
      continue;
    }
    double times = 1;
    if (auto loop = dyn_cast<scf::ForOp>(inner)) {
      std::optional<APInt> trips = loop.getStaticTripCount();
      times = trips ? trips->getSExtValue() : dynamicDim;
    }
    for (Region &region : inner.getRegions())
      for (Block &nested : region)
        if (!isa<tensor::PadOp>(inner))
          flops += times * work(nested);
  }
  return flops;
}

/// At most the whole tensor; less where only slices or gathered elements are
/// read.
int64_t Describer::bytesRead(BlockArgument argument) {
  int64_t whole = bytesOf(argument.getType()), parts = 0;
  for (Operation *user : argument.getUsers()) {
    if (isa<tensor::DimOp>(user))
      continue;
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user)) {
      parts += bytesOf(slice.getType());
      continue;
    }
    auto gather = dyn_cast<tensor::ExtractOp>(user);
    auto parent = user->getParentOfType<linalg::LinalgOp>();
    if (!gather || !parent)
      return whole;
    parts +=
        analyzeOp(parent, dynamicDim).points * byteSizeOf(gather.getType());
  }
  return std::min(whole, parts);
}

Kernel Describer::run() {
  kernel.name = op.getSymName().str();
  kernel.hash = kernelHash(op);
  kernel.text = printKernelText(op);
  kernel.kind = op.getKind().value_or("").str();
  for (BlockArgument argument : op.getBody().getArguments())
    kernel.arguments.push_back(describe(argument));
  if (kb::NumericsAttr policy = op.getNumericsAttr())
    kernel.numerics = {policy.getReassociate(),
                       policy.getContract(),
                       policy.getNarrowF64Intermediates(),
                       policy.getSkipIntermediateRounding(),
                       policy.getApproxMath(),
                       policy.getTf32(),
                       policy.getDeterministic()};
  // With the hints known, work is counted at one extent for all.
  kernel.flops = work(op.getBody().front());
  for (BlockArgument input : op.getInputs())
    kernel.boundaryBytes += bytesRead(input);
  for (BlockArgument output : op.getOutputs())
    kernel.boundaryBytes += bytesOf(output.getType());
  kernel.share = op.getShare() / 1000.0;
  op.getBody().walk([&](cf::AssertOp) { kernel.asserts = true; });
  return std::move(kernel);
}

} // namespace

void kernelbrain::addDimHints(kb::KernelOp kernel, const Kernel &described) {
  if (described.dimHints.empty())
    return;
  Builder builder(kernel.getContext());
  SmallVector<Attribute> specs;
  for (auto [index, argument] : llvm::enumerate(described.arguments)) {
    kb::ArgAttr spec = kernel.getArgSpec(unsigned(index));
    SmallVector<int64_t> hints;
    for (int64_t extent : argument.shape)
      if (extent < 0)
        hints.push_back(described.dimHints[size_t(-extent - 1)]);
    if (!hints.empty())
      spec = kb::ArgAttr::get(
          kernel.getContext(), spec ? spec.getLow() : TypedAttr(),
          spec ? spec.getHigh() : TypedAttr(), spec ? spec.getAlignment() : 1,
          builder.getDenseI64ArrayAttr(hints));
    specs.push_back(spec ? Attribute(spec) : builder.getUnitAttr());
  }
  kernel.setArgSpecsAttr(builder.getArrayAttr(specs));
}

Kernel kernelbrain::describeKernel(kb::KernelOp kernel, int64_t dynamicDim) {
  return Describer(kernel, dynamicDim).run();
}

double kernelbrain::rooflineNs(const Kernel &kernel) {
  constexpr double bytesPerNs = 8, flopsPerNs = 60;
  return std::max(kernel.boundaryBytes / bytesPerNs, kernel.flops / flopsPerNs);
}
