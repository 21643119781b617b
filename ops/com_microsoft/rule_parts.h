// RuleParts: what the rules of com.microsoft emit often, mostly integers of shapes and moves. The integers are computed
// at resize. For one thread; holds a reference to the node.
#pragma once

#include <limits>

#include "engine/import/onnx/onnx_rules.h"
#include "ops/cast/cast_generated.h"

namespace opkit::ops::com_microsoft {

/// An end of `extents` behind the last axis.
constexpr int kMostAxes = std::numeric_limits<int>::max();

/// A value is the index of a tensor in the model.
class RuleParts {
 public:
  explicit RuleParts(OnnxNode& node) : node_(node) {}

  int list(const std::vector<int64_t>& values) { return node_.addConstant("list", values); }
  int pair(const char* type, int x, int y) { return node_.emitIntermediate(type, {x, y}); }
  int where(int condition, int x, int y) { return node_.emitIntermediate("Where", {condition, x, y}); }
  int cast(int x, cast::ElementType to);
  int castLike(int x, int like) { return node_.emitIntermediate("CastLike", {x, like}); }

  /// Extents of x from axis `begin` to before `end`, counted from the end when negative, as i64[n].
  int extents(int x, int begin, int end);
  /// The rank of x, i64[].
  int rankOf(int x) { return node_.emitIntermediate("Size", {node_.emitIntermediate("Shape", {x})}); }
  /// 0, 1, ... up to before `limit`, an i64 of one element.
  int countedTo(int limit);

  /// Lists become one.
  int joined(std::vector<int> lists, int axis = 0);
  int reshaped(int x, int shape) { return node_.emitIntermediate("Reshape", {x, shape}); }
  /// An extent of 0 copies that of x, one of -1 is the rest.
  int reshapedTo(int x, const std::vector<int64_t>& shape) { return reshaped(x, list(shape)); }
  int expanded(int x, int shape) { return node_.emitIntermediate("Expand", {x, shape}); }
  int transposed(int x, std::vector<int> perm);
  int gathered(int data, int indices);
  /// Elements `begin` to before `end` along an axis; both are i64[1].
  int sliced(int x, int begin, int end, int64_t axis);
  /// Parts of these extents along an axis; x must have their sum.
  std::vector<int> split(int x, int64_t axis, const std::vector<int64_t>& sizes);
  /// `count` equal parts along an axis.
  std::vector<int> split(int x, int64_t axis, size_t count);
  int squeezed(int x, int64_t axis) { return node_.emitIntermediate("Squeeze", {x, list({axis})}); }
  int unsqueezed(int x, int64_t axis) { return node_.emitIntermediate("Unsqueeze", {x, list({axis})}); }
  /// Codes of 2, 4 or 8 bits that share the bytes of u8 [..., n], the first in the lowest bits, as u8 [..., n * 8 /
  /// bits].
  int unpacked(int bytes, int bits);
  /// [batch, tokens, heads, size] as [batch, heads, tokens, size], and back.
  int turned(int x) { return transposed(x, {0, 2, 1, 3}); }

 private:
  OnnxNode& node_;
};

}  // namespace opkit::ops::com_microsoft
