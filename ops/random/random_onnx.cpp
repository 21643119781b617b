#include "ops/random/random_onnx.h"
#include "engine/import/onnx/onnx_dtype.h"
#include "engine/import/onnx/onnx_fields.h"
#include "ops/random/random_parts.h"

namespace opkit::ops::random {
namespace {

using Params = RandomParamsT;

/// Another engine draws other numbers, so that a form could not be compared.
OnnxInverse drawn(const std::string& type) {
  return {{type}, [](const OpNode&, OnnxForm& form) {
            return Status::unsupported("{}: the standard leaves the drawn numbers to the engine", form.type);
          }};
}

/// Without a dtype: f32, or the type of the input that gives the shape.
Status setType(const OnnxNode& node, bool isLike, Params& params) {
  if (!node.hasAttribute("dtype") && isLike) return Status::ok();
  OPKIT_ASSIGN(const DType dtype, dtypeAttribute(node, "dtype", 1));
  if (!isFloat(dtype))
    return Status::invalidArgument("{}: dtype must be a float, got {}", node.opType(), opkit::nameOf(dtype));
  params.type = static_cast<RandomType>(dtype);
  return Status::ok();
}

/// The operators whose names end with Like take the shape of their input, the others have an attribute.
OnnxDeclaration fill(const std::string& type, OnnxFields<Params> fields, bool isLike) {
  if (!isLike) fields.push_back(field(required("shape"), &Params::shape));
  const auto rule = [=](OnnxNode& node) -> Status {
    OPKIT_ASSIGN(Params params, readFields(node, fields));
    params.key = keyOf(node);
    OPKIT_TRY(setType(node, isLike, params));
    return node.emit(type, isLike ? std::vector{node.input(0)} : std::vector<TensorId>(), packParams(params));
  };
  std::vector<OnnxAttribute> attributes = attributesOf(fields);
  attributes.insert(attributes.end(), {"dtype", "seed"});
  return {attributes, {rule, drawn(type)}};
}

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

/// Inference keeps everything: its mask is true.
Status writeDropout(const OpNode& node, OnnxForm& form) {
  if (node.type != "Dropout") return drawn(node.type).write(node, form);
  const Tensor* kept = valueOf(node, 1);
  if (!kept || kept->desc.dtype != DType::Bool || kept->desc.elements() != 1 || !toInt64(*kept)[0])
    return Status::unsupported("the mask of Dropout is one true bool");
  form.inputs.resize(1);
  return Status::ok();
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  const OnnxFields<Params> uniform{field("low", &Params::low), field("high", &Params::high)},
      normal{field("mean", &Params::mean), field("scale", &Params::scale)};
  rules.add("RandomUniform", fill("RandomUniform", uniform, false));
  rules.add("RandomUniformLike", fill("RandomUniform", uniform, true));
  rules.add("RandomNormal", fill("RandomNormal", normal, false));
  rules.add("RandomNormalLike", fill("RandomNormal", normal, true));
  rules.add("Dropout", {"is_test", "ratio"}, legacyDropout, 1, 6);
  rules.add("Dropout", {"ratio"}, inferenceDropout, 7, 11);
  rules.add("Dropout", {"seed"}, {dropout, {{"Dropout", "TrainingDropout"}, writeDropout}}, 12);
  rules.add("Bernoulli", {"dtype", "seed"}, {bernoulli, drawn("Bernoulli")}, 15);
  rules.add("Multinomial", {"dtype", "sample_size", "seed"}, {multinomial, drawn("Multinomial")}, 7);
  rules.note("RandomUniformLike", {"RandomUniform"});
  rules.note("RandomNormalLike", {"RandomNormal"});
  rules.note("Dropout", {"Identity", "TrainingDropout"});
}

}  // namespace opkit::ops::random
