#include "engine/op/op_def.h"

#include "engine/op/control.h"
#include "engine/op/decomposition.h"

namespace opkit {
namespace {

Status checkInput(const OpDef& def, const ShapeArgs& args, size_t i) {
  const Port* port = portOf(def.inputs, i);
  if (!port)
    return Status::invalidArgument("{}: takes at most {} inputs, got {}", def.type, def.inputs.size(),
                                   args.inputs.size());
  if (!args.hasInput(i)) {
    if (port->kind == Port::Kind::Optional) return Status::ok();
    return Status::invalidArgument("{}: input {} '{}' is required", def.type, i, port->name);
  }
  const TensorDesc& desc = args.input(i);
  if (!port->dtypes.contains(desc.dtype))
    return Status::unsupported("{}: input {} '{}' must be one of {}, got {}", def.type, i, port->name,
                               port->dtypes.toString(), nameOf(desc.dtype));
  OPKIT_TRY(checkShape(desc.shape).withContext(def.type));
  if (port->contents && !args.contents[i])
    return Status::unsupported("{}: the values of input {} '{}' must be known at resize", def.type, i, port->name);
  return Status::ok();
}

Status checkInputs(const OpDef& def, const ShapeArgs& args) {
  const size_t count = std::max(args.inputs.size(), def.inputs.size());
  for (size_t i = 0; i < count; ++i) {
    if (i >= args.inputs.size() && def.inputs[i].kind != Port::Kind::Required) break;
    OPKIT_TRY(checkInput(def, args, i));
  }
  return Status::ok();
}

}  // namespace

const Port* portOf(const std::vector<Port>& ports, size_t index) {
  if (index < ports.size()) return &ports[index];
  if (!ports.empty() && ports.back().kind == Port::Kind::Variadic) return &ports.back();
  return nullptr;
}

Result<std::vector<TensorDesc>> inferShapes(const OpDef& def, const ShapeArgs& args) {
  OPKIT_TRY(checkInputs(def, args));
  if (args.outputCount == 0 || !portOf(def.outputs, args.outputCount - 1))
    return Status::unsupported("{}: gives {} outputs, the model asks for {}", def.type, def.outputs.size(),
                               args.outputCount);
  auto outputs = def.inferShapes(args);
  if (!outputs) return outputs.error().withContext(def.type);
  OPKIT_CHECK(outputs->size() >= args.outputCount);
  outputs->resize(args.outputCount);
  for (const TensorDesc& desc : *outputs) OPKIT_TRY(checkShape(desc.shape).withContext(def.type));
  return outputs;
}

Result<Decomposition> kernelForm(const OpDef& def, const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  Decomposition parts(args.inputs.size(), outputs.size());
  if (def.toKernelForm) OPKIT_TRY(def.toKernelForm(args, outputs, parts).withContext(def.type));
  return parts;
}

namespace {

/// The memory of tensors without values.
const std::shared_ptr<Buffer>& noMemory() {
  static const auto buffer = std::make_shared<Buffer>(0);
  return buffer;
}

}  // namespace

Tensor withoutValue(TensorDesc desc) { return {std::move(desc), noMemory()}; }

bool hasValue(const Tensor& tensor) { return tensor.buffer != nullptr && tensor.buffer != noMemory(); }

Result<std::vector<Tensor>> runOnHost(const OpDef& def, const ControlArgs& args) {
  std::vector<const TensorDesc*> descs;
  std::vector<const Tensor*> contents;
  for (size_t i = 0; i < args.inputs.size(); ++i) {
    const Tensor* input = args.hasInput(i) ? &args.inputs[i] : nullptr;
    descs.push_back(input ? &input->desc : nullptr);
    contents.push_back(input);
  }
  OPKIT_TRY(checkInputs(def, {args.paramBytes, descs, contents, args.outputCount}));
  const bool lacksValue = std::ranges::any_of(contents, [](const Tensor* one) { return one && !hasValue(*one); });
  if (lacksValue && def.subgraphs.empty())
    return Status::unsupported("{}: the shapes of its outputs depend on values", def.type);
  auto outputs = def.control(args);
  if (!outputs) return outputs.error().withContext(def.type);
  if (outputs->size() < args.outputCount)
    return Status::invalidArgument("{}: gives {} outputs, the model asks for {}", def.type, outputs->size(),
                                   args.outputCount);
  return outputs;
}

}  // namespace opkit
