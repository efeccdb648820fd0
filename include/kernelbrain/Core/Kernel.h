//===- Kernel.h - What plain code knows of a kernel -------------*- C++ -*-===//
//
// The signature, numerics and work of a kb.kernel, without its IR.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_CORE_KERNEL_H
#define KERNELBRAIN_CORE_KERNEL_H

#include "kernelbrain/Support/Json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelbrain {

/// "i1" (one byte each, 0 or 1), "i8", "i16", "i32", "i64", "index" (8 bytes),
/// "f16", "bf16", "f32", "f64".
enum class ElementType { I1, I8, I16, I32, I64, Index, F16, BF16, F32, F64 };
const char *toString(ElementType type);
std::optional<ElementType> elementTypeFromString(const std::string &text);
int64_t byteSize(ElementType type);
bool isFloat(ElementType type);

/// What values an argument may hold. Integers: [low, high); floats: [low,
/// high]. Absent bounds: everything the type holds.
struct Domain {
  std::optional<double> low, high;
};

/// Of a buffer, in elements; -1: any.
struct Layout {
  std::vector<int64_t> strides;
  int64_t offset = 0;

  bool operator==(const Layout &other) const {
    return strides == other.strides && offset == other.offset;
  }
};

/// One tensor argument: dense, row-major. Programs have scalar ones as well.
struct Argument {
  bool isOutput = false;
  bool isScalar = false; ///< passed by value; no shape
  bool onDevice = false; ///< of a program: in the memory of a GPU
  /// Of a program: a memref in it, so that callers see what is written.
  bool isMemref = false;
  ElementType type = ElementType::F32;
  /// Extents; -(k + 1) stands for the k-th distinct dynamic dimension.
  std::vector<int64_t> shape;
  /// Of a memref that has to be, or may be, other than dense.
  std::optional<Layout> layout;
  Domain domain;
  int64_t alignment = 1; ///< bytes that callers promise for the base address
};

/// What a variant may do to the numbers (docs/Evaluation.md); the measured
/// error bound decides in the end.
struct Numerics {
  bool reassociate = true, contract = true, narrowF64Intermediates = true,
       skipIntermediateRounding = true, approxMath = false, tf32 = false,
       deterministic = true;
};

struct Kernel {
  std::string name; ///< symbol
  std::string hash; ///< structural hash of the body and its attributes
  std::string kind; ///< class, for instance "row-reduction"
  std::vector<Argument> arguments; ///< inputs, then outputs
  /// One for each distinct dynamic dimension: the extent to tune at.
  std::vector<int64_t> dimHints;
  Numerics numerics;
  double flops = 0;          ///< estimated scalar operations of one call
  int64_t boundaryBytes = 0; ///< inputs read once and outputs written once
  double share = 0;          ///< estimated share of the program's time, [0, 1]
  bool asserts = false;      ///< the body holds cf.assert
  /// The body for whoever rewrites it, in the form that Recipe::payload takes
  /// (Transforms/KernelText.h). Not in the JSON form.
  std::string text;
};

/// Whether a dense buffer of these extents is one that `argument` may be.
bool fitsDense(const Argument &argument, const std::vector<int64_t> &extents);

Json toJson(const Argument &argument);
Result<Argument> argumentFromJson(const Json &json);
Json toJson(const Numerics &numerics);
Result<Numerics> numericsFromJson(const Json &json);
Json toJson(const Kernel &kernel);
Result<Kernel> kernelFromJson(const Json &json);

} // namespace kernelbrain

#endif // KERNELBRAIN_CORE_KERNEL_H
