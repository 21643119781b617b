#include "engine/runtime/schedule.h"

#include "engine/backend/keeps_outputs.h"
#include "engine/backend/loop_lowering.h"
#include "engine/backend/op_runner.h"
#include "engine/op/internal_operators.h"
#include "engine/runtime/cost_placement.h"

namespace opkit {
namespace {

std::string joinRefusals(const std::vector<Refusal>& refusals) {
  std::string text;
  for (const Refusal& refusal : refusals) {
    if (!text.empty()) text += "; ";
    text += refusal.provider + ": " + refusal.reason;
  }
  return text.empty() ? "no kernel" : text;
}

/// Builds one schedule; the free function's working state.
class Scheduler {
 public:
  Scheduler(const Model& model, const EncodedGraph& graph, const SessionConfig& config,
            std::span<const InputSource> sources, BackendSet& backends, ExecutionPool& executions,
            const std::atomic<bool>& ending)
      : model_(model),
        graph_(graph),
        config_(config),
        sources_(sources),
        backends_(backends),
        executions_(executions),
        ending_(ending),
        homes_(graph.descs.size()),
        isInput_(graph.descs.size(), false) {
    for (const TensorId input : model.inputs) isInput_[input] = true;
  }

  Result<Schedule> build();

 private:
  struct Chosen {
    BackendIndex backend = kMainBackend;
    const Creator* creator = nullptr;
    ExecutionPool::Lease execution = {};  // if the choice made it
    std::optional<size_t> scratchBytes = {};
    Reason reason = {};
  };
  bool knowsIntegers(const EncodedCommand& command) const;
  Status addCommand(const EncodedCommand& command);
  Result<Chosen> choose(const EncodedCommand& command);
  CommandView viewOf(const EncodedCommand& command, BackendIndex backend) const {
    return {command, model_, graph_, config_, backends_.at(backend), backend, homes_};
  }
  Status chooseOnMain(const EncodedCommand& command, Chosen& chosen);
  Status fits(const CommandView& view, const Creator& creator, Chosen& chosen);
  Status chooseFallback(const EncodedCommand& command, Chosen& chosen);
  SlotId addSlot(Slot::Kind kind, TensorId tensor, BackendIndex backend, Layout layout = Layout::NCHW);
  Result<SlotId> slotFor(TensorId tensor, BackendIndex backend, Layout layout = Layout::NCHW);
  void appendCopy(SlotId from, SlotId to);
  Status appendConversion(SlotId from, SlotId to);
  void touch(SlotId slot);
  void numberSegments();
  void readInput(Slot& slot) const;
  void keepInputs();
  void keepEverything();
  void reuseInputs();
  SlotId reusableInput(StepId step) const;
  void lendOutputs();
  bool takesCallersMemory() const { return !config_.keepTensors && config_.guardBytes == 0 && !config_.poison; }
  SlotId ownerOf(SlotId slot) const {
    const SlotId owner = schedule_.slots[slot].owner;
    return owner ? owner : slot;
  }

  const ModelNode& nodeOf(const EncodedCommand& command) const { return model_.nodes[command.node]; }

