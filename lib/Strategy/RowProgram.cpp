//===- RowProgram.cpp - A kernel as expressions over rows -----------------===//

#include "kernelbrain/Strategy/RowProgram.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace kernelbrain::strategy;

//===----------------------------------------------------------------------===//
// Extent
//===----------------------------------------------------------------------===//

int64_t Extent::evaluate(ArrayRef<int64_t> hints) const {
  int64_t product = factor;
  for (unsigned dim : dims)
    product *= hints[dim];
  return product;
}

Extent kernelbrain::strategy::operator*(const Extent &a, const Extent &b) {
  Extent product{a.factor * b.factor, a.dims};
  if (product.isZero())
    return Extent{0, {}};
  product.dims.append(b.dims.begin(), b.dims.end());
  llvm::sort(product.dims);
  return product;
}

static void printExtent(raw_ostream &os, const Extent &extent) {
  os << extent.factor;
  for (unsigned dim : extent.dims)
    os << "*d" << dim;
}

static const char *toString(ReduceKind kind) {
  static const char *names[] = {
      "addf",       "mulf",       "maximumf", "minimumf", "maxnumf", "minnumf",
      "maxselectf", "minselectf", "addi",     "muli",     "andi",    "ori",
      "xori",       "maxsi",      "minsi",    "maxui",    "minui"};
  return names[static_cast<int>(kind)];
}

//===----------------------------------------------------------------------===//
// Printing, which is also the key of uniqueness
//===----------------------------------------------------------------------===//

static void printAccess(raw_ostream &os, const Access &access) {
  os << "arg" << access.argument << '[';
  llvm::interleave(
      access.strides, os,
      [&](const Extent &stride) { printExtent(os, stride); }, ",");
  os << ']';
  if (access.offset)
    os << '+' << access.offset;
  for (const Extent &stride : access.dynamicStrides)
    printExtent(os << "+?*", stride);
  for (const Clamp &clamp : access.clamps) {
    os << " clamp(" << clamp.constant << "+" << clamp.scale << "*a"
       << clamp.axis;
    for (auto [axis, scale] : clamp.also)
      os << "+" << scale << "*a" << axis;
    os << "<" << clamp.extent << ")*" << clamp.stride;
  }
}

static void printNode(raw_ostream &os, const Node &node) {
  switch (node.kind) {
  case Node::Kind::Input:
    os << "input ";
    printAccess(os, node.access);
    break;
  case Node::Kind::Constant:
    os << "constant " << node.value;
    break;
  case Node::Kind::Index:
    os << "index " << node.axis;
    break;
  case Node::Kind::Op:
    os << node.name;
    if (node.attributes && !node.attributes.empty())
      os << ' ' << node.attributes;
    break;
  case Node::Kind::Reduce:
    os << "reduce " << toString(node.reduce);
    break;
  case Node::Kind::ArgReduce:
    os << (node.smallest ? "argmin" : "argmax");
    break;
  }
  for (Node *operand : node.operands)
    os << " %" << operand->id;
  os << " : " << node.type;
}

