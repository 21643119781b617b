#include "engine/runtime/pipeline.h"

#include <cstring>
#include <set>

#include "engine/backend/guarded_tensor.h"
#include "engine/backend/loop_lowering.h"
#include "engine/base/clock.h"
#include "engine/tensor/lazy_buffer.h"

namespace opkit {
namespace {

/// Records the start of a step and its host time, including the submission of its segment.
class StepClock {
 public:
  StepClock(HostTimes* times, StepId step) : times_(times), step_(step) {
    if (times_) times_->steps[step_].startNs = nowNs() - times_->runStart;
  }
  ~StepClock() {
    if (times_) times_->steps[step_].durationNs = nowNs() - times_->runStart - times_->steps[step_].startNs;
  }
  StepClock(const StepClock&) = delete;
  StepClock& operator=(const StepClock&) = delete;

 private:
  HostTimes* times_;
  StepId step_;
};

/// Whether its memory is the caller's, during a run.
bool isCallers(const Slot& slot) { return slot.kind == Slot::Kind::Borrowed || slot.kind == Slot::Kind::Lent; }

/// Points a slot at a tensor, without ownership: an Execution that copies the slot's tensor must not keep the value
/// alive.
void pointTo(const Tensor& tensor, Slot& slot) {
  slot.device.buffer = std::shared_ptr<Buffer>(std::shared_ptr<Buffer>(), tensor.buffer.get());
  slot.device.offsetBytes = tensor.offsetBytes;
}

/// Objects have no bytes; the card of the operator refuses them.
std::span<std::byte> contentsOf(const Tensor& input) {
  return isObject(input.desc.dtype) ? std::span<std::byte>() : input.bytes();
}

}  // namespace

Pipeline::Pipeline(PipelineParts& parts)
    : parts_(parts), model_(parts.model), config_(parts.config), backends_(parts.backends) {}

Pipeline::~Pipeline() { unbind(); }

bool Pipeline::fits(std::span<const Tensor> inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!(inputs[i].desc == plannedInputs_[i])) return false;
  for (size_t k = 0; k < parts_.watched.size(); ++k) {
    const std::span<std::byte> now = contentsOf(inputs[parts_.watched[k]]);
    if (!std::equal(now.begin(), now.end(), plannedContents_[k].begin(), plannedContents_[k].end())) return false;
  }
  return true;
}

void Pipeline::rememberInputs(std::span<const Tensor> inputs) {
  for (const Tensor& input : inputs) plannedInputs_.push_back(input.desc);
  for (const size_t i : parts_.watched) {
    const std::span<std::byte> bytes = contentsOf(inputs[i]);
    plannedContents_.emplace_back(bytes.begin(), bytes.end());
  }
}

/// The inputs, with copies of those whose values become part of the plan, since the caller will overwrite them.
Result<std::vector<Tensor>> Pipeline::keepContents(std::span<const Tensor> inputs) const {
  std::vector<Tensor> kept(inputs.begin(), inputs.end());
  for (const size_t i : parts_.watched) {
    if (isObject(inputs[i].desc.dtype)) continue;
    OPKIT_ASSIGN(kept[i], Tensor::onHost(inputs[i].desc, Fill::None));
    convertElements(inputs[i], kept[i]);
  }
  return kept;
}

Status Pipeline::plan(std::span<const Tensor> inputs) {
  rememberInputs(inputs);
  OPKIT_ASSIGN(const std::vector<Tensor> kept, keepContents(inputs));
  OPKIT_ASSIGN(graph_, parts_.encoder->encode(kept));
  for (const TensorId output : model_.outputs) OPKIT_TRY(checkDeclared(model_.tensors[output], graph_.descs[output]));
  OPKIT_ASSIGN(schedule_, makeSchedule(model_, graph_, config_, parts_.sources, backends_, parts_.executions,
                                       parts_.share->ending));
  OPKIT_TRY(planScratch());
  arenas_.resize(backends_.size());
  for (const BackendIndex b : backends_.ids()) OPKIT_TRY(arenas_[b].plan(schedule_, b, backends_.at(b), config_));
  deviceNs_.assign(schedule_.steps.size(), -1);
  hostTimes_.steps.assign(schedule_.steps.size(), {});
  return Status::ok();
}

Status Pipeline::bind(const RunInputs& inputs) {
  arenas_.resize(backends_.size());  // the fallback backend was added after pipelines that do not use it
  if (bound_) return Status::ok();
  OPKIT_TRY(placeMemory());
  OPKIT_TRY(borrow(inputs));
  placeCallersViews();
  OPKIT_TRY(record(config_.record == RecordMode::Direct));
  giveBack();
  bound_ = true;
  return Status::ok();
}

