#include "ops/random/random_onnx.h"
#include "engine/import/onnx/onnx_dtype.h"
#include "engine/import/onnx/onnx_rules.h"
#include "ops/random/random_parts.h"

namespace opkit::ops::random {
namespace {

Status setType(const OnnxNode& node, RandomParamsT& params) {
  if (!node.hasAttribute("dtype") && node.inputCount() > 0) return Status::ok();  // the type of the input
  OPKIT_ASSIGN(const DType dtype, dtypeAttribute(node, "dtype", 1));
  if (!isFloat(dtype))
    return Status::invalidArgument("{}: dtype must be a float, got {}", node.opType(), opkit::nameOf(dtype));
  params.type = static_cast<RandomType>(dtype);
  return Status::ok();
}

/// Also of the operators whose names end with Like: those take the shape of their input.
Status fill(OnnxNode& node, const char* type) {
  RandomParamsT params;
  params.key = keyOf(node);
  params.low = node.floatAttribute("low", 0);
  params.high = node.floatAttribute("high", 1);
  params.mean = node.floatAttribute("mean", 0);
  params.scale = node.floatAttribute("scale", 1);
  OPKIT_TRY(setType(node, params));
  if (node.inputCount() > 0) return node.emit(type, {node.input(0)}, packParams(params));
  params.shape = node.intsAttribute("shape");
  return node.emit(type, {}, packParams(params));
}

Status uniform(OnnxNode& node) { return fill(node, "RandomUniform"); }
Status normal(OnnxNode& node) { return fill(node, "RandomNormal"); }

Status bernoulli(OnnxNode& node) {
  SamplingParamsT params;
  params.key = keyOf(node);
  if (node.hasAttribute("dtype")) {
    OPKIT_ASSIGN(const DType dtype, dtypeAttribute(node, "dtype"));
    params.type = static_cast<uint8_t>(dtype);
  }
  return node.emit("Bernoulli", {node.input(0)}, packParams(params));
}

Status multinomial(OnnxNode& node) {
  SamplingParamsT params;
  params.key = keyOf(node);
  OPKIT_ASSIGN(const DType dtype, dtypeAttribute(node, "dtype", 6));
  params.type = static_cast<uint8_t>(dtype);
  params.samples = node.intAttribute("sample_size", 1);
  return node.emit("Multinomial", {node.input(0)}, packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("RandomUniform", {"dtype", "high", "low", "seed", required("shape")}, uniform);
  rules.add("RandomUniformLike", {"dtype", "high", "low", "seed"}, uniform);
  rules.add("RandomNormal", {"dtype", "mean", "scale", "seed", required("shape")}, normal);
  rules.add("RandomNormalLike", {"dtype", "mean", "scale", "seed"}, normal);
  rules.add("Dropout", {"is_test", "ratio"}, legacyDropout, 1, 6);
  rules.add("Dropout", {"ratio"}, inferenceDropout, 7, 11);
  rules.add("Dropout", {"seed"}, dropout, 12);
  rules.add("Bernoulli", {"dtype", "seed"}, bernoulli, 15);
  rules.add("Multinomial", {"dtype", "sample_size", "seed"}, multinomial, 7);
  rules.note("RandomUniformLike", {"RandomUniform"});
  rules.note("RandomNormalLike", {"RandomNormal"});
  rules.note("Dropout", {"Identity", "TrainingDropout"});
}

}  // namespace opkit::ops::random
