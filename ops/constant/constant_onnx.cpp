#include "engine/import/onnx/onnx_rules.h"
#include "engine/tensor/objects.h"

namespace opkit::ops::constant {
namespace {

template <class T>
Status emitValues(OnnxNode& node, DType dtype, Shape shape, const std::vector<T>& values) {
  OPKIT_ASSIGN(Tensor tensor, Tensor::fromValues({dtype, std::move(shape)}, values));
  return node.emitConstant(std::move(tensor));
}

Status constant(OnnxNode& node) {
  if (node.hasAttribute("value_float"))
    return emitValues<float>(node, DType::Float32, {}, {node.floatAttribute("value_float", 0)});
  if (node.hasAttribute("value_int"))
    return emitValues<int64_t>(node, DType::Int64, {}, {node.intAttribute("value_int", 0)});
  if (node.hasAttribute("value_floats")) {
    const std::vector<float> values = node.floatsAttribute("value_floats");
    return emitValues(node, DType::Float32, {static_cast<int64_t>(values.size())}, values);
  }
  if (node.hasAttribute("value_ints")) {
    const std::vector<int64_t> values = node.intsAttribute("value_ints");
    return emitValues(node, DType::Int64, {static_cast<int64_t>(values.size())}, values);
  }
  if (node.hasAttribute("value_string"))
    return node.emitConstant(stringTensor({}, {node.stringAttribute("value_string", "")}));
  if (node.hasAttribute("value_strings")) {
    std::vector<std::string> values = node.stringsAttribute("value_strings");
    Shape shape{static_cast<int64_t>(values.size())};
    return node.emitConstant(stringTensor(std::move(shape), std::move(values)));
  }
  OPKIT_ASSIGN(Tensor value, node.tensorAttribute(node.hasAttribute("sparse_value") ? "sparse_value" : "value"));
  return node.emitConstant(std::move(value));
}

Status constantOfShape(OnnxNode& node) {
  OPKIT_ASSIGN(Tensor value, node.hasAttribute("value")
                                 ? node.tensorAttribute("value")
                                 : Tensor::fromValues<float>({DType::Float32, {1}}, std::vector{0.0f}));
  return node.emit("ConstantOfShape", {node.input(0), node.addConstant("value", std::move(value))});
}

Status writeConstantOfShape(const OpNode& node, OnnxForm& form) {
  const Tensor* value = valueOf(node, 1);
  if (!value) return Status::unsupported("ConstantOfShape of ONNX has its value as an attribute");
  Tensor listed = *value;
  listed.desc.shape = {1};  // ONNX's shape inference takes no scalar
  form.attributes["value"] = std::move(listed);
  form.inputs.resize(1);
  return Status::ok();
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Constant",
            {required("value", 1, 10),
             {"value", 11},
             {"sparse_value", 11},
             {"value_float", 12},
             {"value_int", 12},
             {"value_floats", 12},
             {"value_ints", 12},
             {"value_string", 12},
             {"value_strings", 12}},
            constant);
  rules.add("ConstantOfShape", {"value"}, {constantOfShape, {{"ConstantOfShape"}, writeConstantOfShape}}, 9);
  rules.note("Constant", {}, "a node becomes a constant of the model");
}

}  // namespace opkit::ops::constant