void Pipeline::unbind() {
  bound_ = false;
  recordings_.clear();  // before the memory that they refer to
  for (Step& step : schedule_.steps)
    if (const auto* kernel = std::get_if<KernelStep>(&step); kernel && kernel->execution)
      kernel->execution->setScratch({});
  for (Arena& arena : arenas_) arena.unbind(schedule_);
  for (Slot& slot : schedule_.slots) {
    if (slot.kind == Slot::Kind::View || isCallers(slot)) slot.device.buffer = nullptr;
    slot.version = 0;
    slot.aligned = {};
  }
}

/// Slots may have been added; addresses of existing slots stay valid until the next call.
void Pipeline::linkTensors() {
  const auto list = [&](const std::vector<SlotId>& slots) {
    std::vector<const Tensor*> tensors;
    for (const SlotId slot : slots) tensors.push_back(slot ? &schedule_.slots[slot].device : nullptr);
    return tensors;
  };
  for (Step& step : schedule_.steps) {
    auto* kernel = std::get_if<KernelStep>(&step);
    if (!kernel) continue;
    kernel->inputTensors = list(kernel->inputs);
    kernel->outputTensors = list(kernel->outputs);
  }
}

Status Pipeline::planScratch() {
  linkTensors();
  std::vector<Slot> added;
  for (const StepId i : schedule_.steps.ids()) {
    auto* kernel = std::get_if<KernelStep>(&schedule_.steps[i]);
    if (!kernel) continue;
    KernelStep& step = *kernel;
    OPKIT_TRY(requireSession(parts_.share->ending));
    if (!step.scratchBytes) {
      OPKIT_ASSIGN(step.scratchBytes, step.execution->scratchBytes(step.inputTensors, step.outputTensors));
    }
    const size_t bytes = *step.scratchBytes;
    if (bytes == 0) continue;
    step.scratch = SlotId(schedule_.slots.size() + added.size());
    Slot slot{.kind = Slot::Kind::Scratch,
              .tensor = schedule_.slots[*std::ranges::max_element(step.outputs)].tensor,
              .backend = step.backend};
    // Guards must last until they are checked.
    slot.first = config_.guardBytes > 0 ? StepId(0) : i;
    slot.last = config_.guardBytes > 0 ? schedule_.steps.lastId() : i;
    slot.device.desc = {DType::UInt8, {static_cast<int64_t>(bytes)}};
    added.push_back(std::move(slot));
  }
  for (Slot& slot : added) schedule_.slots.push_back(std::move(slot));
  linkTensors();
  return Status::ok();
}

Status Pipeline::placeMemory() {
  for (const BackendIndex b : arenas_.ids()) OPKIT_TRY(arenas_[b].bind(schedule_, parts_.arenas[b]));
  OPKIT_TRY(placeConstants());
  placeViews();
  return Status::ok();
}

void Pipeline::placeViews() {
  for (Slot& slot : schedule_.slots) {
    if (slot.kind != Slot::Kind::View) continue;
    const Tensor& owner = schedule_.slots[slot.owner].device;
    slot.device.buffer = owner.buffer;
    slot.device.offsetBytes = owner.offsetBytes + slot.viewOffsetBytes;
  }
}

/// Of memory that comes and goes with a run; the others stay where they are.
void Pipeline::placeCallersViews() {
  for (Slot& slot : schedule_.slots) {
    if (slot.kind != Slot::Kind::View || !isCallers(schedule_.slots[slot.owner])) continue;
    const Tensor& owner = schedule_.slots[slot.owner].device;
    slot.device.buffer = owner.buffer;
    slot.device.offsetBytes = owner.offsetBytes + slot.viewOffsetBytes;
  }
}

size_t Pipeline::inputOf(const Slot& slot) const {
  return static_cast<size_t>(std::ranges::find(model_.inputs, slot.tensor) - model_.inputs.begin());
}

