#include "engine/backend/reference/oracle_execution.h"

#include "engine/op/internal_operators.h"

namespace opkit::reference {

OracleExecution::OracleExecution(const CreateArgs& args, HostBackend& backend)
    : HostExecution(backend),
      workspace_(backend.oracleWorkspace()),
      def_(args.def),
      paramBytes_(args.paramBytes.begin(), args.paramBytes.end()),
      constants_(args.inputs.size()) {
  for (size_t i = 0; i < constants_.size(); ++i)
    if (args.constant(i)) constants_[i] = std::make_unique<OracleTensor>(OracleTensor::fromTensor(*args.constant(i)));
}

namespace {

/// Of all elements, widened to 64 bits.
size_t wideBytes(TensorList inputs, const std::vector<TensorDesc>& outputs) {
  int64_t elements = 0;
  for (const Tensor* input : inputs) elements += input ? input->desc.elements() : 0;
  for (const TensorDesc& output : outputs) elements += output.elements();
  return static_cast<size_t>(elements) * sizeof(double);
}

}  // namespace

Result<std::vector<TensorDesc>> OracleExecution::describeOutputs(TensorList inputs, TensorList outputs) const {
  std::vector<TensorDesc> descs;
  for (const Tensor* output : outputs)
    if (output) descs.push_back(output->desc);
  if (descs.size() == outputs.size()) return descs;
  const auto readsContents = [](const Port& port) { return port.contents; };
  if (std::ranges::any_of(def_.inputs, readsContents))
    return Status::unsupported("the oracle needs every output before the last one used");
  std::vector<const TensorDesc*> inputDescs;
  for (size_t i = 0; i < inputs.size(); ++i)
    inputDescs.push_back(!readsInput(i) ? &constants_[i]->desc : inputs[i] ? &inputs[i]->desc : nullptr);
  const std::vector<const Tensor*> contents(inputs.size(), nullptr);
  return inferShapes(def_, {paramBytes_, inputDescs, contents, outputs.size()});
}

Status OracleExecution::onResize(TensorList inputs, TensorList outputs) {
  inputs_.resize(inputs.size());
  outputs_.resize(outputs.size());
  arguments_.assign(inputs.size(), nullptr);
  std::vector<OracleWorkspace::Slot>& slots = workspace_.slots;
  slots.resize(std::max(slots.size(), inputs.size() + outputs.size()));
  hasUnnamed_ = std::ranges::count(outputs, nullptr) > 0;
  OPKIT_ASSIGN(const std::vector<TensorDesc> outputDescs, describeOutputs(inputs, outputs));
  OPKIT_TRY(workspace_.memory.atLeast(wideBytes(inputs, outputDescs)));
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
    outputs_[i].desc = outputDescs[i];
    reserve(slots[inputs.size() + i], outputDescs[i]);
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
  for (size_t i = 0; i < outputs.size(); ++i)
    outputs_[i].reset(outputs[i] ? outputs[i]->desc : TensorDesc(outputs_[i].desc));
  OPKIT_TRY(def_.oracle({paramBytes_, arguments_, outputs_, false}));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i]) outputs_[i].toTensor(*outputs[i]);
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
  creator.dtypes = kEveryDType;
  return creator;
}

namespace {

class RasterOracle final : public HostExecution {
 public:
  RasterOracle(const CreateArgs& args, Backend& backend) : HostExecution(backend), list_(*args.regions) {}
  Status onResize(TensorList, TensorList) override { return Status::ok(); }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override { return rasterOracle(list_, inputs, *outputs[0]); }

 private:
  RegionList list_;
};

}  // namespace

Creator rasterOracleCreator() {
  Creator creator = oracleCreator();
  creator.supports = [](const CreateArgs&) { return Status::ok(); };
  creator.create = [](const CreateArgs& args, Backend& backend) -> Result<std::unique_ptr<Execution>> {
    return std::unique_ptr<Execution>(std::make_unique<RasterOracle>(args, backend));
  };
  return creator;
}

}  // namespace opkit::reference
