#include "engine/import/onnx/inline_functions.h"

#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "engine/base/nesting.h"
#include "engine/import/onnx/graph_names.h"

namespace opkit {
namespace {

constexpr size_t kMostNodes = 1'000'000;

// Fields that the messages of ONNX 1.12 do not know.
constexpr int kNodeOverload = 8;
constexpr int kFunctionDefaults = 11;  // AttributeProto
constexpr int kFunctionOverload = 13;
// A field of NodeProto that no version of ONNX has: the opset of the function around the node.
constexpr int kOpsetOfFunction = 100'000;

/// The values of a field of strings or messages that the message's type does not know.
template <class Message>
std::vector<std::string> unknownTexts(const Message& message, int number) {
  std::vector<std::string> texts;
  const google::protobuf::UnknownFieldSet& fields = message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    if (field.number() == number && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      texts.push_back(field.length_delimited());
  }
  return texts;
}

template <class Message>
std::string overloadOf(const Message& message, int number) {
  const std::vector<std::string> texts = unknownTexts(message, number);
  return texts.empty() ? "" : texts.back();
}

using Key = std::tuple<std::string, std::string, std::string>;  // domain, name, overload
using Opsets = std::map<std::string, int64_t>;                  // by domain

/// Adds those whose domain is new.
template <class Message>
void addOpsets(const Message& message, Opsets& opsets) {
  for (const onnx::OperatorSetIdProto& opset : message.opset_import())
    opsets.emplace(canonicalDomain(opset.domain()), opset.version());
}

struct Function {
  const onnx::FunctionProto* proto;
  std::map<std::string, onnx::AttributeProto> defaults;
};

std::string keyOf(const onnx::FunctionProto& function) {
  return function.domain().empty() ? function.name() : function.domain() + "::" + function.name();
}

/// The names that a subgraph gives to values; its node's scope is around it.
struct Scope {
  std::set<std::string> own;
  const Scope* outer;

  bool defines(const std::string& name) const { return own.contains(name) || (outer && outer->defines(name)); }
};

/// One call: the names of the function's values and its attributes at the place of the call.
class Call {
 public:
  Call(const Function& function, const onnx::NodeProto& node, std::string prefix)
      : function_(function), prefix_(std::move(prefix)) {
    for (const onnx::AttributeProto& attribute : node.attribute()) attributes_[attribute.name()] = &attribute;
    const onnx::FunctionProto& proto = *function.proto;
    for (int i = 0; i < proto.input_size(); ++i) names_[proto.input(i)] = i < node.input_size() ? node.input(i) : "";
    for (int i = 0; i < proto.output_size() && i < node.output_size(); ++i)
      if (!node.output(i).empty() && !names_.emplace(proto.output(i), node.output(i)).second)
        forwarded_.emplace_back(proto.output(i), node.output(i));
  }

  /// Outputs that are inputs or other outputs as well: pairs of the function's value and the caller's name.
  const std::vector<std::pair<std::string, std::string>>& forwarded() const { return forwarded_; }

  /// `scope` is that of the subgraph around the name, null in the function itself: what a subgraph defines is no value
  /// of the function, whatever its name.
  std::string rename(const std::string& name, const Scope* scope = nullptr) const {
    if (name.empty()) return name;
    const auto known = scope && scope->defines(name) ? names_.end() : names_.find(name);
    return known == names_.end() ? prefix_ + name : known->second;
  }

  void rewrite(onnx::NodeProto& node, const Scope* scope = nullptr) const {
    node.set_name(prefix_ + (node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name()));
    for (std::string& name : *node.mutable_input()) name = rename(name, scope);
    for (std::string& name : *node.mutable_output()) name = rename(name, scope);
    google::protobuf::RepeatedPtrField<onnx::AttributeProto> attributes;
    attributes.Swap(node.mutable_attribute());
    for (const onnx::AttributeProto& attribute : attributes) {
      const onnx::AttributeProto* value = valueOf(attribute);
      if (!value) continue;  // the caller leaves it out, and so does the node
      onnx::AttributeProto& copy = *node.add_attribute();
      copy = *value;
      copy.set_name(attribute.name());
      if (value != &attribute) continue;  // values of the caller have the caller's names
      if (copy.has_g()) rewrite(*copy.mutable_g(), scope);
      for (onnx::GraphProto& graph : *copy.mutable_graphs()) rewrite(graph, scope);
    }
  }

