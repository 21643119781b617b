#include "engine/import/onnx/onnx_node.h"

#include "engine/import/onnx/onnx_tensor.h"
#include "engine/op/op_registry.h"

namespace opkit {
namespace {

using Type = onnx::AttributeProto;

std::string typeName(int type) {
  return onnx::AttributeProto_AttributeType_Name(static_cast<onnx::AttributeProto_AttributeType>(type));
}

}  // namespace

TensorId ImportContext::find(const std::string& name) const {
  const auto found = byName_.find(name);
  return found == byName_.end() ? TensorId() : found->second;
}

TensorId ImportContext::resolve(const std::string& name) {
  const TensorId known = find(name);
  if (known || !outer_) return known;
  const TensorId outside = outer_->resolve(name);
  if (!outside) return {};
  const TensorId index = model.addTensor(uniqueName(name));
  byName_[name] = index;
  if (const Tensor* value = outer_->constant(outside)) {
    setConstant(index, *value);
    model.tensors[index].defaultOf = outer_->model.tensors[outside].defaultOf;
  } else {
    captures_.push_back({index, outside});
  }
  if (const TensorDesc& desc = outer_->model.tensors[outside].desc; isObject(desc.dtype))
    model.tensors[index].desc = desc;
  return index;
}

std::string ImportContext::uniqueName(const std::string& base) {
  std::string name = base;
  while (!byName_.emplace(name, TensorId()).second) name = numbers_.next(base);
  return name;
}

std::string ImportContext::uniqueNodeName(const std::string& base) {
  if (outer_) return outer_->uniqueNodeName(base);
  std::string name = base;
  while (!nodeNames_.insert(name).second) name = nodeNumbers_.next(base);
  return name;
}

void ImportContext::setConstant(TensorId index, Tensor value) {
  ModelTensor& tensor = model.tensors[index];
  tensor.desc = value.desc;
  tensor.constant = value;
  constants_.insert_or_assign(index, std::move(value));
}

const Tensor* ImportContext::useConstant(TensorId index) {
  const Tensor* value = constant(index);
  if (value && model.tensors[index].defaultOf) model.tensors[index].defaultOf->isFixed = true;
  return value;
}

const Tensor* ImportContext::constant(TensorId index) const {
  const auto found = constants_.find(index);
  return found == constants_.end() ? nullptr : &found->second;
}

int attributeTypeOf(const onnx::AttributeProto& attribute) {
  if (attribute.type() != Type::UNDEFINED) return attribute.type();
  if (attribute.has_f()) return Type::FLOAT;
  if (attribute.has_i()) return Type::INT;
  if (attribute.has_s()) return Type::STRING;
  if (attribute.has_t()) return Type::TENSOR;
  if (attribute.has_g()) return Type::GRAPH;
  if (attribute.floats_size() > 0) return Type::FLOATS;
  if (attribute.ints_size() > 0) return Type::INTS;
  if (attribute.strings_size() > 0) return Type::STRINGS;
  return Type::UNDEFINED;
}

ImportNode::ImportNode(const onnx::NodeProto& proto, std::string opType, int opset, ImportContext& context,
                       ImportSubgraph importSubgraph)
    : proto_(proto),
      opType_(std::move(opType)),
      opset_(opset),
      name_(proto.name()),
      context_(context),
      importSubgraph_(std::move(importSubgraph)) {
  for (const std::string& input : proto.input()) inputs_.push_back(input.empty() ? TensorId() : context.resolve(input));
  for (const std::string& output : proto.output()) {
    outputs_.push_back(output.empty() ? TensorId() : context.find(output));
    if (name_.empty()) name_ = output;
  }
  name_ = context.uniqueNodeName(name_);
  while (!inputs_.empty() && proto.input(static_cast<int>(inputs_.size()) - 1).empty()) inputs_.pop_back();
  while (!outputs_.empty() && !outputs_.back()) outputs_.pop_back();
}

const onnx::AttributeProto* ImportNode::attribute(const std::string& name) const {
  for (const onnx::AttributeProto& candidate : proto_.attribute())
    if (candidate.name() == name) return &candidate;
  return nullptr;
}

const onnx::AttributeProto* ImportNode::attributeOf(const std::string& name, int type) const {
  const onnx::AttributeProto* found = attribute(name);
  if (!found) return nullptr;
  const int actual = attributeTypeOf(*found);
  const bool isList = type == Type::INTS || type == Type::FLOATS || type == Type::STRINGS;
  const bool emptyList = actual == Type::UNDEFINED && isList;
  if (actual == type || emptyList) return found;
  if (attributeError_.isOk())
    attributeError_ =
        Status::invalidArgument("attribute '{}' must be of type {}, found {}", name, typeName(type), typeName(actual));
  return nullptr;
}

int64_t ImportNode::intAttribute(const std::string& name, int64_t fallback) const {
  const onnx::AttributeProto* found = attributeOf(name, Type::INT);
  return found ? found->i() : fallback;
}

float ImportNode::floatAttribute(const std::string& name, float fallback) const {
  const onnx::AttributeProto* found = attributeOf(name, Type::FLOAT);
  return found ? found->f() : fallback;
}

std::string ImportNode::stringAttribute(const std::string& name, const std::string& fallback) const {
  const onnx::AttributeProto* found = attributeOf(name, Type::STRING);
  return found ? found->s() : fallback;
}

std::vector<int64_t> ImportNode::intsAttribute(const std::string& name) const {
  const onnx::AttributeProto* found = attributeOf(name, Type::INTS);
  return found ? std::vector<int64_t>(found->ints().begin(), found->ints().end()) : std::vector<int64_t>();
}

std::vector<float> ImportNode::floatsAttribute(const std::string& name) const {
  const onnx::AttributeProto* found = attributeOf(name, Type::FLOATS);
  return found ? std::vector<float>(found->floats().begin(), found->floats().end()) : std::vector<float>();
}

std::vector<std::string> ImportNode::stringsAttribute(const std::string& name) const {
  const onnx::AttributeProto* found = attributeOf(name, Type::STRINGS);
  return found ? std::vector<std::string>(found->strings().begin(), found->strings().end())
               : std::vector<std::string>();
}

Result<Tensor> ImportNode::tensorAttribute(const std::string& name) const {
  const onnx::AttributeProto* found = attribute(name);
  const bool sparse = found && attributeTypeOf(*found) == Type::SPARSE_TENSOR;
  if (!sparse && (!found || attributeTypeOf(*found) != Type::TENSOR))
    return Status::unsupported("expected a tensor in attribute '{}', found {}", name,
                               found ? typeName(attributeTypeOf(*found)) : "none");
  Result<Tensor> tensor = sparse ? tensorFrom(found->sparse_tensor(), context_.externalData)
                                 : tensorFrom(found->t(), context_.externalData);
  return tensor.has_value() ? std::move(tensor) : tensor.error().withContext(fmt::format("attribute '{}'", name));
}

TensorId ImportNode::addConstant(const std::string& suffix, Tensor value) {
  const TensorId index = context_.model.addTensor(context_.uniqueName(fmt::format("{}/{}", name_, suffix)));
  context_.setConstant(index, std::move(value));
  return index;
}

void ImportNode::addNode(const std::string& type, std::vector<TensorId> inputs, std::vector<TensorId> outputs,
                         ParamBytes params) {
  const OpDef* def = context_.registry->find(type);
  context_.model.nodes.push_back(
      {name_, type, def ? def->version : 1, std::move(inputs), std::move(outputs), std::move(params)});
  if (def && def->control) noteObjects(*def);
}

bool ImportNode::isObject(size_t index) const {
  const TensorId tensor = input(index);
  return tensor && opkit::isObject(context_.model.tensors[tensor].desc.dtype);
}

Result<DType> ImportNode::declaredType(size_t index) const {
  const TensorId tensor = input(index);
  const Model& model = context_.model;
  if (context_.constant(tensor) || std::ranges::find(model.inputs, tensor) != model.inputs.end())
    return model.tensors[tensor].desc.dtype;
  return OnnxNode::declaredType(index);
}

/// Notes which outputs of the last node are objects: by the card, by input 0 if the card allows anything, or by the
/// subgraph.
void ImportNode::noteObjects(const OpDef& def) {
  const ModelNode& node = context_.model.nodes.back();
  const auto descOf = [](Model& model, TensorId tensor) -> TensorDesc& { return model.tensors[tensor].desc; };
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i]) continue;
    TensorDesc& output = descOf(context_.model, node.outputs[i]);
    const Port* port = portOf(def.outputs, i);
    for (const DType kind : {DType::String, DType::Sequence, DType::Optional})
      if (port && port->dtypes == DTypeSet(kind)) output = {kind, {kDynamic}};
    if (def.type == "HostIdentity") output = descOf(context_.model, node.inputs[0]);
    if (node.subgraphs.empty()) continue;
    const Model& body = node.subgraphs[0].model;
    const size_t made = i + (def.type == "Loop" ? 1 : 0);  // after the condition
    if (made >= body.outputs.size()) continue;
    const TensorDesc& inner = body.tensors[body.outputs[made]].desc;
    if (opkit::isObject(inner.dtype) && !opkit::isObject(output.dtype)) output = inner;
  }
}

