// The steps of RNN, GRU and LSTM in double, for one direction of one sequence. Plain loops: f64 is rare.
#pragma once

#include "engine/backend/execution.h"
#include "ops/recurrent/recurrent.h"

namespace opkit::ops::recurrent {

/// Doubles that walkDoubles works in.
int64_t doublesOfWalk(const StepsPlan& plan);
/// All steps of the sequence, its outputs and its last states. REQUIRES a valid length.
void walkDoubles(const StepsPlan& plan, const RecurrentParamsT& params, int64_t direction, int64_t batch,
                 TensorList inputs, TensorList outputs, double* work);

}  // namespace opkit::ops::recurrent
