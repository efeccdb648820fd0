//===- Outliner.cpp - Cuts a module into kernels --------------------------===//

#include "Outliner.h"

#include "ArgDomains.h"
#include "kernelbrain/Transforms/KernelHash.h"
#include "kernelbrain/Transforms/KernelInfo.h"
#include "kernelbrain/Transforms/Outlining.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace kernelbrain;

Outliner::Outliner(ModuleOp module, llvm::Regex *wanted)
    : module(module), wanted(wanted) {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    op.getCanonicalizationPatterns(patterns, context);
  simplifications = FrozenRewritePatternSet(std::move(patterns));
}

ModuleOp Outliner::kernelsModule() {
  if (kernels)
    return kernels;
  StringRef name = kb::KBDialect::getKernelsModuleName();
  for (auto nested : module.getOps<ModuleOp>())
    if (nested.getSymName() == name)
      kernels = nested;
  if (!kernels) {
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    kernels = ModuleOp::create(builder, module.getLoc(), name);
    SymbolTable::setSymbolVisibility(kernels, SymbolTable::Visibility::Private);
  }
  symbols = std::make_unique<SymbolTable>(kernels);
  for (auto kernel : kernels.getOps<kb::KernelOp>())
    byHash.try_emplace(kernelHash(kernel), kernel);
  return kernels;
}

/// Unique in the module, the same in every run.
std::string Outliner::nextName(StringRef kind) {
  std::string base = (current.getSymName() + "_" + kind).str();
  for (char &letter : base)
    if (!llvm::isAlnum(letter))
      letter = '_';
  return base + "_" + std::to_string(counts[base]++);
}

/// How often loops with known bounds run what holds `op`.
static double timesRun(Operation *op) {
  double times = 1;
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    if (std::optional<APInt> trips = loop.getStaticTripCount())
      times *= trips->getSExtValue();
    else
      times *= defaultDynamicDim;
  return times;
}

/// What the passes canonicalize and cse do, where passes cannot run.
void Outliner::simplify(kb::KernelOp kernel) {
  GreedyRewriteConfig config;
  config.setUseTopDownTraversal();
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal);
  // As simple as it got will do.
  (void)applyPatternsGreedily(kernel, simplifications, config);
  IRRewriter rewriter(kernel.getContext());
  DominanceInfo dominance;
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
}

/// Simplifies a new kernel. Returns it, or an equal one that was there before.
kb::KernelOp Outliner::finishKernel(kb::KernelOp kernel, StringRef kind) {
  std::string rawHash = kernelHash(kernel);
  if (kb::KernelOp same = byHash.lookup(rawHash)) {
    kernel.erase();
    return same;
  }
  simplify(kernel);
  kernel.setKind(kind);
  setNumerics(kernel);
  inferArgDomains(kernel);
  std::string hash = kernelHash(kernel);
  kb::KernelOp &same = byHash[hash];
  if (same) {
    kernel.erase();
  } else {
    same = kernel;
    symbols->insert(kernel);
  }
  kb::KernelOp result = same;
  byHash[rawHash] = result;
  return result;
}

void Outliner::setNumerics(kb::KernelOp kernel) {
  StringRef name = kb::KBDialect::getNumericsMarkerName();
  for (Operation *scope : {current.getOperation(), module.getOperation()})
    if (auto policy = scope->getAttrOfType<kb::NumericsAttr>(name))
      return kernel.setNumericsAttr(policy);
}

/// Records a region that stays in the program.
void Outliner::keep(const FormedRegion &region, StringRef name, StringRef kind,
                    StringRef reason) {
  Entry entry{name.str(),
              kind.str(),
              reason.str(),
              static_cast<unsigned>(region.nodes.size()),
              0,
              0,
              0,
              nullptr};
  for (const Node *node : region.nodes) {
    entry.bytes += node->bytesIn + node->bytesOut;
    entry.flops += node->flops;
  }
  Kernel unfused;
  unfused.boundaryBytes = entry.bytes;
  unfused.flops = entry.flops;
  entry.timeNs = rooflineNs(unfused) * timesRun(region.nodes.front()->op);
  entries.push_back(entry);
}