Status ImportNode::emit(const std::string& type, std::vector<TensorId> inputs, ParamBytes params) {
  OPKIT_CHECK(!emitted_);
  emitted_ = true;
  std::vector<TensorId> outputs = outputs_;
  const OpDef* def = context_.registry->find(type);
  // The results of a Split depend on the number of its outputs, named or not.
  const bool isVariadic = def && !def->outputs.empty() && def->outputs.back().kind == Port::Kind::Variadic;
  if (isVariadic) outputs.resize(static_cast<size_t>(proto_.output_size()));
  addNode(type, std::move(inputs), std::move(outputs), std::move(params));
  return Status::ok();
}

Status ImportNode::emitOutput(size_t index, const std::string& type, std::vector<TensorId> inputs, ParamBytes params) {
  emitted_ = true;
  if (index < outputs_.size() && outputs_[index])
    addNode(type, std::move(inputs), {outputs_[index]}, std::move(params));
  return Status::ok();
}

Status ImportNode::emitControl(const std::string& type, std::vector<TensorId> inputs,
                               const std::vector<std::string>& graphs, ParamBytes params) {
  std::vector<Subgraph> subgraphs;
  for (const std::string& name : graphs) {
    const onnx::AttributeProto* found = attributeOf(name, Type::GRAPH);
    if (!found)
      return attributeError_.isOk() ? Status::invalidArgument("needs a graph in attribute '{}'", name)
                                    : attributeError_;
    OPKIT_ASSIGN(ImportedSubgraph imported, importSubgraph_(found->g(), name));
    Subgraph subgraph{name, std::move(imported.model), {}};
    for (const TensorId captured : imported.captured) {
      subgraph.captures.push_back(static_cast<int>(inputs.size()));
      inputs.push_back(captured);
    }
    subgraphs.push_back(std::move(subgraph));
  }
  OPKIT_TRY(emit(type, std::move(inputs), std::move(params)));
  context_.model.nodes.back().subgraphs = std::move(subgraphs);
  if (const OpDef* def = context_.registry->find(type)) noteObjects(*def);
  emittedControl_ = true;
  return Status::ok();
}

