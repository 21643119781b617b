// The names of an ONNX graph's values, prefixes for copies of them that none of these names begins with, and how deep
// graphs are nested.
#pragma once

#include <set>
#include <span>
#include <string>

#include "engine/base/status.h"
#include "engine/import/onnx/onnx_proto.h"

namespace opkit {

/// Every name that a graph gives to a value: inputs, initializers and outputs of nodes; those of its subgraphs not.
std::set<std::string> definedNames(const onnx::GraphProto& graph);

/// How deep the subgraphs of a graph are nested; 0 if there is none.
size_t nestingOf(const onnx::GraphProto& graph);
/// The same of a serialised ModelProto, which may be damaged: as far as it can be read, functions included. Without
/// recursion, for bytes that protobuf's limit refuses.
size_t nestingOf(std::span<const uint8_t> model);
/// Unsupported if subgraphs are nested deeper than kMaxNesting.
Status checkNesting(size_t depth);

/// Makes prefixes. Names that begin with one of them would capture, or be captured by, the names that get it.
class UnusedPrefixes {
 public:
  /// Collects the names of a graph and its subgraphs.
  explicit UnusedPrefixes(const onnx::GraphProto& graph) { collect(graph); }

  /// "base3/", with the next number that serves.
  std::string next(const std::string& base);

 private:
  void collect(const onnx::GraphProto& graph);

  std::set<std::string> names_;
  size_t count_ = 0;
};

}  // namespace opkit
