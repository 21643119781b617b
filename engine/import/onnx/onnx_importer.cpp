#include "engine/import/onnx/onnx_importer.h"

#include <map>
#include <set>
#include <sstream>

#include "engine/base/nesting.h"
#include "engine/import/onnx/declared_types.h"
#include "engine/import/onnx/external_data.h"
#include "engine/import/onnx/graph_names.h"
#include "engine/import/onnx/inline_branches.h"
#include "engine/import/onnx/inline_functions.h"
#include "engine/import/onnx/lean_model.h"
#include "engine/import/onnx/onnx_node.h"
#include "engine/import/onnx/onnx_tensor.h"
#include "engine/model/model_structure.h"
#include "engine/op/op_registry.h"

namespace opkit {
namespace {

std::string qualifiedType(const onnx::NodeProto& node) {
  const std::string domain = canonicalDomain(node.domain());
  return domain.empty() ? node.op_type() : domain + "::" + node.op_type();
}

/// The number of the declared element type; 0 if there is none.
int elementTypeOf(const onnx::ValueInfoProto& info) {
  return info.type().has_tensor_type() ? info.type().tensor_type().elem_type() : 0;
}

/// A declared extent. Old exporters wrote -1 for one that they did not know.
int64_t extentOf(const onnx::TensorShapeProto::Dimension& dimension) {
  return dimension.has_dim_value() ? dimension.dim_value() : kDynamic;
}

/// The names of the extents; empty if none has one.
std::vector<std::string> extentNamesOf(const onnx::ValueInfoProto& info) {
  std::vector<std::string> names;
  bool isNamed = false;
  for (const onnx::TensorShapeProto::Dimension& dimension : info.type().tensor_type().shape().dim()) {
    names.push_back(dimension.dim_param());
    isNamed = isNamed || !dimension.dim_param().empty();
  }
  if (!isNamed) names.clear();
  return names;
}

Result<TensorDesc> inputDesc(const onnx::ValueInfoProto& info) {
  OPKIT_ASSIGN(const std::optional<DType> declared, declaredType(info));
  if (!declared) return Status::unsupported("its type must be declared, found none");
  if (!info.type().has_tensor_type()) return TensorDesc{*declared, {kDynamic}};
  const onnx::TypeProto::Tensor& type = info.type().tensor_type();
  if (!type.has_shape() && *declared == DType::String) return TensorDesc{*declared, {kDynamic}};
  if (!type.has_shape()) return Status::unsupported("its rank must be known, found a tensor without a shape");
  TensorDesc desc{*declared, {}};
  Shape known;
  for (const onnx::TensorShapeProto::Dimension& dimension : type.shape().dim()) {
    desc.shape.push_back(extentOf(dimension));
    known.push_back(desc.shape.back() == kDynamic ? 1 : desc.shape.back());
  }
  OPKIT_TRY(checkShape(known));
  return desc;
}

/// Sequences and the like, and strings.
bool isObjectInfo(const onnx::ValueInfoProto& info) {
  return info.has_type() &&
         (elementTypeOf(info) == onnx::TensorProto::STRING ||
          (!info.type().has_tensor_type() && info.type().value_case() != onnx::TypeProto::VALUE_NOT_SET));
}

/// Names that graphs read and do not define, their own subgraphs included; each graph is looked at once.
class FreeNames {
 public:
  const std::set<std::string>& of(const onnx::GraphProto& graph) {
    const auto [known, isNew] = names_.try_emplace(&graph);
    if (!isNew) return known->second;
    std::set<std::string> names;
    for (const onnx::NodeProto& node : graph.node()) {
      names.insert(node.input().begin(), node.input().end());
      for (const onnx::AttributeProto& attribute : node.attribute()) {
        if (!attribute.has_g()) continue;
        const std::set<std::string>& inner = of(attribute.g());
        names.insert(inner.begin(), inner.end());
      }
    }
    for (const onnx::ValueInfoProto& output : graph.output()) names.insert(output.name());
    for (const std::string& name : definedNames(graph)) names.erase(name);
    return names_[&graph] = std::move(names);
  }

