#include "engine/runtime/pipeline.h"

#include <cstring>

namespace opkit {

Result<std::unique_ptr<Pipeline>> Pipeline::create(const Interpreter& interpreter, const SessionConfig& config,
                                                   Runtime& runtime) {
  std::unique_ptr<Pipeline> pipeline(new Pipeline(interpreter, config));
  OPKIT_ASSIGN(pipeline->referenceRuntime_, createRuntime("reference"));
  OPKIT_ASSIGN(pipeline->reference_,
               pipeline->referenceRuntime_->createBackend(interpreter.registry(), {.threads = 1}));
  // A harness that reads or guards every tensor wants each to have memory of its own.
  const EncodeOptions options{.views = !config.keepTensors && config.guardBytes == 0};
  pipeline->encoder_ =
      std::make_unique<GraphEncoder>(pipeline->model_, pipeline->registry_, *pipeline->reference_, options);
  OPKIT_ASSIGN(pipeline->backends_, BackendSet::create(interpreter.registry(), config, runtime));
  return pipeline;
}

bool Pipeline::isCurrent(std::span<const Tensor> inputs) const {
  if (!planned_) return false;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!(inputs[i].desc == plannedInputs_[i])) return false;
  const std::vector<int>& watched = encoder_->contentPlan().inputs;
  for (size_t k = 0; k < watched.size(); ++k) {
    const std::span<std::byte> now = inputs[static_cast<size_t>(watched[k])].bytes();
    if (!std::equal(now.begin(), now.end(), plannedContents_[k].begin(), plannedContents_[k].end())) return false;
  }
  return true;
}

void Pipeline::rememberInputs(std::span<const Tensor> inputs) {
  plannedInputs_.clear();
  plannedContents_.clear();
  for (const Tensor& input : inputs) plannedInputs_.push_back(input.desc);
  for (int position : encoder_->contentPlan().inputs) {
    const std::span<std::byte> bytes = inputs[static_cast<size_t>(position)].bytes();
    plannedContents_.emplace_back(bytes.begin(), bytes.end());
  }
}

Status Pipeline::resize(std::span<const Tensor> inputs) {
  planned_ = false;
  rememberInputs(inputs);
  // Recordings refer to the old memory; they go before it does.
  for (size_t b = 0; b < backends_.size(); ++b) OPKIT_TRY(backends_.at(b).onResizeBegin());
  schedule_ = {};
  staging_.clear();
  OPKIT_ASSIGN(graph_, encoder_->encode(inputs));
  OPKIT_ASSIGN(schedule_, makeSchedule(model_, graph_, config_, backends_, executions_));
  OPKIT_TRY(planScratch());
  OPKIT_TRY(placeMemory());
  OPKIT_TRY(resizeExecutions());
  deviceNs_.assign(schedule_.steps.size(), -1);
  planned_ = true;
  return Status::ok();
}

/// Slots may have been added; the addresses of those that are there now stay good until the next call.
void Pipeline::linkTensors() {
  const auto list = [&](const std::vector<int>& slots) {
    std::vector<const Tensor*> tensors;
    for (int slot : slots) tensors.push_back(slot < 0 ? nullptr : &schedule_.slots[static_cast<size_t>(slot)].device);
    return tensors;
  };
  for (Step& step : schedule_.steps) {
    step.inputTensors = list(step.inputs);
    step.outputTensors = list(step.outputs);
  }
}

Status Pipeline::planScratch() {
  linkTensors();
  std::vector<Slot> added;
  for (size_t i = 0; i < schedule_.steps.size(); ++i) {
    Step& step = schedule_.steps[i];
    if (step.isCopy()) continue;
    OPKIT_ASSIGN(const size_t bytes, step.execution->scratchBytes(step.inputTensors, step.outputTensors));
    if (bytes == 0) continue;
    step.scratch = static_cast<int>(schedule_.slots.size() + added.size());
    Slot slot{.kind = Slot::Kind::Scratch, .tensor = step.command->outputs[0], .backend = step.backend};
    slot.first = slot.last = i;
    slot.device.desc = {DType::UInt8, {static_cast<int64_t>(bytes)}};
    added.push_back(std::move(slot));
  }
  std::ranges::move(added, std::back_inserter(schedule_.slots));
  linkTensors();
  return Status::ok();
}

Status Pipeline::placeMemory() {
  arenas_.resize(backends_.size());
  for (size_t b = 0; b < backends_.size(); ++b) OPKIT_TRY(arenas_[b].place(schedule_, b, backends_.at(b), config_));
  OPKIT_TRY(placeConstants());
  for (Slot& slot : schedule_.slots) {
    if (slot.kind != Slot::Kind::View) continue;
    const Tensor& owner = schedule_.slots[static_cast<size_t>(slot.owner)].device;
    slot.device.buffer = owner.buffer;
    slot.device.offsetBytes = owner.offsetBytes;
  }
  return Status::ok();
}

