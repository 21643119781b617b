// The oracles of RNN, GRU and LSTM and their hidden elements: the whole operators, and their steps alone.
#pragma once

#include "engine/op/hidden.h"

namespace opkit::ops::recurrent {

Status rnnReference(const OracleArgs& args);
Status gruReference(const OracleArgs& args);
Status lstmReference(const OracleArgs& args);
Status rnnStepsReference(const OracleArgs& args);
Status gruStepsReference(const OracleArgs& args);
Status lstmStepsReference(const OracleArgs& args);

HiddenElements hidden(const OracleArgs& args);
HiddenElements stepsHidden(const OracleArgs& args);

}  // namespace opkit::ops::recurrent