 private:
  /// The attribute itself, or the one of the call or of the function's defaults that it refers to; null if there is
  /// none.
  const onnx::AttributeProto* valueOf(const onnx::AttributeProto& attribute) const {
    if (attribute.ref_attr_name().empty()) return &attribute;
    if (const auto given = attributes_.find(attribute.ref_attr_name()); given != attributes_.end())
      return given->second;
    const auto fallback = function_.defaults.find(attribute.ref_attr_name());
    return fallback == function_.defaults.end() ? nullptr : &fallback->second;
  }

  void rewrite(onnx::GraphProto& graph, const Scope* outer) const {
    const Scope scope{definedNames(graph), outer};
    for (onnx::ValueInfoProto& value : *graph.mutable_input()) value.set_name(rename(value.name(), &scope));
    for (onnx::ValueInfoProto& value : *graph.mutable_output()) value.set_name(rename(value.name(), &scope));
    for (onnx::TensorProto& tensor : *graph.mutable_initializer()) tensor.set_name(rename(tensor.name(), &scope));
    for (onnx::SparseTensorProto& tensor : *graph.mutable_sparse_initializer())
      tensor.mutable_values()->set_name(rename(tensor.values().name(), &scope));
    for (onnx::NodeProto& node : *graph.mutable_node()) rewrite(node, &scope);
  }

  const Function& function_;
  std::string prefix_;
  std::map<std::string, const onnx::AttributeProto*> attributes_;
  std::map<std::string, std::string> names_;
  std::vector<std::pair<std::string, std::string>> forwarded_;
};

class Inliner {
 public:
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

  explicit Inliner(const onnx::GraphProto& graph) : prefixes_(graph) {}

  Status read(const onnx::ModelProto& model) {
    addOpsets(model, opsets_);
    for (const onnx::FunctionProto& proto : model.functions()) {
      Function function{&proto, {}};
      for (const std::string& text : unknownTexts(proto, kFunctionDefaults)) {
        onnx::AttributeProto attribute;
        if (!attribute.ParseFromString(text))
          return Status::corrupt("ONNX function '{}': an attribute's default is damaged", keyOf(proto));
        function.defaults[attribute.name()] = attribute;
      }
      const Key key{canonicalDomain(proto.domain()), proto.name(), overloadOf(proto, kFunctionOverload)};
      if (std::set<std::string>(proto.input().begin(), proto.input().end()).size() !=
          static_cast<size_t>(proto.input_size()))
        return Status::invalidArgument("ONNX function '{}' has two inputs of one name", keyOf(proto));
      if (!functions_.emplace(key, std::move(function)).second)
        return Status::invalidArgument("ONNX function '{}' is defined twice", keyOf(proto));
      addOpsets(proto, opsets_);
    }
    return Status::ok();
  }

  /// Those of the model, and of functions where the model has none.
  const Opsets& opsets() const { return opsets_; }

  /// `depth` counts the graphs around this one.
  Status expand(onnx::GraphProto& graph, size_t depth = 0) {
    OPKIT_TRY(checkNesting(depth));
    Nodes nodes;
    nodes.Swap(graph.mutable_node());
    for (onnx::NodeProto& node : nodes) OPKIT_TRY(expand(node, *graph.mutable_node(), depth));
    return Status::ok();
  }

 private:
  Status expand(onnx::NodeProto& node, Nodes& out, size_t depth) {
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) OPKIT_TRY(expand(*attribute.mutable_g(), depth + 1));
      for (onnx::GraphProto& graph : *attribute.mutable_graphs()) OPKIT_TRY(expand(graph, depth + 1));
    }
    const auto found =
        functions_.find({canonicalDomain(node.domain()), node.op_type(), overloadOf(node, kNodeOverload)});
    if (found != functions_.end()) {
      for (onnx::AttributeProto& attribute : *node.mutable_attribute()) keepOpsets(attribute);
      return expandCall(found->second, node, out, depth);
    }
    if (++nodes_ > kMostNodes) return Status::unsupported("ONNX functions expand to more than {} nodes", kMostNodes);
    if (!running_.empty()) keepOpset(*running_.back(), node);
    *out.Add() = std::move(node);
    return Status::ok();
  }

