//===- BlockGraph.h - The dataflow of one block -----------------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_TRANSFORMS_BLOCKGRAPH_H
#define KERNELBRAIN_LIB_TRANSFORMS_BLOCKGRAPH_H

#include "OpClass.h"

#include <deque>
#include <string>

namespace kernelbrain {

struct FormedRegion;

/// What becomes of an operation.
enum class Role {
  Free,    ///< cloned into every region that uses it: constants, fills, masks
  View,    ///< as Free, but its source is data: reshapes, slices
  Compute, ///< belongs to exactly one region, unless it is transparent
  Opaque   ///< stays where it is
};

struct Node;

/// A tensor that a compute node reads, seen through views, broadcasts and the
/// like.
struct Edge {
  Node *producer; ///< null if the tensor comes from elsewhere
  Access access;
  mlir::Value root;
};

struct Node {
  mlir::Operation *op;
  unsigned index; ///< position in the block
  Role role = Role::Opaque;
  OpClass cls = OpClass::Other;
  OpFacts facts; ///< of linalg operations
  int64_t points = 0;
  double flops = 0;
  int64_t bytesIn = 0, bytesOut = 0;
  /// Compute, but composed into the indexing of its users: cloned as if Free.
  bool isTransparent = false;
  bool asserts = false;
  /// Not empty: why work that looks like a kernel's stays where it is.
  std::string stockReason;
  llvm::SmallVector<Edge> edges;
  llvm::SmallVector<std::pair<Node *, Access>> users;
  /// Compute and opaque nodes that must come later.
  llvm::SmallVector<Node *> successors;
  /// Some result is used by an operation that is no compute node, or leaves
  /// the block.
  bool escapes = false;
  FormedRegion *region = nullptr;
};

/// Where a value comes from when reshapes, casts and slices are looked through.
struct Root {
  mlir::Value value;
  bool isSliced = false;
};

class BlockGraph {
public:
  BlockGraph(mlir::Block &block, int64_t dynamicDim);

  mlir::Block &getBlock() { return block; }
  std::deque<Node> &all() { return nodes; }
  /// Compute nodes that are not transparent, in order.
  llvm::ArrayRef<Node *> computes() const { return computeNodes; }
  /// The node of the operation that defines `value` in this block, or null.
  Node *nodeOf(mlir::Value value) const;
  Root rootOf(mlir::Value value) const;
  int64_t getDynamicDim() const { return dynamicDim; }

private:
  void classify(Node &node);
  void classifyLinalg(Node &node, mlir::linalg::LinalgOp op);
  void classifyTensorOp(Node &node);
  void classifyLoop(Node &node);
  bool isIndexMath(const Node &node) const;
  void measure(Node &node);
  void markTransparent();
  bool mayBeTransparent(Node &node);
  bool usersAre(Node &node, llvm::function_ref<bool(const Node &)> accept);
  void collectUsers(mlir::Value value,
                    llvm::SmallVectorImpl<mlir::Operation *> &users);
  void connect(Node &node);
  void addEdge(Node &node, mlir::Value value, Access access);
  Access accessOf(const Node &node, unsigned operand) const;
  void addSuccessors(Node &node);
  void orderEffects();
  bool isPassThrough(const Node &node) const {
    return node.role == Role::Free || node.role == Role::View ||
           node.isTransparent;
  }

  mlir::Block &block;
  int64_t dynamicDim;
  std::deque<Node> nodes;
  llvm::DenseMap<mlir::Operation *, Node *> byOp;
  llvm::SmallVector<Node *> computeNodes;
};

/// True if `value` is a scalar that a kernel can compute for itself: a constant
/// or arithmetic on constants and extents.
bool isRecoverableScalar(mlir::Value value);

/// Why `op`, or something in it, can be in no kernel; empty if it can.
std::string whyUnknown(mlir::Operation *op);

} // namespace kernelbrain

#endif // KERNELBRAIN_LIB_TRANSFORMS_BLOCKGRAPH_H
