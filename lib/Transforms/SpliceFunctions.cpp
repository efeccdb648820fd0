//===- SpliceFunctions.cpp - Shim and baseline of a spliced kernel --------===//

#include "Splice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace kernelbrain;

MemRefType kernelbrain::getShimType(RankedTensorType type) {
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  auto layout =
      StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  return MemRefType::get(type.getShape(), type.getElementType(), layout);
}

int64_t kernelbrain::elementBytes(Type element) {
  return element.isIndex()
             ? 8
             : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

/// An internal function on the buffers of `kernel`, and a workspace if
/// `workspaceBytes` is not 0.
static func::FuncOp createFunction(kb::KernelOp kernel, const Twine &name,
                                   int64_t workspaceBytes) {
  OpBuilder builder(kernel.getContext());
  SmallVector<Type> types;
  for (BlockArgument argument : kernel.getBody().getArguments())
    types.push_back(getShimType(cast<RankedTensorType>(argument.getType())));
  if (workspaceBytes != 0)
    types.push_back(MemRefType::get({workspaceBytes}, builder.getI8Type()));
  auto function =
      func::FuncOp::create(builder, kernel.getLoc(), name.str(),
                           builder.getFunctionType(types, TypeRange()));
  function.setPrivate();
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  function.addEntryBlock();
  return function;
}

void kernelbrain::addBaseline(SplicedKernel &spliced, SymbolTable &symbols) {
  kb::KernelOp kernel = spliced.kernel;
  func::FuncOp function = createFunction(
      kernel, kernel.getSymName() + "_baseline", /*workspaceBytes=*/0);
  ImplicitLocOpBuilder builder(kernel.getLoc(), function.getContext());
  builder.setInsertionPointToStart(&function.front());
  size_t numInputs = kernel.getInputs().size();
  IRMapping mapping;
  for (auto [argument, buffer] :
       llvm::zip(kernel.getBody().getArguments(), function.getArguments()))
    mapping.map(argument, bufferization::ToTensorOp::create(
                              builder, argument.getType(), buffer,
                              /*restrict=*/true,
                              /*writable=*/buffer.getArgNumber() >= numInputs));
  for (Operation &op : kernel.getBody().front().without_terminator())
    builder.clone(op, mapping);
  for (auto [value, buffer] :
       llvm::zip(kernel.getYield().getValues(),
                 function.getArguments().drop_front(numInputs)))
    bufferization::MaterializeInDestinationOp::create(
        builder, /*result=*/Type(), mapping.lookup(value), buffer,
        /*restrict=*/true, /*writable=*/true);
  func::ReturnOp::create(builder);
  symbols.insert(function);
  spliced.baseline = function;
}

namespace {

/// Writes the body of one shim.
class ShimBuilder {
public:
  ShimBuilder(SplicedKernel &spliced, func::FuncOp shim)
      : spliced(spliced), shim(shim),
        b(spliced.kernel.getLoc(), shim.getContext()),
        pointer(LLVM::LLVMPointerType::get(shim.getContext())),
        extents(spliced.kernel.getNumDynamicDims()) {
    b.setInsertionPointToStart(&shim.front());
    direct = idle = arith::ConstantIntOp::create(b, 1, 1);
  }

  void build(LLVM::LLVMFuncOp fail, LLVM::GlobalOp name) {
    size_t numInputs = spliced.kernel.getInputs().size();
    for (auto [buffer, shape] :
         llvm::zip(shim.getArguments(), spliced.kernel.getShapes())) {
      Value isEmpty = unpack(buffer, shape);
      if (buffer.getArgNumber() >= numInputs)
        idle = b.createOrFold<arith::AndIOp>(idle, isEmpty);
    }
    if (shim.getNumArguments() > spliced.kernel.getBody().getNumArguments())
      pointers.push_back(toPointer(address(shim.getArguments().back())));
    else
      pointers.push_back(LLVM::ZeroOp::create(b, pointer));
    Value status = callIfDirect();
    handle(status, fail, name);
    func::ReturnOp::create(b);
  }

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value address(Value buffer) {
    return memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  }
  Value toPointer(Value address) {
    Value word = arith::IndexCastOp::create(b, b.getI64Type(), address);
    return LLVM::IntToPtrOp::create(b, pointer, word);
  }
  void require(Value condition) {
    direct = b.createOrFold<arith::AndIOp>(direct, condition);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value c) {
    return b.createOrFold<arith::CmpIOp>(predicate, a, c);
  }

  /// Takes pointer and extents of one buffer, and requires it to be dense and
  /// not empty: an empty one may still mean work for the baseline (a reduction
  /// over no elements), and pointers of empty buffers need not be valid.
  /// Returns whether it is empty.
  Value unpack(Value buffer, ArrayRef<int64_t> shape) {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, buffer);
    Value expected = constant(1);
    Value isEmpty = arith::ConstantIntOp::create(b, 0, 1);
    for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
      Value size = metadata.getSizes()[dim];
      if (shape[dim] >= 0)
        size = constant(shape[dim]);
      else
        noteExtent(-shape[dim] - 1, size);
      Value single = compare(arith::CmpIPredicate::ule, size, constant(1));
      Value fits = compare(arith::CmpIPredicate::eq, metadata.getStrides()[dim],
                           expected);
      require(compare(arith::CmpIPredicate::ne, size, constant(0)));
      isEmpty = b.createOrFold<arith::OrIOp>(
          isEmpty, compare(arith::CmpIPredicate::eq, size, constant(0)));
      require(b.createOrFold<arith::OrIOp>(single, fits));
      expected = b.createOrFold<arith::MulIOp>(expected, size);
    }
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    Value offset = b.createOrFold<arith::MulIOp>(
        metadata.getOffset(), constant(elementBytes(element)));
    pointers.push_back(
        toPointer(b.createOrFold<arith::AddIOp>(address(buffer), offset)));
    return isEmpty;
  }

  /// Extents that the kernel needs equal are passed once: where they differ,
  /// the baseline does what the program would have done.
  void noteExtent(size_t index, Value size) {
    if (extents[index])
      require(compare(arith::CmpIPredicate::eq, size, extents[index]));
    else
      extents[index] = size;
  }

  Value callIfDirect() {
    SmallVector<Value> operands(ArrayRef<Value>(pointers).drop_back());
    for (Value extent : extents)
      operands.push_back(arith::IndexCastOp::create(b, b.getI64Type(), extent));
    operands.push_back(pointers.back());
    operands.push_back(LLVM::ZeroOp::create(b, pointer)); // The default stream.
    auto branch = scf::IfOp::create(b, b.getI32Type(), direct,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value status =
        LLVM::CallOp::create(b, spliced.callee, operands).getResult();
    scf::YieldOp::create(b, status);
    b.setInsertionPointToStart(branch.elseBlock());
    Value otherwise = arith::ConstantIntOp::create(b, declined, 32);
    if (!spliced.baseline) // Nobody else writes no elements.
      otherwise = b.createOrFold<arith::SelectOp>(
          idle, arith::ConstantIntOp::create(b, 0, 32), otherwise);
    scf::YieldOp::create(b, otherwise);
    return branch.getResult(0);
  }

  void handle(Value status, LLVM::LLVMFuncOp fail, LLVM::GlobalOp name) {
    Value bad = compare(arith::CmpIPredicate::ne, status,
                        arith::ConstantIntOp::create(b, 0, 32));
    auto outer = scf::IfOp::create(b, bad, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(outer.thenBlock());
    if (!spliced.baseline)
      return callFail(status, fail, name);
    Value stock = compare(arith::CmpIPredicate::eq, status,
                          arith::ConstantIntOp::create(b, declined, 32));
    auto inner = scf::IfOp::create(b, stock, /*withElseRegion=*/true);
    b.setInsertionPointToStart(inner.thenBlock());
    func::CallOp::create(
        b, spliced.baseline,
        shim.getArguments().take_front(spliced.baseline.getNumArguments()));
    b.setInsertionPointToStart(inner.elseBlock());
    callFail(status, fail, name);
  }

  void callFail(Value status, LLVM::LLVMFuncOp fail, LLVM::GlobalOp name) {
    Value text = LLVM::AddressOfOp::create(b, name);
    LLVM::CallOp::create(b, fail, ValueRange{text, status});
  }

  static constexpr int64_t declined = 1; ///< ABI v1: nothing was written.

  SplicedKernel &spliced;
  func::FuncOp shim;
  ImplicitLocOpBuilder b;
  Type pointer;
  Value direct;                ///< the implementation may be called
  Value idle;                  ///< all results are empty
  SmallVector<Value> pointers; ///< of the arguments, then of the workspace
  SmallVector<Value> extents;  ///< of the distinct dynamic dimensions
};

} // namespace

LLVM::GlobalOp kernelbrain::addText(StringRef text, SymbolTable &symbols) {
  OpBuilder builder(symbols.getOp()->getContext());
  std::string bytes = text.str() + '\0';
  auto global = LLVM::GlobalOp::create(
      builder, symbols.getOp()->getLoc(),
      LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size()),
      /*isConstant=*/true, LLVM::Linkage::Internal, (text + "_name").str(),
      builder.getStringAttr(bytes));
  SymbolTable::setSymbolVisibility(global, SymbolTable::Visibility::Private);
  symbols.insert(global);
  return global;
}

void kernelbrain::addShim(SplicedKernel &spliced, LLVM::LLVMFuncOp fail,
                          SymbolTable &symbols) {
  kb::KernelOp kernel = spliced.kernel;
  LLVM::GlobalOp name = addText(kernel.getSymName(), symbols);
  spliced.shim =
      createFunction(kernel, kernel.getSymName(), spliced.workspaceBytes);
  symbols.insert(spliced.shim);
  ShimBuilder(spliced, spliced.shim).build(fail, name);
}
