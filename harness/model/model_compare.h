// ModelComparison: runs one network on two backends with the same inputs. First as in production, with fusion, views
// and reused memory, comparing outputs. Then with every tensor kept, comparing every tensor, so that the first operator
// that departs can be named.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/runtime/session.h"
#include "harness/run/results.h"

namespace opkit::harness {

struct ModelCompareOptions {
  std::string backend;
  std::shared_ptr<Runtime> runtime;  // shared with the caller, of `backend`
  std::string referenceBackend;
  std::shared_ptr<Runtime> referenceRuntime;
  std::vector<std::pair<std::string, Shape>> shapes;  // of inputs, by name; see inputShapes
  uint64_t seed = 7;
  bool allowFallback = false;  // else nodes that ran elsewhere set the status `fallback`
  double nmseGate = 1e-8;      // a tensor departs above it
};

/// A tensor departs when its NMSE exceeds the gate, when an element is off by more than 1e-3 of the larger of itself
/// and the tensor's root mean square (so a wrong row does not hide among millions), or when NaN and infinities differ.
/// Integers must be equal. Floating inputs are uniform in [-1, 1], integers in [0, 9]. The reference runs once, with
/// every tensor kept. Both functions return InvalidArgument for shapes that do not fit the model's inputs; nothing was
/// compared then. For one thread.
class ModelComparison {
 public:
  ModelComparison(std::string name, Model model, const OpRegistry& registry, ModelCompareOptions options)
      : name_(std::move(name)), model_(std::move(model)), registry_(registry), options_(std::move(options)) {}

  /// A session of the default configuration. The result's id is NAME/outputs and its layers are the model's outputs;
  /// status fail names the first that departs or that differs in a second run.
  Result<CaseResult> compareOutputs();
  /// A session that keeps its tensors. The result's id is NAME and its layers are all tensors in execution order;
  /// status fail names the first that departs.
  Result<CaseResult> compareLayers();

 private:
  Result<CaseResult> judge(const std::string& id, const std::function<Status(CaseResult&)>& compare);
  Status prepare();
  Result<std::unique_ptr<Session>> runTested(const SessionConfig& config, CaseResult& result);
  void note(LayerResult layer, const std::string& what, const Shape& shape, CaseResult& result) const;

  std::string name_;
  Model model_;
  const OpRegistry& registry_;
  ModelCompareOptions options_;
  std::shared_ptr<Interpreter> interpreter_;  // shared with its sessions
  std::unique_ptr<Session> reference_;        // after its run
};

/// Every element may be off by a thousandth of itself or of the tensor's root mean square, whichever is larger.
Tolerance layerTolerance(const OracleTensor& expected, double nmseGate);

/// Shapes and seeded values for every input of the model.
Status feedModelInputs(Session& session, const Model& model, const ModelCompareOptions& options);

}  // namespace opkit::harness
