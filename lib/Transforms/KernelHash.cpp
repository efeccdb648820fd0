//===- KernelHash.cpp - Identity of a kernel ------------------------------===//

#include "kernelbrain/Transforms/KernelHash.h"

#include "kernelbrain/Support/Hash.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace kernelbrain;

namespace {

/// Writes a body as text in which values are numbers in order of definition.
class BodyWriter {
public:
  explicit BodyWriter(llvm::raw_ostream &stream) : stream(stream) {}

  void write(Region &region) {
    stream << '{';
    // Branches may name blocks that come later.
    for (Block &block : region)
      blocks.try_emplace(&block, blocks.size());
    for (Block &block : region) {
      stream << '^';
      for (BlockArgument argument : block.getArguments())
        define(argument);
      for (Operation &op : block)
        write(op);
    }
    stream << '}';
  }

  void write(Attribute attribute) {
    if (auto resource =
            dyn_cast_or_null<DenseResourceElementsAttr>(attribute)) {
      stream << resource.getType();
      if (AsmResourceBlob *blob = resource.getRawHandle().getBlob()) {
        ArrayRef<char> data = blob->getData();
        stream << contentHash(std::string_view(data.data(), data.size()));
        return;
      }
    }
    stream << attribute;
  }

private:
  void define(Value value) {
    numbers.try_emplace(value, numbers.size());
    stream << ':' << value.getType();
  }

  void write(Operation &op) {
    stream << '\n' << op.getName().getStringRef();
    for (Value operand : op.getOperands())
      stream << ' ' << numbers.lookup(operand);
    // Inherent attributes are among those of the dictionary.
    for (NamedAttribute attribute : op.getAttrDictionary()) {
      stream << ' ' << attribute.getName().getValue() << '=';
      write(attribute.getValue());
    }
    for (Block *successor : op.getSuccessors())
      stream << " ^" << blocks.lookup(successor);
    for (Value result : op.getResults())
      define(result);
    for (Region &region : op.getRegions())
      write(region);
  }

  llvm::raw_ostream &stream;
  llvm::DenseMap<Value, unsigned> numbers;
  llvm::DenseMap<Block *, unsigned> blocks;
};

} // namespace

/// What `arg_specs` says of values: extents to tune at are no part of what a
/// kernel is. Null if that is nothing.
static ArrayAttr specsWithoutHints(kb::KernelOp kernel) {
  SmallVector<Attribute> specs;
  bool saysAnything = false;
  auto unit = UnitAttr::get(kernel.getContext());
  for (unsigned index = 0; index < kernel.getBody().getNumArguments();
       ++index) {
    kb::ArgAttr spec = kernel.getArgSpec(index);
    bool kept =
        spec && (spec.getLow() || spec.getHigh() || spec.getAlignment() != 1);
    saysAnything |= kept;
    specs.push_back(kept ? Attribute(kb::ArgAttr::get(
                               kernel.getContext(), spec.getLow(),
                               spec.getHigh(), spec.getAlignment(), {}))
                         : Attribute(unit));
  }
  return saysAnything ? ArrayAttr::get(kernel.getContext(), specs)
                      : ArrayAttr();
}

std::string kernelbrain::kernelHash(kb::KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  BodyWriter writer(stream);
  stream << "kernel 1 " << kernel.getNumInputs() << ' ';
  writer.write(specsWithoutHints(kernel));
  stream << ' ';
  writer.write(kernel.getNumericsAttr());
  writer.write(kernel.getBody());
  stream.flush();
  return contentHash(text);
}
