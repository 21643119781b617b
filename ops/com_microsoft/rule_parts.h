// RuleParts: what the rules of com.microsoft emit often, mostly integers of shapes and moves. The integers are computed
// at resize. For one thread; holds a reference to the node.
#pragma once

#include <limits>

#include "engine/import/onnx/onnx_rules.h"
#include "ops/cast/cast_generated.h"

namespace opkit::ops::com_microsoft {

/// An end of `extents` behind the last axis.
constexpr int kMostAxes = std::numeric_limits<int>::max();

class RuleParts {
 public:
  explicit RuleParts(OnnxNode& node) : node_(node) {}

  TensorId list(const std::vector<int64_t>& values) { return node_.addConstant("list", values); }
  TensorId pair(const char* type, TensorId x, TensorId y) { return node_.emitIntermediate(type, {x, y}); }
  TensorId where(TensorId condition, TensorId x, TensorId y) {
    return node_.emitIntermediate("Where", {condition, x, y});
  }
  TensorId cast(TensorId x, cast::ElementType to);
  TensorId castLike(TensorId x, TensorId like) { return node_.emitIntermediate("CastLike", {x, like}); }

  /// Extents of x from axis `begin` to before `end`, counted from the end when negative, as i64[n].
  TensorId extents(TensorId x, int begin, int end);
  /// The rank of x, i64[].
  TensorId rankOf(TensorId x) { return node_.emitIntermediate("Size", {node_.emitIntermediate("Shape", {x})}); }
  /// 0, 1, ... up to before `limit`, an i64 of one element.
  TensorId countedTo(TensorId limit);

  /// Lists become one.
  TensorId joined(std::vector<TensorId> lists, int axis = 0);
  TensorId reshaped(TensorId x, TensorId shape) { return node_.emitIntermediate("Reshape", {x, shape}); }
  /// An extent of 0 copies that of x, one of -1 is the rest.
  TensorId reshapedTo(TensorId x, const std::vector<int64_t>& shape) { return reshaped(x, list(shape)); }
  TensorId expanded(TensorId x, TensorId shape) { return node_.emitIntermediate("Expand", {x, shape}); }
  TensorId transposed(TensorId x, std::vector<int> perm);
  TensorId gathered(TensorId data, TensorId indices);
  /// Elements `begin` to before `end` along an axis; both are i64[1].
  TensorId sliced(TensorId x, TensorId begin, TensorId end, int64_t axis);
  /// Parts of these extents along an axis; x must have their sum.
  std::vector<TensorId> split(TensorId x, int64_t axis, const std::vector<int64_t>& sizes);
  /// `count` equal parts along an axis.
  std::vector<TensorId> split(TensorId x, int64_t axis, size_t count);
  TensorId squeezed(TensorId x, int64_t axis) { return node_.emitIntermediate("Squeeze", {x, list({axis})}); }
  TensorId unsqueezed(TensorId x, int64_t axis) { return node_.emitIntermediate("Unsqueeze", {x, list({axis})}); }
  /// Codes of 2, 4 or 8 bits that share the bytes of u8 [..., n], the first in the lowest bits, as u8 [..., n * 8 /
  /// bits].
  TensorId unpacked(TensorId bytes, int bits);
  /// [batch, tokens, heads, size] as [batch, heads, tokens, size], and back.
  TensorId turned(TensorId x) { return transposed(x, {0, 2, 1, 3}); }

 private:
  OnnxNode& node_;
};

}  // namespace opkit::ops::com_microsoft
