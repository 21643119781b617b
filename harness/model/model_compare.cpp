#include "harness/model/model_compare.h"

#include <chrono>
#include <cmath>

#include "harness/cases/data.h"
#include "harness/cases/rng.h"
#include "harness/check/placement_check.h"

namespace opkit::harness {
namespace {

constexpr double kRelative = 1e-3;

/// Free extents become 1 in front and 8 elsewhere, unless the caller or the model gave the shape.
Shape inputShape(const ModelTensor& declared, const ModelCompareOptions& options) {
  for (const auto& [name, shape] : options.shapes)
    if (name == declared.name) return shape;
  if (declared.startShape.size() == declared.desc.shape.size()) return declared.startShape;
  Shape shape = declared.desc.shape;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == kDynamic) shape[d] = d == 0 ? 1 : 8;
  return shape;
}

class ModelComparison {
 public:
  ModelComparison(const Model& model, const ModelCompareOptions& options, CaseResult& result)
      : model_(model), options_(options), result_(result) {}

  Status run(Interpreter& interpreter) {
    SessionConfig config{.backend = options_.referenceBackend, .keepTensors = true};
    OPKIT_ASSIGN(reference_, interpreter.createSession(config, options_.referenceRuntime));
    config.backend = options_.backend;
    OPKIT_ASSIGN(tested_, interpreter.createSession(config, options_.runtime));
    for (Session* session : {reference_.get(), tested_.get()}) {
      OPKIT_TRY(feedModelInputs(*session, model_, options_).withContext(session->config().backend));
      OPKIT_TRY(session->run().withContext(session->config().backend));
    }
    notePlacement();
    for (const ModelNode& node : model_.nodes)
      for (const int output : node.outputs)
        if (output >= 0) OPKIT_TRY(compareLayer(node, model_.tensors[static_cast<size_t>(output)].name));
    if (result_.layers.empty()) return Status::internal("no tensor could be compared");
    result_.dispatches = tested_->counters().dispatches;
    return Status::ok();
  }

 private:
  void notePlacement() {
    for (const Placement& row : tested_->placement()) {
      result_.flops += row.flops;
      if (row.fellBack) result_.fallbacks.push_back({row.node, row.type, refusalText(row), loopLimitOf(row) > 0});
    }
  }

  Status compareLayer(const ModelNode& node, const std::string& tensor) {
    const auto expected = reference_->readTensor(tensor);
    const auto got = tested_->readTensor(tensor);
    if (!expected && !got) return Status::ok();  // folded away on both
    if (!expected) return expected.error().withContext(options_.referenceBackend);
    if (!got) return got.error().withContext(options_.backend);
    const OracleTensor oracle = OracleTensor::fromTensor(*expected);
    LayerResult layer{tensor, node.type, compareTensor(oracle, *got, layerTolerance(oracle, options_.nmseGate)), false};
    layer.departs = !layer.comparison.pass;
    if (layer.departs && result_.status == CaseStatus::Pass) {
      result_.status = CaseStatus::Fail;
      result_.op = node.type;
      result_.reason =
          fmt::format("'{}' ({}) is the first to depart: {}", node.name, node.type, layer.comparison.reason);
    }
    if (!result_.accuracy) {
      result_.accuracy = layer.comparison;
      result_.worstShape = got->desc.shape;
    } else {
      if (layer.comparison.margin > result_.accuracy->margin) result_.worstShape = got->desc.shape;
      merge(*result_.accuracy, layer.comparison);
    }
    result_.layers.push_back(std::move(layer));
    return Status::ok();
  }

  const Model& model_;
  const ModelCompareOptions& options_;
  CaseResult& result_;
  std::unique_ptr<Session> reference_;
  std::unique_ptr<Session> tested_;
};

}  // namespace

Tolerance layerTolerance(const OracleTensor& expected, double nmseGate) {
  Tolerance tolerance;
  tolerance.nmseGate = nmseGate;
  double squares = 0;
  int64_t finite = 0;
  for (const double value : expected.real) {
    if (!std::isfinite(value)) continue;
    squares += value * value;
    ++finite;
  }
  const double scale = finite == 0 ? 0 : std::sqrt(squares / static_cast<double>(finite));
  for (const double value : expected.real)
    tolerance.bound.push_back(kRelative * std::max(std::fabs(value), scale) + 1e-12);
  return tolerance;
}

Status feedModelInputs(Session& session, const Model& model, const ModelCompareOptions& options) {
  for (const auto& [name, shape] : options.shapes) OPKIT_TRY(session.resizeInput(name, shape));
  for (const int input : model.inputs) {
    const ModelTensor& declared = model.tensors[static_cast<size_t>(input)];
    OPKIT_TRY(session.resizeInput(declared.name, inputShape(declared, options)));
    const bool real = isFloat(declared.desc.dtype);
    fillUniform(*session.input(declared.name), hashText(fmt::format("{}/{}", declared.name, options.seed)),
                real ? -1 : 0, real ? 1 : 9);
  }
  return Status::ok();
}

Result<CaseResult> compareModel(const std::string& name, Model model, const OpRegistry& registry,
                                const ModelCompareOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  CaseResult result;
  result.kind = "model";
  result.id = name;
  result.backend = options.backend;
  result.device = options.runtime->device().name;
  result.software = options.runtime->device().software;
  const auto interpreter = Interpreter::create(std::move(model), registry);
  const Status status =
      interpreter ? ModelComparison((*interpreter)->model(), options, result).run(**interpreter) : interpreter.error();
  if (status.code() == StatusCode::InvalidArgument) return status;
  if (!status.isOk()) {
    result.status = status.code() == StatusCode::Unsupported ? CaseStatus::Unsupported : CaseStatus::Fail;
    result.reason = status.message();
  } else if (result.status == CaseStatus::Pass && !options.allowFallback) {
    const auto undeclared = [](const FallbackNote& note) { return !note.byLoopLimit; };
    const auto first = std::ranges::find_if(result.fallbacks, undeclared);
    if (first != result.fallbacks.end()) {
      result.status = CaseStatus::Fallback;
      result.reason =
          fmt::format("{} nodes ran on another backend, first '{}' ({}): {}",
                      std::ranges::count_if(result.fallbacks, undeclared), first->node, first->op, first->reason);
    }
  }
  result.durationNs = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace opkit::harness