void Outliner::outlineRegion(BlockGraph &graph, FormedRegion &region,
                             StringRef kind, DimClasses &dims) {
  std::string name = nextName(kind);
  Operation *last = region.nodes.back()->op;
  if (wanted && !wanted->match(name))
    return keep(region, name, kind, "not selected");
  KernelCutter cutter(graph, region, dims);
  std::string reason = cutter.plan();
  if (!reason.empty()) {
    last->emitRemark("stays as it is: the region ") << reason;
    return keep(region, name, kind, reason);
  }
  kb::KernelOp kernel = finishKernel(cutter.build(kernelsModule(), name), kind);
  auto callee =
      SymbolRefAttr::get(kernels.getSymNameAttr(),
                         FlatSymbolRefAttr::get(kernel.getSymNameAttr()));
  double times = timesRun(last);
  cutter.replace(callee);
  Kernel facts = describeKernel(kernel);
  entries.push_back(
      {name, kind.str(), "", static_cast<unsigned>(region.nodes.size()),
       facts.boundaryBytes, facts.flops, rooflineNs(facts) * times, kernel});
}

/// Loops share what is built before them; their kernels should not take it as
/// an argument.
static void localizeFreeValues(Block &block) {
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  llvm::DenseMap<Value, Value> local;
  std::function<Value(Value)> localize = [&](Value value) -> Value {
    Operation *op = value.getDefiningOp();
    if (!op || block.findAncestorOpInBlock(*op))
      return value;
    if (Value known = local.lookup(value))
      return known;
    auto fill = dyn_cast<linalg::FillOp>(op);
    DenseElementsAttr constant;
    bool isFree =
        isa<tensor::EmptyOp>(op) ||
        (fill && matchPattern(fill.getInputs()[0], m_Constant())) ||
        (matchPattern(value, m_Constant(&constant)) && constant.isSplat());
    if (!isFree || !isa<RankedTensorType>(value.getType()))
      return value;
    Value init = fill ? localize(fill.getOutputs()[0]) : Value();
    Operation *copy = builder.clone(*op);
    if (fill)
      cast<linalg::FillOp>(copy).getDpsInitsMutable()[0].set(init);
    return local[value] = copy->getResult(0);
  };
  block.walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      operand.set(localize(operand.get()));
  });
}

static void eraseDead(BlockGraph &graph, ArrayRef<FormedRegion *> outlined) {
  llvm::SmallPtrSet<Operation *, 32> gone;
  for (FormedRegion *region : outlined)
    for (Node *node : region->nodes)
      gone.insert(node->op);
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(graph.getBlock())))
    if (isOpTriviallyDead(&op) || (gone.contains(&op) && op.use_empty()))
      op.erase();
}

/// Says of each operation that looks like work why it stays.
void Outliner::keepStock(BlockGraph &graph) {
  for (Node &node : graph.all()) {
    if (node.stockReason.empty())
      continue;
    node.op->emitRemark("stays as it is: ") << node.stockReason;
    FormedRegion alone;
    alone.nodes.push_back(&node);
    keep(alone, node.op->getName().getStringRef(), toString(node.cls),
         node.stockReason);
  }
}

void Outliner::outlineBlock(Block &block, DimClasses &dims) {
  // Inner blocks first: their kernels then count as calls here.
  BlockGraph graph(block, defaultDynamicDim);
  for (Node &node : graph.all())
    if (node.role == Role::Opaque &&
        !node.op->hasAttr(kb::KBDialect::getSkipMarkerName()) &&
        isa_and_nonnull<scf::SCFDialect>(node.op->getDialect()))
      for (Region &nested : node.op->getRegions())
        for (Block &inner : nested)
          outlineBlock(inner, dims);
  RegionFormer former(graph);
  std::vector<FormedRegion *> regions = former.regions();
  keepStock(graph);
  if (!regions.empty())
    gatherRegions(graph, regions);
  for (FormedRegion *region : regions)
    outlineRegion(graph, *region, region->kind(), dims);
  eraseDead(graph, regions);
}