Status Pipeline::placeConstants() {
  for (Slot& slot : schedule_.slots) {
    if (slot.kind != Slot::Kind::Constant) continue;
    const auto t = static_cast<size_t>(slot.tensor);
    const std::pair key{slot.tensor, slot.backend};
    const auto cached = constantCache_.find(key);
    if (graph_.constant[t] && cached != constantCache_.end()) {
      slot.device = cached->second;
      continue;
    }
    Backend& backend = backends_.at(slot.backend);
    OPKIT_ASSIGN(slot.device.buffer, backend.allocate(std::max<size_t>(slot.device.sizeBytes(), 1)));
    OPKIT_TRY(backend.upload(*graph_.contents[t], slot.device));
    if (graph_.constant[t]) constantCache_[key] = slot.device;
  }
  return Status::ok();
}

Status Pipeline::resizeExecutions() {
  const std::vector<Step>& steps = schedule_.steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    if (step.isCopy()) {
      const Tensor& source = *step.inputTensors[0];
      const Tensor& target = *step.outputTensors[0];
      if (!source.buffer->hostData() && !target.buffer->hostData()) {
        OPKIT_ASSIGN(
            staging_[&step],
            Tensor::onHost(
                graph_.descs[static_cast<size_t>(schedule_.slots[static_cast<size_t>(step.inputs[0])].tensor)]));
      }
      continue;
    }
    Backend& backend = backends_.at(step.backend);
    if (i == 0 || steps[i - 1].segment != step.segment) OPKIT_TRY(backend.beginSegment(step.segment));
    step.execution->setScratch(step.scratch < 0 ? Tensor{} : schedule_.slots[static_cast<size_t>(step.scratch)].device);
    OPKIT_TRY(step.execution->onResize(step.inputTensors, step.outputTensors)
                  .withContext(fmt::format("node '{}'", model_.nodes[static_cast<size_t>(step.command->node)].name)));
    if (i + 1 == steps.size() || steps[i + 1].segment != step.segment) OPKIT_TRY(backend.endSegment(step.segment));
  }
  return Status::ok();
}

std::vector<TensorDesc> Pipeline::outputDescs() const {
  std::vector<TensorDesc> descs;
  for (int output : model_.outputs) descs.push_back(graph_.descs[static_cast<size_t>(output)]);
  return descs;
}

Status Pipeline::run(std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  if (config_.poison || config_.guardBytes > 0)
    for (size_t b = 0; b < arenas_.size(); ++b) OPKIT_TRY(arenas_[b].poison(backends_.at(b)));
  for (const Slot& slot : schedule_.slots) {
    if (slot.kind != Slot::Kind::Input) continue;
    const auto position = std::find(model_.inputs.begin(), model_.inputs.end(), slot.tensor) - model_.inputs.begin();
    OPKIT_TRY(backends_.at(slot.backend).upload(inputs[static_cast<size_t>(position)], slot.device));
  }
  OPKIT_TRY(runSegments());
  for (size_t i = 0; i < outputs.size(); ++i)
    OPKIT_TRY(readOutput(model_.outputs[i], schedule_.outputs[i], inputs, outputs[i]));
  return config_.profile ? collectTimes() : Status::ok();
}

Status Pipeline::runSegments() {
  const std::vector<Step>& steps = schedule_.steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    if (step.isCopy()) {
      OPKIT_TRY(copyStep(step));
      continue;
    }
    Backend& backend = backends_.at(step.backend);
    if (i == 0 || steps[i - 1].segment != step.segment) OPKIT_TRY(backend.onExecuteBegin(step.segment));
    if (Status status = step.execution->onExecute(step.inputTensors, step.outputTensors); !status.isOk())
      return status.withContext(fmt::format("node '{}'", model_.nodes[static_cast<size_t>(step.command->node)].name));
    if (i + 1 == steps.size() || steps[i + 1].segment != step.segment) OPKIT_TRY(backend.onExecuteEnd(step.segment));
  }
  return Status::ok();
}

Status Pipeline::copyStep(const Step& step) {
  const Tensor& source = *step.inputTensors[0];
  const Tensor& target = *step.outputTensors[0];
  Backend& from = backends_.at(schedule_.slots[static_cast<size_t>(step.inputs[0])].backend);
  Backend& to = backends_.at(step.backend);
  if (source.buffer->hostData()) return to.upload(source, target);
  if (target.buffer->hostData()) return from.download(source, target);
  const Tensor& staging = staging_.at(&step);
  OPKIT_TRY(from.download(source, staging));
  return to.upload(staging, target);
}

