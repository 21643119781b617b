#include "fuzz/drawn_node.h"

#include "engine/import/onnx/onnx_importer.h"
#include "engine/import/onnx/onnx_proto.h"
#include "engine/tensor/objects.h"
#include "ops/builtin_ops.h"

namespace opkit::fuzz {
namespace {

using namespace harness;
using Type = onnx::TensorProto;

int elementType(const std::string& name) {
  static const std::map<std::string, int> known{
      {"float", Type::FLOAT}, {"int64", Type::INT64}, {"bool", Type::BOOL},   {"string", Type::STRING},
      {"int8", Type::INT8},   {"int16", Type::INT16}, {"int32", Type::INT32}, {"uint8", Type::UINT8}};
  return known.at(name);
}

onnx::TensorProto tensorFrom(const std::string& text) {
  const std::vector<std::string> parts = splitAt(':', text), elements = splitAt(',', parts.at(1));
  onnx::TensorProto tensor;
  tensor.set_data_type(elementType(parts[0]));
  tensor.add_dims(static_cast<int64_t>(elements.size()));
  for (const std::string& element : elements) {
    switch (tensor.data_type()) {
      case Type::FLOAT: tensor.add_float_data(std::stof(element)); break;
      case Type::INT64: tensor.add_int64_data(std::stoll(element)); break;
      case Type::STRING: tensor.add_string_data(element); break;
      default: tensor.add_int32_data(std::stoi(element)); break;
    }
  }
  return tensor;
}

/// Of graphs without inputs the operator is a Constant of the number in its place.
onnx::GraphProto graphFrom(const std::string& text) {
  const std::vector<std::string> parts = splitAt(':', text);
  const int inputs = std::stoi(parts.at(1)), dropped = std::stoi(parts.at(2));
  onnx::GraphProto graph;
  graph.set_name("g");
  for (int i = 0; i < std::max(inputs, 1); ++i) {
    onnx::NodeProto& node = *graph.add_node();
    node.add_output(fmt::format("inner_y{}", i));
    if (inputs == 0) {
      node.set_op_type("Constant");
      onnx::AttributeProto& value = *node.add_attribute();
      value.set_name("value");
      value.set_type(onnx::AttributeProto::TENSOR);
      *value.mutable_t() = tensorFrom("float:" + parts[0]);
    } else {
      node.set_op_type(parts[0]);
      node.add_input(fmt::format("inner_x{}", i));
      graph.add_input()->set_name(node.input(0));
    }
    if (i >= dropped) graph.add_output()->set_name(node.output(0));
  }
  return graph;
}

onnx::AttributeProto attributeFrom(const std::string& name, const std::string& type, const std::string& text) {
  using Kind = onnx::AttributeProto;
  onnx::AttributeProto attribute;
  attribute.set_name(name);
  if (type == "int") attribute.set_type(Kind::INT), attribute.set_i(std::stoll(text));
  if (type == "float") attribute.set_type(Kind::FLOAT), attribute.set_f(std::stof(text));
  if (type == "string") attribute.set_type(Kind::STRING), attribute.set_s(text);
  if (type == "tensor") attribute.set_type(Kind::TENSOR), *attribute.mutable_t() = tensorFrom(text);
  if (type == "graph") attribute.set_type(Kind::GRAPH), *attribute.mutable_g() = graphFrom(text);
  if (type == "ints") attribute.set_type(Kind::INTS);
  if (type == "floats") attribute.set_type(Kind::FLOATS);
  if (type == "strings") attribute.set_type(Kind::STRINGS);
  if (type == "sparse") {
    attribute.set_type(Kind::SPARSE_TENSOR);
    onnx::SparseTensorProto& sparse = *attribute.mutable_sparse_tensor();
    *sparse.mutable_values() = tensorFrom(text);
    *sparse.mutable_indices() = tensorFrom("int64:1");
    sparse.add_dims(3);
  }
  if (type == "type") {
    attribute.set_type(Kind::TYPE_PROTO);
    attribute.mutable_tp()->mutable_tensor_type()->set_elem_type(elementType(text));
  }
  for (const std::string& part : splitAt(',', text)) {
    if (type == "ints") attribute.add_ints(std::stoll(part));
    if (type == "floats") attribute.add_floats(std::stof(part));
    if (type == "strings") attribute.add_strings(part);
  }
  return attribute;
}

/// tensor(float), seq(tensor(uint8)), optional(...).
void setType(onnx::TypeProto& type, const std::string& text) {
  const size_t open = text.find('(');
  const std::string kind = text.substr(0, open),
                    inner = open == std::string::npos ? text : text.substr(open + 1, text.size() - open - 2);
  if (kind == "seq") return setType(*type.mutable_sequence_type()->mutable_elem_type(), inner);
  if (kind == "optional") return setType(*type.mutable_optional_type()->mutable_elem_type(), inner);
  onnx::TypeProto::Tensor& tensor = *type.mutable_tensor_type();
  tensor.set_elem_type(elementType(inner));
  for (const int64_t extent : {2, 3, 4, 4}) tensor.mutable_shape()->add_dim()->set_dim_value(extent);
}

void addInput(onnx::GraphProto& graph, const std::string& name, const std::string& type, const size_t* elements) {
  if (!elements) {
    onnx::ValueInfoProto& info = *graph.add_input();
    info.set_name(name);
    return setType(*info.mutable_type(), type);
  }
  onnx::TensorProto& constant = *graph.add_initializer();
  std::string ones = "1";
  for (size_t i = 1; i < *elements; ++i) ones += ",1";
  constant = tensorFrom(type + ":" + ones);
  constant.set_name(name);
}

onnx::ModelProto modelOf(const DrawnNode& drawn) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  const std::string domain = drawn.domain == "ai.onnx" ? "" : drawn.domain;
  onnx::OperatorSetIdProto& opset = *model.add_opset_import();
  opset.set_domain(domain);
  opset.set_version(drawn.opset);
  if (!domain.empty()) model.add_opset_import()->set_version(13);  // for subgraphs
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::NodeProto& node = *graph.add_node();
  node.set_domain(domain);
  node.set_op_type(drawn.type);
  for (size_t i = 0; i < drawn.inputs.size(); ++i) {
    node.add_input(drawn.inputs[i].empty() ? "" : fmt::format("x{}", i));
    const auto constant = drawn.constants.find(i);
    if (!drawn.inputs[i].empty())
      addInput(graph, fmt::format("x{}", i), drawn.inputs[i],
               constant == drawn.constants.end() ? nullptr : &constant->second);
  }
  for (const auto& [name, value] : drawn.attributes)
    *node.add_attribute() = attributeFrom(name, drawn.attributeTypes.at(name), value);
  for (size_t i = 0; i < drawn.outputs; ++i) {
    node.add_output(fmt::format("y{}", i));
    graph.add_output()->set_name(node.output(static_cast<int>(i)));
  }
  return model;
}

}  // namespace