  const Model& model_;
  const EncodedGraph& graph_;
  const SessionConfig& config_;
  std::span<const InputSource> sources_;
  BackendSet& backends_;
  ExecutionPool& executions_;
  const std::atomic<bool>& ending_;
  TensorHomes homes_;
  CostPlan costs_;
  IndexedVector<TensorId, bool> isInput_;
  std::map<std::tuple<TensorId, BackendIndex, Layout>, SlotId> slotIndex_;
  Schedule schedule_;
};

Result<Schedule> Scheduler::build() {
  if (config_.placeByCost) {
    OPKIT_ASSIGN(costs_, placeByCost(model_, graph_, config_, backends_));
    schedule_.estimate = costs_.estimate;
  }
  for (const EncodedCommand& command : graph_.commands) {
    OPKIT_TRY(requireSession(ending_));
    OPKIT_TRY(addCommand(command).withContext(fmt::format("node '{}'", nodeOf(command).name)));
  }
  for (const TensorId output : model_.outputs) {
    const TensorId root = graph_.alias[output];
    const bool onHost = graph_.contents[output].has_value() || (isInput_[root] && root == output);
    if (onHost) {
      schedule_.outputs.emplace_back();
      continue;
    }
    const BackendIndex backend = homes_.backend[root] ? homes_.backend[root] : kMainBackend;
    OPKIT_ASSIGN(const SlotId slot, slotFor(output, backend));
    schedule_.outputs.push_back(slot);
  }
  // After all of them: one output's conversion may not take the memory of another.
  for (const SlotId slot : schedule_.outputs) touch(slot);
  keepInputs();
  if (config_.keepTensors)
    keepEverything();
  else if (config_.guardBytes == 0)  // guards need separate memory for every tensor
    reuseInputs();
  if (takesCallersMemory()) lendOutputs();
  numberSegments();
  return std::move(schedule_);
}

/// Whether values of integers that the command reads are known, so that some may be indices.
bool Scheduler::knowsIntegers(const EncodedCommand& command) const {
  return std::ranges::any_of(command.inputs, [&](TensorId tensor) {
    if (!tensor || !graph_.contents[tensor]) return false;
    const DType dtype = graph_.contents[tensor]->desc.dtype;
    return dtype == DType::Int32 || dtype == DType::Int64;
  });
}

Status Scheduler::addCommand(const EncodedCommand& command) {
  if (command.def->loop && knowsIntegers(command)) {  // lowering every loop would be a part of each resize
    const CommandView view = viewOf(command, kMainBackend);
    OPKIT_TRY(checkKnownIndices(view.args(), view.contents()));
  }
  OPKIT_ASSIGN(Chosen chosen, choose(command));
  if (!chosen.execution) {
    const CommandView view = viewOf(command, chosen.backend);
    OPKIT_ASSIGN(chosen.execution, executions_.take(*chosen.creator, view.args(), backends_.at(chosen.backend)));
  }
  const Layout layout = chosen.creator->layout;
  KernelStep step{
      &command,           chosen.backend, chosen.creator, std::move(chosen.execution), std::move(chosen.reason),
      chosen.scratchBytes};
  for (size_t i = 0; i < command.inputs.size(); ++i) {
    const TensorId tensor = command.inputs[i];
    if (!tensor)
      step.inputs.emplace_back();
    else if (!step.execution->readsInput(i))
      step.inputs.push_back(addSlot(Slot::Kind::Unread, tensor, step.backend));
    else {
      const bool constant = graph_.contents[tensor].has_value();
      OPKIT_ASSIGN(const SlotId slot, slotFor(tensor, step.backend, constant ? Layout::NCHW : layout));
      step.inputs.push_back(slot);  // may have appended a copy or a conversion
    }
  }
  for (const SlotId slot : step.inputs) touch(slot);
  for (const TensorId tensor : command.outputs) {
    if (!tensor) {
      step.outputs.emplace_back();
      continue;
    }
    homes_.backend[tensor] = step.backend;
    homes_.layout[tensor] = layout;
    const SlotId slot = addSlot(Slot::Kind::Planned, tensor, step.backend, layout);
    slotIndex_[{tensor, step.backend, layout}] = slot;
    step.outputs.push_back(slot);
  }
  schedule_.steps.emplace_back(std::move(step));
  return Status::ok();
}

Result<Scheduler::Chosen> Scheduler::choose(const EncodedCommand& command) {
  Chosen chosen;
  Reason& reason = chosen.reason;
  const Backend& main = backends_.main();
  const auto index = static_cast<size_t>(&command - graph_.commands.data());
  const CostDecision decision = costs_.commands.empty() ? CostDecision{} : costs_.commands[index];
  reason.cost = decision.why;
  reason.byCost = !decision.onMain && !decision.why.empty();
  if (reason.byCost) {
    reason.refusals.push_back({main.name(), "by cost: " + decision.why});
  } else if (chooseOnMain(command, chosen).isOk()) {
    return chosen;
  }
  if (!reason.byCost && (!config_.allowFallback || main.name() == "cpu"))
    return Status::unsupported("{}: backend {} cannot run it: {}", command.def->type, main.name(),
                               joinRefusals(reason.refusals));
  OPKIT_TRY(chooseFallback(command, chosen));
  return chosen;
}

/// The kernel of the session's backend. Unsupported, with the refusals, if none fits.
Status Scheduler::chooseOnMain(const EncodedCommand& command, Chosen& chosen) {
  const Backend& main = backends_.main();
  const CommandView view = viewOf(command, kMainBackend);
  const CreateArgs args = view.args();
  Choice choice = chooseCreator(main.creators(args.def), args, config_.providers,
                                [&](const Creator& creator) { return fits(view, creator, chosen); });
  std::vector<Refusal>& refusals = chosen.reason.refusals;
  for (Refusal& refusal : choice.refusals)
    refusals.push_back({main.name() + "/" + refusal.provider, refusal.reason, refusal.byDevice, refusal.loopLimit});
  chosen.creator = choice.creator;
  if (choice.creator) return Status::ok();
  if (choice.refusals.empty()) refusals.push_back({main.name(), fmt::format("{}: no kernel", args.def.type)});
  return Status::unsupported("{}", joinRefusals(refusals));
}

/// Unsupported if the kernel cannot run these shapes on the session's device. Other errors are left for the resize to
/// report.
Status Scheduler::fits(const CommandView& view, const Creator& creator, Chosen& chosen) {
  Backend& main = backends_.main();
  const CreateArgs args = view.args();
  Result<ExecutionPool::Lease> execution = executions_.take(creator, args, main);
  if (!execution) return Status::ok();
  const Result<size_t> bytes = planAlone(main, **execution, args, creator.layout, view.contents());
  if (!bytes && bytes.error().code() == StatusCode::Unsupported) {
    execution->discard();
    return bytes.error();
  }
  chosen.execution = std::move(*execution);
  chosen.scratchBytes = bytes ? std::optional(*bytes) : std::nullopt;
  return Status::ok();
}

/// The CPU kernel for commands that the session's backend does not run.
Status Scheduler::chooseFallback(const EncodedCommand& command, Chosen& chosen) {
  OPKIT_ASSIGN(chosen.backend, backends_.fallback());
  const CommandView view = viewOf(command, chosen.backend);
  const CreateArgs args = view.args();
  Choice choice = chooseCreator(backends_.at(chosen.backend).creators(args.def), args, config_.providers);
  std::vector<Refusal>& refusals = chosen.reason.refusals;
  for (Refusal& refusal : choice.refusals) refusals.push_back({"cpu/" + refusal.provider, refusal.reason});
  chosen.creator = choice.creator;
  if (chosen.creator) return Status::ok();
  return Status::unsupported("{}: no backend can run it: {}", command.def->type, joinRefusals(refusals));
}

SlotId Scheduler::addSlot(Slot::Kind kind, TensorId tensor, BackendIndex backend, Layout layout) {
  Slot slot;
  slot.kind = kind;
  slot.tensor = tensor;
  slot.backend = backend;
  slot.first = slot.last = schedule_.steps.nextId();
  slot.device.desc = graph_.descs[tensor];
  slot.device.desc.dtype = backends_.at(backend).storageDType(slot.device.desc.dtype);
  slot.device.layout = layout;
  return schedule_.slots.push_back(std::move(slot));
}

Result<SlotId> Scheduler::slotFor(TensorId tensor, BackendIndex backend, Layout layout) {
  if (const auto found = slotIndex_.find({tensor, backend, layout}); found != slotIndex_.end()) return found->second;
  const bool isHome = homes_.backend[tensor] == backend;
  const Layout kept = isHome ? homes_.layout[tensor] : Layout::NCHW;
  SlotId slot;
  if (kept != layout) {
    OPKIT_ASSIGN(const SlotId source, slotFor(tensor, backend, kept));
    slot = addSlot(Slot::Kind::Planned, tensor, backend, layout);
    OPKIT_TRY(appendConversion(source, slot));
  } else if (graph_.contents[tensor]) {
    slot = addSlot(Slot::Kind::Constant, tensor, backend);
  } else if (graph_.alias[tensor] != tensor) {
    OPKIT_ASSIGN(const SlotId owner, slotFor(graph_.alias[tensor], backend));
    slot = addSlot(Slot::Kind::View, tensor, backend);
    Slot& view = schedule_.slots[slot];
    view.owner = owner;
    view.viewOffsetBytes = bytesOf(view.device.desc.dtype, graph_.aliasOffset[tensor]);
  } else if (!homes_.backend[tensor]) {
    OPKIT_CHECK(isInput_[tensor]);
    slot = addSlot(Slot::Kind::Input, tensor, backend);
    readInput(schedule_.slots[slot]);
  } else {
    OPKIT_ASSIGN(const SlotId source, slotFor(tensor, homes_.backend[tensor]));
    slot = addSlot(Slot::Kind::Planned, tensor, backend);
    appendCopy(source, slot);
  }
  slotIndex_[{tensor, backend, layout}] = slot;
  return slot;
}

/// How an input comes to its backend. On the host it is read in place; on a device a value from around a node is
/// written once, unless memory is short. A harness wants each tensor in memory of its own.
void Scheduler::readInput(Slot& slot) const {
  slot.first = StepId(0);
  if (!takesCallersMemory()) return;
  if (backends_.at(slot.backend).sharesHostMemory()) {
    slot.kind = Slot::Kind::Borrowed;
    return;
  }
  const auto input = static_cast<size_t>(std::ranges::find(model_.inputs, slot.tensor) - model_.inputs.begin());
  const InputSource source = input < sources_.size() ? sources_[input] : InputSource::Caller;
  slot.isKept = source == InputSource::Capture && config_.memoryLimitBytes == 0 && config_.memory == MemoryHint::Normal;
}

/// Both slots are on one backend.
Status Scheduler::appendConversion(SlotId from, SlotId to) {
  const Slot& target = schedule_.slots[to];
  const EncodedCommand& command = schedule_.conversions.emplace_back(EncodedCommand{
      .def = &convertCard(), .inputs = {target.tensor}, .outputs = {target.tensor}, .ownParams = ParamBytes()});
  Backend& backend = backends_.at(target.backend);
  const CommandView view = viewOf(command, target.backend);
  const CreateArgs args = view.args();
  const Choice choice = chooseCreator(backend.creators(args.def), args);
  if (!choice.creator)
    return Status::internal("{}: no kernel converts between layouts: {}", backend.name(),
                            joinRefusals(choice.refusals));
  OPKIT_ASSIGN(auto execution, executions_.take(*choice.creator, args, backend));
  KernelStep step{&command, target.backend, choice.creator, std::move(execution)};
  step.inputs = {from};
  step.outputs = {to};
  touch(from);
  schedule_.steps.emplace_back(std::move(step));
  return Status::ok();
}

void Scheduler::appendCopy(SlotId from, SlotId to) {
  touch(from);
  schedule_.steps.emplace_back(CopyStep{from, to});
}

/// The next step uses the slot: its memory must live until then.
void Scheduler::touch(SlotId slot) {
  if (!slot) return;
  Slot& used = schedule_.slots[slot];
  Slot& owner = used.owner ? schedule_.slots[used.owner] : used;
  owner.last = std::max(owner.last, schedule_.steps.nextId());
}

/// Nothing else uses the bytes of kept inputs.
void Scheduler::keepInputs() {
  for (Slot& slot : schedule_.slots) {
    if (!slot.isKept) continue;
    slot.isReused = false;
    slot.last = schedule_.steps.nextId();
  }
}

void Scheduler::keepEverything() {
  for (Slot& slot : schedule_.slots) {
    slot.isReused = false;
    slot.first = StepId(0);
    slot.last = schedule_.steps.nextId();
  }
}

/// The slot of an input that nothing reads after this step, and that the card lets the first output overwrite; absent
/// if there is none.
SlotId Scheduler::reusableInput(StepId index) const {
  const auto* kernel = std::get_if<KernelStep>(&schedule_.steps[index]);
  if (!kernel || kernel->command->regions || !kernel->outputs[0]) return {};
  const KernelStep& step = *kernel;
  const std::vector<int>& allowed = step.command->def->inPlace;
  const Tensor& output = schedule_.slots[step.outputs[0]].device;
  for (const int port : allowed) {
    if (static_cast<size_t>(port) >= step.inputs.size() || !step.inputs[static_cast<size_t>(port)]) continue;
    const SlotId slot = step.inputs[static_cast<size_t>(port)];
    const Tensor& input = schedule_.slots[slot].device;
    const Slot& owner = schedule_.slots[ownerOf(slot)];
    const bool dies = owner.isPlaced() && owner.backend == step.backend && owner.last == index;
    if (!dies || input.desc != output.desc || input.layout != output.layout) continue;
    // Another input in the same memory must be read element by element too.
    bool alone = true;
    for (size_t i = 0; i < step.inputs.size(); ++i)
      if (step.inputs[i] && ownerOf(step.inputs[i]) == ownerOf(slot))
        alone = alone && std::ranges::find(allowed, static_cast<int>(i)) != allowed.end() &&
                schedule_.slots[step.inputs[i]].device.desc == output.desc &&
                schedule_.slots[step.inputs[i]].viewOffsetBytes == schedule_.slots[slot].viewOffsetBytes;
    if (alone) return slot;
  }
  return {};
}

void Scheduler::reuseInputs() {
  IndexedVector<SlotId, std::vector<SlotId>> views(schedule_.slots.size());  // of an owner
  for (const SlotId s : schedule_.slots.ids())
    if (const SlotId owner = schedule_.slots[s].owner; owner) views[owner].push_back(s);
  for (const StepId i : schedule_.steps.ids()) {
    const SlotId input = reusableInput(i);
    if (!input) continue;
    const SlotId taken = std::get<KernelStep>(schedule_.steps[i]).outputs[0];
    const SlotId owner = ownerOf(input);
    const size_t offsetBytes = schedule_.slots[input].viewOffsetBytes;
    Slot& output = schedule_.slots[taken];
    schedule_.slots[owner].last = std::max(schedule_.slots[owner].last, output.last);
    output.kind = Slot::Kind::View;
    output.owner = owner;
    output.viewOffsetBytes = offsetBytes;
    // Views have one owner, never a chain. The owner's own list need not grow: steps come in order, and whether it is
    // taken over itself was decided when it was made.
    for (const SlotId view : views[taken]) {
      schedule_.slots[view].owner = owner;
      schedule_.slots[view].viewOffsetBytes += offsetBytes;
    }
    ++schedule_.inPlace;
  }
}

/// On the host, outputs that are the whole of their memory get the caller's. The first of those that share it; the
/// others are copied. Copies between backends, and some kernels, look at the memory before there is a run.
void Scheduler::lendOutputs() {
  const auto keepsOutputs = [](const Execution& execution) {
    const auto* keeps = dynamic_cast<const KeepsOutputs*>(&execution);
    return keeps && keeps->keepsOutputs();
  };
  std::vector<SlotId> placed;
  for (const Step& step : schedule_.steps)
    if (const auto* copy = std::get_if<CopyStep>(&step)) {
      placed.push_back(ownerOf(copy->from));
      placed.push_back(ownerOf(copy->to));
    } else if (const auto* kernel = std::get_if<KernelStep>(&step); keepsOutputs(*kernel->execution)) {
      for (const SlotId output : kernel->outputs)
        if (output) placed.push_back(ownerOf(output));
    }
  for (size_t i = 0; i < schedule_.outputs.size(); ++i) {
    const SlotId slot = schedule_.outputs[i];
    if (!slot) continue;
    const SlotId owner = ownerOf(slot);
    Slot& whole = schedule_.slots[owner];
    const Slot& part = schedule_.slots[slot];
    const bool isWhole = part.viewOffsetBytes == 0 && part.device.sizeBytes() == whole.device.sizeBytes() &&
                         part.device.desc.dtype == graph_.descs[model_.outputs[i]].dtype &&
                         part.device.layout == Layout::NCHW;
    if (whole.kind != Slot::Kind::Planned || !isWhole || !backends_.at(whole.backend).sharesHostMemory() ||
        std::ranges::find(placed, owner) != placed.end())
      continue;
    whole.kind = Slot::Kind::Lent;
    whole.output = i;
  }
}

/// A copy is a segment of its own.
void Scheduler::numberSegments() {
  KernelStep* before = nullptr;
  for (Step& step : schedule_.steps) {
    auto* kernel = std::get_if<KernelStep>(&step);
    const bool begins = !kernel || !before || before->backend != kernel->backend;
    if (begins) ++schedule_.segments;
    if (before) before->endsSegment = begins;
    before = kernel;
  }
  if (before) before->endsSegment = true;
}

}  // namespace

Result<BackendSet> BackendSet::create(const Interpreter& interpreter, const SessionConfig& config,
                                      const std::shared_ptr<Runtime>& runtime, std::shared_ptr<BackendShare> share) {
  OPKIT_TRY(config.providers.check(interpreter.registry()));
  BackendSet set;
  set.interpreter_ = &interpreter;
  set.config_ = config;
  set.runtime_ = runtime;
  set.share_ = std::move(share);
  OPKIT_ASSIGN(auto backend, runtime->createBackend(interpreter.registry(), set.configOf(kMainBackend)));
  backend->shareConstants(interpreter.constantsOn(runtime));
  set.backends_.push_back(std::move(backend));
  return set;
}

BackendConfig BackendSet::configOf(BackendIndex index) const {
  BackendConfig config{config_.threads, config_.precision, config_.profile,    config_.storage,     config_.tune,
                       config_.memory,  config_.power,     config_.guardBytes, config_.alternative, share_};
  if (index == kMainBackend) return config;
  config.precision = Precision::High;
  config.storage = Storage::Auto;
  config.tune = false;
  config.guardBytes = 0;
  config.alternative.reset();
  return config;
}

Result<std::unique_ptr<Backend>> BackendSet::twin(BackendIndex index) const {
  BackendConfig config = configOf(index);
  config.deviceTimestamps = true;
  return runtime(index).createBackend(interpreter_->registry(), config);
}

Result<BackendIndex> BackendSet::fallback() {
  for (const BackendIndex i : ids())
    if (backends_[i]->name() == "cpu") return i;
  OPKIT_ASSIGN(cpuRuntime_, interpreter_->runtimeOf({.backend = "cpu", .cacheDir = config_.cacheDir}));
  OPKIT_ASSIGN(auto backend, cpuRuntime_->createBackend(interpreter_->registry(), configOf(backends_.nextId())));
  backend->shareConstants(interpreter_->constantsOn(cpuRuntime_));
  return backends_.push_back(std::move(backend));
}

Result<Schedule> makeSchedule(const Model& model, const EncodedGraph& graph, const SessionConfig& config,
                              std::span<const InputSource> sources, BackendSet& backends, ExecutionPool& executions,
                              const std::atomic<bool>& ending) {
  return Scheduler(model, graph, config, sources, backends, executions, ending).build();
}

Status requireSession(const std::atomic<bool>& ending) {
  return ending ? Status::internal("the session is being destroyed") : Status::ok();
}

}  // namespace opkit
