#include "engine/import/onnx/onnx_writer.h"

#include <algorithm>

#include "engine/import/onnx/onnx_tensor.h"
#include "engine/tensor/objects.h"

namespace opkit {
namespace {

constexpr int64_t kNoDomainOpset = 13;  // of ONNX itself, beside a node of another domain

/// The oldest version of the file format that knows the element types: 9 brought 8-bit floats, 10 4-bit integers, 11
/// f4e2m1, 12 f8e8m0, 13 2-bit integers. ONNX Runtime refuses files of a version that it does not know.
int64_t irVersionOf(DType dtype) {
  switch (dtype) {
    case DType::Float8E4M3FN:
    case DType::Float8E4M3FNUZ:
    case DType::Float8E5M2:
    case DType::Float8E5M2FNUZ: return 9;
    case DType::Int4:
    case DType::UInt4: return 10;
    case DType::Float4E2M1: return 11;
    case DType::Float8E8M0: return 12;
    case DType::Int2:
    case DType::UInt2: return 13;
    default: return 8;
  }
}

/// Sets one attribute of a node.
struct AttributeWriter {
  onnx::AttributeProto& proto;

  void operator()(int64_t value) const {
    proto.set_type(onnx::AttributeProto::INT);
    proto.set_i(value);
  }
  void operator()(float value) const {
    proto.set_type(onnx::AttributeProto::FLOAT);
    proto.set_f(value);
  }
  void operator()(const std::string& value) const {
    proto.set_type(onnx::AttributeProto::STRING);
    proto.set_s(value);
  }
  void operator()(const std::vector<int64_t>& values) const {
    proto.set_type(onnx::AttributeProto::INTS);
    proto.mutable_ints()->Add(values.begin(), values.end());
  }
  void operator()(const std::vector<float>& values) const {
    proto.set_type(onnx::AttributeProto::FLOATS);
    proto.mutable_floats()->Add(values.begin(), values.end());
  }
  void operator()(const std::vector<std::string>& values) const {
    proto.set_type(onnx::AttributeProto::STRINGS);
    proto.mutable_strings()->Add(values.begin(), values.end());
  }
  void operator()(const Tensor& value) const {
    proto.set_type(onnx::AttributeProto::TENSOR);
    *proto.mutable_t() = protoFrom(value, proto.name());
  }
};

void declare(const OnnxPort& port, onnx::ValueInfoProto& info) {
  info.set_name(port.name);
  onnx::TypeProto::Tensor& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnxNumberOf(port.desc.dtype));
  onnx::TensorShapeProto& shape = *type.mutable_shape();
  for (size_t axis = 0; axis < port.desc.shape.size(); ++axis) {
    onnx::TensorShapeProto::Dimension& dimension = *shape.add_dim();
    if (axis < port.symbols.size() && !port.symbols[axis].empty())
      dimension.set_dim_param(port.symbols[axis]);
    else
      dimension.set_dim_value(port.desc.shape[axis]);
  }
}

Status checkSize(const Tensor& tensor) {
  if (tensor.sizeBytes() <= INT32_MAX / 2) return Status::ok();
  return Status::unsupported("an ONNX file holds less than 1 GiB, {} has {} bytes", tensor.desc.toString(),
                             tensor.sizeBytes());
}

class Writer {
 public:
  Writer(const OnnxForm& form, const std::vector<std::optional<OnnxPort>>& inputs) : form_(form), inputs_(inputs) {}

  Result<std::vector<uint8_t>> run(const std::vector<OnnxPort>& outputs) {
    setOpsets();
    node_.set_name("node");
    for (const auto& [name, value] : form_.attributes) OPKIT_TRY(addAttribute(name, value));
    for (size_t i = 0; i < form_.inputs.size(); ++i) OPKIT_TRY(addInput(i));
    for (const size_t number : modelInputsOf(form_, inputs_)) declareInput(*inputs_[number]);
    graph_.set_name("opkit");
    for (const OnnxPort& output : outputs) {
      OPKIT_TRY(checkType(output.desc));
      node_.add_output(output.name);
      declare(output, *graph_.add_output());
    }
    model_.set_ir_version(irVersion_);
    model_.set_producer_name("OpKit");
    const std::string text = model_.SerializeAsString();
    return std::vector<uint8_t>(text.begin(), text.end());
  }

