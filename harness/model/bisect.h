// bisect: the smallest part of a network that still departs from the reference.
//
// The first node that departs is tried alone on the reference's inputs. If it is right alone, the nodes before it are
// added level by level until the part departs.
#pragma once

#include "harness/model/model_compare.h"

namespace opkit::harness {

struct Bisection {
  Model part;
  std::vector<std::string> nodes;  // of the network, in order
  std::string output;              // the tensor that departs
  std::vector<Tensor> inputs;      // host values for the part's inputs, in their order
  Comparison comparison;
};

/// `tensor` is the first that departs, as found by compareModel. Internal if no part departs by itself, not even all
/// nodes that lead to the tensor.
Result<Bisection> bisectModel(const Model& model, const std::string& tensor, const OpRegistry& registry,
                              const ModelCompareOptions& options);

}  // namespace opkit::harness
