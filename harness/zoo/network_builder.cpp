#include "harness/zoo/network_builder.h"

#include <algorithm>
#include <cmath>

#include "engine/base/check.h"
#include "engine/tensor/half.h"
#include "engine/tensor/shape.h"

namespace opkit::zoo {
namespace {

void setType(onnx::ValueInfoProto& info, const std::vector<Extent>& shape, onnx::TensorProto::DataType element) {
  onnx::TypeProto::Tensor& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(element);
  type.mutable_shape();
  for (const Extent& extent : shape) {
    onnx::TensorShapeProto::Dimension& dimension = *type.mutable_shape()->add_dim();
    if (const auto* symbol = std::get_if<std::string>(&extent))
      dimension.set_dim_param(*symbol);
    else
      dimension.set_dim_value(std::get<int64_t>(extent));
  }
}

void setAttribute(onnx::AttributeProto& proto, const Attribute& attribute) {
  proto.set_name(attribute.name);
  if (const auto* integer = std::get_if<int64_t>(&attribute.value)) {
    proto.set_type(onnx::AttributeProto::INT);
    proto.set_i(*integer);
  } else if (const auto* real = std::get_if<float>(&attribute.value)) {
    proto.set_type(onnx::AttributeProto::FLOAT);
    proto.set_f(*real);
  } else if (const auto* text = std::get_if<std::string>(&attribute.value)) {
    proto.set_type(onnx::AttributeProto::STRING);
    proto.set_s(*text);
  } else {
    proto.set_type(onnx::AttributeProto::INTS);
    for (int64_t value : std::get<std::vector<int64_t>>(attribute.value)) proto.add_ints(value);
  }
}

}  // namespace

NetworkBuilder::NetworkBuilder(const std::string& name, int opset, uint64_t seed, onnx::TensorProto::DataType weights)
    : graph_(*model_.mutable_graph()), weights_(weights), random_(seed) {
  model_.set_ir_version(opset < 23 ? 8 : 11);  // opset 23 came with version 11
  model_.set_producer_name("opkit zoo");
  model_.add_opset_import()->set_version(opset);
  graph_.set_name(name);
}

std::string NetworkBuilder::input(const std::string& name, const std::vector<Extent>& shape,
                                  const std::vector<int64_t>& start, onnx::TensorProto::DataType type) {
  onnx::ValueInfoProto& info = *graph_.add_input();
  info.set_name(name);
  setType(info, shape, type);
  if (start.empty()) return name;
  onnx::StringStringEntryProto& entry = *model_.add_metadata_props();
  entry.set_key("opkit.start_shape." + name);
  entry.set_value(fmt::format("{}", fmt::join(start, ",")));
  return name;
}

std::string NetworkBuilder::node(const std::string& type, const std::vector<std::string>& inputs,
                                 const std::vector<Attribute>& attributes) {
  return outputs(1, type, inputs, attributes)[0];
}

std::vector<std::string> NetworkBuilder::outputs(size_t count, const std::string& type,
                                                 const std::vector<std::string>& inputs,
                                                 const std::vector<Attribute>& attributes) {
  const size_t dot = type.rfind('.');
  const std::string domain = dot == std::string::npos ? "" : type.substr(0, dot);
  const std::string own = dot == std::string::npos ? type : type.substr(dot + 1);
  const std::string name = fmt::format("{}_{}", own, graph_.node_size());
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(i == 0 ? name : fmt::format("{}_output{}", name, i));
  onnx::NodeProto& proto = *graph_.add_node();
  proto.set_op_type(own);
  if (!domain.empty()) {
    proto.set_domain(domain);
    const auto imported = [&](const onnx::OperatorSetIdProto& opset) { return opset.domain() == domain; };
    if (std::ranges::none_of(model_.opset_import(), imported)) {
      onnx::OperatorSetIdProto& opset = *model_.add_opset_import();
      opset.set_domain(domain);
      opset.set_version(1);
    }
  }
  proto.set_name(name);
  for (const std::string& value : inputs) proto.add_input(value);
  for (const std::string& output : names) proto.add_output(output);
  for (const Attribute& attribute : attributes) setAttribute(*proto.add_attribute(), attribute);
  return names;
}

std::string NetworkBuilder::addRaw(onnx::TensorProto::DataType type, const std::vector<int64_t>& shape,
                                   const void* data, size_t bytes) {
  onnx::TensorProto& proto = *graph_.add_initializer();
  proto.set_name(fmt::format("weight_{}", graph_.initializer_size() - 1));
  proto.set_data_type(type);
  for (int64_t extent : shape) proto.add_dims(extent);
  proto.set_raw_data(data, bytes);
  return proto.name();
}

std::string NetworkBuilder::floats(const std::vector<int64_t>& shape, const std::vector<float>& values) {
  return addRaw(onnx::TensorProto::FLOAT, shape, values.data(), values.size() * sizeof(float));
}

std::string NetworkBuilder::ints32(const std::vector<int64_t>& shape, const std::vector<int32_t>& values) {
  return addRaw(onnx::TensorProto::INT32, shape, values.data(), values.size() * sizeof(int32_t));
}

std::string NetworkBuilder::addTensor(const std::vector<int64_t>& shape, const std::vector<float>& values) {
  if (weights_ == onnx::TensorProto::FLOAT) return floats(shape, values);
  std::vector<Half> halves;
  for (const float value : values) halves.push_back(toHalf(value));
  return addRaw(weights_, shape, halves.data(), halves.size() * sizeof(Half));
}

double NetworkBuilder::nextUniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

/// The sum of four 16-bit uniforms, scaled to variance 1: near enough to a normal distribution, and exact
/// integers until the one multiplication.
double NetworkBuilder::nextNormal() {
  const uint64_t bits = random_();
  int64_t sum = -2 * 65535;
  for (int part = 0; part < 4; ++part) sum += static_cast<int64_t>((bits >> (16 * part)) & 0xFFFF);
  constexpr double kUnitVariance = 1.7320508075688772 / 65536.0;  // four uniforms on [0, 1) have variance 1/3
  return static_cast<double>(sum) * kUnitVariance;
}

std::vector<float> NetworkBuilder::normalValues(size_t count, double deviation) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(nextNormal() * deviation);
  return values;
}

