// BodyRunner: runs one subgraph of a node of control flow: a Session, and the values around the node that it reads.
//
// A run of the body reads its inputs where they are. A device copies a value once for all runs of the body: values from
// around the node, and carried ones that the body hands on, have a version (Session::bindInput). What the body makes is
// copied out, because its session overwrites it in the next run; what it hands on is the same tensor. Used by one
// thread at a time.
#pragma once

#include <functional>

#include "engine/op/control.h"
#include "engine/runtime/pipeline.h"

namespace opkit {

/// The model that a subgraph runs as: its inputs take any shape, its outputs are those that it makes.
Model bodyOf(const Subgraph& subgraph);
/// The sources of its inputs.
std::vector<InputSource> sourcesOf(const Subgraph& subgraph);

class BodyRunner final : public SubgraphRunner {
 public:
  /// Runs a session whose nodes callbacks see with `prefix` before their names.
  using RunPart = std::function<Status(Session& session, const std::string& prefix)>;

  /// `session` is one of bodyOf(subgraph). `subgraph` and `share` must outlive the BodyRunner.
  BodyRunner(const std::string& node, const Subgraph& subgraph, std::unique_ptr<Session> session, SessionShare& share,
             RunPart runPart);

  size_t inputCount() const override { return subgraph_.model.inputs.size() - subgraph_.captures.size(); }
  size_t outputCount() const override { return subgraph_.model.outputs.size(); }

  /// Begins a run of the node.
  void capture(const RunInputs& nodeInputs);
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) override;
  Result<std::vector<TensorDesc>> outputDescs(std::span<const Tensor> inputs) override;

  Session& session() const { return *session_; }
  const std::string& name() const { return subgraph_.name; }

 private:
  struct Bound {
    Tensor tensor;
    uint64_t version = 0;
  };

  Status bind(std::span<const Tensor> inputs);
  Result<std::vector<TensorDesc>> madeDescs(std::span<const Tensor> inputs);
  Result<Tensor> output(size_t i, std::span<const Tensor> inputs) const;
  const Tensor* handedOn(size_t output, std::span<const Tensor> inputs) const;
  size_t madeAs(size_t output) const;

  const Subgraph& subgraph_;
  std::string prefix_;
  std::vector<TensorId> made_;  // the session's outputs
  std::unique_ptr<Session> session_;
  SessionShare& share_;
  RunPart runPart_;
  std::vector<Tensor> captured_;
  std::vector<uint64_t> capturedVersions_;
  std::vector<Bound> bound_;  // the inputs without the captures, in this run of the node
  size_t runs_ = 0;           // in this run of the node
};

}  // namespace opkit
