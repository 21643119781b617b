#include "harness/check/sibling_check.h"

#include <nlohmann/json.hpp>

#include "engine/base/json_text.h"
#include "harness/check/verdict.h"
#include "harness/compare/alterations.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostSiblings = 6;
constexpr int64_t kMostElements = 1 << 14;  // of a larger case a smaller one of its entry tells the same

class Siblings {
 public:
  Siblings(const VariantContext& context, const SessionConfig& config, std::shared_ptr<Runtime> runtime)
      : context_(context),
        config_(config),
        runtime_(std::move(runtime)),
        at_(context.at),
        def_(*context.registry.find(context.at.description.op)) {}

  Status check() {
    OPKIT_TRY(canTell());
    OPKIT_ASSIGN(const ParamBytes params, paramsFromJson(def_.params, at_.description.params));
    nodes_.push_back({"the case's node", params, at_.inputs, at_.expected});
    addParameters(params);
    addConstants(params);
    if (nodes_.size() < 2) return Status::unsupported("no parameter and no constant can be altered");
    OPKIT_ASSIGN(const auto outputs, run(nodes_));
    return judge(outputs);
  }

 private:
  struct Node {
    std::string what;
    ParamBytes params;
    HostInputs inputs;
    std::vector<OracleTensor> expected;
  };

  /// Values from which the shape follows are no constants that a kernel packs.
  bool isKept(size_t input) const {
    const Port* port = portOf(def_.inputs, input);
    return at_.inputs[input] && at_.description.isConstant(input) && !(port && port->contents);
  }

  Status canTell() const {
    int64_t elements = 0;
    bool any = false;
    for (size_t i = 0; i < at_.inputs.size(); ++i) {
      any = any || isKept(i);
      elements += at_.inputs[i] ? at_.inputs[i]->desc.elements() : 0;
    }
    if (!any) return Status::unsupported("no input is a constant that a kernel may keep");
    if (at_.description.lane != Lane::Normal && at_.description.lane != Lane::Exact)
      return Status::unsupported("special values are judged for the case's own parameters");
    if (elements > kMostElements) return Status::unsupported("the case is large");
    return Status::ok();
  }

  /// Adds a node that the card accepts and that gives other values than the case's.
  void add(std::string what, ParamBytes params, HostInputs inputs) {
    if (nodes_.size() > kMostSiblings) return;
    auto expected = expectedOutputs(def_, params, inputs, at_.description.outputs, kMostElements);
    if (!expected || expected->size() != at_.expected.size()) return;
    const OracleTensor &now = expected->front(), &then = at_.expected.front();
    if (now.desc == then.desc && now.real == then.real && now.integer == then.integer) return;
    nodes_.push_back({std::move(what), std::move(params), std::move(inputs), *std::move(expected)});
  }

  void addParameters(const ParamBytes& base) {
    const Json params = parseJson(paramsWithDefaults(def_.params, base));
    if (!params.is_object()) return;
    for (const auto& [key, value] : params.items()) {
      Json changed = params;
      if (value.is_boolean())
        changed[key] = !value.get<bool>();
      else if (value.is_number_integer())
        changed[key] = value.get<int64_t>() + 1;
      else if (value.is_number_float())
        changed[key] = value.get<double>() * 2 + 1;
      else
        continue;
      if (auto bytes = paramsFromJson(def_.params, changed.dump()))
        add(fmt::format("a node with \"{}\" = {}", key, changed[key].dump()), *std::move(bytes), at_.inputs);
    }
  }

  void addConstants(const ParamBytes& params) {
    for (size_t i = 0; i < at_.inputs.size(); ++i) {
      if (!isKept(i)) continue;
      auto copy = copyOf(*at_.inputs[i]);
      if (!copy) return;
      OracleTensor values = OracleTensor::fromTensor(*copy);
      visitValues(values, [](auto& elements) { std::ranges::reverse(elements); });
      values.toTensor(*copy);
      HostInputs inputs = at_.inputs;
      inputs[i] = *std::move(copy);
      add(fmt::format("a node with another constant as input {}", i), params, std::move(inputs));
    }
  }

  /// The outputs of the nodes, in their order, of one Session.
  Result<std::vector<Tensor>> run(std::span<const Node> nodes) const {
    Model model;
    model.producer = "op-harness";
    std::map<std::pair<size_t, const Buffer*>, TensorId> constants;  // the siblings share the case's own
    std::vector<TensorId> inputs(at_.inputs.size());
    for (size_t i = 0; i < at_.inputs.size(); ++i)
      if (at_.inputs[i] && !at_.description.isConstant(i))
        inputs[i] = model.addInput(fmt::format("in{}", i), at_.inputs[i]->desc);
    for (size_t n = 0; n < nodes.size(); ++n) {
      std::vector<TensorId> indices = inputs;
      for (size_t i = 0; i < indices.size(); ++i) {
        if (!at_.inputs[i] || !at_.description.isConstant(i)) continue;
        const Tensor& tensor = *nodes[n].inputs[i];
        TensorId& id = constants[{i, tensor.buffer.get()}];
        if (!id) id = model.addConstant(fmt::format("c{}_{}", i, n), tensor);
        indices[i] = id;
      }
      const auto made = model.addNode(at_.description.op, fmt::format("node{}", n), indices, nodes[n].params,
                                      nodes[n].expected.size());
      model.outputs.insert(model.outputs.end(), made.begin(), made.end());
    }
    OPKIT_ASSIGN(const auto interpreter, Interpreter::create(std::move(model), context_.registry));
    OPKIT_ASSIGN(const auto session, interpreter->createSession(config_, runtime_));
    OPKIT_TRY(feed(*session, at_.description, at_.inputs));
    OPKIT_TRY(session->run());
    return copyOutputs(*session);
  }

  /// A node that is wrong is run alone: with a changed parameter it may be wrong by itself.
  Status judge(const std::vector<Tensor>& outputs) const {
    size_t next = 0;
    for (const Node& node : nodes_) {
      const auto first = outputs.begin() + static_cast<std::ptrdiff_t>(next);
      next += node.expected.size();
      const Status together = judge(node, {first, first + static_cast<std::ptrdiff_t>(node.expected.size())});
      if (together.isOk()) continue;
      OPKIT_ASSIGN(const auto own, run({&node, 1}));
      OPKIT_TRY(judge(node, own).withContext(node.what + ", alone"));
      return together.withContext(fmt::format("{}, {}", node.what, kBesideSiblings));
    }
    return Status::ok();
  }

  Status judge(const Node& node, const std::vector<Tensor>& outputs) const {
    const PreparedCase at{at_.description, node.inputs, node.expected, Status::ok()};
    const Verdict verdict = compareAll(def_, at, outputs, context_.backend == "vulkan");
    return verdict.total.pass ? Status::ok() : Status::internal("{}", verdict.total.reason);
  }

  const VariantContext& context_;
  const SessionConfig& config_;
  const std::shared_ptr<Runtime> runtime_;  // shared with its Sessions
  const PreparedCase& at_;
  const OpDef& def_;
  std::vector<Node> nodes_;
};

}  // namespace

Status checkSiblings(const VariantContext& context, const SessionConfig& config,
                     const std::shared_ptr<Runtime>& runtime) {
  return Siblings(context, config, runtime).check();
}

}  // namespace opkit::harness
