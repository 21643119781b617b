#include "harness/model/bisect.h"

#include <set>

#include "harness/check/op_model.h"

namespace opkit::harness {
namespace {

class Bisect {
 public:
  Bisect(const Model& model, const OpRegistry& registry, const ModelCompareOptions& options)
      : model_(model), registry_(registry), options_(options), producer_(model.tensors.size()) {
    for (const NodeId n : model.nodes.ids())
      for (const TensorId output : model.nodes[n].outputs)
        if (output) producer_[output] = n;
  }

  Result<Bisection> run(TensorId tensor) {
    OPKIT_ASSIGN(const auto interpreter, Interpreter::create(model_, registry_, {.disabledPasses = {"all"}}));
    OPKIT_ASSIGN(reference_, interpreter->createSession({.backend = options_.referenceBackend, .keepTensors = true},
                                                        options_.referenceRuntime));
    OPKIT_TRY(feedModelInputs(*reference_, model_, options_));
    OPKIT_TRY(reference_->run());
    std::set<NodeId> nodes = {producer_[tensor]};
    for (bool grows = true; grows;) {
      OPKIT_ASSIGN(Bisection part, cut(nodes, tensor));
      OPKIT_TRY(compare(part));
      if (!part.comparison.pass) return part;
      const size_t before = nodes.size();
      addProducers(nodes);
      grows = nodes.size() > before;
    }
    return Status::internal("no part of the network departs at '{}' when it runs alone", model_.tensors[tensor].name);
  }

 private:
  void addProducers(std::set<NodeId>& nodes) const {
    const std::set<NodeId> present = nodes;
    for (const NodeId node : present)
      for (const TensorId input : model_.nodes[node].inputs)
        if (input && producer_[input]) nodes.insert(producer_[input]);
  }

  /// The part as a model whose inputs hold the reference's values.
  Result<Bisection> cut(const std::set<NodeId>& nodes, TensorId output) {
    Bisection part;
    part.part.producer = model_.producer;
    part.output = model_.tensors[output].name;
    std::map<TensorId, TensorId> index;  // tensor of the model -> of the part
    for (const NodeId n : nodes) {
      const ModelNode& node = model_.nodes[n];
      ModelNode copy = node;
      for (TensorId& input : copy.inputs)
        if (input) OPKIT_TRY(mapInput(input, nodes, index, part));
      for (TensorId& made : copy.outputs) {
        if (!made) continue;
        const std::string& name = model_.tensors[made].name;
        index[made] = part.part.addTensor(name);
        made = index[made];
      }
      part.part.nodes.push_back(std::move(copy));
      part.nodes.push_back(node.name);
    }
    part.part.outputs = {index.at(output)};
    return part;
  }

  Status mapInput(TensorId& input, const std::set<NodeId>& nodes, std::map<TensorId, TensorId>& index,
                  Bisection& part) {
    const auto [found, isNew] = index.try_emplace(input);
    if (isNew) {
      const ModelTensor& tensor = model_.tensors[input];
      const NodeId maker = producer_[input];
      OPKIT_CHECK(!maker || !nodes.contains(maker));  // nodes are visited in order
      if (tensor.constant) {
        found->second = part.part.addConstant(tensor.name, *tensor.constant);
      } else {
        OPKIT_ASSIGN(Tensor value, reference_->readTensor(tensor.name));
        found->second = part.part.addInput(tensor.name, value.desc);
        part.inputs.push_back(std::move(value));
      }
    }
    input = found->second;
    return Status::ok();
  }

  Result<Tensor> outputOf(Interpreter& interpreter, const Bisection& part, const std::string& backend,
                          const std::shared_ptr<Runtime>& runtime) {
    OPKIT_ASSIGN(const auto session, interpreter.createSession({.backend = backend}, runtime));
    const std::vector<std::string> names = session->inputNames();
    for (size_t i = 0; i < names.size(); ++i) {
      OPKIT_TRY(session->resizeInput(names[i], part.inputs[i].desc.shape));
      std::ranges::copy(part.inputs[i].bytes(), session->fillInput(names[i])->bytes().begin());
    }
    OPKIT_TRY(session->run());
    return copyOf(*session->output(session->outputNames()[0]));
  }

  Status compare(Bisection& part) {
    OPKIT_ASSIGN(const auto plain, Interpreter::create(part.part, registry_, {.disabledPasses = {"all"}}));
    OPKIT_ASSIGN(const auto passed, Interpreter::create(part.part, registry_));
    OPKIT_ASSIGN(const Tensor expected, outputOf(*plain, part, options_.referenceBackend, options_.referenceRuntime));
    const OracleTensor oracle = OracleTensor::fromTensor(expected);
    for (const auto& interpreter : {plain, passed}) {  // a fault may be one of a fused kernel
      OPKIT_ASSIGN(const Tensor got, outputOf(*interpreter, part, options_.backend, options_.runtime));
      part.comparison = compareTensor(oracle, got, layerTolerance(oracle, layerGate(model_, options_.nmseGate)));
      if (!part.comparison.pass) break;
    }
    return Status::ok();
  }

  const Model& model_;
  const OpRegistry& registry_;
  const ModelCompareOptions& options_;
  IndexedVector<TensorId, NodeId> producer_;
  std::unique_ptr<Session> reference_;
};

}  // namespace

Result<Bisection> bisectModel(const Model& model, const std::string& tensor, const OpRegistry& registry,
                              const ModelCompareOptions& options) {
  const TensorId index = model.findTensor(tensor);
  if (!index) return Status::invalidArgument("no tensor is called '{}'", tensor);
  return Bisect(model, registry, options).run(index);
}

}  // namespace opkit::harness