std::string DrawnNode::toString() const {
  std::string text = fmt::format("{} of opset {} ({})", type, opset, fmt::join(inputs, ", "));
  for (const auto& [name, value] : attributes) text += fmt::format(" {}={}", name, value);
  return text;
}

Result<Model> importNode(const DrawnNode& node) {
  const std::string bytes = modelOf(node).SerializeAsString();
  return importOnnx({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, ops::builtinOnnxRules(),
                    ops::builtinOps());
}

std::string textOf(const Tensor& tensor) {
  if (tensor.desc.dtype == DType::String) return fmt::format("{}", fmt::join(stringsOf(tensor), "|"));
  return {reinterpret_cast<const char*>(tensor.bytes().data()), tensor.sizeBytes()};
}

std::string textOf(const Model& model) {
  std::string text;
  const auto add = [&](const std::vector<TensorId>& tensors) {
    for (const TensorId index : tensors) {
      if (!index) {
        text += "none ";
        continue;
      }
      const ModelTensor& tensor = model.tensors[index];
      text += tensor.name + " ";
      if (tensor.constant) text += tensor.desc.toString() + " " + textOf(*tensor.constant) + " ";
    }
  };
  for (const ModelNode& node : model.nodes) {
    text += node.name + " " + node.type + " ";
    text.append(node.params.begin(), node.params.end());
    add(node.inputs);
    add(node.outputs);
    for (const Subgraph& subgraph : node.subgraphs)
      text += fmt::format("{} {} {}", subgraph.name, fmt::join(subgraph.captures, ","), textOf(subgraph.model));
  }
  add(model.outputs);
  return text;
}

}  // namespace opkit::fuzz