std::vector<float> NetworkBuilder::uniformValues(size_t count, double low, double high) {
  std::vector<float> values(count);
  for (float& value : values) {
    const double offset = nextUniform() * (high - low);
    value = static_cast<float>(low + offset);
  }
  return values;
}

std::string NetworkBuilder::normal(const std::vector<int64_t>& shape, double deviation) {
  return addTensor(shape, normalValues(static_cast<size_t>(elementCount(shape)), deviation));
}

std::string NetworkBuilder::uniform(const std::vector<int64_t>& shape, double low, double high) {
  return addTensor(shape, uniformValues(static_cast<size_t>(elementCount(shape)), low, high));
}

std::string NetworkBuilder::reals(const std::vector<float>& values) {
  return addTensor({static_cast<int64_t>(values.size())}, values);
}

std::string NetworkBuilder::scalar(float value) { return addTensor({}, {value}); }

std::string NetworkBuilder::integers(const std::vector<int64_t>& values) {
  onnx::TensorProto& proto = *graph_.add_initializer();
  proto.set_name(fmt::format("integers_{}", graph_.initializer_size() - 1));
  proto.set_data_type(onnx::TensorProto::INT64);
  proto.add_dims(static_cast<int64_t>(values.size()));
  for (int64_t value : values) proto.add_int64_data(value);
  return proto.name();
}

std::string NetworkBuilder::integer(int64_t value) {
  const std::string name = integers({value});
  graph_.mutable_initializer(graph_.initializer_size() - 1)->clear_dims();
  return name;
}

std::string NetworkBuilder::extents(const std::string& x, const std::vector<int64_t>& axes) {
  return node("Gather", {node("Shape", {x}), integers(axes)}, {{"axis", int64_t{0}}});
}

std::string NetworkBuilder::conv(const std::string& x, int64_t inChannels, int64_t outChannels, int64_t kernel,
                                 const ConvOptions& options) {
  const int64_t perGroup = inChannels / options.groups;
  const double deviation = std::sqrt(2.0 / static_cast<double>(perGroup * kernel * kernel));
  std::vector<std::string> inputs{x, normal({outChannels, perGroup, kernel, kernel}, deviation)};
  if (options.bias) inputs.push_back(normal({outChannels}, 0.05));
  using Ints = std::vector<int64_t>;
  return node("Conv", inputs,
              {{"kernel_shape", Ints{kernel, kernel}},
               {"strides", Ints{options.stride, options.stride}},
               {"pads", Ints(4, options.pad)},
               {"dilations", Ints{1, 1}},
               {"group", options.groups}});
}

std::string NetworkBuilder::batchNormalization(const std::string& x, int64_t channels, double gain) {
  const std::string scale = uniform({channels}, 0.8 * gain, 1.2 * gain);
  const std::string bias = normal({channels}, 0.1);
  const std::string mean = normal({channels}, 0.1);
  const std::string variance = uniform({channels}, 0.7, 1.4);
  return node("BatchNormalization", {x, scale, bias, mean, variance}, {{"epsilon", 1e-5f}, {"momentum", 0.9f}});
}

std::string NetworkBuilder::gemm(const std::string& x, int64_t in, int64_t out) {
  const std::string weight = normal({out, in}, std::sqrt(1.0 / static_cast<double>(in)));
  return node("Gemm", {x, weight, normal({out}, 0.05)}, {{"transB", int64_t{1}}});
}

void NetworkBuilder::output(const std::string& name, const std::string& value, const std::vector<Extent>& shape) {
  std::string* made = nullptr;
  for (onnx::NodeProto& node : *graph_.mutable_node()) {
    for (const std::string& read : node.input()) OPKIT_CHECK(read != value);
    for (std::string& output : *node.mutable_output())
      if (output == value) made = &output;
  }
  OPKIT_CHECK(made);
  *made = name;
  onnx::ValueInfoProto& info = *graph_.add_output();
  info.set_name(name);
  setType(info, shape, onnx::TensorProto::FLOAT);
}

std::vector<uint8_t> NetworkBuilder::finish() const {
  std::vector<uint8_t> bytes(model_.ByteSizeLong());
  model_.SerializeToArray(bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

std::vector<uint8_t> NetworkBuilder::finish(const std::string& value, const std::vector<Extent>& shape) {
  output("output", value, shape);
  return finish();
}

}  // namespace opkit::zoo