 private:
  void setOpsets() {
    const size_t colons = form_.type.find("::");
    const bool isOnnx = colons == std::string::npos;
    node_.set_op_type(isOnnx ? form_.type : form_.type.substr(colons + 2));
    if (!isOnnx) node_.set_domain(form_.type.substr(0, colons));
    addOpset("", isOnnx ? form_.opset : kNoDomainOpset);
    if (!isOnnx) addOpset(node_.domain(), form_.opset);
  }
  void addOpset(const std::string& domain, int64_t version) {
    onnx::OperatorSetIdProto& opset = *model_.add_opset_import();
    opset.set_domain(domain);
    opset.set_version(version);
  }

  /// Notes the version of the format that a type needs.
  Status checkType(const TensorDesc& desc) {
    if (onnxNumberOf(desc.dtype) == 0) return Status::unsupported("ONNX tensors hold no {}", nameOf(desc.dtype));
    irVersion_ = std::max(irVersion_, irVersionOf(desc.dtype));
    return Status::ok();
  }

  Status addAttribute(const std::string& name, const OnnxValue& value) {
    onnx::AttributeProto& proto = *node_.add_attribute();
    proto.set_name(name);
    if (const auto* tensor = std::get_if<Tensor>(&value)) {
      OPKIT_TRY(checkType(tensor->desc));
      OPKIT_TRY(checkSize(*tensor));
    }
    std::visit(AttributeWriter{proto}, value);
    return Status::ok();
  }

  Status addInput(size_t i) {
    const OnnxInput& input = form_.inputs[i];
    if (const auto* constant = std::get_if<Tensor>(&input)) {
      node_.add_input(fmt::format("constant{}", i));
      return addInitializer(*constant, node_.input(node_.input_size() - 1));
    }
    const auto* number = std::get_if<size_t>(&input);
    node_.add_input(number ? inputs_.at(*number)->name : "");
    if (!number) return Status::ok();
    const OnnxPort& port = *inputs_[*number];
    OPKIT_TRY(checkType(port.desc));
    return port.constant ? addInitializer(*port.constant, port.name) : Status::ok();
  }

  Status addInitializer(const Tensor& value, const std::string& name) {
    for (const onnx::TensorProto& known : graph_.initializer())
      if (known.name() == name) return Status::ok();  // a node may read one input twice
    OPKIT_TRY(checkType(value.desc));
    OPKIT_TRY(checkSize(value));
    *graph_.add_initializer() = protoFrom(value, name);
    return Status::ok();
  }

  void declareInput(const OnnxPort& port) { declare(port, *graph_.add_input()); }

  const OnnxForm& form_;
  const std::vector<std::optional<OnnxPort>>& inputs_;
  onnx::ModelProto model_;
  onnx::GraphProto& graph_ = *model_.mutable_graph();
  onnx::NodeProto& node_ = *graph_.add_node();
  int64_t irVersion_ = 8;
};

}  // namespace

Result<std::vector<uint8_t>> writeOnnx(const OnnxForm& form, const std::vector<std::optional<OnnxPort>>& inputs,
                                       const std::vector<OnnxPort>& outputs) {
  return Writer(form, inputs).run(outputs);
}

std::vector<size_t> modelInputsOf(const OnnxForm& form, const std::vector<std::optional<OnnxPort>>& inputs) {
  std::vector<size_t> numbers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool isUsed = std::ranges::any_of(form.inputs, [&](const OnnxInput& input) {
      const auto* number = std::get_if<size_t>(&input);
      return number && *number == i;
    });
    if (isUsed && !inputs[i]->constant) numbers.push_back(i);
  }
  return numbers;
}

}  // namespace opkit
