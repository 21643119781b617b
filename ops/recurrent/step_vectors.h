// The steps of RNN, GRU and LSTM in vectors of float: the products of the state with r and what the gates do with them,
// in one pass, so that sums never leave registers.
//
// Units are cut into blocks of one vector. States, biases and peepholes have `pitch` floats per row, a whole number of
// blocks. r is packed for each pass as [block][k][gate][lane]. The terms of a unit are added in the order of k,
// whatever rows and blocks are computed together. Pure functions, thread-safe.
#pragma once

#include "ops/recurrent/recurrent.h"

namespace opkit::ops::recurrent {

/// Gates whose sums one pass over the state makes. GRU has two passes, the second with the state times the reset gate,
/// unless linear_before_reset.
struct Pass {
  int64_t firstGate;
  int64_t gates;
};

/// Units of a block: the floats of a vector of the instruction set in use.
int64_t blockUnits();
/// Sequences that are computed together at best.
int64_t rowsTogether();

/// A sequence at one step.
struct StepRow {
  const float* product;  // [gates, hidden]
  const float* h;
  float* next;
  float* c;      // LSTM; GRU with two passes: h times the reset gate
  float* other;  // GRU with two passes: the update gate
  float* y;      // [hidden]; may be null
  bool active;   // otherwise the state stays, and y is zero
};

/// The data that all steps of a direction use.
struct StepCell {
  Cell cell = Cell::Rnn;
  Pass pass{0, 1};
  bool linear = false;   // GRU: linear_before_reset
  bool coupled = false;  // LSTM: input_forget
  float clip = 0;        // 0: none
  std::array<Function, 3> functions;
  int64_t hidden = 0;
  int64_t pitch = 0;
  const float* r = nullptr;        // packed for this pass, or
  const int8_t* wholeR = nullptr;  // its elements in units of `step`: a quarter of the memory, the same products
  float step = 0;
  const float* bias = nullptr;        // [gates, pitch]: of w and r; of the last gate of GRU linear, of w alone
  const float* linearBias = nullptr;  // [pitch]: of r for that gate
  const float* peepholes = nullptr;   // [3, pitch], or null
};

/// Computes one pass of blocks [firstBlock, lastBlock) of all rows, the last block first if `isBackward`. Passes in
/// turns forward and backward find in the cache the part of a large r that the pass before read last.
void runPass(const StepCell& cell, std::span<const StepRow> rows, int64_t firstBlock, int64_t lastBlock,
             bool isBackward);

}  // namespace opkit::ops::recurrent
