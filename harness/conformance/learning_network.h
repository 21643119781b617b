// For tests of networks of ai.onnx.ml: a network as a list of steps, its ONNX file, and its outputs on every backend.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "engine/backend/device_test_support.h"
#include "engine/import/onnx/onnx_importer.h"
#include "engine/import/onnx/onnx_proto.h"
#include "engine/runtime/session.h"
#include "engine/tensor/objects.h"
#include "ops/builtin_ops.h"

namespace opkit::harness::learning {

using Strings = std::vector<std::string>;
using Integers = std::vector<int64_t>;
using Floats = std::vector<float>;
using Attribute = std::variant<int64_t, float, std::string, Integers, Floats, Strings>;

inline Tensor integers(Shape shape, const Integers& values) {
  return *Tensor::fromValues<int64_t>({DType::Int64, std::move(shape)}, values);
}
inline Tensor floats(Shape shape, const Floats& values) {
  return *Tensor::fromValues<float>({DType::Float32, std::move(shape)}, values);
}
inline Tensor list(const Strings& strings) { return stringTensor({std::ssize(strings)}, strings); }

struct Step {
  std::string type;
  Strings inputs, outputs;
  std::map<std::string, Attribute> attributes = {};
  std::string domain = "ai.onnx.ml";
};

struct Network {
  std::map<std::string, Tensor> inputs;
  std::vector<Step> steps;
  Strings outputs;
  std::map<std::string, Tensor> constants = {};
  std::string maps = {};  // the output that is declared as a sequence of maps
  int version = 1;
};

inline void setAttribute(onnx::AttributeProto& proto, const Attribute& value) {
  using Type = onnx::AttributeProto;
  constexpr Type::AttributeType kTypes[] = {Type::INT,  Type::FLOAT,  Type::STRING,
                                            Type::INTS, Type::FLOATS, Type::STRINGS};
  proto.set_type(kTypes[value.index()]);
  if (const auto* number = std::get_if<int64_t>(&value)) proto.set_i(*number);
  if (const auto* real = std::get_if<float>(&value)) proto.set_f(*real);
  if (const auto* text = std::get_if<std::string>(&value)) proto.set_s(*text);
  if (const auto* numbers = std::get_if<Integers>(&value)) proto.mutable_ints()->Add(numbers->begin(), numbers->end());
  if (const auto* reals = std::get_if<Floats>(&value)) proto.mutable_floats()->Add(reals->begin(), reals->end());
  if (const auto* texts = std::get_if<Strings>(&value)) proto.mutable_strings()->Add(texts->begin(), texts->end());
}

inline void addNode(const Step& step, onnx::GraphProto& graph) {
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(step.type);
  node.set_domain(step.domain);
  node.mutable_input()->Add(step.inputs.begin(), step.inputs.end());
  node.mutable_output()->Add(step.outputs.begin(), step.outputs.end());
  for (const auto& [name, value] : step.attributes) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    setAttribute(attribute, value);
  }
}

/// The first extent is open, as exporters leave it.
inline void declareInput(const std::string& name, const TensorDesc& desc, onnx::GraphProto& graph) {
  onnx::ValueInfoProto& input = *graph.add_input();
  input.set_name(name);
  onnx::TypeProto::Tensor& type = *input.mutable_type()->mutable_tensor_type();
  type.set_elem_type(desc.dtype == DType::String  ? onnx::TensorProto::STRING
                     : desc.dtype == DType::Int64 ? onnx::TensorProto::INT64
                                                  : onnx::TensorProto::FLOAT);
  for (size_t d = 0; d < desc.shape.size(); ++d) {
    auto& dimension = *type.mutable_shape()->add_dim();
    if (d == 0)
      dimension.set_dim_param("N");
    else
      dimension.set_dim_value(desc.shape[d]);
  }
}

inline void declareMaps(onnx::ValueInfoProto& value, int keys) {
  onnx::TypeProto::Map& map = *value.mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_map_type();
  map.set_key_type(keys);
  map.mutable_value_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
}

inline Result<Model> importProto(const onnx::ModelProto& proto) {
  const std::string bytes = proto.SerializeAsString();
  return importOnnx({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, ops::builtinOnnxRules(),
                    ops::builtinOps());
}

inline Result<onnx::ModelProto> protoOf(const Network& network) {
  onnx::ModelProto proto;
  proto.set_ir_version(8);
  for (const auto& [domain, version] : {std::pair<const char*, int>{"", 15}, {"ai.onnx.ml", network.version}}) {
    onnx::OperatorSetIdProto& opset = *proto.add_opset_import();
    opset.set_domain(domain);
    opset.set_version(version);
  }
  onnx::GraphProto& graph = *proto.mutable_graph();
  for (const Step& step : network.steps) addNode(step, graph);
  for (const auto& [name, tensor] : network.inputs) declareInput(name, tensor.desc, graph);
  for (const auto& [name, tensor] : network.constants) {
    OPKIT_ASSIGN(const std::vector<uint8_t> bytes, tensorToProto(tensor, name));
    graph.add_initializer()->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  }
  for (const std::string& name : network.outputs) {
    graph.add_output()->set_name(name);
    if (name == network.maps) declareMaps(*graph.mutable_output(graph.output_size() - 1), onnx::TensorProto::STRING);
  }
  return proto;
}

inline Result<Model> import(const Network& network) {
  OPKIT_ASSIGN(const onnx::ModelProto proto, protoOf(network));
  return importProto(proto);
}

inline Result<std::vector<Tensor>> run(const Network& network, const std::string& backend) {
  OPKIT_ASSIGN(Model model, import(network));
  OPKIT_ASSIGN(const auto interpreter, Interpreter::create(std::move(model), ops::builtinOps()));
  OPKIT_ASSIGN(const auto session, interpreter->createSession({.backend = backend, .threads = 1}));
  for (const auto& [name, tensor] : network.inputs) {
    OPKIT_TRY(session->resizeInput(name, tensor.desc.shape));
    *session->fillInput(name) = tensor;
  }
  OPKIT_TRY(session->run());
  std::vector<Tensor> outputs;
  for (const Tensor& output : session->outputs()) {
    OPKIT_ASSIGN(Tensor copy, copyOf(output));
    outputs.push_back(std::move(copy));
  }
  return outputs;
}

inline void expectEqual(const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.desc, expected.desc);
  if (got.desc.dtype == DType::String) {
    EXPECT_EQ(stringsOf(got), stringsOf(expected));
  } else if (got.desc.dtype == DType::Int64) {
    EXPECT_EQ(toInt64(got), toInt64(expected));
  } else {
    for (size_t i = 0; i < got.data<float>().size(); ++i)
      EXPECT_NEAR(got.data<float>()[i], expected.data<float>()[i], 1e-5) << i;
  }
}

inline void expectOutputs(const Network& network, const std::vector<Tensor>& expected) {
  for (const std::string backend : {"reference", "cpu", "vulkan"}) {
    if (backend == "vulkan" && !createRuntime(backend) && !devicesArePromised()) continue;
    SCOPED_TRACE(network.steps.back().type + " on " + backend);
    const auto outputs = run(network, backend);
    ASSERT_TRUE(outputs) << outputs.error().toString();
    ASSERT_EQ(outputs->size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) expectEqual((*outputs)[i], expected[i]);
  }
}

inline std::string errorOf(const Network& network) {
  const auto outputs = run(network, "cpu");
  return outputs ? "none" : outputs.error().message();
}

}  // namespace opkit::harness::learning
