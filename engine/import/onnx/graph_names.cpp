#include "engine/import/onnx/graph_names.h"

#include <fmt/format.h>

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <vector>

#include "engine/base/nesting.h"
#include "engine/import/onnx/wire_messages.h"

namespace opkit {
namespace {

using google::protobuf::io::CodedInputStream;

bool skip(CodedInputStream& stream, uint32_t wireType) {
  uint64_t ignored = 0;
  uint32_t length = 0;
  switch (wireType) {
    case 0: return stream.ReadVarint64(&ignored);
    case 1: return stream.Skip(8);
    case 2: return stream.ReadVarint32(&length) && length <= INT32_MAX && stream.Skip(static_cast<int>(length));
    case 5: return stream.Skip(4);
    default: return false;
  }
}

/// Calls `visit` with each subgraph of the graph's nodes.
template <class Visit>
void forEachSubgraph(const onnx::GraphProto& graph, Visit visit) {
  for (const onnx::NodeProto& node : graph.node()) {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) visit(attribute.g());
      for (const onnx::GraphProto& inner : attribute.graphs()) visit(inner);
    }
  }
}

}  // namespace

std::set<std::string> definedNames(const onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const onnx::ValueInfoProto& input : graph.input()) names.insert(input.name());
  for (const onnx::TensorProto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const onnx::SparseTensorProto& tensor : graph.sparse_initializer()) names.insert(tensor.values().name());
  for (const onnx::NodeProto& node : graph.node()) names.insert(node.output().begin(), node.output().end());
  names.erase("");
  return names;
}

size_t nestingOf(const onnx::GraphProto& graph) {
  size_t depth = 0;
  forEachSubgraph(graph, [&](const onnx::GraphProto& inner) { depth = std::max(depth, 1 + nestingOf(inner)); });
  return depth;
}

size_t nestingOf(std::span<const uint8_t> model) {
  CodedInputStream stream(model.data(), static_cast<int>(std::min<size_t>(model.size(), INT32_MAX)));
  struct Open {
    WireMessage message;
    int end;
    size_t depth;
  };
  std::vector<Open> open{{WireMessage::Model, static_cast<int>(model.size()), 0}};
  size_t deepest = 0;
  while (!open.empty()) {
    const Open around = open.back();
    const uint32_t tag = stream.CurrentPosition() < around.end ? stream.ReadTag() : 0;
    if (tag == 0) {
      if (stream.CurrentPosition() < around.end) break;
      open.pop_back();
      continue;
    }
    const WireMessage inner = (tag & 7) == 2 ? messageIn(around.message, tag >> 3) : WireMessage::Other;
    uint32_t length = 0;
    if (inner == WireMessage::Other ? !skip(stream, tag & 7) : !stream.ReadVarint32(&length)) break;
    if (inner == WireMessage::Other) continue;
    if (length > static_cast<uint32_t>(around.end - stream.CurrentPosition())) break;
    const bool isSubgraph = inner == WireMessage::Graph && around.message == WireMessage::Attribute;
    open.push_back({inner, stream.CurrentPosition() + static_cast<int>(length), around.depth + (isSubgraph ? 1 : 0)});
    deepest = std::max(deepest, open.back().depth);
  }
  return deepest;
}

Status checkNesting(size_t depth) {
  if (depth <= kMaxNesting) return Status::ok();
  return Status::unsupported("ONNX subgraphs may be nested {} deep, found {}", kMaxNesting, depth);
}

std::string UnusedPrefixes::next(const std::string& base) {
  for (;;) {
    std::string prefix = fmt::format("{}{}/", base, ++count_);
    const auto found = names_.lower_bound(prefix);
    if (found == names_.end() || !found->starts_with(prefix)) return prefix;
  }
}

void UnusedPrefixes::collect(const onnx::GraphProto& graph) {
  names_.merge(definedNames(graph));
  forEachSubgraph(graph, [this](const onnx::GraphProto& inner) { collect(inner); });
}

}  // namespace opkit