/// Points borrowed slots at the values. A value that is not aligned, as the backend's tensors are, is copied into
/// memory that the plan keeps.
Status Pipeline::borrow(const RunInputs& inputs) {
  for (Slot& slot : schedule_.slots) {
    if (slot.kind != Slot::Kind::Borrowed) continue;
    const Tensor& host = inputs.tensors[inputOf(slot)];
    const uint64_t version = inputs.versions[inputOf(slot)];
    const bool aligned = reinterpret_cast<uintptr_t>(host.bytes().data()) % backends_.at(slot.backend).alignment() == 0;
    if (!aligned && (!slot.aligned.buffer || version == 0 || slot.version != version)) {
      if (!slot.aligned.buffer) {
        OPKIT_ASSIGN(slot.aligned, Tensor::onHost(host.desc, Fill::None));
      }
      slot.version = 0;
      OPKIT_TRY(backends_.at(slot.backend).upload(host, slot.aligned));
      slot.version = version;
    }
    pointTo(aligned ? host : slot.aligned, slot);
  }
  return Status::ok();
}

/// Points lent slots at the outputs of a run.
void Pipeline::lend(std::span<const Tensor> outputs) {
  for (Slot& slot : schedule_.slots)
    if (slot.kind == Slot::Kind::Lent) pointTo(outputs[slot.output], slot);
}

/// The values may be gone after a run.
void Pipeline::giveBack() {
  for (Slot& slot : schedule_.slots)
    if (isCallers(slot)) slot.device.buffer = nullptr;
  placeCallersViews();
}

Status Pipeline::placeConstants() {
  for (Slot& slot : schedule_.slots)
    if (slot.kind == Slot::Kind::Constant && !slot.device.buffer) OPKIT_TRY(placeConstant(slot));
  return Status::ok();
}

/// Constants of the model are uploaded once per device, values of these shapes once per plan; neither if the backend
/// can read them in place.
Status Pipeline::placeConstant(Slot& slot) {
  const TensorId t = slot.tensor;
  const Tensor& host = *graph_.contents[t];
  Backend& backend = backends_.at(slot.backend);
  const bool sameForm = host.desc == slot.device.desc && host.layout == slot.device.layout;
  const Tensor stored = asStored(host);
  const bool aligned = reinterpret_cast<uintptr_t>(stored.bytes().data()) % backend.alignment() == 0;
  if (backend.sharesHostMemory() && sameForm && aligned) {
    slot.device = host;
    return Status::ok();
  }
  // On the host, guard pages do this.
  const size_t guard = backend.sharesHostMemory() ? 0 : config_.guardBytes;
  const auto upload = [&]() -> Result<Tensor> {
    const bool movesBytes = backend.sharesHostMemory() && sameForm;
    OPKIT_ASSIGN(const Tensor source, movesBytes ? stored : readable(host));
    return uploadGuarded(backend, source, slot.device, guard);
  };
  if (!graph_.constant[t]) {
    OPKIT_ASSIGN(slot.device, upload());
    return Status::ok();
  }
  const std::string form =
      fmt::format("as {} {}{}", slot.device.desc.toString(), nameOf(slot.device.layout), guard > 0 ? " guarded" : "");
  OPKIT_ASSIGN(const auto shared, backend.constants().get<Tensor>(host, form, upload));
  slot.device = *shared;
  slot.shared = shared;
  return Status::ok();
}

/// On the host borrowed: an Execution inside another one that still had it would keep the arena alive after unbind().
Tensor Pipeline::scratchOf(const KernelStep& step) const {
  if (!step.scratch) return {};
  Tensor scratch = schedule_.slots[step.scratch].device;
  if (backends_.at(step.backend).sharesHostMemory())
    scratch.buffer = std::shared_ptr<Buffer>(std::shared_ptr<Buffer>(), scratch.buffer.get());
  return scratch;
}

/// Executions on the host run one by one in any case.
bool Pipeline::splits(const KernelStep& step) const {
  return stepwise_ || backends_.at(step.backend).sharesHostMemory();
}

/// A Recording per segment, or per step.
Status Pipeline::record(bool stepwise) {
  stepwise_ = stepwise;
  IndexedVector<StepId, Step>& steps = schedule_.steps;
  recordings_.clear();
  recordings_.resize(steps.size());
  IndexedVector<BackendIndex, std::unique_ptr<Recorder>> recorders(backends_.size());
  for (const StepId i : steps.ids()) {
    OPKIT_TRY(requireSession(parts_.share->ending));
    if (auto* copy = std::get_if<CopyStep>(&steps[i])) {
      OPKIT_TRY(prepare(*copy));
      continue;
    }
    KernelStep& step = std::get<KernelStep>(steps[i]);
    std::unique_ptr<Recorder>& recorder = recorders[step.backend];
    if (!recorder) {
      OPKIT_ASSIGN(recorder, backends_.at(step.backend).record());
    }
    step.execution->setScratch(scratchOf(step));
    OPKIT_TRY(recorder->add(*step.execution, step.inputTensors, step.outputTensors).withContext(describe(step)));
    if (!splits(step) && !step.endsSegment) continue;
    OPKIT_ASSIGN(recordings_[i], recorder->finish());
  }
  return Status::ok();
}

