#include "harness/compare/expected.h"

namespace opkit::harness {
namespace {

void copyElement(const OracleTensor& from, size_t source, OracleTensor& to, size_t target) {
  if (to.isReal())
    to.real[target] = from.real[source];
  else
    to.integer[target] = from.integer[source];
}

void applyRegions(const RegionList& list, const std::vector<const OracleTensor*>& inputs, OracleTensor& output) {
  if (list.fill == RegionList::Fill::Input)
    for (size_t i = 0; i < static_cast<size_t>(output.elements()); ++i)
      copyElement(*inputs[static_cast<size_t>(list.fillInput)], 0, output, i);
  for (const Region& region : list.regions) {
    const OracleTensor& source = *inputs[static_cast<size_t>(region.source)];
    forEachIndex(region.size, [&](const std::vector<int64_t>& index) {
      int64_t from = region.sourceOffset;
      int64_t to = region.offset;
      for (size_t d = 0; d < index.size(); ++d) {
        from += index[d] * region.sourceStrides[d];
        to += index[d] * region.strides[d];
      }
      copyElement(source, static_cast<size_t>(from), output, static_cast<size_t>(to));
    });
  }
}

}  // namespace

size_t requiredOutputs(const OpDef& def) {
  size_t count = 0;
  while (count < def.outputs.size() && def.outputs[count].kind == Port::Kind::Required) ++count;
  return std::max<size_t>(count, 1);
}

Result<std::vector<OracleTensor>> expectedOutputs(const OpDef& def, std::span<const uint8_t> paramBytes,
                                                  const std::vector<std::optional<Tensor>>& inputs,
                                                  size_t outputCount) {
  std::vector<const TensorDesc*> descs;
  std::vector<const Tensor*> contents;
  std::vector<OracleTensor> oracleInputs(inputs.size());
  std::vector<const OracleTensor*> oraclePointers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    descs.push_back(inputs[i] ? &inputs[i]->desc : nullptr);
    contents.push_back(inputs[i] ? &*inputs[i] : nullptr);
    if (inputs[i]) oracleInputs[i] = OracleTensor::fromTensor(*inputs[i]);
    oraclePointers.push_back(inputs[i] ? &oracleInputs[i] : nullptr);
  }
  const ShapeArgs args{paramBytes, descs, contents, outputCount ? outputCount : requiredOutputs(def)};
  OPKIT_ASSIGN(const auto outputDescs, inferShapes(def, args));
  std::vector<OracleTensor> outputs;
  for (const TensorDesc& desc : outputDescs) outputs.emplace_back(desc);
  if (def.oracle) {
    OPKIT_TRY(def.oracle({paramBytes, oraclePointers, outputs, true}));
    return outputs;
  }
  if (!def.lower) return Status::internal("{}: the card has neither an oracle nor regions", def.type);
  OPKIT_ASSIGN(const auto regions, def.lower(args, outputDescs));
  for (size_t i = 0; i < outputs.size(); ++i) applyRegions(regions[i], oraclePointers, outputs[i]);
  return outputs;
}

}  // namespace opkit::harness
