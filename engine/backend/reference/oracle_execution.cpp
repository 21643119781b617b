#include "engine/backend/reference/oracle_execution.h"

namespace opkit::reference {

OracleExecution::OracleExecution(const CreateArgs& args, HostBackend& backend)
    : HostExecution(backend),
      workspace_(backend.oracleWorkspace()),
      oracle_(args.def.oracle),
      paramBytes_(args.paramBytes.begin(), args.paramBytes.end()),
      constants_(args.inputs.size()) {
  for (size_t i = 0; i < constants_.size(); ++i)
    if (args.constant(i)) constants_[i] = std::make_unique<OracleTensor>(OracleTensor::fromTensor(*args.constant(i)));
}

namespace {

/// Of all elements, widened to 64 bits.
size_t wideBytes(TensorList inputs, TensorList outputs) {
  size_t bytes = 0;
  for (const TensorList& list : {inputs, outputs})
    for (const Tensor* tensor : list)
      bytes += tensor ? static_cast<size_t>(tensor->desc.elements()) * sizeof(double) : 0;
  return bytes;
}

}  // namespace

Status OracleExecution::onResize(TensorList inputs, TensorList outputs) {
  inputs_.resize(inputs.size());
  outputs_.resize(outputs.size());
  arguments_.assign(inputs.size(), nullptr);
  std::vector<OracleWorkspace::Slot>& slots = workspace_.slots;
  slots.resize(std::max(slots.size(), inputs.size() + outputs.size()));
  OPKIT_TRY(workspace_.memory.atLeast(wideBytes(inputs, outputs)));
  const auto reserve = [](OracleWorkspace::Slot& slot, const TensorDesc& desc) {
    const auto count = static_cast<size_t>(desc.elements());
    if (isFloat(desc.dtype))
      slot.real.reserve(count);
    else
      slot.integer.reserve(count);
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    arguments_[i] = !readsInput(i) ? constants_[i].get() : inputs[i] ? &inputs_[i] : nullptr;
    if (arguments_[i] != &inputs_[i]) continue;
    inputs_[i].desc = inputs[i]->desc;
    reserve(slots[i], inputs[i]->desc);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i])
      return Status::unsupported("the oracle needs every output before the last one used; output {} has no name", i);
    outputs_[i].desc = outputs[i]->desc;
    reserve(slots[inputs.size() + i], outputs[i]->desc);
  }
  return Status::ok();
}

Status OracleExecution::onRun(TensorList inputs, TensorList outputs) {
  exchangeWithWorkspace();
  const Status status = runOracle(inputs, outputs);
  exchangeWithWorkspace();
  return status;
}

Status OracleExecution::runOracle(TensorList inputs, TensorList outputs) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (arguments_[i] == &inputs_[i]) inputs_[i].load(*inputs[i]);
  for (size_t i = 0; i < outputs.size(); ++i) outputs_[i].reset(outputs[i]->desc);
  OPKIT_TRY(oracle_({paramBytes_, arguments_, outputs_, false}));
  for (size_t i = 0; i < outputs.size(); ++i) outputs_[i].toTensor(*outputs[i]);
  return Status::ok();
}

void OracleExecution::exchangeWithWorkspace() {
  for (size_t i = 0; i < inputs_.size() + outputs_.size(); ++i) {
    OracleTensor& tensor = i < inputs_.size() ? inputs_[i] : outputs_[i - inputs_.size()];
    tensor.real.swap(workspace_.slots[i].real);
    tensor.integer.swap(workspace_.slots[i].integer);
  }
}

Creator oracleCreator() {
  const auto supports = [](const CreateArgs& args) {
    return args.def.oracle ? Status::ok() : Status::unsupported("{}: the operator has no oracle", args.def.type);
  };
  const auto create = [](const CreateArgs& args, Backend& backend) -> Result<std::unique_ptr<Execution>> {
    return std::unique_ptr<Execution>(std::make_unique<OracleExecution>(args, static_cast<HostBackend&>(backend)));
  };
  Creator creator{"reference", supports, create};
  creator.dtypes = kMovedDTypes;
  return creator;
}

}  // namespace opkit::reference
