// importOnnx: an ONNX protobuf becomes a Model.
#pragma once

#include <span>
#include <string>

#include "engine/import/onnx/onnx_rules.h"
#include "engine/model/model.h"

namespace opkit {

/// Corrupt when the bytes are not an ONNX model; Unsupported names the operator, attribute or type that OpKit
/// does not handle; InvalidArgument for graphs that contradict themselves (a cycle, an undefined tensor). `path` is the
/// file of the bytes: external data lie beside it (external_data.h), are mapped, and stay there. Values inside the
/// bytes are copied once.
Result<Model> importOnnx(std::span<const uint8_t> bytes, const OnnxRules& rules, const OpRegistry& registry,
                         const std::string& path = "");
/// An .onnx or .opk file, distinguished by its first bytes. It is mapped, and large constants stay in it: it must not
/// change while the model lives.
Result<Model> readModelFile(const std::string& path, const OnnxRules& rules, const OpRegistry& registry);

/// One serialised TensorProto (the .pb files of ONNX test data).
Result<Tensor> tensorFromProto(std::span<const uint8_t> bytes);
/// One serialised value: a SequenceProto or OptionalProto if `kind` says so, else a TensorProto.
Result<Tensor> valueFromProto(std::span<const uint8_t> bytes, DType kind);
/// A host tensor as a serialised TensorProto, sequences and optional values as protos of their kind; Unsupported above
/// protobuf's size limit.
Result<std::vector<uint8_t>> tensorToProto(const Tensor& tensor, const std::string& name = "");

}  // namespace opkit
