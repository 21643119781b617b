// networkCases: the nodes of a network as cases, so that a part of a network can be checked and timed alone.
//
// Nodes with equal operators, attributes, descriptions of inputs and values from which shapes follow are one case.
// Random contents take the range of the values in the network. A backend that refuses a case, or runs it with the
// oracle, is declared in the case.
#pragma once

#include "harness/cases/case.h"
#include "harness/network/network_run.h"

namespace opkit::harness {

struct NetworkCase {
  Case description;
  std::vector<std::string> nodes;  // the names of the nodes that it stands for, in their order
  std::vector<double> shares;      // of the time of the network, per backend
};

/// A node that is no case.
struct LeftOut {
  std::string name;
  std::string type;
  size_t inside = 0;  // nodes of its subgraphs
  std::string reason;
  std::vector<double> shares;
};

struct NetworkCases {
  std::vector<NetworkCase> cases;  // largest share first
  std::vector<LeftOut> leftOut;
};

/// Errors of the network's run. Cases may be empty.
Result<NetworkCases> networkCases(const Model& model, const OpRegistry& registry,
                                  const std::vector<NamedRuntime>& backends, const NetworkInputs& inputs);

}  // namespace opkit::harness