 private:
  std::map<const onnx::GraphProto*, std::set<std::string>> names_;
};

/// State shared by all graphs of a file.
struct FileContext {
  const onnx::ModelProto& proto;
  const OnnxRules& rules;
  ExternalData& external;
  FreeNames& freeNames;
  std::map<std::string, int64_t> opsets;  // by domain
};

std::string domainText(const std::string& domain) { return domain.empty() ? "ai.onnx" : domain; }

/// The newest opsets that the rules were written for: in a later one a name may mean something else. Plugins number
/// those of their own domains as they like.
int64_t newestOpset(const std::string& domain) {
  static const std::map<std::string, int64_t> known{
      {"", 28}, {"ai.onnx.ml", 5}, {"ai.onnx.preview", 1}, {"ai.onnx.preview.training", 1}, {"com.microsoft", 1}};
  const auto found = known.find(domain);
  return found == known.end() ? kAnyOpset : found->second;
}

Status readOpsets(const onnx::ModelProto& proto, FileContext& file) {
  for (const onnx::OperatorSetIdProto& opset : proto.opset_import()) {
    const std::string domain = canonicalDomain(opset.domain());
    if (opset.version() < 1)
      return Status::invalidArgument("ONNX opset version of domain '{}' must be 1 or more, found {}",
                                     domainText(domain), opset.version());
    const int64_t version = file.opsets.emplace(domain, opset.version()).first->second;
    if (version != opset.version())
      return Status::invalidArgument("ONNX domain '{}' must have one opset version, found {} and {}",
                                     domainText(domain), version, opset.version());
  }
  if (proto.ir_version() < 3) file.opsets.emplace("", 1);  // files older than opset_import
  return Status::ok();
}

class GraphImport {
 public:
  /// `outer` is the context of the graph around a subgraph.
  GraphImport(const onnx::GraphProto& graph, const FileContext& file, const OpRegistry& registry,
              ImportContext* outer = nullptr)
      : graph_(graph), file_(file), context_(registry, file.external, outer), isSubgraph_(outer != nullptr) {}

  Result<Model> run() {
    OPKIT_TRY(readInitializers());
    OPKIT_TRY(readInputs());
    OPKIT_TRY(declareNodeOutputs());
    OPKIT_ASSIGN(const std::vector<NodeId> order, nodeOrder());
    for (const NodeId n : order) OPKIT_TRY(importNode(graph_.node(n.number())));
    OPKIT_TRY(readOutputs());
    for (const ImportContext::Capture& capture : context_.captures()) model().inputs.push_back(capture.inner);
    if (!isSubgraph_) OPKIT_TRY(validateModel(context_.model, *context_.registry));  // subgraphs included
    return std::move(context_.model);
  }

  /// After run: the tensors of the graph around this one that its last inputs stand for.
  std::vector<TensorId> captures() const {
    std::vector<TensorId> outer;
    for (const ImportContext::Capture& capture : context_.captures()) outer.push_back(capture.outer);
    return outer;
  }

 private:
  Model& model() { return context_.model; }

  Result<ImportedSubgraph> importSubgraph(const onnx::GraphProto& graph, const std::string& name) {
    GraphImport inner(graph, file_, *context_.registry, &context_);
    auto imported = inner.run();
    if (!imported) return imported.error().withContext(fmt::format("subgraph '{}'", name));
    return ImportedSubgraph{*std::move(imported), inner.captures()};
  }

  Status declare(const std::string& name, TensorId index, const char* what) {
    if (name.empty()) return Status::invalidArgument("ONNX graph: {} has no name", what);
    if (context_.declare(name, index)) return Status::ok();
    return Status::invalidArgument("ONNX graph: {} '{}' is defined twice; every tensor has one origin", what, name);
  }

  Status readInitializers() {
    for (const onnx::TensorProto& initializer : graph_.initializer())
      OPKIT_TRY(addInitializer(initializer.name(), tensorFrom(initializer, &file_.external)));
    for (const onnx::SparseTensorProto& initializer : graph_.sparse_initializer())
      OPKIT_TRY(addInitializer(initializer.values().name(), tensorFrom(initializer, &file_.external)));
    return Status::ok();
  }

  Status addInitializer(const std::string& name, Result<Tensor> value) {
    if (!value) return value.error().withContext(fmt::format("ONNX initializer '{}'", name));
    OPKIT_TRY(declare(name, model().tensors.nextId(), "initializer"));
    const TensorId index = model().addTensor(name);
    context_.setConstant(index, *std::move(value));
    return Status::ok();
  }

  /// metadata_props "opkit.start_shape.NAME": "1,3,224,224"; empty if there is none or it is no list of numbers.
  Shape startShapeOf(const std::string& input) const {
    Shape shape;
    if (isSubgraph_) return shape;
    for (const onnx::StringStringEntryProto& entry : file_.proto.metadata_props()) {
      if (entry.key() != "opkit.start_shape." + input) continue;
      std::istringstream text(entry.value());
      for (int64_t extent = 0; text >> extent; text.ignore()) shape.push_back(extent);
    }
    return shape;
  }

