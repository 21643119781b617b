#include "harness/network/network_cases.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/base/json_text.h"
#include "harness/cases/data.h"
#include "harness/check/op_model.h"
#include "harness/check/placement_check.h"
#include "harness/compare/expected.h"
#include "harness/network/data_flow.h"
#include "harness/network/data_form.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostExactValues = 4096;  // in a case file

size_t nodesInside(const ModelNode& node) {
  size_t count = 0;
  for (const Subgraph& subgraph : node.subgraphs) {
    count += subgraph.model.nodes.size();
    for (const ModelNode& inner : subgraph.model.nodes) count += nodesInside(inner);
  }
  return count;
}

/// What no case can hold: "strings", or nullptr for numbers.
const char* objectName(DType dtype) {
  if (dtype == DType::String) return "strings";
  if (dtype == DType::Sequence) return "sequences";
  return dtype == DType::Optional ? "optional values" : nullptr;
}

class Collector {
 public:
  Collector(const Model& named, const OpRegistry& registry, const std::vector<NamedRuntime>& backends, NetworkRun run)
      : named_(named), registry_(registry), backends_(backends), run_(std::move(run)), flow_(named, registry) {}

  NetworkCases collect() {
    for (const NodeId n : named_.nodes.ids())
      if (const Status status = add(n); !status.isOk()) leaveOut({n}, status.message());
    NetworkCases result;
    for (Group& group : groups_) finish(group, result);
    const auto total = [](const NetworkCase& c) { return std::accumulate(c.shares.begin(), c.shares.end(), 0.0); };
    std::ranges::stable_sort(result.cases, std::greater<>(), total);
    std::ranges::stable_sort(leftOut_, {}, [](const auto& each) { return each.first; });
    for (auto& [node, one] : leftOut_) result.leftOut.push_back(std::move(one));
    return result;
  }

 private:
  struct Group {
    Case description;  // without random contents
    std::vector<NodeId> nodes;
  };

  /// Puts the node into its group. The error says why it is no case.
  Status add(NodeId n) {
    const ModelNode& node = named_.nodes[n];
    OPKIT_TRY(checkKind(node));
    Case c;
    c.op = node.type;
    const OpDef& def = *registry_.find(node.type);
    const Json params = parseJson(paramsToJson(def.params, node.params));
    if (!params.is_object()) return Status::unsupported("its attributes are not JSON");
    c.params = params.dump();
    for (size_t i = 0; i < node.inputs.size(); ++i) OPKIT_TRY(addInput(node.inputs[i], portOf(def.inputs, i), c));
    size_t outputs = node.outputs.size();
    while (outputs > 0 && !node.outputs[outputs - 1]) --outputs;
    c.outputs = outputs == requiredOutputs(def) ? 0 : outputs;
    const auto [found, isNew] = groupOf_.try_emplace(c.id(), groups_.size());
    if (isNew) groups_.push_back({std::move(c), {}});
    groups_[found->second].nodes.push_back(n);
    return Status::ok();
  }

  /// Unsupported for control flow and values that are no numbers. Shapes that data decide are those of this run.
  Status checkKind(const ModelNode& node) const {
    const OpDef& def = *registry_.find(node.type);
    if (!node.subgraphs.empty()) return Status::unsupported("control flow");
    for (const std::vector<TensorId>* tensors : {&node.inputs, &node.outputs})
      for (const TensorId tensor : *tensors) {
        const DType dtype = tensor ? named_.tensors[tensor].desc.dtype : DType::Float32;
        if (const char* name = objectName(dtype)) return Status::unsupported("{} are not tensors of numbers", name);
      }
    return def.control ? Status::unsupported("an operator of the host") : Status::ok();
  }