/// Records again if callbacks come, or came before, between steps that were recorded together.
Status Pipeline::recordAs(bool stepwise) {
  if (stepwise == stepwise_) return Status::ok();
  const bool together = std::ranges::any_of(schedule_.steps, [&](const Step& step) {
    const auto* kernel = std::get_if<KernelStep>(&step);
    return kernel && !backends_.at(kernel->backend).sharesHostMemory();
  });
  if (!together) return Status::ok();
  Status status = record(stepwise);
  if (!status.isOk()) unbind();
  return status;
}

/// Host memory for a copy between two backends whose memory the host cannot address.
Status Pipeline::prepare(CopyStep& step) const {
  const Slot& source = schedule_.slots[step.from];
  const Slot& target = schedule_.slots[step.to];
  if (source.device.buffer->hostData() || target.device.buffer->hostData()) return Status::ok();
  OPKIT_ASSIGN(step.staging, Tensor::onHost(graph_.descs[source.tensor]));
  return Status::ok();
}

std::vector<TensorDesc> Pipeline::outputDescs() const {
  std::vector<TensorDesc> descs;
  for (const TensorId output : model_.outputs) descs.push_back(graph_.descs[output]);
  return descs;
}

Status Pipeline::run(const RunInputs& inputs, std::span<const Tensor> outputs) {
  Status status = runOn(inputs, outputs);
  giveBack();
  return status;
}

/// Uploads the inputs, without those that a device still holds from the run before.
Status Pipeline::giveInputs(const RunInputs& inputs) {
  const bool isIntact = parts_.lastRun == this;
  parts_.lastRun = this;
  for (Slot& slot : schedule_.slots) {
    if (slot.kind != Slot::Kind::Input) continue;
    const uint64_t version = inputs.versions[inputOf(slot)];
    if (slot.isKept && isIntact && version != 0 && slot.version == version) continue;
    slot.version = 0;
    OPKIT_TRY(backends_.at(slot.backend).upload(inputs.tensors[inputOf(slot)], slot.device));
    slot.version = version;
  }
  return borrow(inputs);
}

Status Pipeline::runOn(const RunInputs& inputs, std::span<const Tensor> outputs) {
  hostTimes_.runStart = nowNs();
  if (config_.poison || config_.guardBytes > 0)
    for (const BackendIndex b : arenas_.ids()) OPKIT_TRY(arenas_[b].poison(backends_.at(b)));
  OPKIT_TRY(giveInputs(inputs));
  lend(outputs);
  placeCallersViews();
  OPKIT_TRY(recordAs(config_.record == RecordMode::Direct || callbacks_.before || callbacks_.after));
  OPKIT_TRY(runSteps());
  if (callbacks_.stopped) return Status::ok();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!isLent(i)) OPKIT_TRY(readOutput(model_.outputs[i], schedule_.outputs[i], inputs.tensors, outputs[i]));
  return config_.profile ? collectTimes() : Status::ok();
}

/// For messages.
std::string Pipeline::describe(const KernelStep& step) const {
  if (!step.isConversion()) return fmt::format("node '{}'", model_.nodes[step.command->node].name);
  return fmt::format("conversion of '{}'", graph_.tensorName(model_, step.command->inputs[0]));
}

Status Pipeline::runSteps() {
  const IndexedVector<StepId, Step>& steps = schedule_.steps;
  const KernelStep* first = nullptr;  // of the next recording
  for (const StepId i : steps.ids()) {
    const StepClock clock(config_.profile ? &hostTimes_ : nullptr, i);
    if (const auto* transfer = std::get_if<CopyStep>(&steps[i])) {
      OPKIT_TRY(copy(*transfer));
      continue;
    }
    const KernelStep& step = std::get<KernelStep>(steps[i]);
    if (!first) first = &step;
    if (isStoppedBy(callbacks_.before, step)) return Status::ok();
    if (recordings_[i]) {
      if (Status status = recordings_[i]->run(); !status.isOk())
        return status.withContext(first == &step ? describe(step) : describe(*first) + " to " + describe(step));
      first = nullptr;
    }
    if (isStoppedBy(callbacks_.after, step)) return Status::ok();
  }
  return Status::ok();
}

