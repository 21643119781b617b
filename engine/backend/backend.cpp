#include "engine/backend/backend.h"

namespace opkit {

BackendCounters& BackendCounters::operator+=(const BackendCounters& other) {
  executionsCreated += other.executionsCreated;
  pipelinesCreated += other.pipelinesCreated;
  allocations += other.allocations;
  dispatches += other.dispatches;
  submits += other.submits;
  bytesUploaded += other.bytesUploaded;
  bytesDownloaded += other.bytesDownloaded;
  measurements += other.measurements;
  alternatives = std::max(alternatives, other.alternatives);
  return *this;
}

namespace {

/// Unsupported if the device cannot convert one of the tensors from NCHW to its layout, or back.
Status planConversions(Backend& backend, std::span<const Tensor> tensors) {
  std::unique_ptr<Execution> conversion;
  const uint64_t executions = backend.counters().executionsCreated;
  for (const Tensor& tensor : tensors) {
    if (tensor.layout == Layout::NCHW) continue;
    if (!conversion) {
      OPKIT_ASSIGN(conversion, backend.createConversion());
      backend.counters().executionsCreated = executions;  // only queried, then dropped: no plan owns it
    }
    const Tensor plain{tensor.desc, nullptr, 0, 0};
    const Tensor *other = &plain, *kept = &tensor;
    OPKIT_TRY(conversion->scratchBytes({&other, 1}, {&kept, 1}).error());
    OPKIT_TRY(conversion->scratchBytes({&kept, 1}, {&other, 1}).error());
  }
  return Status::ok();
}

}  // namespace

Result<size_t> planAlone(Backend& backend, Execution& execution, const CreateArgs& args, Layout layout,
                         std::span<const Tensor* const> contents) {
  const auto described = [&](const TensorDesc& desc, Layout in) {
    return Tensor{{backend.storageDType(desc.dtype), desc.shape}, nullptr, 0, 0, in};
  };
  std::vector<Tensor> tensors;
  tensors.reserve(args.inputs.size() + args.outputs.size());  // the lists point at them
  std::vector<const Tensor*> inputs, outputs;
  for (size_t i = 0; i < args.inputs.size(); ++i) {
    const bool known = i < contents.size() && contents[i];
    if (args.inputs[i]) tensors.push_back(described(*args.inputs[i], known ? Layout::NCHW : layout));
    inputs.push_back(args.inputs[i] ? &tensors.back() : nullptr);
  }
  for (const TensorDesc& output : args.outputs) {
    tensors.push_back(described(output, layout));
    outputs.push_back(&tensors.back());
  }
  OPKIT_TRY(planConversions(backend, tensors));
  return execution.scratchBytes(inputs, outputs);
}

FitsDevice fitsOn(Backend& backend, const CreateArgs& args, std::span<const Tensor* const> contents) {
  return [&backend, &args, contents](const Creator& creator) -> Status {
    const auto execution = creator.create(args, backend);
    if (!execution) return Status::ok();
    const Status status = planAlone(backend, **execution, args, creator.layout, contents).error();
    return status.code() == StatusCode::Unsupported ? status : Status::ok();
  };
}

Status resizeAlone(Backend& backend, Execution& execution, TensorList inputs, TensorList outputs) {
  OPKIT_ASSIGN(const size_t bytes, execution.scratchBytes(inputs, outputs));
  Tensor scratch{{DType::UInt8, {static_cast<int64_t>(bytes)}}, nullptr};
  if (bytes > 0) {
    OPKIT_ASSIGN(scratch.buffer, backend.allocate(bytes));
  }
  execution.setScratch(std::move(scratch));
  return execution.onResize(inputs, outputs);
}

}  // namespace opkit