  void keepOpset(const onnx::FunctionProto& function, onnx::NodeProto& node) const {
    Opsets own;
    addOpsets(function, own);
    const auto opset = own.find(canonicalDomain(node.domain()));
    if (opset != own.end() && opset->second != opsets_.at(opset->first)) setOpset(node, opset->second);
  }

  /// Of the graphs that a call gives to a function, whose opset their nodes shall not get.
  void keepOpsets(onnx::AttributeProto& attribute) const {
    if (attribute.has_g()) keepOpsets(*attribute.mutable_g());
    for (onnx::GraphProto& graph : *attribute.mutable_graphs()) keepOpsets(graph);
  }

  void keepOpsets(onnx::GraphProto& graph) const {
    for (onnx::NodeProto& node : *graph.mutable_node()) {
      if (const auto opset = opsets_.find(canonicalDomain(node.domain())); opset != opsets_.end())
        setOpset(node, opset->second);
      for (onnx::AttributeProto& attribute : *node.mutable_attribute()) keepOpsets(attribute);
    }
  }

  /// Unless the node has one: it came with a graph that a call gave.
  static void setOpset(onnx::NodeProto& node, int64_t version) {
    if (!opsetOfFunction(node))
      node.GetReflection()->MutableUnknownFields(&node)->AddVarint(kOpsetOfFunction, static_cast<uint64_t>(version));
  }

  Status expandCall(const Function& function, const onnx::NodeProto& node, Nodes& out, size_t depth) {
    const onnx::FunctionProto& proto = *function.proto;
    const std::string name = keyOf(proto);
    if (std::ranges::find(running_, &proto) != running_.end())
      return Status::invalidArgument("ONNX function '{}' calls itself", name);
    if (running_.size() == kMaxNesting)
      return Status::unsupported("ONNX functions may be called {} deep, '{}' is called deeper", kMaxNesting, name);
    if (node.input_size() > proto.input_size() || node.output_size() > proto.output_size())
      return Status::invalidArgument("ONNX function '{}' has {} inputs and {} outputs, its call '{}' has {} and {}",
                                     name, proto.input_size(), proto.output_size(), node.name(), node.input_size(),
                                     node.output_size());
    if (++calls_ > kMostNodes) return Status::unsupported("ONNX functions make more than {} calls", kMostNodes);
    const Call call(function, node, prefixes_.next((node.name().empty() ? proto.name() : node.name()) + "."));
    running_.push_back(&proto);
    for (const onnx::NodeProto& inner : proto.node()) {
      onnx::NodeProto copy = inner;
      call.rewrite(copy);
      OPKIT_TRY(expand(copy, out, depth));
    }
    running_.pop_back();
    for (const auto& [from, to] : call.forwarded()) {
      onnx::NodeProto& copy = *out.Add();
      copy.set_op_type("Identity");
      copy.add_input(call.rename(from));
      copy.add_output(to);
    }
    return Status::ok();
  }

  UnusedPrefixes prefixes_;
  std::map<Key, Function> functions_;
  Opsets opsets_;
  std::vector<const onnx::FunctionProto*> running_;
  size_t nodes_ = 0;
  size_t calls_ = 0;
};

}  // namespace

std::string canonicalDomain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

std::optional<int64_t> opsetOfFunction(const onnx::NodeProto& node) {
  const google::protobuf::UnknownFieldSet& fields = node.GetReflection()->GetUnknownFields(node);
  for (int i = 0; i < fields.field_count(); ++i)
    if (const auto& field = fields.field(i);
        field.number() == kOpsetOfFunction && field.type() == google::protobuf::UnknownField::TYPE_VARINT)
      return static_cast<int64_t>(field.varint());
  return std::nullopt;
}

Status inlineFunctions(onnx::ModelProto& model) {
  if (model.functions_size() == 0) return Status::ok();
  Inliner inliner(model.graph());
  OPKIT_TRY(inliner.read(model));
  OPKIT_TRY(inliner.expand(*model.mutable_graph()));
  Opsets known;
  addOpsets(model, known);
  for (const auto& [domain, version] : inliner.opsets()) {
    if (known.contains(domain)) continue;
    onnx::OperatorSetIdProto& opset = *model.add_opset_import();
    opset.set_domain(domain);
    opset.set_version(version);
  }
  return Status::ok();
}

}  // namespace opkit
