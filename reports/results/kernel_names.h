// Kernel names: what can run an operator on a backend, as lists of operators and pages print it. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/op/op_registry.h"

namespace opkit {

/// "opkit/vector"; "opkit" if the provider has one kernel for the key.
std::string kernelName(const std::string& provider, const std::string& kernel);

/// The names of everything that can run an operator on a backend, fastest first. One word for operators without
/// kernels: "raster" (the card lowers them), "folded" (a resize computes them), "control" (the host runs their
/// subgraphs), "parts" (made of other operators), "reference" (the CPU has only the oracle). Empty if nothing can run
/// the operator there. Two kernels of one name, for different dtypes, are two entries.
std::vector<std::string> kernelNames(const OpRegistry& registry, std::string_view backend, const OpDef& def);

}  // namespace opkit
