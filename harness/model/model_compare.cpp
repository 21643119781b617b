#include "harness/model/model_compare.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "harness/cases/data.h"
#include "harness/cases/rng.h"
#include "harness/check/op_model.h"
#include "harness/check/placement_check.h"

namespace opkit::harness {
namespace {

/// Free extents become 1 on the first axis and 8 elsewhere, unless the caller or the model gives the shape.
Shape inputShape(const ModelTensor& declared, const ModelCompareOptions& options) {
  for (const auto& [name, shape] : options.shapes)
    if (name == declared.name) return shape;
  if (declared.startShape.size() == declared.desc.shape.size()) return declared.startShape;
  Shape shape = declared.desc.shape;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == kDynamic) shape[d] = d == 0 ? 1 : 8;
  return shape;
}

const InterpreterOptions kNoPasses{.disabledPasses = {"all"}};

}  // namespace

LayerGate layerGate(const Model& model, std::optional<double> nmseGate) {
  const bool storesHalf =
      std::ranges::any_of(model.tensors, [](const ModelTensor& t) { return t.desc.dtype == DType::Float16; });
  LayerGate gate;
  if (storesHalf) gate = {.nmse = 1e-5, .relative = 0x1p-5};
  gate.nmse = nmseGate.value_or(gate.nmse);
  return gate;
}

Tolerance layerTolerance(const OracleTensor& expected, const LayerGate& gate) {
  Tolerance tolerance;
  tolerance.nmseGate = gate.nmse;
  double squares = 0;
  int64_t finite = 0;
  for (const double value : expected.real) {
    if (!std::isfinite(value)) continue;
    squares += value * value;
    ++finite;
  }
  const double scale = finite == 0 ? 0 : std::sqrt(squares / static_cast<double>(finite));
  for (const double value : expected.real)
    tolerance.bound.push_back(gate.relative * std::max(std::fabs(value), scale) + 1e-12);
  return tolerance;
}

Status feedModelInputs(Session& session, const Model& model, const ModelCompareOptions& options) {
  for (const auto& [name, shape] : options.shapes) OPKIT_TRY(session.resizeInput(name, shape));
  for (const TensorId input : model.inputs) {
    const ModelTensor& declared = model.tensors[input];
    if (isObject(declared.desc.dtype))
      return Status::unsupported("input '{}' is {}; networks are compared on tensors of numbers", declared.name,
                                 nameOf(declared.desc.dtype));
    OPKIT_TRY(session.resizeInput(declared.name, inputShape(declared, options)));
    const bool real = isFloat(declared.desc.dtype);
    fillUniform(*session.fillInput(declared.name), hashText(fmt::format("{}/{}", declared.name, options.seed)),
                real ? -1 : 0, real ? 1 : 9);
  }
  return Status::ok();
}

Status ModelComparison::prepare() {
  if (reference_) return Status::ok();
  if (!plain_) {
    OPKIT_ASSIGN(plain_, Interpreter::create(model_, registry_, kNoPasses));
    OPKIT_ASSIGN(passed_, Interpreter::create(std::move(model_), registry_));
  }
  const SessionConfig config{.backend = options_.referenceBackend, .keepTensors = true};
  OPKIT_ASSIGN(auto session, plain_->createSession(config, options_.referenceRuntime));
  OPKIT_TRY(feedModelInputs(*session, plain_->model(), options_).withContext(options_.referenceBackend));
  OPKIT_TRY(session->run().withContext(options_.referenceBackend));
  reference_ = std::move(session);
  return Status::ok();
}

Result<std::unique_ptr<Session>> ModelComparison::runTested(Interpreter& interpreter, const SessionConfig& config,
                                                            CaseResult& result) {
  OPKIT_ASSIGN(auto session, interpreter.createSession(config, options_.runtime));
  OPKIT_TRY(feedModelInputs(*session, interpreter.model(), options_).withContext(options_.backend));
  OPKIT_TRY(session->run().withContext(options_.backend));
  for (const Placement& row : session->placement()) {
    result.flops += row.flops;
    if (row.fellBack) result.fallbacks.push_back({row.node, row.type, refusalText(row)});
  }
  result.dispatches = session->counters().dispatches;
  result.allocations = session->counters().allocations;
  result.arenaBytes = session->statistics().plannedPeakBytes;
  return session;
}

void ModelComparison::note(LayerResult layer, const std::string& what, const Shape& shape, CaseResult& result) const {
  layer.departs = !layer.comparison.pass;
  if (layer.departs && result.status == CaseStatus::Pass) {
    result.status = CaseStatus::Fail;
    result.op = layer.op;
    result.reason = fmt::format("{} is the first to depart: {}", what, layer.comparison.reason);
  }
  if (!result.accuracy || layer.comparison.margin > result.accuracy->margin) result.worstShape = shape;
  if (result.accuracy)
    merge(*result.accuracy, layer.comparison);
  else
    result.accuracy = layer.comparison;
  result.layers.push_back(std::move(layer));
}