Status Pipeline::readOutput(int tensor, int slot, std::span<const Tensor> inputs, const Tensor& target) {
  if (slot >= 0) {
    const Slot& source = schedule_.slots[static_cast<size_t>(slot)];
    return backends_.at(source.backend).download(source.device, target);
  }
  const auto& known = graph_.contents[static_cast<size_t>(tensor)];
  const auto input = std::find(model_.inputs.begin(), model_.inputs.end(), tensor);
  OPKIT_CHECK(known || input != model_.inputs.end());
  const Tensor& source = known ? *known : inputs[static_cast<size_t>(input - model_.inputs.begin())];
  convertElements(source, target);
  return Status::ok();
}

Result<Tensor> Pipeline::readTensor(int tensor, std::span<const Tensor> inputs) {
  const auto t = static_cast<size_t>(tensor);
  OPKIT_ASSIGN(Tensor result, Tensor::onHost(graph_.descs[t]));
  int slot = -1;
  for (const Step& step : schedule_.steps)
    for (int output : step.outputs)
      if (!step.isCopy() && output >= 0 && schedule_.slots[static_cast<size_t>(output)].tensor == tensor) slot = output;
  const bool isInput = std::find(model_.inputs.begin(), model_.inputs.end(), tensor) != model_.inputs.end();
  if (slot < 0 && !graph_.contents[t] && !isInput)
    return Status::invalidArgument("tensor '{}' has no value after this run", model_.tensors[t].name);
  OPKIT_TRY(readOutput(tensor, slot, inputs, result));
  return result;
}

Status Pipeline::checkGuards() {
  for (size_t b = 0; b < arenas_.size(); ++b)
    OPKIT_TRY(arenas_[b].checkGuards(backends_.at(b), schedule_, graph_, model_));
  return Status::ok();
}

Status Pipeline::collectTimes() {
  for (size_t b = 0; b < backends_.size(); ++b) {
    OPKIT_ASSIGN(const std::vector<double> times, backends_.at(b).deviceTimesNs());
    size_t next = 0;
    for (size_t i = 0; i < schedule_.steps.size() && next < times.size(); ++i)
      if (!schedule_.steps[i].isCopy() && schedule_.steps[i].backend == b) deviceNs_[i] = times[next++];
  }
  return Status::ok();
}

std::vector<Placement> Pipeline::placement() const {
  std::vector<Placement> rows;
  for (size_t i = 0; i < schedule_.steps.size(); ++i) {
    const Step& step = schedule_.steps[i];
    Placement row;
    row.backend = backends_.at(step.backend).name();
    row.provider = step.provider;
    row.refusals = step.refusals;
    row.deviceNs = deviceNs_.empty() ? -1 : deviceNs_[i];
    for (const Tensor* output : step.outputTensors)
      if (output) row.outputs += fmt::format("{}{}", row.outputs.empty() ? "" : " ", output->desc.toString());
    if (step.isCopy()) {
      row.type = "Copy";
      row.node = graph_.tensorName(model_, schedule_.slots[static_cast<size_t>(step.inputs[0])].tensor);
      row.copiedBytes = step.inputTensors[0]->sizeBytes();
    } else {
      row.type = step.command->def->type;
      row.node = model_.nodes[static_cast<size_t>(step.command->node)].name;
      row.raster = step.command->regions.has_value();
      row.flops = step.command->flops;
      row.fellBack = step.backend != 0;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void Pipeline::addStatistics(SessionStatistics& statistics) const {
  if (!arenas_.empty()) {
    statistics.plannedPeakBytes = arenas_.front().peakBytes();
    statistics.lowerBoundBytes = arenas_.front().lowerBoundBytes();
  }
  statistics.foldedNodes = graph_.foldedNodes;
  statistics.executionsCreated = executions_.created();
  statistics.segments = schedule_.segments;
}

BackendCounters Pipeline::counters() const {
  BackendCounters sum;
  for (size_t b = 0; b < backends_.size(); ++b) {
    const BackendCounters& one = backends_.at(b).counters();
    sum.executionsCreated += one.executionsCreated;
    sum.pipelinesCreated += one.pipelinesCreated;
    sum.allocations += one.allocations;
    sum.dispatches += one.dispatches;
    sum.submits += one.submits;
    sum.bytesUploaded += one.bytesUploaded;
    sum.bytesDownloaded += one.bytesDownloaded;
    sum.measurements += one.measurements;
  }
  return sum;
}

}  // namespace opkit
