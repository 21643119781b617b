// The fixed set of planted kernels: operators x the places where faults passed unseen.
#include <cmath>
#include <numeric>

#include "engine/op/loops.h"
#include "harness/testing/planted_kernels.h"

namespace opkit::harness {
namespace {

constexpr Spoiled kAll{1, 1, 0};
constexpr Spoiled kNone{};

Spoiled beyondElements(const PlantedNode& node) {
  int64_t most = node.output.elements();
  for (const TensorDesc& input : node.inputs) most = std::max(most, input.elements());
  if (node.output.elements() > 65536) return {1, node.output.elements(), 65536};
  return most > 65536 ? kAll : kNone;
}

Spoiled beyondColumns(const PlantedNode& node) {
  const auto columns = [](const TensorDesc& desc) { return desc.shape.empty() ? 0 : desc.shape.back(); };
  if (columns(node.output) > 1024) return {1, columns(node.output), 1024};
  return !node.inputs.empty() && columns(node.inputs[0]) > 1024 ? kAll : kNone;
}

/// Matrices of the last two axes.
Spoiled fromFifthMatrix(const PlantedNode& node) {
  const Shape& shape = node.output.shape;
  if (shape.size() < 3 || node.output.elements() == 0) return kNone;
  const int64_t matrix = shape[shape.size() - 1] * shape[shape.size() - 2];
  return {matrix, node.output.elements() / matrix, 4};
}

/// Images of the first axis.
Spoiled fromFifthImage(const PlantedNode& node) {
  const Shape& shape = node.output.shape;
  if (shape.size() < 2 || shape[0] < 5 || node.output.elements() == 0) return kNone;
  return {node.output.elements() / shape[0], shape[0], 4};
}

auto fromRank(size_t rank) {
  return [rank](const PlantedNode& node) {
    return !node.inputs.empty() && node.inputs[0].shape.size() >= rank ? kAll : kNone;
  };
}

Spoiled beyondFourLoops(const PlantedNode& node) {
  std::vector<Shape> operands;
  for (const TensorDesc& input : node.inputs) operands.push_back(input.shape);
  return loopsOver(node.output.shape, operands).size.size() > 4 ? kAll : kNone;
}

Spoiled withSeventhInput(const PlantedNode& node) { return node.inputs.size() > 6 ? kAll : kNone; }

auto withBoth(const char* first, const char* second) {
  return [=](const PlantedNode& node) {
    const auto has = [&](const char* name) {
      return std::find(node.attributes.begin(), node.attributes.end(), name) != node.attributes.end();
    };
    return has(first) && has(second) ? kAll : kNone;
  };
}

template <class T, class Change>
void changeAll(const Tensor& tensor, Change&& change) {
  for (T& value : tensor.data<T>()) value = change(value);
}

void dropHighWord(const Tensor& tensor) {
  if (tensor.desc.dtype == DType::Int64)
    changeAll<int64_t>(tensor, [](int64_t value) { return static_cast<int64_t>(static_cast<int32_t>(value)); });
  if (tensor.desc.dtype == DType::UInt64)
    changeAll<uint64_t>(tensor, [](uint64_t value) { return value & 0xFFFFFFFFu; });
}

void limitTo65504(const Tensor& tensor) {
  if (tensor.desc.dtype == DType::Float32)
    changeAll<float>(tensor, [](float value) { return std::clamp(value, -65504.0f, 65504.0f); });
}

void flushTiny(const Tensor& tensor) {
  if (tensor.desc.dtype == DType::Float32)
    changeAll<float>(tensor, [](float value) { return std::fabs(value) < 1e-5f ? 0.0f : value; });
}

void add(std::vector<Planted>& list, const char* backend, std::initializer_list<const char*> ops,
         const PlantedFault& fault) {
  for (const char* op : ops) list.push_back({backend, op, fault});
}

void addPairs(std::vector<Planted>& list) {
  struct Pair {
    const char *op, *first, *second;
  };
  constexpr Pair kPairs[] = {{"Conv", "dilations", "strides"},
                             {"Conv", "group", "pads"},
                             {"MaxPool", "ceil_mode", "dilations"},
                             {"MaxPool", "pads", "strides"},
                             {"AveragePool", "ceil_mode", "dilations"},
                             {"AveragePool", "count_include_pad", "strides"},
                             {"Gemm", "alpha", "trans_b"},
                             {"Gemm", "beta", "trans_a"},
                             {"LayerNormalization", "axis", "epsilon"},
                             {"ArgMax", "axis", "select_last_index"}};
  for (const Pair& pair : kPairs)
    list.push_back({"cpu",
                    pair.op,
                    {std::string("with ") + pair.first + " and " + pair.second, withBoth(pair.first, pair.second)}});
}

}  // namespace

std::vector<Planted> plantedKernels() {
  std::vector<Planted> list;
  const auto onCpu = [&](std::initializer_list<const char*> ops, const PlantedFault& fault) {
    add(list, "cpu", ops, fault);
  };
  onCpu({"Add", "Relu", "Softmax", "MatMul", "Conv", "MaxPool", "ReduceSum", "LayerNormalization", "Where", "Cast",
         "Transpose", "Concat", "ArgMax"},
        {"beyond 65,536 elements", beyondElements});
  onCpu({"Softmax", "LayerNormalization", "ReduceMax", "ArgMax", "MatMul", "CumSum", "Conv", "Slice"},
        {"in rows beyond 1,024", beyondColumns});
  onCpu({"MatMul", "Softmax", "BatchNormalization", "Transpose"}, {"from the fifth matrix", fromFifthMatrix});
  onCpu({"Conv", "MaxPool", "LRN"}, {"from the fifth image", fromFifthImage});
  onCpu({"Add", "Where", "ReduceSum", "MatMul", "Transpose", "Slice", "Pad"}, {"at rank five and more", fromRank(5)});
  onCpu({"Softmax", "Expand", "ReduceMax", "Tile"}, {"at rank six and more", fromRank(6)});
  onCpu({"Add", "Mul", "Where", "Sum"}, {"with more than four loops", beyondFourLoops});
  onCpu({"Sum", "Mean", "Concat"}, {"with the seventh input", withSeventhInput});
  onCpu({"Add", "Sub", "Equal", "Less", "Max", "Where", "ReduceMax", "ArgMax", "Abs", "BitwiseAnd"},
        {"without the high word", nullptr, dropHighWord});
  onCpu({"Add", "Div", "Sqrt", "ReduceSum", "MatMul", "Conv", "Sin"}, {"beyond 65,504", nullptr, limitTo65504});
  onCpu({"Mul", "Tanh", "ReduceSum", "MatMul", "Sin", "Erf"}, {"below 1e-5", nullptr, flushTiny});
  addPairs(list);
  const auto onVulkan = [&](std::initializer_list<const char*> ops, const PlantedFault& fault) {
    add(list, "vulkan", ops, fault);
  };
  onVulkan({"Add", "Softmax", "MatMul", "ReduceSum"}, {"beyond 65,536 elements", beyondElements});
  onVulkan({"Softmax", "LayerNormalization", "MatMul"}, {"in rows beyond 1,024", beyondColumns});
  onVulkan({"MatMul", "Softmax"}, {"from the fifth matrix", fromFifthMatrix});
  onVulkan({"Add", "ReduceSum", "Where"}, {"at rank five and more", fromRank(5)});
  onVulkan({"Add", "Sum"}, {"with more than four loops", beyondFourLoops});
  onVulkan({"Sum", "Mean"}, {"with the seventh input", withSeventhInput});
  return list;
}

}  // namespace opkit::harness