std::string RowProgram::print() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "axes";
  for (auto [index, axis] : llvm::enumerate(axes))
    printExtent(os << (index < numRowAxes ? " row " : " column "), axis);
  os << '\n';
  for (Node *node : live()) {
    os << '%' << node->id << " = ";
    printNode(os, *node);
    os << (variesAlongColumns(node)
               ? variesAlongRows(node) ? " matrix\n" : " column\n"
           : variesAlongRows(node) ? " row\n"
                                   : " scalar\n");
  }
  for (const Assertion &assertion : assertions)
    os << "assert %" << assertion.condition->id << " \"" << assertion.message
       << "\"\n";
  for (const Output &output : outputs) {
    os << "store %" << output.node->id << " to ";
    printAccess(os, output.access);
    os << '\n';
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Making nodes
//===----------------------------------------------------------------------===//

Node *RowProgram::unique(Node node) {
  std::string key;
  llvm::raw_string_ostream os(key);
  printNode(os, node);
  auto [slot, isNew] = byKey.try_emplace(key, nullptr);
  if (!isNew)
    return slot->second;
  node.id = pool.size();
  pool.push_back(std::make_unique<Node>(std::move(node)));
  return slot->second = pool.back().get();
}

Node *RowProgram::constant(TypedAttr value) {
  Node node;
  node.kind = Node::Kind::Constant;
  node.type = value.getType();
  node.value = value;
  return unique(std::move(node));
}

Node *RowProgram::floatConstant(double value, Type type) {
  return constant(FloatAttr::get(type, value));
}

Node *RowProgram::index(unsigned axis) {
  Node node;
  node.kind = Node::Kind::Index;
  node.type = IndexType::get(context);
  node.axis = axis;
  node.varies = uint64_t(1) << axis;
  return unique(std::move(node));
}

Node *RowProgram::input(Access access, ArrayRef<Node *> dynamic, Type type) {
  Node node;
  node.kind = Node::Kind::Input;
  node.type = type;
  node.operands.assign(dynamic.begin(), dynamic.end());
  for (auto [axis, stride] : llvm::enumerate(access.strides))
    if (!stride.isZero())
      node.varies |= uint64_t(1) << axis;
  for (Node *operand : dynamic)
    node.varies |= operand->varies;
  node.access = std::move(access);
  return unique(std::move(node));
}

Node *RowProgram::op(StringRef name, Type type, ArrayRef<Node *> operands,
                     DictionaryAttr attributes) {
  if (operands.size() == 1 && operands[0]->kind == Node::Kind::Constant &&
      (name == "arith.truncf" || name == "arith.extf"))
    if (std::optional<double> value = constantValue(operands[0]))
      return floatConstant(*value, type);
  Node node;
  node.kind = Node::Kind::Op;
  node.type = type;
  node.name = name.str();
  node.attributes = attributes;
  node.operands.assign(operands.begin(), operands.end());
  for (Node *operand : operands)
    node.varies |= operand->varies;
  return unique(std::move(node));
}

Node *RowProgram::reduce(ReduceKind kind, Node *value, Node *init) {
  Node node;
  node.kind = Node::Kind::Reduce;
  node.type = value->type;
  node.reduce = kind;
  node.operands = {value, init};
  node.varies = (value->varies | init->varies) & rowMask();
  return unique(std::move(node));
}

Node *RowProgram::argReduce(bool smallest, Node *value, Node *init,
                            Node *initIndex) {
  Node node;
  node.kind = Node::Kind::ArgReduce;
  node.type = initIndex->type;
  node.smallest = smallest;
  node.operands = {value, init, initIndex};
  node.varies = (value->varies | init->varies | initIndex->varies) & rowMask();
  return unique(std::move(node));
}

Node *RowProgram::remake(const Node &model, ArrayRef<Node *> operands) {
  switch (model.kind) {
  case Node::Kind::Constant:
    return constant(model.value);
  case Node::Kind::Index:
    return index(model.axis);
  case Node::Kind::Input:
    return input(model.access, operands, model.type);
  case Node::Kind::Op:
    return op(model.name, model.type, operands, model.attributes);
  case Node::Kind::Reduce:
    return reduce(model.reduce, operands[0], operands[1]);
  case Node::Kind::ArgReduce:
    return argReduce(model.smallest, operands[0], operands[1], operands[2]);
  }
  llvm_unreachable("unknown kind of node");
}

std::optional<double> kernelbrain::strategy::constantValue(const Node *node) {
  auto value = dyn_cast_or_null<FloatAttr>(node->value);
  if (node->kind != Node::Kind::Constant || !value)
    return std::nullopt;
  APFloat number = value.getValue();
  bool losesInfo = false;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.convertToDouble();
}

//===----------------------------------------------------------------------===//
// The whole program
//===----------------------------------------------------------------------===//

std::vector<Node *> RowProgram::live() const {
  std::vector<bool> needed(pool.size());
  for (const Output &output : outputs)
    needed[output.node->id] = true;
  for (const Assertion &assertion : assertions)
    needed[assertion.condition->id] = true;
  std::vector<Node *> result;
  for (size_t id = pool.size(); id-- > 0;) {
    if (!needed[id])
      continue;
    result.push_back(pool[id].get());
    for (Node *operand : pool[id]->operands)
      needed[operand->id] = true;
  }
  std::reverse(result.begin(), result.end());
  return result;
}

std::unique_ptr<RowProgram> RowProgram::frame() const {
  auto result = std::make_unique<RowProgram>(context);
  result->axes = axes;
  result->numRowAxes = numRowAxes;
  result->vectorAxis = vectorAxis;
  result->shapes = shapes;
  result->elementTypes = elementTypes;
  result->dimHints = dimHints;
  result->numInputs = numInputs;
  result->truths = truths;
  return result;
}

bool RowProgram::hasReduction() const {
  return llvm::any_of(live(), [](Node *node) { return node->isReduction(); });
}

Extent RowProgram::reducedExtent() const {
  Extent all;
  for (const Extent &axis : ArrayRef(axes).drop_front(numRowAxes))
    all = all * axis;
  return all;
}

void RowProgram::collapseAxes() {
  SmallVector<Access *> accesses;
  uint64_t indexed = 0;
  for (const std::unique_ptr<Node> &node : pool) {
    if (node->kind == Node::Kind::Input)
      accesses.push_back(&node->access);
    if (node->kind == Node::Kind::Index)
      indexed |= uint64_t(1) << node->axis;
    for (const Clamp &clamp : node->access.clamps) {
      indexed |= uint64_t(1) << clamp.axis;
      for (auto [axis, scale] : clamp.also)
        indexed |= uint64_t(1) << axis;
    }
  }
  for (Output &output : outputs)
    accesses.push_back(&output.access);

  auto canMerge = [&](unsigned axis) {
    return axis + 1 != numRowAxes && !(indexed >> axis & 3) &&
           llvm::all_of(accesses, [&](Access *access) {
             return access->strides[axis] ==
                    access->strides[axis + 1] * axes[axis + 1];
           });
  };
  SmallVector<unsigned> newIndex(axes.size());
  unsigned rows = numRowAxes;
  SmallVector<bool> merge(axes.size());
  for (unsigned axis = 0; axis + 1 < axes.size(); ++axis)
    merge[axis] = canMerge(axis);
  // An axis that is merged into its right neighbour disappears; strides of the
  // right one stand for both.
  for (unsigned axis = 0, next = 0; axis < axes.size(); ++axis) {
    newIndex[axis] = next;
    if (!merge[axis]) {
      ++next;
      continue;
    }
    axes[axis + 1] = axes[axis] * axes[axis + 1];
    rows -= axis < numRowAxes;
  }
  auto compact = [&](auto &list) {
    unsigned next = 0;
    for (unsigned axis = 0; axis < merge.size(); ++axis)
      if (!merge[axis])
        list[next++] = list[axis];
    list.resize(next);
  };
  for (Access *access : accesses) {
    compact(access->strides);
    for (Clamp &clamp : access->clamps) {
      clamp.axis = newIndex[clamp.axis];
      for (auto &[axis, scale] : clamp.also)
        axis = newIndex[axis];
    }
  }
  compact(axes);
  numRowAxes = rows;
  // Keys held the old strides; the merged ones are as distinct as they were.
  byKey.clear();
  for (const std::unique_ptr<Node> &node : pool) {
    uint64_t varies = 0;
    for (unsigned axis = 0; axis < merge.size(); ++axis)
      if (node->varies >> axis & 1)
        varies |= uint64_t(1) << newIndex[axis];
    node->varies = varies;
    if (node->kind == Node::Kind::Index)
      node->axis = newIndex[node->axis];
    std::string key;
    llvm::raw_string_ostream os(key);
    printNode(os, *node);
    byKey[key] = node.get();
  }
}
