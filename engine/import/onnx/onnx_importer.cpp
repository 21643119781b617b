#include "engine/import/onnx/onnx_importer.h"

#include <set>
#include <sstream>

#include "engine/import/onnx/onnx_dtype.h"
#include "engine/import/onnx/onnx_node.h"
#include "engine/import/onnx/onnx_tensor.h"
#include "engine/model/model_structure.h"
#include "engine/op/op_registry.h"

namespace opkit {
namespace {

/// "" and "ai.onnx" are the same domain.
std::string canonicalDomain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

std::string qualifiedType(const onnx::NodeProto& node) {
  const std::string domain = canonicalDomain(node.domain());
  return domain.empty() ? node.op_type() : domain + "::" + node.op_type();
}

const char* kindOf(const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::kTensorType: return "tensor";
    case onnx::TypeProto::kSequenceType: return "sequence";
    case onnx::TypeProto::kMapType: return "map";
    case onnx::TypeProto::kOptionalType: return "optional";
    case onnx::TypeProto::kSparseTensorType: return "sparse tensor";
    case onnx::TypeProto::kOpaqueType: return "opaque";
    default: return "nothing";
  }
}

Result<TensorDesc> inputDesc(const onnx::ValueInfoProto& info) {
  if (!info.type().has_tensor_type())
    return Status::unsupported("its type must be a tensor, found {}", kindOf(info.type()));
  const onnx::TypeProto::Tensor& type = info.type().tensor_type();
  OPKIT_ASSIGN(const DType dtype, dtypeFromOnnx(type.elem_type()));
  if (!type.has_shape()) return Status::unsupported("its rank must be known, found a tensor without a shape");
  TensorDesc desc{dtype, {}};
  Shape known;
  for (const onnx::TensorShapeProto::Dimension& dimension : type.shape().dim()) {
    desc.shape.push_back(dimension.has_dim_value() ? dimension.dim_value() : kDynamic);
    known.push_back(dimension.has_dim_value() ? dimension.dim_value() : 1);
  }
  OPKIT_TRY(checkShape(known));
  return desc;
}

class GraphImport {
 public:
  GraphImport(const onnx::ModelProto& proto, const OnnxRules& rules, const OpRegistry& registry)
      : proto_(proto), graph_(proto.graph()), rules_(rules), context_(registry) {}

  Result<Model> run() {
    context_.model.producer = proto_.producer_name();
    OPKIT_TRY(readOpsets());
    OPKIT_TRY(readInitializers());
    OPKIT_TRY(readInputs());
    OPKIT_TRY(declareNodeOutputs());
    OPKIT_ASSIGN(const std::vector<size_t> order, nodeOrder());
    for (size_t index : order) OPKIT_TRY(importNode(graph_.node(static_cast<int>(index))));
    OPKIT_TRY(readOutputs());
    OPKIT_TRY(validateModel(context_.model, *context_.registry));
    return std::move(context_.model);
  }

 private:
  Model& model() { return context_.model; }

  Status readOpsets() {
    for (const onnx::OperatorSetIdProto& opset : proto_.opset_import()) {
      if (opset.version() < 1 || opset.version() > OnnxRules::kAnyOpset)
        return Status::invalidArgument("ONNX opset version of domain '{}' must be 1 or more, found {}", opset.domain(),
                                       opset.version());
      opsets_[canonicalDomain(opset.domain())] = static_cast<int>(opset.version());
    }
    if (proto_.ir_version() < 3) opsets_.emplace("", 1);  // files older than opset_import
    for (const onnx::FunctionProto& function : proto_.functions())
      functions_.emplace(canonicalDomain(function.domain()), function.name());
    return Status::ok();
  }

  Status declare(const std::string& name, int index, const char* what) {
    if (name.empty()) return Status::invalidArgument("ONNX graph: {} has no name", what);
    if (context_.declare(name, index)) return Status::ok();
    return Status::invalidArgument("ONNX graph: {} '{}' is defined twice; every tensor has one origin", what, name);
  }

  Status readInitializers() {
    if (graph_.sparse_initializer_size() > 0)
      return Status::unsupported("ONNX sparse initializer '{}': OpKit tensors are dense",
                                 graph_.sparse_initializer(0).values().name());
    for (const onnx::TensorProto& initializer : graph_.initializer()) {
      Result<Tensor> value = tensorFrom(initializer);
      if (!value) return value.error().withContext(fmt::format("ONNX initializer '{}'", initializer.name()));
      OPKIT_TRY(declare(initializer.name(), static_cast<int>(model().tensors.size()), "initializer"));
      const int index = model().addTensor(initializer.name());
      context_.setConstant(index, *std::move(value));
    }
    return Status::ok();
  }

  /// metadata_props "opkit.start_shape.NAME": "1,3,224,224"; empty when there is none or it is no list of numbers.
  Shape startShapeOf(const std::string& input) const {
    Shape shape;
    for (const onnx::StringStringEntryProto& entry : proto_.metadata_props()) {
      if (entry.key() != "opkit.start_shape." + input) continue;
      std::istringstream text(entry.value());
      for (int64_t extent = 0; text >> extent; text.ignore()) shape.push_back(extent);
    }
    return shape;
  }

