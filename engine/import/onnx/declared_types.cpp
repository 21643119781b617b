#include "engine/import/onnx/declared_types.h"

#include <algorithm>
#include <string>

#include "engine/import/onnx/inline_functions.h"
#include "engine/import/onnx/onnx_dtype.h"

namespace opkit {
namespace {

const char* kindOf(const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::kMapType: return "map";
    case onnx::TypeProto::kSparseTensorType: return "sparse tensor";
    case onnx::TypeProto::kOpaqueType: return "opaque";
    default: return "nothing";
  }
}

/// "f32", "sequence of f32"; empty if the type does not say everything. An optional value is like what it may hold:
/// ONNX lets a Loop begin with one and go on with its element.
std::string textOf(const onnx::TypeProto& type) {
  if (type.has_optional_type()) return textOf(type.optional_type().elem_type());
  if (type.has_sequence_type()) {
    const std::string element = textOf(type.sequence_type().elem_type());
    return element.empty() ? element : "sequence of " + element;
  }
  if (!type.has_tensor_type()) return "";
  const int number = type.tensor_type().elem_type();
  if (number == 0) return "";
  const Result<DType> dtype = dtypeFromOnnx(number);
  return dtype ? nameOf(*dtype) : fmt::format("ONNX type {}", number);
}

const onnx::GraphProto* graphOf(const onnx::NodeProto& node, const char* name) {
  for (const onnx::AttributeProto& attribute : node.attribute())
    if (attribute.name() == name && attribute.has_g()) return &attribute.g();
  return nullptr;
}

Status checkBranches(const onnx::GraphProto& yes, const onnx::GraphProto& no) {
  for (int i = 0; i < std::min(yes.output_size(), no.output_size()); ++i) {
    const std::string a = textOf(yes.output(i).type()), b = textOf(no.output(i).type());
    if (!a.empty() && !b.empty() && a != b)
      return Status::invalidArgument(
          "output {} must have one type in both branches, then_branch declares {}, "
          "else_branch {}",
          i, a, b);
  }
  return Status::ok();
}

/// Inputs of the body from `firstInput` on and outputs from 0 on, `count` of them.
Status checkCarried(const onnx::GraphProto& body, int firstInput, int count) {
  for (int i = 0; i < std::min({count, body.input_size() - firstInput, body.output_size()}); ++i) {
    const onnx::ValueInfoProto &from = body.input(firstInput + i), &to = body.output(i);
    const std::string a = textOf(from.type()), b = textOf(to.type());
    if (!a.empty() && !b.empty() && a != b)
      return Status::invalidArgument(
          "a carried value keeps its type, its body declares {} for input '{}' and {} for "
          "output '{}'",
          a, from.name(), b, to.name());
  }
  return Status::ok();
}

}  // namespace

bool areMaps(const onnx::ValueInfoProto& info) {
  return info.type().has_sequence_type() && info.type().sequence_type().elem_type().has_map_type();
}

Result<std::optional<DType>> declaredType(const onnx::ValueInfoProto& info) {
  const onnx::TypeProto& type = info.type();
  if (areMaps(info)) return Status::unsupported("its type must be a tensor, found a sequence of maps");
  if (type.has_sequence_type()) return std::optional(DType::Sequence);
  if (type.has_optional_type()) return std::optional(DType::Optional);
  if (type.value_case() == onnx::TypeProto::VALUE_NOT_SET) return std::optional<DType>();
  if (!type.has_tensor_type()) return Status::unsupported("its type must be a tensor, found {}", kindOf(type));
  if (type.tensor_type().elem_type() == 0) return std::optional<DType>();
  OPKIT_ASSIGN(const DType dtype, dtypeFromOnnx(type.tensor_type().elem_type()));
  return std::optional(dtype);
}

Status checkDeclaredTypes(const onnx::NodeProto& node) {
  if (!canonicalDomain(node.domain()).empty()) return Status::ok();
  const onnx::GraphProto *yes = graphOf(node, "then_branch"), *no = graphOf(node, "else_branch");
  if (node.op_type() == "If" && yes && no) return checkBranches(*yes, *no);
  const onnx::GraphProto* body = graphOf(node, "body");
  if (node.op_type() == "Loop" && body) return checkCarried(*body, 1, body->input_size() - 1);
  if (node.op_type() != "Scan" || !body) return Status::ok();
  int64_t scanned = 0;
  for (const onnx::AttributeProto& attribute : node.attribute())
    if (attribute.name() == "num_scan_inputs") scanned = attribute.i();
  return checkCarried(*body, 0,
                      body->input_size() - static_cast<int>(std::clamp<int64_t>(scanned, 0, body->input_size())));
}

}  // namespace opkit