  Status addInput(TensorId tensor, const Port* port, Case& c) {
    const size_t index = c.inputs.size();
    c.data.emplace_back();
    if (!tensor) {
      c.inputs.emplace_back();
      return Status::ok();
    }
    OPKIT_ASSIGN(const Tensor value, run_.read(tensor));
    c.inputs.emplace_back(value.desc);
    if (flow_.isConstant(tensor)) c.constants.push_back(index);
    if (!port || !port->contents) return Status::ok();
    if (value.desc.elements() > kMostExactValues)
      return Status::unsupported("its shape depends on {} values, a case file holds {}", value.desc.elements(),
                                 kMostExactValues);
    if (value.desc.elements() > 0) c.data.back() = exactForm(value);
    return Status::ok();
  }

  void finish(Group& group, NetworkCases& result) {
    NetworkCase one;
    one.description = std::move(group.description);
    Status status = addForms(named_.nodes[group.nodes[0]], one.description);
    if (status.isOk()) status = declare(one.description).withContext("random contents do not fit");
    if (!status.isOk()) return leaveOut(group.nodes, status.message());
    for (const NodeId n : group.nodes) one.nodes.push_back(named_.nodes[n].name);
    one.shares = sharesOf(group.nodes);
    result.cases.push_back(std::move(one));
  }

  /// Contents in the range of those of the node.
  Status addForms(const ModelNode& node, Case& c) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorId tensor = node.inputs[i];
      if (!tensor || !c.data[i].empty()) continue;
      OPKIT_ASSIGN(const Tensor value, run_.read(tensor));
      c.data[i] = randomForm(value, !flow_.fromData(tensor));
    }
    c.lane = Lane::Designed;
    return Status::ok();
  }

  /// Runs the case on every backend, and declares refusals and kernels that are the oracle.
  Status declare(Case& c) const {
    const Case undeclared = c;
    OPKIT_ASSIGN(const HostInputs inputs, makeInputs(c, *registry_.find(c.op)));
    OPKIT_ASSIGN(const auto interpreter, makeOpInterpreter(c, registry_, inputs));
    for (const auto& [backend, runtime] : backends_) {
      OPKIT_ASSIGN(const auto session, interpreter->createSession({.backend = backend}, runtime));
      OPKIT_TRY(feed(*session, c, inputs));
      OPKIT_TRY(session->run());
      CaseResult result;
      if (!checkPlacement(*session, undeclared, backend, false, result)) {
        if (std::ranges::any_of(result.fallbacks, &FallbackNote::byDevice))
          c.anyLoops = result.reason;
        else if (result.status == CaseStatus::Fallback)
          c.fallback[backend] = result.reason;
      } else if (checkIndependence(undeclared, backend, result)) {
        c.unproved[backend] = "has no kernel of its own for this node";
      }
    }
    return Status::ok();
  }

  void leaveOut(const std::vector<NodeId>& nodes, const std::string& reason) {
    for (const NodeId n : nodes) {
      const ModelNode& node = named_.nodes[n];
      leftOut_.emplace_back(n, LeftOut{node.name, node.type, nodesInside(node), reason, sharesOf({n})});
    }
  }

  std::vector<double> sharesOf(const std::vector<NodeId>& nodes) const {
    std::vector<double> shares(backends_.size(), 0);
    for (size_t b = 0; b < shares.size(); ++b)
      for (const NodeId n : nodes) shares[b] += run_.share(b, n);
    return shares;
  }

  const Model& named_;  // with the names of the file; run_.model() has the same nodes and tensors
  const OpRegistry& registry_;
  const std::vector<NamedRuntime>& backends_;
  NetworkRun run_;
  DataFlow flow_;
  std::vector<Group> groups_;
  std::map<std::string, size_t> groupOf_;  // by the id of the case without random contents
  std::vector<std::pair<NodeId, LeftOut>> leftOut_;
};

}  // namespace

Result<NetworkCases> networkCases(const Model& model, const OpRegistry& registry,
                                  const std::vector<NamedRuntime>& backends, const NetworkInputs& inputs) {
  OPKIT_ASSIGN(NetworkRun run, NetworkRun::create(model, registry, backends, inputs));
  return Collector(model, registry, backends, std::move(run)).collect();
}

}  // namespace opkit::harness
