// The oracles of the windows.
#pragma once

#include "engine/op/oracle.h"

namespace opkit::ops::signal_window {

Status hannReference(const OracleArgs& args);
Status hammingReference(const OracleArgs& args);
Status blackmanReference(const OracleArgs& args);

}  // namespace opkit::ops::signal_window
