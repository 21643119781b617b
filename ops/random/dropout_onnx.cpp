// Dropout, and the stream of a node. Inference is a copy (ops/identity); training draws.
#include <bit>

#include "ops/cast/cast_generated.h"
#include "ops/random/random_onnx.h"
#include "ops/random/random_parts.h"

namespace opkit::ops::random {
namespace {

/// The input, and a mask of `kept` that keeps everything.
Status infer(OnnxNode& node, Tensor kept) {
  if (node.outputCount() == 1) return node.emit("Identity", {node.input(0)});
  return node.emit("Dropout", {node.input(0), node.addConstant("kept", std::move(kept))});
}
Result<Tensor> keptBool() { return Tensor::fromValues({DType::Bool, {}}, std::vector<uint8_t>{1}); }
Result<Tensor> keptFloat() { return Tensor::fromValues({DType::Float32, {}}, std::vector<float>{1}); }

ParamBytes paramsOf(const OnnxNode& node) {
  SamplingParamsT params;
  params.key = keyOf(node);
  return packParams(params);
}

Status checkRatio(double ratio) {
  if (ratio >= 0 && ratio < 1) return Status::ok();
  return Status::invalidArgument("Dropout: ratio must be in [0, 1), got {}", ratio);
}

}  // namespace

/// FNV-1a.
uint64_t keyOfName(const std::string& name) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

/// The importer names a node without a name after its first output, and numbers nodes of one name, in all subgraphs.
uint64_t keyOf(const OnnxNode& node) {
  if (!node.hasAttribute("seed")) return keyOfName(node.opType() + "/" + node.name());
  if (node.opType() == "Dropout") return static_cast<uint64_t>(node.intAttribute("seed", 0));
  return std::bit_cast<uint32_t>(node.floatAttribute("seed", 0));
}

/// The mask of training has the type of the data.
Status legacyDropout(OnnxNode& node) {
  if (node.intAttribute("is_test", 0) != 0) {
    OPKIT_ASSIGN(Tensor kept, keptFloat());
    return infer(node, std::move(kept));
  }
  const float ratio = node.floatAttribute("ratio", 0.5f);
  OPKIT_TRY(checkRatio(ratio));
  const std::vector<TensorId> made =
      node.emitIntermediates("TrainingDropout", {node.input(0), node.addConstant("ratio", ratio)}, 2, paramsOf(node));
  OPKIT_TRY(node.emitOutput(0, "Identity", {made[0]}));
  return node.emitOutput(1, "CastLike", {made[1], node.input(0)});
}

/// The mask has the type of the data up to opset 9.
Status inferenceDropout(OnnxNode& node) {
  OPKIT_ASSIGN(Tensor kept, node.opset() < 10 ? keptFloat() : keptBool());
  return infer(node, std::move(kept));
}

Status dropout(OnnxNode& node) {
  const Tensor *training = node.constantInput(2), *known = node.constantInput(1);
  if (training && (training->desc.dtype != DType::Bool || training->desc.elements() != 1))
    return Status::invalidArgument("Dropout: training_mode must hold one bool, got {}", training->desc.toString());
  if (!node.input(2) || (training && toInt64(*training)[0] == 0)) {
    OPKIT_ASSIGN(Tensor kept, keptBool());
    return infer(node, std::move(kept));
  }
  if (known) {
    if (!isFloat(known->desc.dtype) || known->desc.elements() != 1)
      return Status::invalidArgument("Dropout: ratio must hold one float, got {}", known->desc.toString());
    OPKIT_TRY(checkRatio(OracleTensor::fromTensor(*known).real[0]));
  }
  std::vector<TensorId> inputs{node.input(0), node.input(1) ? node.input(1) : node.addConstant("ratio", 0.5f)};
  if (!training) inputs.push_back(node.input(2));
  return node.emit("TrainingDropout", std::move(inputs), paramsOf(node));
}

}  // namespace opkit::ops::random
