// Inputs, extents and activations of RNN, GRU and LSTM. Plain values, thread-safe.
//
// Each is a product of all inputs with the weights (Gemm), and then its steps: the cards RNNSteps, GRUSteps and
// LSTMSteps, which have the kernels.
#pragma once

#include <array>

#include "engine/op/op_def.h"
#include "ops/recurrent/recurrent_parts.h"

namespace opkit::ops::recurrent {

enum class Cell { Rnn, Gru, Lstm };

/// Of a card of this folder, by the beginning of its type.
Cell cellOf(const std::string& type);
/// Blocks of `hidden` rows in w and r: the one of RNN; z, r, h of GRU; i, o, f, c of LSTM.
int64_t gatesOf(Cell cell);
/// f of RNN; f, g of GRU; f, g, h of LSTM.
size_t functionCount(Cell cell);

/// An activation with its figures; most use none of them.
struct Function {
  Activation kind = Activation::Tanh;
  float alpha = 0;
  float beta = 0;
};
/// The default figures of ONNX's operator of this name.
Function withDefaults(Activation kind);
/// f, g and h of a direction. REQUIRES that the shape rule accepted the parameters.
std::array<Function, 3> functionsOf(const RecurrentParamsT& params, Cell cell, int64_t direction);

/// Inputs of the cards of steps. The public ones have x and w in place of the products: from r on one index more.
enum StepInput : size_t { kProducts, kR, kBias, kLengths, kInitialH, kInitialC, kPeepholes };

/// The extents of a node, and where its rows lie.
struct StepsPlan {
  Cell cell = Cell::Rnn;
  int64_t gates = 1;
  int64_t directions = 1;
  int64_t times = 0;
  int64_t batches = 0;
  int64_t hidden = 0;
  bool batchFirst = false;

  /// Columns of the products: [direction, gate, hidden].
  int64_t columns() const { return directions * gates * hidden; }
  int64_t stateElements() const { return directions * batches * hidden; }
  /// The row of the products of a time and a sequence.
  int64_t productRow(int64_t time, int64_t batch) const {
    return batchFirst ? batch * times + time : time * batches + batch;
  }
  /// The row of y, in units of `hidden` elements.
  int64_t outputRow(int64_t time, int64_t direction, int64_t batch) const {
    return batchFirst ? (batch * times + time) * directions + direction
                      : (time * directions + direction) * batches + batch;
  }
  /// The row of an initial or a last state.
  int64_t stateRow(int64_t direction, int64_t batch) const {
    return batchFirst ? batch * directions + direction : direction * batches + batch;
  }
  Shape outputShape() const;
  Shape stateShape() const;
};

inline bool isReverse(const RecurrentParamsT& params, int64_t direction) {
  return params.direction == Direction::Reverse || direction == 1;
}

/// Of the products or x [time, batch, ...] and r. REQUIRES that the shape rule accepted the shapes.
StepsPlan planSteps(const RecurrentParamsT& params, Cell cell, const Shape& first, const Shape& r);

/// The error for a length outside [0, times], the same on every backend.
Status badLength(int64_t times, int64_t found);

/// A public operator as a product and steps (recurrent_decompose.cpp).
Status decompose(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts, Cell cell);

}  // namespace opkit::ops::recurrent
