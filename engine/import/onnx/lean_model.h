// LeanModel: a serialised ONNX model without its large values, so that protobuf does not copy them.
//
// The walk over the bytes leaves raw_data of kLeastBytes or more where it is. In the message that protobuf parses, a
// field that no version of ONNX has stands in its place, with the number of the value.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/import/onnx/onnx_proto.h"

namespace opkit {

/// A part of the serialised model.
struct ByteRange {
  size_t offset;
  size_t sizeBytes;
};

class LeanModel {
 public:
  static constexpr size_t kLeastBytes = 1024;
  /// A subgraph is three messages deeper than the graph around it: node, attribute, graph.
  static const int kMostMessages;

  /// Damaged bytes, values given twice, and bytes that use the field themselves: all values stay in, and parse decides.
  /// REQUIRES at most INT32_MAX bytes that outlive this.
  explicit LeanModel(std::span<const uint8_t> model);

  /// False if the bytes are no model, or nested more than kMostMessages deep.
  bool parse(onnx::ModelProto& proto) const;
  /// The values left out, in the order of their numbers.
  const std::vector<ByteRange>& values() const { return values_; }

 private:
  class Walk;
  /// `text` replaces `sizeBytes` bytes at `offset` of the model.
  struct Edit {
    size_t offset;
    size_t sizeBytes;
    std::string text;
  };

  std::span<const uint8_t> model_;
  std::vector<ByteRange> values_;
  std::vector<Edit> edits_;  // ascending
};

/// The number of the value that was left out of a tensor.
std::optional<uint64_t> numberOfValue(const onnx::TensorProto& proto);

}  // namespace opkit