Result<bool> Pipeline::runWith(const CommandCallback& before, const CommandCallback& after, const RunInputs& inputs,
                               std::span<const Tensor> outputs) {
  const RunCallbacks::Scope scope(callbacks_, before, after);
  OPKIT_TRY(run(inputs, outputs));
  return !callbacks_.stopped;
}

bool Pipeline::isStoppedBy(const CommandCallback* callback, const KernelStep& step) {
  if (!callback || step.isConversion()) return false;
  const auto names = [&](const std::vector<SlotId>& slots) {
    std::vector<std::string> list;
    for (const SlotId slot : slots) list.push_back(slot ? graph_.tensorName(model_, schedule_.slots[slot].tensor) : "");
    return list;
  };
  const CommandInfo command{model_.nodes[step.command->node].name,
                            step.command->def->type,
                            backends_.at(step.backend).name(),
                            names(step.inputs),
                            names(step.outputs),
                            [&](size_t i) { return readSlot(step.inputs, i); },
                            [&](size_t i) { return readSlot(step.outputs, i); }};
  callbacks_.stopped = !(*callback)(command);
  return callbacks_.stopped;
}

Result<Tensor> Pipeline::readSlot(const std::vector<SlotId>& slots, size_t index) {
  if (index >= slots.size() || !slots[index])
    return Status::invalidArgument("the command has no tensor {} there, of {}", index, slots.size());
  const Slot& slot = schedule_.slots[slots[index]];
  const TensorId t = slot.tensor;
  OPKIT_ASSIGN(Tensor host, Tensor::onHost(graph_.descs[t], Fill::None));
  if (slot.device.buffer) {
    OPKIT_TRY(backends_.at(slot.backend).download(slot.device, host));
  } else {  // a constant that the kernel keeps packed
    if (!graph_.contents[t])
      return Status::invalidArgument("tensor '{}' has no value any more", graph_.tensorName(model_, slot.tensor));
    convertElements(*graph_.contents[t], host);
  }
  return host;
}

Status Pipeline::copy(const CopyStep& step) {
  const Slot& source = schedule_.slots[step.from];
  const Slot& target = schedule_.slots[step.to];
  Backend& from = backends_.at(source.backend);
  Backend& to = backends_.at(target.backend);
  if (source.device.buffer->hostData()) return to.upload(source.device, target.device);
  if (target.device.buffer->hostData()) return from.download(source.device, target.device);
  OPKIT_TRY(from.download(source.device, step.staging));
  return to.upload(step.staging, target.device);
}

/// Whether the output was written where the caller wants it.
bool Pipeline::isLent(size_t output) const {
  const SlotId slot = schedule_.outputs[output];
  if (!slot) return false;
  const SlotId owner = schedule_.slots[slot].owner;
  const Slot& whole = schedule_.slots[owner ? owner : slot];
  return whole.kind == Slot::Kind::Lent && whole.output == output;
}

Status Pipeline::readOutput(TensorId tensor, SlotId slot, std::span<const Tensor> inputs, const Tensor& target) {
  if (slot) {
    const Slot& source = schedule_.slots[slot];
    return backends_.at(source.backend).download(source.device, target);
  }
  const auto& known = graph_.contents[tensor];
  const auto input = std::find(model_.inputs.begin(), model_.inputs.end(), tensor);
  OPKIT_CHECK(known || input != model_.inputs.end());
  const Tensor& source = known ? *known : inputs[static_cast<size_t>(input - model_.inputs.begin())];
  convertElements(source, target);
  return Status::ok();
}

void Pipeline::findMakers() {
  madeIn_.assign(graph_.descs.size(), {});
  for (const Step& step : schedule_.steps) {
    const auto* kernel = std::get_if<KernelStep>(&step);
    for (const SlotId output : kernel ? kernel->outputs : std::vector<SlotId>())
      if (output) madeIn_[schedule_.slots[output].tensor] = output;
  }
}

Result<Tensor> Pipeline::readTensor(TensorId tensor, std::span<const Tensor> inputs) {
  OPKIT_ASSIGN(Tensor result, Tensor::onHost(graph_.descs[tensor]));
  if (madeIn_.empty()) findMakers();
  const SlotId slot = madeIn_[tensor];
  const bool isInput = std::find(model_.inputs.begin(), model_.inputs.end(), tensor) != model_.inputs.end();
  if (!slot && !graph_.contents[tensor] && !isInput)
    return Status::invalidArgument("tensor '{}' has no value after this run", model_.tensors[tensor].name);
  OPKIT_TRY(readOutput(tensor, slot, inputs, result));
  return result;
}

