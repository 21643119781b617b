#include "engine/import/onnx/inline_branches.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "engine/import/onnx/graph_names.h"
#include "engine/import/onnx/inline_functions.h"
#include "engine/import/onnx/onnx_tensor.h"

namespace opkit {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
using NewNames = std::map<std::string, std::string>;

void rename(std::string& name, const NewNames& names) {
  if (const auto found = names.find(name); found != names.end()) name = found->second;
}

/// Renames values that `node` and its subgraphs read or make; a subgraph's own values keep their names.
void rename(onnx::NodeProto& node, const NewNames& names) {
  for (std::string& name : *node.mutable_input()) rename(name, names);
  for (std::string& name : *node.mutable_output()) rename(name, names);
  const auto inside = [&](onnx::GraphProto& graph) {
    NewNames visible = names;
    for (const std::string& own : definedNames(graph)) visible.erase(own);
    for (onnx::NodeProto& inner : *graph.mutable_node()) rename(inner, visible);
    for (onnx::ValueInfoProto& output : *graph.mutable_output()) rename(*output.mutable_name(), visible);
  };
  for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) inside(*attribute.mutable_g());
    for (onnx::GraphProto& graph : *attribute.mutable_graphs()) inside(graph);
  }
}

std::optional<bool> flagOf(const onnx::TensorProto& proto) {
  if (proto.data_type() != onnx::TensorProto::BOOL) return std::nullopt;
  const auto tensor = tensorFrom(proto);
  if (!tensor || tensor->desc.elements() != 1) return std::nullopt;
  return tensor->data<uint8_t>()[0] != 0;
}

/// The constant flags of a graph and of those around it.
class Flags {
 public:
  Flags(const onnx::GraphProto& graph, const Flags* outer) : outer_(outer), defined_(definedNames(graph)) {
    std::set<std::string> inputs;
    for (const onnx::ValueInfoProto& input : graph.input()) inputs.insert(input.name());
    for (const onnx::TensorProto& tensor : graph.initializer())
      if (!inputs.contains(tensor.name())) add(tensor.name(), tensor);
    for (const onnx::NodeProto& node : graph.node()) {
      const bool isConstant = node.op_type() == "Constant" && canonicalDomain(node.domain()).empty();
      if (isConstant && node.output_size() == 1 && node.attribute_size() == 1 && node.attribute(0).name() == "value")
        add(node.output(0), node.attribute(0).t());
    }
  }

  std::optional<bool> find(const std::string& name) const {
    if (const auto known = values_.find(name); known != values_.end()) return known->second;
    return outer_ && !defined_.contains(name) ? outer_->find(name) : std::nullopt;
  }

 private:
  void add(const std::string& name, const onnx::TensorProto& tensor) {
    if (const std::optional<bool> value = flagOf(tensor)) values_[name] = *value;
  }

  const Flags* outer_;
  std::set<std::string> defined_;
  std::map<std::string, bool> values_;
};

class BranchInliner {
 public:
  explicit BranchInliner(const onnx::GraphProto& graph) : prefixes_(graph) {}

  Status rewrite(onnx::GraphProto& graph, const Flags* outer) {
    const Flags flags(graph, outer);
    Nodes nodes;
    nodes.Swap(graph.mutable_node());
    for (onnx::NodeProto& node : nodes) {
      const bool isIf = node.op_type() == "If" && canonicalDomain(node.domain()).empty() && node.input_size() == 1;
      if (const auto taken = isIf ? flags.find(node.input(0)) : std::nullopt) {
        OPKIT_TRY(splice(node, *taken ? "then_branch" : "else_branch", flags, graph)
                      .withContext(fmt::format("ONNX operator 'If' ('{}')", node.name())));
        continue;
      }
      for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) OPKIT_TRY(rewrite(*attribute.mutable_g(), &flags));
        for (onnx::GraphProto& inner : *attribute.mutable_graphs()) OPKIT_TRY(rewrite(inner, &flags));
      }
      *graph.add_node() = std::move(node);
    }
    return Status::ok();
  }

 private:
  Status splice(onnx::NodeProto& node, const std::string& which, const Flags& flags, onnx::GraphProto& graph) {
    const auto attribute = std::ranges::find(*node.mutable_attribute(), which, &onnx::AttributeProto::name);
    if (attribute == node.mutable_attribute()->end() || !attribute->has_g())
      return Status::invalidArgument("expected a graph in attribute '{}', found none", which);
    onnx::GraphProto& branch = *attribute->mutable_g();
    if (branch.input_size() > 0 || branch.output_size() != node.output_size())
      return Status::invalidArgument("subgraph '{}' must have no inputs and {} outputs, found {} and {}", which,
                                     node.output_size(), branch.input_size(), branch.output_size());
    OPKIT_TRY(rewrite(branch, &flags));
    const std::string prefix = prefixes_.next(fmt::format("{}.{}", node.name().empty() ? "If" : node.name(), which));
    NewNames names;
    for (const std::string& name : definedNames(branch)) names[name] = prefix + name;
    for (onnx::TensorProto& tensor : *branch.mutable_initializer()) {
      rename(*tensor.mutable_name(), names);
      *graph.add_initializer() = std::move(tensor);
    }
    for (onnx::SparseTensorProto& tensor : *branch.mutable_sparse_initializer()) {
      rename(*tensor.mutable_values()->mutable_name(), names);
      *graph.add_sparse_initializer() = std::move(tensor);
    }
    for (onnx::NodeProto& inner : *branch.mutable_node()) {
      rename(inner, names);
      *graph.add_node() = std::move(inner);
    }
    for (int i = 0; i < branch.output_size(); ++i) {
      if (node.output(i).empty()) continue;
      onnx::NodeProto& copy = *graph.add_node();  // a region, which fusion removes
      copy.set_op_type("Identity");
      copy.set_name(node.output(i));
      std::string from = branch.output(i).name();  // may be a value around the branch
      rename(from, names);
      copy.add_input(from);
      copy.add_output(node.output(i));
    }
    return Status::ok();
  }

  UnusedPrefixes prefixes_;
};

}  // namespace

Status inlineConstantBranches(onnx::ModelProto& model) {
  if (nestingOf(model.graph()) == 0) return Status::ok();
  return BranchInliner(model.graph()).rewrite(*model.mutable_graph(), nullptr);
}

}  // namespace opkit