  Status readInputs() {
    for (const onnx::ValueInfoProto& input : graph_.input()) {
      const int initializer = context_.find(input.name());
      if (initializer >= 0 && context_.constant(initializer)) continue;  // a default value, not an input
      Result<TensorDesc> desc = inputDesc(input);
      if (!desc) return desc.error().withContext(fmt::format("ONNX graph input '{}'", input.name()));
      OPKIT_TRY(declare(input.name(), static_cast<int>(model().tensors.size()), "input"));
      const int index = model().addInput(input.name(), *std::move(desc));
      model().tensors[static_cast<size_t>(index)].startShape = startShapeOf(input.name());
    }
    return Status::ok();
  }

  Status declareNodeOutputs() {
    for (const onnx::NodeProto& node : graph_.node()) {
      for (const std::string& output : node.output()) {
        if (output.empty()) continue;
        OPKIT_TRY(declare(output, static_cast<int>(model().tensors.size()), "node output"));
        model().addTensor(output);
      }
    }
    return Status::ok();
  }

  /// Producers first: rules may ask for the values of constants that other nodes make.
  Result<std::vector<size_t>> nodeOrder() {
    Model skeleton;
    for (const ModelTensor& tensor : model().tensors) skeleton.addTensor(tensor.name);
    for (const onnx::NodeProto& node : graph_.node()) {
      ModelNode& copy = skeleton.nodes.emplace_back();
      for (const std::string& input : node.input()) {
        copy.inputs.push_back(input.empty() ? -1 : context_.find(input));
        if (!input.empty() && copy.inputs.back() < 0)
          return Status::invalidArgument("ONNX operator '{}' reads tensor '{}', which nothing defines",
                                         qualifiedType(node), input);
      }
      for (const std::string& output : node.output())
        if (!output.empty()) copy.outputs.push_back(context_.find(output));
    }
    return topologicalOrder(skeleton);
  }

  Status importNode(const onnx::NodeProto& node) {
    const std::string type = qualifiedType(node);
    const std::string domain = canonicalDomain(node.domain());
    if (functions_.contains({domain, node.op_type()}))
      return Status::unsupported("ONNX operator '{}' is a function of the model; functions are not expanded", type);
    const auto opset = opsets_.find(domain);
    if (opset == opsets_.end())
      return Status::invalidArgument("ONNX operator '{}': the model imports no opset for its domain '{}'", type,
                                     domain);
    for (const onnx::AttributeProto& attribute : node.attribute())
      OPKIT_TRY(checkNoSubgraph(attribute, type, opset->second));
    const OnnxRules::Entry* entry = rules_.find(type, opset->second);
    if (!entry)
      return Status::unsupported("ONNX operator '{}' (opset {}) has no rule in this build", type, opset->second);
    OPKIT_TRY(checkAttributes(node, type, opset->second, *entry));
    ImportNode view(node, type, opset->second, context_);
    if (view.outputCount() == 0) return Status::invalidArgument("ONNX operator '{}' has no outputs", type);
    return view.finish(entry->rule(view)).withContext(fmt::format("ONNX operator '{}' ('{}')", type, view.name()));
  }

  static Status checkNoSubgraph(const onnx::AttributeProto& attribute, const std::string& type, int opset) {
    if (!attribute.has_g() && attribute.graphs_size() == 0) return Status::ok();
    return Status::unsupported("ONNX operator '{}' (opset {}) has a subgraph in attribute '{}'; subgraphs do not run",
                               type, opset, attribute.name());
  }

  static Status checkAttributes(const onnx::NodeProto& node, const std::string& type, int opset,
                                const OnnxRules::Entry& entry) {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.name() == "consumed_inputs" && opset < 6) continue;  // a memory hint of the first opsets
      if (std::find(entry.attributes.begin(), entry.attributes.end(), attribute.name()) == entry.attributes.end())
        return Status::unsupported("ONNX operator '{}' (opset {}): attribute '{}' is not supported", type, opset,
                                   attribute.name());
      if (!attribute.ref_attr_name().empty())
        return Status::unsupported("ONNX operator '{}' (opset {}): attribute '{}' refers to a function's attribute",
                                   type, opset, attribute.name());
    }
    return Status::ok();
  }

  Status readOutputs() {
    for (const onnx::ValueInfoProto& output : graph_.output()) {
      const int index = context_.find(output.name());
      if (index < 0) return Status::invalidArgument("ONNX graph output '{}': no node makes it", output.name());
      model().outputs.push_back(index);
    }
    if (model().outputs.empty()) return Status::invalidArgument("ONNX graph: expected at least one output, found none");
    return Status::ok();
  }

  const onnx::ModelProto& proto_;
  const onnx::GraphProto& graph_;
  const OnnxRules& rules_;
  ImportContext context_;
  std::map<std::string, int> opsets_;                        // by domain
  std::set<std::pair<std::string, std::string>> functions_;  // domain, name
};

}  // namespace

Result<Model> importOnnx(std::span<const uint8_t> bytes, const OnnxRules& rules, const OpRegistry& registry) {
  if (bytes.size() > INT32_MAX)
    return Status::unsupported("ONNX models must be smaller than 2 GiB, found {} bytes", bytes.size());
  onnx::ModelProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Status::corrupt("expected an ONNX model, found {} bytes that are truncated, damaged or something else",
                           bytes.size());
  if (!proto.has_graph())
    return Status::corrupt("expected an ONNX model, found {} bytes without a graph", bytes.size());
  return GraphImport(proto, rules, registry).run();
}

}  // namespace opkit
