// The oracles of RNN, GRU and LSTM: the whole operators, and their steps alone.
#pragma once

#include "engine/op/oracle.h"

namespace opkit::ops::recurrent {

Status rnnReference(const OracleArgs& args);
Status gruReference(const OracleArgs& args);
Status lstmReference(const OracleArgs& args);
Status rnnStepsReference(const OracleArgs& args);
Status gruStepsReference(const OracleArgs& args);
Status lstmStepsReference(const OracleArgs& args);

}  // namespace opkit::ops::recurrent
