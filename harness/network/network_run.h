// NetworkRun: a network run on each of several backends, node by node: the values of its tensors and the share of the
// time that each node takes. No graph pass runs, so every node of the model is one that was timed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/runtime/session.h"

namespace opkit::harness {

struct NamedRuntime {
  std::string backend;
  std::shared_ptr<Runtime> runtime;  // shared: every session on the backend uses it
};

struct NetworkInputs {
  std::vector<std::pair<std::string, Shape>> shapes;  // by name
  uint64_t seed = 7;
};

class NetworkRun {
 public:
  /// Runs the model on each backend: once for its values, then timed, five times or until a second has passed; a node's
  /// time is the least. Floating inputs are uniform in [-1, 1], integers in [0, 9]; strings are empty, sequences have
  /// no values. InvalidArgument names an input with open extents and no shape.
  static Result<NetworkRun> create(Model model, const OpRegistry& registry, const std::vector<NamedRuntime>& backends,
                                   const NetworkInputs& inputs);

  /// The model, with nodes named by their number.
  const Model& model() const { return interpreter_->model(); }
  /// Of the time on a backend, copies included; those of nodes in its subgraphs are the node's.
  double share(size_t backend, NodeId node) const { return shares_[backend][node.value()]; }
  /// A host copy of the values on the first backend. InvalidArgument if the run did not make them.
  Result<Tensor> read(TensorId tensor) const;

 private:
  Status run(const NamedRuntime& backend, const NetworkInputs& inputs);

  std::shared_ptr<Interpreter> interpreter_;  // shared with its sessions
  std::unique_ptr<Session> session_;          // of the first backend
  std::vector<std::vector<double>> shares_;   // per backend and node, then of copies
};

}  // namespace opkit::harness