/// Every tensor that the nodes of `model` make, and that the reference has too; `all` false: those that depart.
Status ModelComparison::compareTensors(Session& tested, const Model& model, CaseResult& result, bool all) {
  const LayerGate gate = layerGate(plain_->model(), options_.nmseGate);
  size_t compared = 0;
  for (const ModelNode& node : model.nodes)
    for (const TensorId output : node.outputs) {
      if (!output) continue;
      const std::string& tensor = model.tensors[output].name;
      const auto expected = reference_->readTensor(tensor);
      const auto got = tested.readTensor(tensor);
      if (!expected && (!got || !all)) continue;  // folded away, or made by a pass
      if (!expected) return expected.error().withContext(options_.referenceBackend);
      if (!got && !all) continue;
      if (!got) return got.error().withContext(options_.backend);
      if (!all && expected->desc != got->desc) continue;  // a pass gave the name to another tensor
      ++compared;
      const OracleTensor oracle = OracleTensor::fromTensor(*expected);
      LayerResult layer{tensor, node.type, compareTensor(oracle, *got, layerTolerance(oracle, gate)), false};
      const std::string passes = all ? "" : ", with the graph passes";
      if (all || !layer.comparison.pass)
        note(std::move(layer), fmt::format("'{}' ({}{})", node.name, node.type, passes), got->desc.shape, result);
    }
  if (!all) result.note = fmt::format("{} tensors with the graph passes too", compared);
  return compared == 0 ? Status::internal("no tensor could be compared") : Status::ok();
}

Result<CaseResult> ModelComparison::compareLayers() {
  return judge(name_, [&](CaseResult& result) -> Status {
    const SessionConfig config{.backend = options_.backend, .keepTensors = true};
    {
      OPKIT_ASSIGN(const auto tested, runTested(*plain_, config, result));
      OPKIT_TRY(compareTensors(*tested, plain_->model(), result, true));
    }
    if (result.status != CaseStatus::Pass) return Status::ok();
    CaseResult figures;  // those of the first session stay
    OPKIT_ASSIGN(const auto tested, runTested(*passed_, config, figures));
    return compareTensors(*tested, passed_->model(), result, false);
  });
}

Result<CaseResult> ModelComparison::compareOutputs() {
  return judge(name_ + "/outputs", [&](CaseResult& result) -> Status {
    OPKIT_ASSIGN(const auto tested, runTested(*passed_, {.backend = options_.backend}, result));
    const LayerGate gate = layerGate(plain_->model(), options_.nmseGate);
    std::vector<Tensor> first;
    for (const std::string& name : tested->outputNames()) {
      const OracleTensor oracle = OracleTensor::fromTensor(*reference_->output(name));
      const Tensor& got = *tested->output(name);
      note({name, "output", compareTensor(oracle, got, layerTolerance(oracle, gate)), false},
           fmt::format("output '{}'", name), got.desc.shape, result);
      OPKIT_ASSIGN(Tensor copy, copyOf(got));
      first.push_back(std::move(copy));
    }
    result.digest = digestOf(first);
    // Data left in memory by the first run must not matter.
    OPKIT_TRY(tested->run().withContext(options_.backend));
    for (size_t i = 0; i < first.size(); ++i) {
      const std::string name = tested->outputNames()[i];
      if (!std::ranges::equal(first[i].bytes(), tested->output(name)->bytes()))
        result.check("repeat", Status::internal("output '{}' differs between two runs", name));
    }
    return Status::ok();
  });
}

Result<CaseResult> ModelComparison::judge(const std::string& id, const std::function<Status(CaseResult&)>& compare) {
  const auto start = std::chrono::steady_clock::now();
  CaseResult result;
  result.kind = "model";
  result.id = id;
  result.backend = options_.backend;
  result.device = options_.runtime->device().name;
  result.software = options_.runtime->device().software;
  Status status = prepare();
  if (status.isOk()) status = compare(result);
  if (status.code() == StatusCode::InvalidArgument) return status;
  if (!status.isOk()) {
    result.status = status.code() == StatusCode::Unsupported ? CaseStatus::Unsupported : CaseStatus::Fail;
    result.reason = status.message();
  } else if (result.status == CaseStatus::Pass && !options_.allowFallback) {
    const auto undeclared = [](const FallbackNote& note) { return !note.byDevice; };
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