Result<std::vector<TensorId>> ImportNode::inlineGraph(const std::string& attribute,
                                                      const std::vector<TensorId>& inputs) {
  const onnx::AttributeProto* found = attributeOf(attribute, Type::GRAPH);
  if (!found) return Status::invalidArgument("needs a graph in attribute '{}'", attribute);
  OPKIT_ASSIGN(ImportedSubgraph subgraph, importSubgraph_(found->g(), attribute));
  Model& inner = subgraph.model;
  const size_t own = inner.inputs.size() - subgraph.captured.size();
  if (own != inputs.size())
    return Status::invalidArgument("subgraph '{}' must have {} inputs, found {}", attribute, inputs.size(), own);
  IndexedVector<TensorId, TensorId> indices(inner.tensors.size());
  for (size_t i = 0; i < inner.inputs.size(); ++i)
    indices[inner.inputs[i]] = i < own ? inputs[i] : subgraph.captured[i - own];
  for (const TensorId t : indices.ids()) {
    if (indices[t]) continue;
    ModelTensor& tensor = inner.tensors[t];
    indices[t] = context_.model.addTensor(context_.uniqueName(fmt::format("{}/{}", name_, tensor.name)));
    if (tensor.constant) context_.setConstant(indices[t], *std::move(tensor.constant));
    context_.model.tensors[indices[t]].defaultOf = std::move(tensor.defaultOf);
  }
  const auto move = [&](std::vector<TensorId>& list) {
    for (TensorId& index : list) index = index ? indices[index] : TensorId();
  };
  for (ModelNode& node : inner.nodes) {
    move(node.inputs);
    move(node.outputs);
    context_.model.nodes.push_back(std::move(node));
  }
  move(inner.outputs);
  emittedControl_ = true;
  return inner.outputs;
}

Status ImportNode::emitConstant(Tensor value) {
  OPKIT_CHECK(!emitted_);
  if (outputs_.size() != 1) return Status::invalidArgument("expected one output, found {}", outputs_.size());
  emitted_ = true;
  context_.setConstant(outputs_[0], std::move(value));
  return Status::ok();
}

std::vector<TensorId> ImportNode::emitIntermediates(const std::string& type, std::vector<TensorId> inputs,
                                                    size_t outputs, ParamBytes params) {
  std::vector<TensorId> made;
  for (size_t i = 0; i < outputs; ++i)
    made.push_back(context_.model.addTensor(context_.uniqueName(fmt::format("{}/{}", name_, type))));
  addNode(type, std::move(inputs), made, std::move(params));
  return made;
}

Status ImportNode::finish(const Status& ruleStatus) const {
  OPKIT_TRY(attributeError_);
  OPKIT_TRY(ruleStatus);
  for (const onnx::AttributeProto& candidate : proto_.attribute())
    if (!emittedControl_ && (candidate.has_g() || candidate.graphs_size() > 0))
      return Status::unsupported("attribute '{}' holds a subgraph, which its rule does not run", candidate.name());
  return emitted_ ? Status::ok() : Status::internal("its rule made nothing");
}

}  // namespace opkit
