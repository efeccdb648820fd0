//===- StockLaunches.cpp - Loops over buffers to launches -----------------===//

#include "StockLaunches.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace kernelbrain::strategy {

namespace {
/// Takes a block apart into what the host computes (sizes, views, buffers),
/// parallel loops, each a launch, and what is left, which one thread does.
class LaunchFormer {
public:
  explicit LaunchFormer(func::FuncOp function) : function(function) {
    for (BlockArgument argument : function.getArguments())
      onHost.insert(argument);
  }
  LogicalResult run() { return form(function.front()); }

private:
  LogicalResult form(Block &block);
  bool isHost(Value value) const { return onHost.contains(value); }
  bool areHost(ValueRange values) const {
    return llvm::all_of(values, [&](Value value) { return isHost(value); });
  }
  bool isHostOp(Operation *op) const;
  bool isHostLoop(Operation *op) const;
  void keep(Operation *op) {
    onHost.insert(op->getResults().begin(), op->getResults().end());
  }
  LogicalResult formLoop(Operation *op);
  LogicalResult launchParallel(scf::ParallelOp loop);
  LogicalResult launchRest();
  LogicalResult finish(gpu::LaunchOp launch);
  void spill(gpu::LaunchOp launch);
  gpu::LaunchOp openLaunch(OpBuilder &builder, Location loc, Value blocks,
                           int64_t threads);

  func::FuncOp function;
  DenseSet<Value> onHost;
  SmallVector<Operation *> rest;  ///< not yet launched
  DenseMap<Value, Value> spilled; ///< values of launches, with their memory
};
} // namespace

//===----------------------------------------------------------------------===//
// What runs where
//===----------------------------------------------------------------------===//

bool LaunchFormer::isHostOp(Operation *op) const {
  if (isa<memref::AllocOp, memref::DeallocOp, memref::GetGlobalOp,
          func::ReturnOp, scf::YieldOp>(op))
    return true;
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         areHost(op->getOperands());
}

