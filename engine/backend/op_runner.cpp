#include "engine/backend/op_runner.h"

#include "engine/base/clock.h"
#include "engine/op/internal_operators.h"

namespace opkit {
namespace {

/// The call with tensors that have no memory yet, in `layout` unless their `contents` are known.
OpCall describe(const Backend& backend, Execution& execution, std::span<const TensorDesc* const> inputs,
                std::span<const TensorDesc> outputs, Layout layout, TensorList contents, std::deque<Tensor>& tensors) {
  OpCall call{&execution, {}, {}};
  const auto add = [&](const TensorDesc& desc, bool known) {
    const TensorDesc stored{backend.storageDType(desc.dtype), desc.shape};
    return &tensors.emplace_back(Tensor{stored, nullptr, 0, 0, known ? Layout::NCHW : layout});
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    call.inputs.push_back(inputs[i] ? add(*inputs[i], i < contents.size() && contents[i]) : nullptr);
  for (const TensorDesc& output : outputs) call.outputs.push_back(add(output, false));
  return call;
}

Status addCall(Backend& backend, Recorder& recorder, const OpCall& call) {
  OPKIT_ASSIGN(const size_t bytes, call.execution->scratchBytes(call.inputs, call.outputs));
  Tensor scratch{{DType::UInt8, {static_cast<int64_t>(bytes)}}, nullptr};
  if (bytes > 0) {
    OPKIT_ASSIGN(scratch.buffer, backend.allocate(bytes));
  }
  call.execution->setScratch(std::move(scratch));
  return recorder.add(*call.execution, call.inputs, call.outputs);
}

/// Unsupported if the device cannot convert one of the tensors from NCHW to its layout, or back.
Status planConversions(Backend& backend, const std::deque<Tensor>& tensors) {
  std::unique_ptr<Execution> conversion;
  for (const Tensor& tensor : tensors) {
    if (tensor.layout == Layout::NCHW) continue;
    if (!conversion) {
      OPKIT_ASSIGN(conversion, makeConversion(backend, tensor.desc));
    }
    const Tensor plain{tensor.desc, nullptr, 0, 0};
    const Tensor *other = &plain, *kept = &tensor;
    OPKIT_TRY(conversion->scratchBytes({&other, 1}, {&kept, 1}).error());
    OPKIT_TRY(conversion->scratchBytes({&kept, 1}, {&other, 1}).error());
  }
  return Status::ok();
}

Result<std::unique_ptr<Execution>> makeInternal(Backend& backend, const OpDef& card,
                                                std::span<const TensorDesc* const> inputs, const TensorDesc& output,
                                                const RegionList* regions) {
  const CreateArgs args{card, {}, inputs, {&output, 1}, {}, backend.caps(), {}, regions};
  const Choice choice = chooseCreator(backend.creators(card), args);
  if (choice.creator) return choice.creator->create(args, backend);
  return Status::unsupported("{}: no kernel for {}{}", backend.name(), card.type,
                             choice.refusals.empty() ? "" : ": " + choice.refusals.front().reason);
}

}  // namespace

Result<std::unique_ptr<Execution>> makeConversion(Backend& backend, const TensorDesc& desc) {
  const TensorDesc* input = &desc;
  return makeInternal(backend, convertCard(), {&input, 1}, desc, nullptr);
}

Result<std::unique_ptr<Execution>> makeRaster(Backend& backend, const RegionList& regions,
                                              std::span<const TensorDesc* const> inputs, const TensorDesc& output) {
  return makeInternal(backend, rasterCard(), inputs, output, &regions);
}

Result<std::unique_ptr<Recording>> recordCalls(Backend& backend, const std::vector<OpCall>& calls) {
  OPKIT_ASSIGN(const std::unique_ptr<Recorder> recorder, backend.record());
  for (const OpCall& call : calls) OPKIT_TRY(addCall(backend, *recorder, call));
  return recorder->finish();
}

Status resizeAndRun(Backend& backend, const std::vector<OpCall>& calls) {
  OPKIT_ASSIGN(const std::unique_ptr<Recording> recording, recordCalls(backend, calls));
  return recording->run();
}

Result<Tensor> onDevice(Backend& backend, Tensor described) {
  OPKIT_ASSIGN(const size_t bytes, backend.storedBytes(described));
  OPKIT_ASSIGN(described.buffer, backend.allocate(described.offsetBytes + std::max<size_t>(bytes, 1)));
  return described;
}

OpRunner::OpRunner(Backend& backend, std::unique_ptr<Execution> execution, Layout layout, OpRunnerOptions options)
    : backend_(backend), execution_(std::move(execution)), layout_(layout), options_(std::move(options)) {
  if (!options_.place) options_.place = [this](Tensor described) { return onDevice(backend_, std::move(described)); };
}

/// Recordings are freed before the memory that they refer to.
void OpRunner::drop() {
  recording_.reset();
  calls_.clear();
  conversions_.clear();
  execution_->setScratch({});
  tensors_.clear();
}

Status OpRunner::place(std::span<const TensorDesc* const> inputs, std::span<const TensorDesc> outputs,
                       TensorList contents) {
  drop();
  OpCall call = describe(backend_, *execution_, inputs, outputs, layout_, contents, tensors_);
  auto next = tensors_.begin();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    Tensor& tensor = *next++;
    if (!execution_->readsInput(i)) continue;
    OPKIT_ASSIGN(tensor, options_.place(tensor));
  }
  for (const Tensor*& output : call.outputs) {
    Tensor& tensor = *next++;
    if (!options_.alias || output != call.outputs[0]) {
      OPKIT_ASSIGN(tensor, options_.place(tensor));
      continue;
    }
    const Tensor* input = call.inputs[*options_.alias];
    if (!input || !input->buffer || input->desc != output->desc)
      return Status::unsupported("input {} cannot become the output", *options_.alias);
    output = input;
  }
  calls_.push_back(std::move(call));
  return Status::ok();
}

Status OpRunner::upload(size_t input, const Tensor& host) {
  OPKIT_CHECK(reads(input));
  return fill(*inputs()[input], host);
}

/// Backends upload in NCHW only: another layout takes a second tensor and a conversion.
Status OpRunner::fill(const Tensor& tensor, const Tensor& host) {
  if (tensor.layout == Layout::NCHW) return backend_.upload(host, tensor);
  for (size_t i = 0; i + 1 < calls_.size(); ++i)
    if (calls_[i].outputs[0] == &tensor) return backend_.upload(host, *calls_[i].inputs[0]);
  OPKIT_CHECK(!recording_);
  OPKIT_ASSIGN(Tensor plain, options_.place({tensor.desc, nullptr}));
  OPKIT_ASSIGN(auto conversion, makeConversion(backend_, tensor.desc));
  OPKIT_TRY(backend_.upload(host, plain));
  calls_.insert(calls_.end() - 1, {conversion.get(), {&tensors_.emplace_back(std::move(plain))}, {&tensor}});
  conversions_.push_back(std::move(conversion));
  return Status::ok();
}

Status OpRunner::resize() {
  Status status = record();
  if (!status.isOk()) drop();
  return status;
}

Status OpRunner::record() {
  recording_.reset();  // the one before
  OPKIT_ASSIGN(const std::unique_ptr<Recorder> recorder, backend_.record());
  for (size_t i = 0; i + 1 < calls_.size(); ++i) OPKIT_TRY(addCall(backend_, *recorder, calls_[i]));
  const double start = nowNs();
  OPKIT_TRY(addCall(backend_, *recorder, calls_.back()));
  OPKIT_ASSIGN(recording_, recorder->finish());
  resizeNs_ = nowNs() - start;
  return Status::ok();
}

Status OpRunner::run() {
  OPKIT_CHECK(recording_);
  return recording_->run();
}

Result<size_t> planAlone(Backend& backend, Execution& execution, const CreateArgs& args, Layout layout,
                         TensorList contents) {
  std::deque<Tensor> tensors;
  const OpCall call = describe(backend, execution, args.inputs, args.outputs, layout, contents, tensors);
  OPKIT_TRY(planConversions(backend, tensors));
  return execution.scratchBytes(call.inputs, call.outputs);
}

FitsDevice fitsOn(Backend& backend, const CreateArgs& args, TensorList contents) {
  return [&backend, &args, contents](const Creator& creator) -> Status {
    const auto execution = creator.create(args, backend);
    if (!execution) return Status::ok();
    const Status status = planAlone(backend, **execution, args, creator.layout, contents).error();
    return status.code() == StatusCode::Unsupported ? status : Status::ok();
  };
}

}  // namespace opkit
