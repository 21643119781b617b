#include "fuzz/seed_models.h"

#include <algorithm>

#include "engine/import/onnx/onnx_importer.h"
#include "harness/zoo/network_builder.h"
#include "ops/builtin_ops.h"

namespace opkit::fuzz {
namespace {

using Ints = std::vector<int64_t>;
using zoo::NetworkBuilder;

std::vector<uint8_t> images() {
  NetworkBuilder net("images", 13, 1);
  std::string x = net.input("x", {"N", 2, 6, 6});
  x = net.node("Relu", {net.batchNormalization(net.conv(x, 2, 4, 3, {.stride = 1, .pad = 1, .bias = true}), 4)});
  const std::string left = net.node("MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  const std::string right =
      net.node("AveragePool", {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}, {"ceil_mode", int64_t{1}}});
  x = net.node("Concat", {left, right}, {{"axis", int64_t{1}}});
  x = net.node("Pad", {x, net.integers({0, 0, 1, 1, 0, 0, 0, 0})});
  x = net.node("Flatten", {net.node("GlobalAveragePool", {x})}, {{"axis", int64_t{1}}});
  return net.finish(net.node("Softmax", {net.gemm(x, 8, 3)}, {{"axis", int64_t{-1}}}), {"N", 3});
}

std::vector<uint8_t> attention() {
  NetworkBuilder net("attention", 17, 2);
  const std::string x = net.input("x", {1, "L", 4});
  const std::string q = net.node("MatMul", {x, net.normal({4, 4}, 0.5)});
  const std::string k = net.node("Transpose", {x}, {{"perm", Ints{0, 2, 1}}});
  std::string y = net.node("Softmax", {net.node("Div", {net.node("MatMul", {q, k}), net.scalar(2)})});
  y = net.node("Add", {net.node("MatMul", {y, x}), x});
  y = net.node("LayerNormalization", {y, net.uniform({4}, 0.5, 1.5), net.uniform({4}, -1, 1)}, {{"axis", int64_t{-1}}});
  y = net.node("Mul", {y, net.node("Erf", {y})});
  return net.finish(net.node("ReduceMean", {y}, {{"axes", Ints{1}}, {"keepdims", int64_t{0}}}), {1, 4});
}

/// Computed shapes: a damaged number becomes an extent.
std::vector<uint8_t> shapes() {
  NetworkBuilder net("shapes", 13, 3);
  const std::string x = net.input("x", {"N", 3, 4});
  const std::string shape = net.node("Shape", {x});
  const std::string rows = net.node("Gather", {shape, net.integers({0})}, {{"axis", int64_t{0}}});
  const std::string target = net.node("Concat", {rows, net.integers({12})}, {{"axis", int64_t{0}}});
  std::string y = net.node("Reshape", {x, target});
  y = net.node("Slice", {y, net.integers({1}), net.integers({11}), net.integers({1}), net.integers({2})});
  y = net.node("Tile", {y, net.integers({2, 1})});
  y = net.node("Expand", {net.node("Unsqueeze", {y, net.integers({0})}), net.integers({2, 1, 5})});
  const std::string more = net.node("ConstantOfShape", {net.integers({2, 2, 5})});
  y = net.node("Where", {net.node("Greater", {y, net.scalar(0)}), y, net.node("Abs", {net.node("Add", {y, more})})});
  return net.finish(net.node("Squeeze", {net.node("CumSum", {y, net.integers({1})})}), {2, "M", 5});
}

/// Position of the first occurrence of `bytes` in the file, if any; the preceding `lead` bytes only help to find them.
void addStretch(const std::vector<uint8_t>& file, const std::vector<uint8_t>& bytes, size_t lead,
                std::vector<Stretch>& found) {
  const auto at = std::search(file.begin(), file.end(), bytes.begin(), bytes.end());
  if (at != file.end()) found.push_back({static_cast<size_t>(at - file.begin()) + lead, bytes.size() - lead});
}

std::vector<uint8_t> bytesOf(const Tensor& constant) {
  const std::span<const std::byte> bytes = constant.bytes();
  const auto* values = reinterpret_cast<const uint8_t*>(bytes.data());
  return {values, values + bytes.size()};
}

std::vector<Stretch> constantsOfOpk(const Model& model, const std::vector<uint8_t>& file) {
  constexpr size_t kLeastBytes = 16;  // fewer may stand anywhere by chance
  std::vector<Stretch> found;
  for (const ModelTensor& tensor : model.tensors)
    if (tensor.constant && tensor.constant->sizeBytes() >= kLeastBytes)
      addStretch(file, bytesOf(*tensor.constant), 0, found);
  OPKIT_CHECK(!found.empty());
  return found;
}

/// With protobuf's tag and length in front: TensorProto.raw_data is field 9, int64_data packed varints in field 7.
std::vector<Stretch> constantsOfOnnx(const Model& model, const std::vector<uint8_t>& file) {
  constexpr uint8_t kRawData = 9 << 3 | 2, kInt64Data = 7 << 3 | 2;
  constexpr size_t kLead = 2;
  std::vector<Stretch> found;
  for (const ModelTensor& tensor : model.tensors) {
    if (!tensor.constant) continue;
    const bool integers = tensor.constant->desc.dtype == DType::Int64;
    std::vector<uint8_t> payload = bytesOf(*tensor.constant);
    if (integers) {  // the seeds' are below 128, one byte each
      payload.clear();
      for (const int64_t value : tensor.constant->data<int64_t>()) payload.push_back(static_cast<uint8_t>(value));
    }
    const bool longer = payload.size() >= 128;  // its length takes more bytes, and is not needed to find it
    if (!longer)
      payload.insert(payload.begin(), {integers ? kInt64Data : kRawData, static_cast<uint8_t>(payload.size())});
    addStretch(file, payload, longer ? 0 : kLead, found);
  }
  OPKIT_CHECK(!found.empty());
  return found;
}

SeedModel seed(const std::string& name, std::vector<uint8_t> onnx) {
  const auto model = importOnnx(onnx, ops::builtinOnnxRules(), ops::builtinOps());
  if (!model) fmt::print(stderr, "seed {}: {}\n", name, model.error().toString());
  OPKIT_CHECK(model.has_value());
  auto opk = writeModel(*model);
  OPKIT_CHECK(opk.has_value());
  SeedModel made{name, std::move(onnx), *std::move(opk), {}, {}};
  made.onnxConstants = constantsOfOnnx(*model, made.onnx);
  made.opkConstants = constantsOfOpk(*model, made.opk);
  return made;
}

}  // namespace

std::vector<SeedModel> seedModels() {
  return {seed("images", images()), seed("attention", attention()), seed("shapes", shapes())};
}

}  // namespace opkit::fuzz
