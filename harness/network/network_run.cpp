#include "harness/network/network_run.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/cases/data.h"
#include "harness/cases/rng.h"

namespace opkit::harness {
namespace {

/// Nodes get their number as a name: names of a file may be empty or equal.
void numberNodes(Model& model) {
  for (const NodeId n : model.nodes.ids()) model.nodes[n].name = fmt::format("{}", n);
}

std::string exampleShape(const Shape& shape) {
  std::vector<int64_t> extents;
  for (const int64_t extent : shape) extents.push_back(extent == kDynamic ? 1 : extent);
  return fmt::format("{}", fmt::join(extents, "x"));
}

/// InvalidArgument unless each open extent has a value: by the caller, or by the start shape of the model.
Status checkShapes(const Model& model, const NetworkInputs& inputs) {
  for (const TensorId input : model.inputs) {
    const ModelTensor& tensor = model.tensors[input];
    const bool isOpen = std::ranges::count(tensor.desc.shape, kDynamic) > 0;
    const auto isNamed = [&](const auto& given) { return given.first == tensor.name; };
    const bool hasStart = tensor.startShape.size() == tensor.desc.shape.size();
    if (isOpen && !hasStart && std::ranges::none_of(inputs.shapes, isNamed))
      return Status::invalidArgument("input '{}' is {}: give its shape, as in --input {}={}", tensor.name,
                                     tensor.desc.toString(), tensor.name, exampleShape(tensor.desc.shape));
  }
  return Status::ok();
}

Status feedInputs(Session& session, const Model& model, const NetworkInputs& inputs) {
  for (const auto& [name, shape] : inputs.shapes) OPKIT_TRY(session.resizeInput(name, shape).withContext("--input"));
  for (const TensorId input : model.inputs) {
    const std::string& name = model.tensors[input].name;
    const Tensor& tensor = *session.fillInput(name);
    if (isObject(tensor.desc.dtype)) continue;  // a session begins with empty ones
    const bool real = isFloat(tensor.desc.dtype);
    fillUniform(tensor, hashText(fmt::format("{}/{}", name, inputs.seed)), real ? -1 : 0, real ? 1 : 9);
  }
  return Status::ok();
}

constexpr int kTimedRuns = 5;
constexpr double kTimedNs = 1e9;  // no further run then

/// Of the last run: ns per node, and of copies as the last element.
std::vector<double> timesOf(const Session& session, size_t nodes) {
  std::vector<double> times(nodes + 1, 0);
  for (const Placement& row : session.placement()) {
    const bool isCopy = row.type == "Copy" || row.type == "Convert";  // named after a tensor
    const size_t index = isCopy ? nodes : std::stoul(row.node);       // "12", or "12/body/3" in a subgraph
    times[index] += std::max(row.deviceNs >= 0 ? row.deviceNs : row.hostNs, 0.0);
  }
  return times;
}

/// Per node, the share of the sum of least times.
Result<std::vector<double>> timedShares(Session& session, size_t nodes) {
  std::vector<double> least(nodes + 1, INFINITY);
  double spent = 0;
  for (int i = 0; i < kTimedRuns && spent < kTimedNs; ++i) {
    OPKIT_TRY(session.run());
    spent += session.statistics().lastRunNs;
    const std::vector<double> times = timesOf(session, nodes);
    std::ranges::transform(least, times, least.begin(), [](double a, double b) { return std::min(a, b); });
  }
  const double all = std::accumulate(least.begin(), least.end(), 0.0);
  for (double& time : least) time = all > 0 ? time / all : 0;
  return least;
}

}  // namespace

Result<NetworkRun> NetworkRun::create(Model model, const OpRegistry& registry,
                                      const std::vector<NamedRuntime>& backends, const NetworkInputs& inputs) {
  OPKIT_TRY(checkShapes(model, inputs));
  numberNodes(model);
  NetworkRun network;
  OPKIT_ASSIGN(network.interpreter_, Interpreter::create(std::move(model), registry, {.disabledPasses = {"all"}}));
  for (const NamedRuntime& backend : backends) OPKIT_TRY(network.run(backend, inputs));
  return network;
}

Status NetworkRun::run(const NamedRuntime& backend, const NetworkInputs& inputs) {
  const SessionConfig config{.backend = backend.backend, .profile = true, .keepTensors = true};
  OPKIT_ASSIGN(auto session, interpreter_->createSession(config, backend.runtime));
  OPKIT_TRY(feedInputs(*session, model(), inputs));
  OPKIT_TRY(session->run());
  OPKIT_ASSIGN(std::vector<double> shares, timedShares(*session, model().nodes.size()));
  shares_.push_back(std::move(shares));
  if (!session_) session_ = std::move(session);
  return Status::ok();
}

Result<Tensor> NetworkRun::read(TensorId tensor) const {
  const ModelTensor& one = model().tensors[tensor];
  if (one.constant) return *one.constant;
  return session_->readTensor(one.name);
}

}  // namespace opkit::harness
