// ModelComparison: runs one network on two backends with the same inputs. First as in production, with fusion, views
// and reused memory, comparing outputs. Then with every tensor kept, comparing every tensor, so that the first operator
// that departs can be named.
#pragma once

#include <functional>
#include <memory>
#include <optional>
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
  bool allowFallback = false;      // else nodes that ran elsewhere set the status `fallback`
  std::optional<double> nmseGate;  // a tensor departs above it; by default that of the network, see layerGate
};

/// The size of an error from which on a tensor departs.
struct LayerGate {
  double nmse = 1e-8;
  double relative = 1e-3;  // of an element, of the larger of itself and the tensor's root mean square
};

/// A network that stores f16 rounds each value to 2^-11 of it, which adds 8e-8 to the NMSE at each layer: it departs
/// from 1e-5 and 2^-5. Either bound of an element is ten times the root of the NMSE.
LayerGate layerGate(const Model& model, std::optional<double> nmseGate);

/// A tensor departs when its NMSE exceeds the gate, when an element is off by more than its bound (so a wrong row does
/// not hide among millions), or when NaN and infinities differ. Integers must be equal. Floating inputs are uniform in
/// [-1, 1], integers in [0, 9]. The reference runs once, without graph passes and with every tensor kept. Both
/// functions return InvalidArgument for shapes that do not fit the model's inputs; nothing was compared then. For one
/// thread.
class ModelComparison {
 public:
  ModelComparison(std::string name, Model model, const OpRegistry& registry, ModelCompareOptions options)
      : name_(std::move(name)), model_(std::move(model)), registry_(registry), options_(std::move(options)) {}

  /// A session of the default configuration. The result's id is NAME/outputs and its layers are the model's outputs;
  /// status fail names the first that departs or that differs in a second run.
  Result<CaseResult> compareOutputs();
  /// A session that keeps its tensors and runs the model as it is, without graph passes: fusion would leave few of
  /// them. The result's id is NAME and its layers are all tensors in execution order; status fail names the first that
  /// departs. If none does, a second session with the passes is compared in the tensors that they leave.
  Result<CaseResult> compareLayers();

 private:
  Result<CaseResult> judge(const std::string& id, const std::function<Status(CaseResult&)>& compare);
  Status prepare();
  Result<std::unique_ptr<Session>> runTested(Interpreter& interpreter, const SessionConfig& config, CaseResult& result);
  Status compareTensors(Session& tested, const Model& model, CaseResult& result, bool all);
  void note(LayerResult layer, const std::string& what, const Shape& shape, CaseResult& result) const;

  std::string name_;
  Model model_;
  const OpRegistry& registry_;
  ModelCompareOptions options_;
  std::shared_ptr<Interpreter> plain_, passed_;  // without graph passes and with them; shared with their sessions
  std::unique_ptr<Session> reference_;           // after its run
};

Tolerance layerTolerance(const OracleTensor& expected, const LayerGate& gate);

/// Shapes and seeded values for every input of the model.
Status feedModelInputs(Session& session, const Model& model, const ModelCompareOptions& options);

}  // namespace opkit::harness