/// Loops and branches around launches, whose number the host knows.
bool LaunchFormer::isHostLoop(Operation *op) const {
  if (!isa<scf::ForOp, scf::IfOp>(op) || !areHost(op->getOperands()) ||
      !llvm::all_of(op->getResultTypes(), llvm::IsaPred<MemRefType>))
    return false;
  return op->walk([](scf::ParallelOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

LogicalResult LaunchFormer::formLoop(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      onHost.insert(block.args_begin(), block.args_end());
      if (failed(form(block)))
        return failure();
    }
  keep(op);
  return success();
}

LogicalResult LaunchFormer::form(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (Operation *op : ops) {
    if (isHostOp(op)) {
      bool ends =
          op->hasTrait<OpTrait::IsTerminator>() || isa<memref::DeallocOp>(op);
      if (ends && failed(launchRest()))
        return failure();
      keep(op);
      continue;
    }
    auto parallel = dyn_cast<scf::ParallelOp>(op);
    bool launches = parallel && parallel.getNumResults() == 0 &&
                    areHost(parallel.getLowerBound()) &&
                    areHost(parallel.getUpperBound()) &&
                    areHost(parallel.getStep());
    if (!launches && !isHostLoop(op)) {
      rest.push_back(op);
      continue;
    }
    if (failed(launchRest()) ||
        failed(launches ? launchParallel(parallel) : formLoop(op)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static Value constantIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

/// Leaves the builder in the launch, before its end.
gpu::LaunchOp LaunchFormer::openLaunch(OpBuilder &builder, Location loc,
                                       Value blocks, int64_t threads) {
  Value one = constantIndex(builder, loc, 1);
  Value size = constantIndex(builder, loc, threads);
  auto launch =
      gpu::LaunchOp::create(builder, loc, blocks, one, one, size, one, one);
  builder.setInsertionPointToStart(&launch.getBody().front());
  auto end = gpu::TerminatorOp::create(builder, loc);
  builder.setInsertionPoint(end);
  return launch;
}

/// One thread an iteration, the last dimension along the threads.
LogicalResult LaunchFormer::launchParallel(scf::ParallelOp loop) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  constexpr int64_t blockSize = 256;
  Value total = constantIndex(builder, loc, 1);
  SmallVector<Value> trips;
  for (auto [lower, upper, step] : llvm::zip_equal(
           loop.getLowerBound(), loop.getUpperBound(), loop.getStep())) {
    Value span = builder.createOrFold<arith::SubIOp>(loc, upper, lower);
    trips.push_back(builder.createOrFold<arith::CeilDivSIOp>(loc, span, step));
    total = builder.createOrFold<arith::MulIOp>(loc, total, trips.back());
  }
  Value size = constantIndex(builder, loc, blockSize);
  Value blocks = builder.createOrFold<arith::CeilDivSIOp>(loc, total, size);
  gpu::LaunchOp launch = openLaunch(builder, loc, blocks, blockSize);
  Value number = arith::MulIOp::create(builder, loc, launch.getBlockIds().x,
                                       constantIndex(builder, loc, blockSize));
  number = arith::AddIOp::create(builder, loc, number, launch.getThreadIds().x);
  Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       number, total);
  auto branch = scf::IfOp::create(builder, loc, inside);
  builder.setInsertionPointToStart(branch.thenBlock());
  for (size_t dim = trips.size(); dim-- > 0;) {
    Value position = number;
    if (dim > 0) {
      position = arith::RemUIOp::create(builder, loc, number, trips[dim]);
      number = arith::DivUIOp::create(builder, loc, number, trips[dim]);
    }
    Value scaled =
        arith::MulIOp::create(builder, loc, position, loop.getStep()[dim]);
    Value variable =
        arith::AddIOp::create(builder, loc, scaled, loop.getLowerBound()[dim]);
    loop.getInductionVars()[dim].replaceAllUsesWith(variable);
  }
  Operation *end = branch.thenBlock()->getTerminator();
  for (Operation &op :
       llvm::make_early_inc_range(loop.getBody()->without_terminator()))
    op.moveBefore(end);
  loop.erase();
  return finish(launch);
}

/// One thread does what has piled up.
LogicalResult LaunchFormer::launchRest() {
  if (rest.empty())
    return success();
  OpBuilder builder(rest.back());
  Location loc = rest.front()->getLoc();
  gpu::LaunchOp launch =
      openLaunch(builder, loc, constantIndex(builder, loc, 1), 1);
  Operation *end = launch.getBody().front().getTerminator();
  for (Operation *op : rest)
    op->moveBefore(end);
  rest.clear();
  spill(launch);
  return finish(launch);
}

/// What later launches use of this one goes through memory.
void LaunchFormer::spill(gpu::LaunchOp launch) {
  Block &body = launch.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(body))
    for (Value result : op.getResults()) {
      bool leaves = llvm::any_of(result.getUsers(), [&](Operation *user) {
        return !launch->isProperAncestor(user);
      });
      if (!leaves)
        continue;
      OpBuilder builder(launch);
      Location loc = op.getLoc();
      Value memory = memref::AllocOp::create(
          builder, loc, MemRefType::get({}, result.getType()));
      onHost.insert(memory);
      builder.setInsertionPoint(launch->getBlock()->getTerminator());
      memref::DeallocOp::create(builder, loc, memory);
      builder.setInsertionPoint(body.getTerminator());
      memref::StoreOp::create(builder, loc, result, memory);
      spilled[result] = memory;
    }
}

/// Gives the launch its own copies of spilled values, and the stack for what
/// its threads allocate.
LogicalResult LaunchFormer::finish(gpu::LaunchOp launch) {
  OpBuilder builder = OpBuilder::atBlockBegin(&launch.getBody().front());
  DenseMap<Value, Value> loaded;
  SmallVector<memref::AllocOp> allocations;
  launch.getBody().walk([&](Operation *op) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      allocations.push_back(alloc);
    for (OpOperand &operand : op->getOpOperands()) {
      auto found = spilled.find(operand.get());
      Operation *definition = operand.get().getDefiningOp();
      if (found == spilled.end() || launch->isProperAncestor(definition))
        continue;
      Value &copy = loaded[operand.get()];
      if (!copy)
        copy = memref::LoadOp::create(builder, op->getLoc(), found->second);
      operand.set(copy);
    }
  });
  for (memref::AllocOp alloc : allocations) {
    constexpr int64_t mostElements = 1 << 12;
    MemRefType type = alloc.getType();
    if (!type.hasStaticShape() || type.getNumElements() > mostElements)
      return alloc.emitError("each thread would need a buffer of type ")
             << type;
    for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
      if (isa<memref::DeallocOp>(user))
        user->erase();
    Value memory = memref::AllocaOp::create(builder, alloc.getLoc(), type);
    alloc.replaceAllUsesWith(memory);
    alloc.erase();
  }
  return success();
}

LogicalResult formLaunches(func::FuncOp function) {
  return LaunchFormer(function).run();
}

} // namespace kernelbrain::strategy
