// Shared by the files of NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#pragma once

#include "engine/op/hidden.h"
#include "engine/op/op_def.h"
#include "ops/nll_loss/nll_loss_generated.h"

namespace opkit::ops::nll_loss {

Status nllReference(const OracleArgs& args);
Status crossEntropyReference(const OracleArgs& args);

HiddenElements nllHidden(const OracleArgs& args);
HiddenElements crossEntropyHidden(const OracleArgs& args);

}  // namespace opkit::ops::nll_loss