  /// Before IR version 4 every initializer had to be listed among the inputs, so that this said nothing.
  void noteDefault(TensorId initializer, const onnx::ValueInfoProto& input, size_t position) {
    if (isSubgraph_ || file_.proto.ir_version() < 4) return;
    ModelTensor& tensor = model().tensors[initializer];
    const Result<TensorDesc> declared = inputDesc(input);
    tensor.defaultOf = {position, declared ? declared->shape : tensor.desc.shape};
    tensor.extentNames = extentNamesOf(input);
  }

  bool isOwn(const std::string& name) const {
    const auto called = [&](const onnx::TensorProto& tensor) { return tensor.name() == name; };
    return std::ranges::any_of(graph_.initializer(), called);
  }

  Status readInputs() {
    size_t position = 0;
    for (const onnx::ValueInfoProto& input : graph_.input()) {
      const TensorId initializer = context_.find(input.name());
      const bool hasDefault = initializer && context_.constant(initializer);
      if (hasDefault && isSubgraph_ && isOwn(input.name()))
        return Status::invalidArgument(
            "ONNX subgraph: input '{}' is an initializer too; only the main graph may give "
            "its inputs defaults",
            input.name());
      if (hasDefault) noteDefault(initializer, input, position);
      ++position;
      if (hasDefault) continue;
      // The inputs of a subgraph are known when it runs; their declarations often say nothing.
      Result<TensorDesc> desc = isSubgraph_ && !isObjectInfo(input) ? TensorDesc{} : inputDesc(input);
      if (!desc) return desc.error().withContext(fmt::format("ONNX graph input '{}'", input.name()));
      OPKIT_TRY(declare(input.name(), model().tensors.nextId(), "input"));
      const TensorId index = model().addInput(input.name(), *std::move(desc));
      model().tensors[index].startShape = startShapeOf(input.name());
      if (!isSubgraph_) model().tensors[index].extentNames = extentNamesOf(input);
    }
    return Status::ok();
  }

  Status declareNodeOutputs() {
    for (const onnx::NodeProto& node : graph_.node()) {
      for (const std::string& output : node.output()) {
        if (output.empty()) continue;
        OPKIT_TRY(declare(output, model().tensors.nextId(), "node output"));
        model().addTensor(output);
      }
    }
    return Status::ok();
  }

  /// Producers first: rules may ask for the values of constants that other nodes make.
  Result<std::vector<NodeId>> nodeOrder() {
    Model skeleton;
    for (const ModelTensor& tensor : model().tensors) skeleton.addTensor(tensor.name);
    for (const onnx::NodeProto& node : graph_.node()) {
      ModelNode copy;
      for (const std::string& input : node.input()) {
        copy.inputs.push_back(input.empty() ? TensorId() : context_.find(input));
        if (!input.empty() && !context_.knows(input))
          return Status::invalidArgument("ONNX operator '{}' reads tensor '{}', which nothing defines",
                                         qualifiedType(node), input);
      }
      for (const onnx::AttributeProto& attribute : node.attribute())
        if (attribute.has_g())
          for (const std::string& name : file_.freeNames.of(attribute.g())) copy.inputs.push_back(context_.find(name));
      for (const std::string& output : node.output())
        if (!output.empty()) copy.outputs.push_back(context_.find(output));
      skeleton.nodes.push_back(std::move(copy));
    }
    return topologicalOrder(skeleton);
  }

  Status importNode(const onnx::NodeProto& node) {
    const std::string type = qualifiedType(node);
    OPKIT_ASSIGN(const int opset, opsetOf(node, type));
    const OnnxRules::Entry* entry = file_.rules.find(type, opset);
    if (!entry) return Status::unsupported("ONNX operator '{}' (opset {}) has no rule in this build", type, opset);
    OPKIT_TRY(checkAttributes(node, type, opset, *entry));
    ImportNode view(node, type, opset, context_, [this](const onnx::GraphProto& graph, const std::string& name) {
      return importSubgraph(graph, name);
    });
    if (view.outputCount() == 0) return Status::invalidArgument("ONNX operator '{}' has no outputs", type);
    const Status declared = checkDeclaredTypes(node);
    return (declared.isOk() ? view.finish(entry->rule(view)) : declared)
        .withContext(fmt::format("ONNX operator '{}' ('{}')", type, view.name()));
  }

  Result<int> opsetOf(const onnx::NodeProto& node, const std::string& type) const {
    const std::string domain = canonicalDomain(node.domain());
    const auto imported = file_.opsets.find(domain);
    if (imported == file_.opsets.end())
      return Status::invalidArgument("ONNX operator '{}': the model imports no opset for its domain '{}'", type,
                                     domain);
    const int64_t opset = opsetOfFunction(node).value_or(imported->second), newest = newestOpset(domain);
    if (opset <= newest) return static_cast<int>(opset);
    return Status::unsupported("ONNX operator '{}': this build knows opsets of domain '{}' up to {}, found {}", type,
                               domainText(domain), newest, opset);
  }

