#include "harness/compare/expected.h"

namespace opkit::harness {

size_t requiredOutputs(const OpDef& def) {
  size_t count = 0;
  while (count < def.outputs.size() && def.outputs[count].kind == Port::Kind::Required) ++count;
  return std::max<size_t>(count, 1);
}

Result<std::vector<TensorDesc>> outputDescs(const OpDef& def, std::span<const uint8_t> paramBytes,
                                            const std::vector<std::optional<Tensor>>& inputs, size_t outputCount) {
  std::vector<const TensorDesc*> descs;
  std::vector<const Tensor*> contents;
  for (const auto& input : inputs) {
    descs.push_back(input ? &input->desc : nullptr);
    contents.push_back(input ? &*input : nullptr);
  }
  return inferShapes(def, {paramBytes, descs, contents, outputCount ? outputCount : requiredOutputs(def)});
}

Result<std::vector<OracleTensor>> zeroOutputs(const OpDef& def, std::span<const uint8_t> paramBytes,
                                              const std::vector<std::optional<Tensor>>& inputs, size_t outputCount,
                                              int64_t mostElements) {
  OPKIT_ASSIGN(const auto descs, outputDescs(def, paramBytes, inputs, outputCount));
  std::vector<OracleTensor> outputs;
  for (const TensorDesc& desc : descs) {
    if (desc.elements() > mostElements)
      return Status::unsupported("{}: an output of {}, of at most {} elements", def.type, desc.toString(),
                                 mostElements);
    outputs.emplace_back(desc);
  }
  return outputs;
}

Result<std::vector<OracleTensor>> expectedOutputs(const OpDef& def, std::span<const uint8_t> paramBytes,
                                                  const std::vector<std::optional<Tensor>>& inputs, size_t outputCount,
                                                  int64_t mostElements) {
  std::vector<OracleTensor> oracleInputs(inputs.size());
  std::vector<const OracleTensor*> oraclePointers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]) oracleInputs[i] = OracleTensor::fromTensor(*inputs[i]);
    oraclePointers.push_back(inputs[i] ? &oracleInputs[i] : nullptr);
  }
  OPKIT_ASSIGN(std::vector<OracleTensor> outputs, zeroOutputs(def, paramBytes, inputs, outputCount, mostElements));
  if (!def.oracle) return Status::internal("{}: the card has no oracle", def.type);
  OPKIT_TRY(def.oracle({paramBytes, oraclePointers, outputs, true}));
  return outputs;
}

}  // namespace opkit::harness
