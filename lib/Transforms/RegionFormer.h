//===- RegionFormer.h - Which operations make a kernel ----------*- C++ -*-===//

#ifndef KERNELBRAIN_LIB_TRANSFORMS_REGIONFORMER_H
#define KERNELBRAIN_LIB_TRANSFORMS_REGIONFORMER_H

#include "BlockGraph.h"

#include <memory>
#include <vector>

namespace kernelbrain {

/// Operations that become one kernel.
struct FormedRegion {
  llvm::SmallVector<Node *> nodes; ///< in block order once forming is done
  OpClass cls = OpClass::Other;
  /// A reduction whose space is far larger than all of its inputs.
  bool isGeneralized = false;
  unsigned visit = 0;

  llvm::StringRef kind() const {
    return isGeneralized ? "generalized-contraction" : toString(cls);
  }
};

/// Partitions the compute nodes of `graph` into regions, greedily and
/// deterministically, such that the graph of regions has no cycle. The regions
/// come in the order of their first operations.
class RegionFormer {
public:
  explicit RegionFormer(BlockGraph &graph);

  std::vector<FormedRegion *> regions();

private:
  enum class Group {
    Elementwise,
    Reduction,
    Product,
    Convolution,
    Pooling,
    Other
  };
  using Space = std::pair<int64_t, int64_t>;

  void visitReduction(Node *node);
  void joinSiblings(Node *node);
  void visitElementwise(Node *node);
  void joinEpilogue(Node *node);
  void giveBackEpilogue(Node *node);
  void joinOnlyUser(Node *node);
  void joinConcat(Node *node);
  bool mayJoinUser(FormedRegion *region, FormedRegion *user);

  bool merge(FormedRegion *into, FormedRegion *from);
  bool isLegal(FormedRegion *a, FormedRegion *b);
  bool reachesAround(FormedRegion *from, FormedRegion *to);
  FormedRegion *onlySuccessor(FormedRegion *region);
  FormedRegion *newRegion(Node *node);

  OpClass anchorOf(const FormedRegion &region) const;
  Group groupOf(const FormedRegion &region) const;
  bool readsShiftedSlices(const FormedRegion &region) const;
  std::optional<Space> spaceOf(const FormedRegion &region) const;
  int64_t mainPoints(const FormedRegion &region) const;
  bool isGeneralized(const FormedRegion &region) const;

  BlockGraph &graph;
  std::vector<std::unique_ptr<FormedRegion>> pool;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Node *>> readers;
  unsigned visits = 0;
};

} // namespace kernelbrain

#endif // KERNELBRAIN_LIB_TRANSFORMS_REGIONFORMER_H