/// All operations of the body but large constants, which stay arguments.
void Outliner::outlineWhole(DimClasses &dims) {
  func::FuncOp function = current;
  if (!function.getBody().hasOneBlock()) {
    function.emitRemark("stays as it is: the region has several blocks");
    return;
  }
  BlockGraph graph(function.getBody().front(), defaultDynamicDim);
  std::string kind = "sequence";
  RegionFormer former(graph);
  std::vector<FormedRegion *> parts = former.regions();
  bool hasOthers = llvm::any_of(graph.all(), [](const Node &node) {
    return node.role == Role::Opaque &&
           !node.op->hasTrait<OpTrait::IsTerminator>();
  });
  if (parts.size() == 1 && !hasOthers)
    kind = parts.front()->kind().str();
  FormedRegion whole;
  std::string reason;
  for (Node &node : graph.all()) {
    bool isData =
        node.role == Role::Opaque && node.op->hasTrait<OpTrait::ConstantLike>();
    if (isData || node.op->hasTrait<OpTrait::IsTerminator>())
      continue;
    if (reason.empty())
      reason = whyUnknown(node.op);
    node.isTransparent = false;
    node.region = &whole;
    whole.nodes.push_back(&node);
  }
  if (whole.nodes.empty())
    return;
  if (!reason.empty()) {
    function.emitRemark("stays as it is: the region ") << reason;
    return keep(whole, nextName(kind), kind, reason);
  }
  outlineRegion(graph, whole, kind, dims);
  eraseDead(graph, {&whole});
}

void Outliner::outline(func::FuncOp function) {
  current = function;
  for (Block &block : llvm::drop_begin(function.getBody()))
    localizeFreeValues(block);
  function.walk([](Operation *op) {
    if (isa_and_nonnull<scf::SCFDialect>(op->getDialect()))
      for (Region &region : op->getRegions())
        for (Block &inner : region)
          localizeFreeValues(inner);
  });
  DimClasses dims(function);
  if (function->hasAttr(kb::KBDialect::getKernelMarkerName()))
    outlineWhole(dims);
  else
    for (Block &block : function.getBody())
      outlineBlock(block, dims);
}

void kernelbrain::cutIntoKernels(func::FuncOp function) {
  ScopedDiagnosticHandler silence(
      function.getContext(), [](Diagnostic &diagnostic) {
        return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
      });
  Outliner outliner(function->getParentOfType<ModuleOp>(), /*wanted=*/nullptr);
  outliner.outline(function);
}

double Outliner::totalNs() const {
  double total = 0;
  for (const Entry &entry : entries)
    total += entry.timeNs;
  return total;
}

void Outliner::setShares() {
  double total = totalNs();
  llvm::DenseMap<Operation *, double> shares;
  for (const Entry &entry : entries)
    if (entry.kernel && total > 0)
      shares[entry.kernel] += entry.timeNs / total;
  for (auto [op, share] : shares)
    cast<kb::KernelOp>(op).setShare(std::lround(share * 1000));
}

void Outliner::print(llvm::raw_ostream &stream) const {
  double total = totalNs();
  for (const Entry &entry : entries) {
    stream << llvm::formatv(
        "{0}: {1}, {2} ops, {3} bytes, {4} flops, {5:f1}% of time", entry.name,
        entry.kind, entry.ops, entry.bytes, static_cast<int64_t>(entry.flops),
        total > 0 ? 100 * entry.timeNs / total : 0.0);
    kb::KernelOp kernel = entry.kernel;
    if (!kernel)
      stream << ", stays: " << entry.note;
    else if (kernel.getSymName() != entry.name)
      stream << ", same as " << kernel.getSymName();
    stream << '\n';
  }
}
