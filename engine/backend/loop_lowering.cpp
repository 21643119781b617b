#include "engine/backend/loop_lowering.h"

namespace opkit {
namespace {

/// Sums of bool are `or`, products `and`; kernels see the bytes 0 and 1.
Combine combineOfBools(Combine combine) {
  if (combine == Combine::Add) return Combine::Maximum;
  return combine == Combine::Multiply ? Combine::Minimum : combine;
}

Result<LoopRegion> lowerLoop(const OpDef& def, const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  OPKIT_ASSIGN(LoopRegion loop, def.loop(args, outputs));
  if (outputs[0].dtype == DType::Bool) loop.combine = combineOfBools(loop.combine);
  OPKIT_TRY(checkLoop(loop, args.inputs, outputs[0]).withContext(def.type));
  return mergeLoop(loop);
}

bool needsContents(const OpDef& def, size_t input) {
  const Port* port = portOf(def.inputs, input);
  return port && port->contents;
}

}  // namespace

LoopLowering::LoopLowering(const CreateArgs& args)
    : def_(&args.def), params_(args.paramBytes.begin(), args.paramBytes.end()), contents_(args.inputs.size()) {
  for (size_t i = 0; i < contents_.size(); ++i)
    if (needsContents(args.def, i) && args.constant(i)) contents_[i] = *args.constant(i);
}

bool LoopLowering::knows(size_t input) const { return input < contents_.size() && contents_[input].has_value(); }

Result<LoopRegion> LoopLowering::lower(TensorList inputs, TensorList outputs) const {
  std::vector<const TensorDesc*> descs;
  std::vector<const Tensor*> contents;
  std::vector<TensorDesc> outputDescs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    descs.push_back(inputs[i] ? &inputs[i]->desc : nullptr);
    contents.push_back(knows(i) ? &*contents_[i] : nullptr);
  }
  for (const Tensor* output : outputs) outputDescs.push_back(output->desc);
  return lowerLoop(*def_, {params_, descs, contents, outputs.size()}, outputDescs);
}

Result<LoopRegion> LoopLowering::lower(const CreateArgs& args) {
  for (size_t i = 0; i < args.inputs.size(); ++i)
    if (args.inputs[i] && needsContents(args.def, i) && !args.constant(i))
      return Status::unsupported("{}: the loop needs a constant {}", args.def.type, portOf(args.def.inputs, i)->name);
  std::vector<const Tensor*> contents;
  for (size_t i = 0; i < args.inputs.size(); ++i) contents.push_back(args.constant(i));
  return lowerLoop(args.def, {args.paramBytes, args.inputs, contents, args.outputs.size()}, args.outputs);
}

Status checkKnownIndices(const CreateArgs& args, std::span<const Tensor* const> contents) {
  if (!args.def.loop) return Status::ok();
  const auto loop = lowerLoop(args.def, {args.paramBytes, args.inputs, contents, args.outputs.size()}, args.outputs);
  if (!loop || loop->indices.terms.empty()) return Status::ok();  // the kernel reports why there is no loop
  const auto source = static_cast<size_t>(loop->indices.source);
  const Tensor* values = source < contents.size() ? contents[source] : nullptr;
  return values ? checkIndices(*loop, *values, args.def.type) : Status::ok();
}

Status checkIndices(const LoopRegion& loop, const Tensor& values, const std::string& type) {
  const LoopIndices& indices = loop.indices;
  const auto valueAt = [&](int64_t at) {
    const auto i = static_cast<size_t>(at);
    return values.desc.dtype == DType::Int64 ? values.data<int64_t>()[i] : int64_t{values.data<int32_t>()[i]};
  };
  Status status;
  forEachIndex(loop.iterations, [&](const DimVector& position) {
    int64_t at = 0;
    for (size_t d = 0; d < position.size(); ++d) at += position[d] * indices.steps[d];
    for (const LoopIndices::Term& term : indices.terms) {
      const int64_t value = valueAt(at + term.offset);
      if (status.isOk() && (value < -term.extent || value >= term.extent)) status = badIndex(type, term.extent, value);
    }
  });
  return status;
}

}  // namespace opkit