Status Pipeline::checkGuards() {
  for (const BackendIndex b : arenas_.ids())
    OPKIT_TRY(arenas_[b].checkGuards(backends_.at(b), schedule_, graph_, model_));
  for (const auto& recording : recordings_)
    if (recording) OPKIT_TRY(recording->checkGuards());
  for (const Slot& slot : schedule_.slots)
    if (slot.kind == Slot::Kind::Constant && slot.device.buffer)
      OPKIT_TRY(checkGuard(backends_.at(slot.backend), slot.device,
                           fmt::format("constant '{}'", graph_.tensorName(model_, slot.tensor))));
  return Status::ok();
}

Status Pipeline::collectTimes() {
  std::vector<double> times;
  std::vector<StepId> recorded;  // since the last recording
  for (const StepId i : schedule_.steps.ids()) {
    if (!std::holds_alternative<KernelStep>(schedule_.steps[i])) continue;
    recorded.push_back(i);
    if (!recordings_[i]) continue;
    OPKIT_TRY(recordings_[i]->appendTimesNs(times));
    for (size_t k = 0; k < times.size() && k < recorded.size(); ++k) deviceNs_[recorded[k]] = times[k];
    recorded.clear();
    times.clear();
  }
  return Status::ok();
}

Placement Pipeline::placementOf(const CopyStep& step) const {
  const Slot& source = schedule_.slots[step.from];
  const Slot& target = schedule_.slots[step.to];
  Placement row;
  row.type = "Copy";
  row.node = graph_.tensorName(model_, source.tensor);
  row.backend = backends_.at(target.backend).name();
  row.outputs = target.device.desc.toString();
  row.bytesRead = row.copiedBytes = source.device.sizeBytes();
  row.bytesWritten = target.device.sizeBytes();
  return row;
}

Placement Pipeline::placementOf(const KernelStep& step) const {
  Placement row;
  row.backend = backends_.at(step.backend).name();
  row.provider = step.creator->provider;
  row.kernel = step.creator->kernel;
  row.refusals = step.reason.refusals;
  for (const Tensor* input : step.inputTensors) row.bytesRead += input ? input->sizeBytes() : 0;
  for (const Tensor* output : step.outputTensors) row.bytesWritten += output ? output->sizeBytes() : 0;
  for (const Tensor* output : step.outputTensors)
    if (output) row.outputs += fmt::format("{}{}", row.outputs.empty() ? "" : " ", output->desc.toString());
  row.type = step.command->def->type;
  if (step.isConversion()) {
    row.node = graph_.tensorName(model_, step.command->inputs[0]);
    row.outputs += fmt::format(" {}", nameOf(step.outputTensors[0]->layout));
    row.copiedBytes = step.inputTensors[0]->sizeBytes();
    return row;
  }
  row.node = model_.nodes[step.command->node].name;
  row.raster = step.command->regions.has_value();
  row.flops = step.command->flops;
  row.fellBack = step.backend != kMainBackend && !step.reason.byCost;
  row.cost = step.reason.cost;
  return row;
}

std::vector<Placement> Pipeline::placement() const {
  std::vector<Placement> rows;
  for (const StepId i : schedule_.steps.ids()) {
    Placement row = std::visit([this](const auto& step) { return placementOf(step); }, schedule_.steps[i]);
    row.deviceNs = deviceNs_.empty() ? -1 : deviceNs_[i];
    row.hostStartNs = hostTimes_.steps[i].startNs;
    row.hostNs = hostTimes_.steps[i].durationNs;
    rows.push_back(std::move(row));
  }
  return rows;
}

void Pipeline::addStatistics(SessionStatistics& statistics) const {
  statistics.foldedNodes = graph_.foldedNodes;
  statistics.removedRasters = graph_.removedRasters;
  statistics.fusedRegions = graph_.fusedRegions;
  statistics.partialViews = graph_.partialViews;
  statistics.loopRegions = static_cast<size_t>(std::ranges::count_if(schedule_.steps, [](const Step& step) {
    const auto* kernel = std::get_if<KernelStep>(&step);
    return kernel && kernel->creator->provider == kLoopProvider;
  }));
  statistics.segments = schedule_.segments;
  statistics.inPlace = schedule_.inPlace;
  statistics.estimate = schedule_.estimate;
}

}  // namespace opkit
