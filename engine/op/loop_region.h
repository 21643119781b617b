// LoopRegion: a small command repeated over an iteration space, for operators that fixed regions cannot describe:
// gathers and scatters, whose offsets are data, batches of small products, running sums.
//
// OpDef::loop writes an operator in this form at resize; one kernel per backend carries it out. Iterations are
// independent and write different elements, so they may run in any order and in parallel. Sequential work (the depth of
// a product, the terms of a running sum) is inside the command. A Scatter alone may write an element several times: the
// last one stays, or all are folded, in the same order in every run. Plain values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/op/clamp.h"
#include "engine/op/combine.h"
#include "engine/tensor/tensor.h"

namespace opkit {

/// The view of an operand: iteration (i0, i1, ...) and index (b0, b1, ...) of the command select its element offset +
/// sum(i * steps) + sum(b * strides). Steps and strides may be zero or negative.
struct LoopView {
  int source = 0;  // which input of the operator; unused for the target
  int64_t offset = 0;
  DimVector steps;    // one per dimension of the iteration space
  DimVector strides;  // one per dimension of the command
};

/// Data that offsets the first operand, of a Scatter the target: iteration i adds, for every term, stride * v, where v
/// is element offset + sum(i * steps) of the input `source` (i32 or i64). v must be in [-extent, extent); a negative
/// one counts from the end. Any other is InvalidArgument on every backend: at resize if the indices are known, else
/// after the run.
struct LoopIndices {
  struct Term {
    int64_t offset = 0;
    int64_t extent = 0;
    int64_t stride = 0;
  };
  int source = 0;
  DimVector steps;
  std::vector<Term> terms;  // none: no operand is offset by data
};

struct LoopRegion {
  enum class Command {
    Copy,     // target = operand 0, over the box `size`
    Product,  // target[r, c] = clamp(sum over d of operand 0 * operand 1); `size` is {rows, columns, depth}, and a view
              // has stride 0 along the extent that it lacks
    RunningSum,  // target[n] = sum of operand 0 up to n, the product if `combine` says so; `size` is {count}
    Scatter,     // target = input `base`, then target = combine(target, operand 0), over the box `size`
  };
  Command command = Command::Copy;
  Shape iterations;
  Shape size;
  std::vector<LoopView> operands;  // two of a Product, else one
  LoopView target;
  LoopIndices indices = {};
  Clamp clamp = {};                    // of a Product of floats
  bool exclusive = false;              // of a RunningSum: up to n but without n
  Combine combine = Combine::Replace;  // of a Scatter; Multiply makes a RunningSum a running product
  int base = 0;                        // of a Scatter: the input, like the output, that the target starts as
};

/// Whether the command moves a box of elements of any shape.
inline bool movesBoxes(LoopRegion::Command command) {
  return command == LoopRegion::Command::Copy || command == LoopRegion::Command::Scatter;
}

/// Elements that one iteration writes.
int64_t targetElements(const LoopRegion& loop);

/// Internal unless every view has a step per dimension and a stride per index, stays inside its tensor, and the
/// iterations write as many elements as the output has, or, of a Scatter, the base is like the output.
Status checkLoop(const LoopRegion& loop, std::span<const TensorDesc* const> inputs, const TensorDesc& output);

/// The same work in as few dimensions as possible: extents of 1 are dropped, neighbours that continue each other in all
/// views are merged; of the command, those of a Copy and a Scatter.
LoopRegion mergeLoop(const LoopRegion& loop);

/// The error for an index outside [-extent, extent), the same on every backend.
Status badIndex(const std::string& type, int64_t extent, int64_t found);

}  // namespace opkit