  static Status checkAttributes(const onnx::NodeProto& node, const std::string& type, int opset,
                                const OnnxRules::Entry& entry) {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.name() == "consumed_inputs" && opset < 6) continue;  // a memory hint of the first opsets
      if (!entry.attribute(attribute.name(), opset))
        return Status::unsupported("ONNX operator '{}' (opset {}): attribute '{}' is not supported", type, opset,
                                   attribute.name());
      if (!attribute.ref_attr_name().empty())
        return Status::unsupported("ONNX operator '{}' (opset {}): attribute '{}' refers to a function's attribute",
                                   type, opset, attribute.name());
    }
    for (const OnnxAttribute& known : entry.attributes) {
      const bool isThere =
          std::ranges::any_of(node.attribute(), [&](const auto& one) { return one.name() == known.name; });
      if (known.isRequired && !isThere && entry.attribute(known.name, opset) == &known)
        return Status::invalidArgument("ONNX operator '{}' (opset {}): attribute '{}' is required", type, opset,
                                       known.name);
    }
    return Status::ok();
  }

  Status readOutputs() {
    for (const onnx::ValueInfoProto& output : graph_.output()) {
      const TensorId index = context_.resolve(output.name());
      if (!index) return Status::invalidArgument("ONNX graph output '{}': no node makes it", output.name());
      model().outputs.push_back(index);
      if (ModelTensor& tensor = model().tensors[index]; !isSubgraph_ && tensor.extentNames.empty())
        tensor.extentNames = extentNamesOf(output);
      if (areMaps(output)) continue;  // the rule of ZipMap gives the scores
      const auto declared = declaredType(output);
      if (!declared) return declared.error().withContext(fmt::format("ONNX graph output '{}'", output.name()));
      model().tensors[index].declared = *declared;
    }
    if (model().outputs.empty()) return Status::invalidArgument("ONNX graph: expected at least one output, found none");
    return Status::ok();
  }

  const onnx::GraphProto& graph_;
  const FileContext& file_;
  ImportContext context_;
  bool isSubgraph_;
};

Result<onnx::ModelProto> parse(const LeanModel& lean, std::span<const uint8_t> bytes) {
  onnx::ModelProto proto;
  if (!lean.parse(proto)) {
    OPKIT_TRY(checkNesting(nestingOf(bytes)));
    return Status::corrupt("expected an ONNX model, found {} bytes that are truncated, damaged or something else",
                           bytes.size());
  }
  if (!proto.has_graph())
    return Status::corrupt("expected an ONNX model, found {} bytes without a graph", bytes.size());
  OPKIT_TRY(checkNesting(nestingOf(proto.graph())));
  return proto;
}

/// `file` holds the bytes, or is null.
Result<Model> importFrom(std::span<const uint8_t> bytes, const std::shared_ptr<MappedFile>& file,
                         const OnnxRules& rules, const OpRegistry& registry, const std::string& path) {
  if (bytes.size() > INT32_MAX)
    return Status::unsupported("ONNX models must be smaller than 2 GiB, found {} bytes", bytes.size());
  const LeanModel lean(bytes);
  OPKIT_ASSIGN(onnx::ModelProto proto, parse(lean, bytes));
  ExternalData external(path, {bytes, file, lean.values()});
  OPKIT_TRY(inlineFunctions(proto));
  OPKIT_TRY(inlineConstantBranches(proto));
  FreeNames freeNames;
  FileContext context{proto, rules, external, freeNames, {}};
  OPKIT_TRY(readOpsets(proto, context));
  OPKIT_ASSIGN(Model model, GraphImport(proto.graph(), context, registry).run());
  model.producer = proto.producer_name();
  for (const onnx::StringStringEntryProto& entry : proto.metadata_props())
    model.metadata.emplace_back(entry.key(), entry.value());
  return model;
}

}  // namespace

Result<Model> importOnnx(std::span<const uint8_t> bytes, const OnnxRules& rules, const OpRegistry& registry,
                         const std::string& path) {
  return importFrom(bytes, nullptr, rules, registry, path);
}

Result<Model> readModelFile(const std::string& path, const OnnxRules& rules, const OpRegistry& registry) {
  OPKIT_ASSIGN(const auto file, MappedFile::open(path));
  return isOpk(file->contents()) ? readModel(file) : importFrom(file->contents(), file, rules, registry, path);
}

}  // namespace opkit
