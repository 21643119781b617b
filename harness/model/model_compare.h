// compareModel: runs one network on two backends with the same inputs and compares every tensor on the way, so
// that the first operator that departs can be named.
#pragma once

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
  bool allowFallback = false;  // else nodes that ran elsewhere make the status `fallback`
  double nmseGate = 1e-8;      // a tensor departs above it
};

/// The result's layers are in execution order; status fail names the first that departs. A tensor departs when its
/// NMSE exceeds the gate, when an element is off by more than 1e-3 of the larger of itself and the tensor's root
/// mean square (so a wrong row does not hide among millions), or when NaN and infinities differ. Integers must be
/// equal. Floating inputs are uniform in [-1, 1], integers in [0, 9].
/// InvalidArgument for shapes that do not fit the model's inputs; nothing was compared then.
Result<CaseResult> compareModel(const std::string& name, Model model, const OpRegistry& registry,
                                const ModelCompareOptions& options);

/// Every element may be off by a thousandth of itself or of the tensor's root mean square, whichever is larger.
Tolerance layerTolerance(const OracleTensor& expected, double nmseGate);

/// Shapes and seeded values for every input of the model.
Status feedModelInputs(Session& session, const Model& model, const ModelCompareOptions& options);

}  // namespace opkit::harness
