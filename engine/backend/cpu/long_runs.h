// Long runs for element-wise kernels with broadcasting. Where the innermost loop is short, as over the 3 channels of an
// image, its runs are shorter than a vector. Operands that repeat are then written out into a tile on the stack, and
// the kernel gets runs of some thousand elements. Nothing here allocates.
//
//   cpu::forEachLongRun<2>(loops, {cpu::Operand::of(x), cpu::Operand::of(y)}, begin, end,
//                          [&](int64_t first, int64_t count, const auto& from) {
//                            const float* xs = from[0].as<float>();  // xs[i * from[0].stride] for i below count
//                          });
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/backend/cpu/parallel.h"
#include "engine/op/loops.h"
#include "engine/tensor/tensor.h"

namespace opkit::cpu {

/// The elements of an operand, of 1, 2, 4 or 8 bytes.
struct Operand {
  const std::byte* elements = nullptr;
  int64_t elementBytes = 1;

  template <class T>
  static Operand of(const T* elements) {
    return {reinterpret_cast<const std::byte*>(elements), sizeof(T)};
  }
  static Operand of(const Tensor& tensor) {
    return {tensor.bytes().data(), static_cast<int64_t>(sizeOf(tensor.desc.dtype))};
  }
};

/// An operand's part of a run: element i is at i * stride, which is that of the innermost loop, or 0 or 1.
struct RunElements {
  const std::byte* bytes = nullptr;
  int64_t stride = 0;

  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(bytes);
  }
};

/// How loops are cut into runs: the loops inside of `loop` are a block, and so many blocks make a run.
struct RunCut {
  size_t loop = 0;
  int64_t block = 1;  // elements
  int64_t blocks = 1;
};

/// The operand of some loops in runs of whole blocks.
class TiledOperand {
 public:
  static constexpr int64_t kTileBytes = 16384, kSlackBytes = 16;

  /// Operand number `index` of the loops. Keeps references.
  void begin(const Loops& loops, size_t index, const RunCut& cut, const Operand& operand);
  /// The elements of `blocks` blocks, at most cut.blocks, from the operand's element `offset` on, without the first
  /// `skipped`. Valid until the next call.
  RunElements take(int64_t offset, int64_t blocks, int64_t skipped);

 private:
  enum class Form : uint8_t { Whole, One, Tile };  // elements that follow each other, one for all, or neither

  /// Writes what `extent` iterations of loop `loop` read.
  void fill(size_t loop, int64_t extent, const std::byte* from, std::byte* to) const;
  /// Repeats each of `elements` elements, `step` bytes apart, until it fills `bytes`.
  void repeatFrom(const std::byte* from, int64_t step, int64_t elements, int64_t bytes, std::byte* to) const;

  const Loops* loops_ = nullptr;
  Operand operand_;
  size_t index_ = 0, loop_ = 0;
  Form form_ = Form::Tile;
  size_t wholeFrom_ = 0, oneFrom_ = 0;       // loops whose iterations read a row of elements, or one
  std::array<int64_t, kMaxLoops> inside_{};  // elements of one iteration of each loop
  int64_t offset_ = -1, blocks_ = 0;         // what the tile holds
  alignas(64) std::array<std::byte, kTileBytes + kSlackBytes> tile_;
};

/// The cut for so many elements of loops whose innermost one is short; no blocks if runs along it are long or few.
RunCut cutShortRuns(const Loops& loops, int64_t elements, int64_t elementBytes);

/// Walks output elements [begin, end) of `loops` in order, in long runs: calls body(first output element, count,
/// RunElements of each operand). REQUIRES N operands and at most kMaxLoops loops.
template <size_t N, class Body>
void forEachLongRun(const Loops& loops, const std::array<Operand, N>& operands, int64_t begin, int64_t end,
                    const Body& body) {
  if (begin >= end) return;
  int64_t elementBytes = 1;
  for (const Operand& operand : operands) elementBytes = std::max(elementBytes, operand.elementBytes);
  const RunCut cut = cutShortRuns(loops, end - begin, elementBytes);
  std::array<RunElements, N> elements;
  if (cut.blocks == 0)
    return forEachRun<N>(loops, begin, end, [&](int64_t first, const auto& at, int64_t count, const auto& strides) {
      for (size_t k = 0; k < N; ++k)
        elements[k] = {operands[k].elements + at[k] * operands[k].elementBytes, strides[k]};
      body(first, count, elements);
    });
  std::array<TiledOperand, N> tiled;
  for (size_t k = 0; k < N; ++k) tiled[k].begin(loops, k, cut, operands[k]);
  const auto walk = [&](int64_t firstBlock, const auto& at, int64_t blocks, const auto& strides) {
    for (int64_t b = 0; b < blocks; b += cut.blocks) {
      const int64_t taken = std::min(cut.blocks, blocks - b), from = (firstBlock + b) * cut.block;
      const int64_t first = std::max(from, begin), last = std::min(from + taken * cut.block, end);
      for (size_t k = 0; k < N; ++k) elements[k] = tiled[k].take(at[k] + b * strides[k], taken, first - from);
      body(first, last - first, elements);
    }
  };
  forEachRun<N>(loops, cut.loop + 1, begin / cut.block, (end + cut.block - 1) / cut.block, walk);
}

}  // namespace opkit::cpu
