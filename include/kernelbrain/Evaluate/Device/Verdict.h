//===- Verdict.h - Is an output right? --------------------------*- C++ -*-===//
//
// Outputs are compared with f64 references tile by tile (32 x 32): how far is
// an element from the correctly rounded reference, in units of the largest
// magnitude of its tile. docs/Evaluation.md gives the reasons.
//
//===----------------------------------------------------------------------===//

#ifndef KERNELBRAIN_EVALUATE_DEVICE_VERDICT_H
#define KERNELBRAIN_EVALUATE_DEVICE_VERDICT_H

#include "kernelbrain/Core/Kernel.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kernelbrain::evaluate {

/// An output of `elements` elements seen as a matrix that is cut into tiles.
struct TileGrid {
  static constexpr int64_t edge = 32;
  explicit TileGrid(const std::vector<int64_t> &extents);
  int64_t elements, columns, tileRows, tileColumns;

  int64_t tiles() const { return tileRows * tileColumns; }
  struct Run {
    int64_t begin, count; ///< elements
  };
  /// Row `row` of tile `tile`; count 0 beyond the edge.
  Run run(int64_t tile, int64_t row) const;
};

/// Error of one output over the tiles of its reference.
struct OutputError {
  double largest = 0; ///< elementwise, in units of the tile's scale
  double rms = 0;     ///< largest of the tiles' root mean squares, same units
  double share = 0;   ///< of elements that are not the rounded reference
  double lost = 0;    ///< as `largest`, of the tiles that the baseline lost
  int64_t wrongClass = -1; ///< first element of another class (NaN, Inf), or -1
  int64_t worst = -1;      ///< element of `largest`
  int64_t worstRms = -1;   ///< the furthest off in the tile of `rms`
  int64_t worstLost = -1;  ///< element of `lost`
};

/// What one output of one input set should be.
struct OutputReference {
  Argument argument;
  std::vector<int64_t> extents;
  std::vector<int64_t> tiles;    ///< which ones are kept, ascending
  std::vector<double> values;    ///< of those tiles, row by row (floats)
  std::vector<size_t> starts;    ///< of each tile in `values`
  std::vector<int64_t> integers; ///< the same for integer outputs
  /// Largest magnitude of each tile that the output's type can hold; with
  /// `lostAbove`, of each row of a tile (32 of them a tile).
  std::vector<double> scales;
  /// Above 0 for inputs at the limits of their range, where each row has a
  /// magnitude of its own and the baseline may be wrong: so each row of a tile
  /// stands for itself, and one in which the baseline's error is above this is
  /// *lost*. Only there a variant may be as wrong. So is one of whose elements
  /// only few come near its scale: their own cancellation makes its error
  /// large.
  double lostAbove = 0;
  std::vector<bool> lost; ///< like `scales`; empty: none is
  /// Elements where the baseline is of another class than the reference, and
  /// the baseline's class.
  std::vector<std::pair<int64_t, int>> exceptions;
  /// Of integer outputs: elements and values that are right beside the
  /// reference's.
  std::vector<std::pair<int64_t, int64_t>> alternatives;
  OutputError baseline;
  OutputError lower; ///< of inputs moved by half an ulp of the format below
  bool hasLower = false;

  bool isDense() const;
  /// Whether luck decides how large its error is, in any set of inputs.
  bool hasFewElements() const;
};

/// What an error of this part of the simulated one does to the result is the
/// kernel's conditioning, not a variant's fault.
constexpr double conditioning = 0x1p-10;

/// The bound that one output of one set has to keep.
struct Bound {
  double relative = 0; ///< max(1.5 x baseline, conditioning), in tile scales
  double rms = 0;      ///< the same of the root mean square
  double share = 1;    ///< for 16-bit outputs; else 1
  /// A variant with products of the format below would be caught.
  bool hasPower = false;
};
Bound boundOf(const OutputReference &reference);
/// The largest error that a variant may have in a tile, in units of its scale.
double allowedError(const OutputReference &reference);

/// How much of its bound an output uses (1: at the bound), and why.
struct Judgement {
  double error = 0;
  std::string reason; ///< empty if error <= 1
};

/// Chooses the tiles to keep: all if `limit` is 0 or not exceeded, else
/// corners, parts of the last row and column of tiles, and random ones, up to
/// `limit`.
std::vector<int64_t> chooseTiles(const TileGrid &grid, int64_t limit,
                                 uint64_t seed);

/// Takes the kept tiles out of a reference output whose elements are `type`.
/// Large outputs are read on up to `threads` threads, here and below.
void takeReference(OutputReference &reference, ElementType type,
                   const void *data, int threads = 1);
/// Widens the tiles' scales by the output of perturbed inputs, and measures it.
void takeLower(OutputReference &reference, ElementType type, const void *data,
               int threads = 1);
/// Takes what integer outputs are with inputs that are moved by `conditioning`
/// of what takeLower() is given, as alternatives: an index whose key ties.
void takeAlternatives(OutputReference &reference, ElementType type,
                      const void *data);
/// Measures the baseline's own error and notes its exceptional elements; its
/// integers are alternatives.
void takeBaseline(OutputReference &reference, const void *data,
                  int threads = 1);

/// For inputs whose results are one value over and over: the error of one value
/// is luck. Raises the baseline's to what it is on `usual`, the same output for
/// inputs without repetition, times how much more these inputs amplify a small
/// change.
void takeUsualError(OutputReference &reference, const OutputReference &usual);
/// For an output of few elements on several sets of inputs: takes the error of
/// the set that shows most of it, for how much it amplifies a small change, for
/// usual in all of them. At the limits of the range errors stay as they are.
void shareUsualError(const std::vector<OutputReference *> &sets);

/// Measures an output of the kernel's own type.
OutputError measureError(const OutputReference &reference, const void *data,
                         int threads = 1);
/// A `rewritten` kernel is another algorithm, which rounds elsewhere: it may be
/// 16 times as far off, but no further than a quarter of the simulated error of
/// lower precision.
Judgement judge(const OutputReference &reference, const void *data,
                bool rewritten = false, int threads = 1);

/// "output element (3, 17)".
std::string elementName(const std::vector<int64_t> &extents, int64_t element);

} // namespace kernelbrain::evaluate

#endif // KERNELBRAIN_EVALUATE_DEVICE_VERDICT_H
