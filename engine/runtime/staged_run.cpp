#include "engine/runtime/staged_run.h"

#include <utility>

#include "engine/graph/stages.h"
#include "engine/runtime/body_runner.h"
#include "engine/tensor/objects.h"

namespace opkit {
namespace {

/// Of an input of a stage: the run holds all values, and some are captures of the whole model.
InputSource sourceOf(TensorId input, const Model& model, const InterpreterOptions& options) {
  const auto i = static_cast<size_t>(std::ranges::find(model.inputs, input) - model.inputs.begin());
  return i < options.sources.size() ? options.sources[i] : InputSource::Run;
}

}  // namespace

Result<std::shared_ptr<const StagePlan>> StagePlan::create(const Model& model, const OpRegistry& registry,
                                                           const InterpreterOptions& options) {
  auto plan = std::make_shared<StagePlan>();
  for (Stage& stage : splitIntoStages(model, registry)) {
    Step step{nullptr, std::move(stage.inputs), std::move(stage.outputs), {}};
    if (!step.outputs.empty()) {
      InterpreterOptions own{options.disabledPasses};
      for (const TensorId input : step.inputs) own.sources.push_back(sourceOf(input, model, options));
      OPKIT_ASSIGN(step.interpreter, Interpreter::create(std::move(stage.model), registry, std::move(own)));
    }
    for (const NodeId n : stage.control) {
      Control control{n, {}};
      for (const Subgraph& subgraph : model.nodes[n].subgraphs) {
        auto interpreter =
            Interpreter::create(bodyOf(subgraph), registry, {options.disabledPasses, sourcesOf(subgraph)});
        if (!interpreter)
          return interpreter.error().withContext(fmt::format("'{}' of node '{}'", subgraph.name, model.nodes[n].name));
        control.subgraphs.push_back(*std::move(interpreter));
      }
      step.control.push_back(std::move(control));
    }
    plan->steps.push_back(std::move(step));
  }
  return std::shared_ptr<const StagePlan>(std::move(plan));
}

namespace {

/// Each stage has an arena and constants of its own: peaks add up like everything else.
void addMemory(std::vector<MemoryStatistics>& sum, const MemoryStatistics& part) {
  const auto known = std::ranges::find(sum, part.backend, &MemoryStatistics::backend);
  if (known == sum.end()) return sum.push_back(part);
  using M = MemoryStatistics;
  for (size_t M::*bytes : {&M::arenaBytes, &M::constantBytes, &M::plannedPeakBytes, &M::lowerBoundBytes,
                           &M::dynamicBytes, &M::separateBytes})
    (*known).*bytes += part.*bytes;
  known->largestScratchBytes = std::max(known->largestScratchBytes, part.largestScratchBytes);
}

void addPart(SessionStatistics& sum, const SessionStatistics& part) {
  for (const MemoryStatistics& memory : part.memory) addMemory(sum.memory, memory);
  using S = SessionStatistics;
  for (size_t S::*count : {&S::plannedPeakBytes, &S::lowerBoundBytes, &S::foldedNodes, &S::removedRasters,
                           &S::fusedRegions, &S::partialViews, &S::loopRegions, &S::executionsCreated, &S::segments,
                           &S::stages, &S::plansMade, &S::plansFound, &S::plansKept})
    sum.*count += part.*count;
  if (sum.moveError.empty()) sum.moveError = part.moveError;
}

}  // namespace

struct StagedRun::Control {
  const ModelNode* node;
  const OpDef* def;
  std::vector<std::unique_ptr<BodyRunner>> runners;
};

struct StagedRun::Step {
  std::unique_ptr<Session> session;  // null if there is nothing to run
  std::vector<TensorId> inputs;      // tensors of the whole model
  std::vector<TensorId> outputs;
  std::vector<Control> control;
};

StagedRun::StagedRun(const Model& model, const SessionConfig& config, std::shared_ptr<SessionShare> share)
    : model_(model),
      backend_(config.backend),
      share_(std::move(share)),
      values_(model.tensors.size()),
      versions_(model.tensors.size(), 0) {
  for (const TensorId t : values_.ids()) {
    if (!model_.tensors[t].constant) continue;
    setValue(t, *model_.tensors[t].constant);
    constants_.insert(values_[t].buffer.get());
  }
}

StagedRun::~StagedRun() = default;

Result<std::unique_ptr<StagedRun>> StagedRun::create(const Interpreter& interpreter, const StagePlan& plan,
                                                     const SessionConfig& config,
                                                     const std::shared_ptr<Runtime>& runtime,
                                                     const std::shared_ptr<SessionShare>& share) {
  const Model& model = interpreter.model();
  std::unique_ptr<StagedRun> staged(new StagedRun(model, config, share));
  const auto runPart = [self = staged.get()](Session& session, const std::string& prefix) {
    return self->runPart(session, prefix);
  };
  for (const StagePlan::Step& planned : plan.steps) {
    Step step{nullptr, planned.inputs, planned.outputs, {}};
    if (planned.interpreter) {
      OPKIT_ASSIGN(step.session, planned.interpreter->createPart(config, runtime, share));
    }
    for (const StagePlan::Control& one : planned.control) {
      const ModelNode& node = model.nodes[one.node];
      Control control{&node, interpreter.registry().find(node.type), {}};
      for (size_t k = 0; k < one.subgraphs.size(); ++k) {
        OPKIT_ASSIGN(auto session, one.subgraphs[k]->createPart(config, runtime, share));
        control.runners.push_back(
            std::make_unique<BodyRunner>(node.name, node.subgraphs[k], std::move(session), *share, runPart));
      }
      step.control.push_back(std::move(control));
    }
    staged->steps_.push_back(std::move(step));
  }
  return staged;
}

/// A value without a version gets one that no other has.
void StagedRun::setValue(TensorId tensor, Tensor value, uint64_t version) {
  values_[tensor] = std::move(value);
  versions_[tensor] = version != 0 ? version : ++share_->lastVersion;
}

void StagedRun::start(const RunInputs& inputs) {
  for (const Step& step : steps_) {
    for (const TensorId output : step.outputs) values_[output] = {};
    for (const Control& control : step.control)
      for (const TensorId output : control.node->outputs)
        if (output) values_[output] = {};
  }
  for (size_t i = 0; i < inputs.tensors.size(); ++i) setValue(model_.inputs[i], inputs.tensors[i], inputs.versions[i]);
}

Status StagedRun::bind(Step& step) {
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const Tensor& value = values_[step.inputs[i]];
    OPKIT_CHECK(value.buffer != nullptr);
    step.session->bindInput(i, value, versions_[step.inputs[i]]);
  }
  return Status::ok();
}

Result<bool> StagedRun::resize(const RunInputs& inputs) {
  Step& first = steps_.front();
  if (!first.session) return false;
  start(inputs);
  const size_t before = first.session->statistics().resizes;
  OPKIT_TRY(bind(first));
  OPKIT_TRY(first.session->resize());
  return first.session->statistics().resizes > before;
}

Result<std::vector<Tensor>> StagedRun::run(const RunInputs& inputs) {
  start(inputs);
  for (Step& step : steps_) {
    if (step.session) {
      OPKIT_TRY(bind(step));
      OPKIT_TRY(runPart(*step.session, ""));
      for (size_t i = 0; i < step.outputs.size(); ++i) setValue(step.outputs[i], step.session->outputs()[i]);
    }
    for (Control& control : step.control)
      if (const Status status = runControl(control); !status.isOk())
        return status.withContext(fmt::format("node '{}'", control.node->name));
  }
  return ownOutputs(inputs.tensors);
}

/// The model's outputs. One that is an input, a constant or another output is copied: whoever writes to one of them
/// must not change the others.
Result<std::vector<Tensor>> StagedRun::ownOutputs(std::span<const Tensor> inputs) const {
  std::vector<Tensor> outputs;
  outputs.reserve(model_.outputs.size());
  for (const TensorId output : model_.outputs) {
    const Tensor& value = values_[output];
    OPKIT_TRY(checkDeclared(model_.tensors[output], value.desc));
    const auto isSame = [&](const Tensor& other) { return other.buffer == value.buffer; };
    const bool taken = std::ranges::any_of(inputs, isSame) || std::ranges::any_of(outputs, isSame) ||
                       constants_.contains(value.buffer.get());
    outputs.push_back(value);
    if (!taken) continue;
    OPKIT_ASSIGN(outputs.back(), copyOf(value));
  }
  return outputs;
}

Result<std::optional<std::vector<Tensor>>> StagedRun::runWith(const CommandCallback& before,
                                                              const CommandCallback& after, const RunInputs& inputs) {
  const RunCallbacks::Scope scope(callbacks_, before, after);
  Result<std::vector<Tensor>> outputs = run(inputs);
  if (callbacks_.stopped) return std::optional<std::vector<Tensor>>();
  OPKIT_TRY(outputs.error());
  return std::optional(*std::move(outputs));
}

/// Runs a stage or a body, with the callbacks if there are any. `prefix` is put before the names of its nodes.
Status StagedRun::runPart(Session& session, const std::string& prefix) {
  if (!callbacks_.before && !callbacks_.after) return session.run();
  const auto named = [&prefix](const CommandCallback* callback) -> CommandCallback {
    if (!callback) return {};
    return [callback, &prefix](const CommandInfo& command) {
      CommandInfo inside = command;
      inside.node = prefix + command.node;
      return (*callback)(inside);
    };
  };
  OPKIT_ASSIGN(const bool ran, session.runWithCallback(named(callbacks_.before), named(callbacks_.after)));
  callbacks_.stopped = !ran;
  return ran ? Status::ok() : Status::internal("a callback stopped the run");
}

Status StagedRun::call(const CommandCallback* callback, const Control& control) {
  if (!callback) return Status::ok();
  const auto names = [&](const std::vector<TensorId>& tensors) {
    std::vector<std::string> list;
    for (const TensorId t : tensors) list.push_back(!t ? "" : model_.tensors[t].name);
    return list;
  };
  const auto read = [&](const std::vector<TensorId>& tensors) {
    return [&](size_t i) -> Result<Tensor> {
      if (i >= tensors.size() || !tensors[i] || !values_[tensors[i]].buffer)
        return Status::invalidArgument("the command has no tensor {} there, of {}", i, tensors.size());
      return copyOf(values_[tensors[i]]);
    };
  };
  const ModelNode& node = *control.node;
  callbacks_.stopped = !(*callback)(
      {node.name, node.type, "host", names(node.inputs), names(node.outputs), read(node.inputs), read(node.outputs)});
  return callbacks_.stopped ? Status::internal("a callback stopped the run") : Status::ok();
}

Status StagedRun::runControl(Control& control) {
  OPKIT_TRY(call(callbacks_.before, control));
  OPKIT_TRY(evaluate(control));
  return call(callbacks_.after, control);
}

Status StagedRun::evaluate(Control& control) {
  std::vector<Tensor> inputs;
  std::vector<uint64_t> versions;
  for (const TensorId input : control.node->inputs) {
    inputs.push_back(!input ? Tensor() : values_[input]);
    versions.push_back(!input ? 0 : versions_[input]);
  }
  std::vector<SubgraphRunner*> runners;
  for (const auto& runner : control.runners) {
    runner->capture({inputs, versions});
    runners.push_back(runner.get());
  }
  const std::vector<TensorId>& made = control.node->outputs;
  OPKIT_ASSIGN(std::vector<Tensor> outputs,
               runOnHost(*control.def, {control.node->params, inputs, runners, made.size()}));
  for (size_t i = 0; i < made.size(); ++i)
    if (made[i]) setValue(made[i], std::move(outputs[i]));
  return Status::ok();
}

Result<std::vector<TensorDesc>> StagedRun::outputDescs(const RunInputs& inputs) {
  const RunCallbacks::Scope silent(callbacks_, {}, {});
  start(inputs);
  for (Step& step : steps_) {
    if (step.session) {
      OPKIT_TRY(bind(step));
      OPKIT_ASSIGN(const std::vector<TensorDesc> descs, step.session->plannedOutputs());
      for (size_t i = 0; i < step.outputs.size(); ++i) setValue(step.outputs[i], withoutValue(descs[i]));
    }
    for (Control& control : step.control)
      OPKIT_TRY(evaluate(control).withContext(fmt::format("node '{}'", control.node->name)));
  }
  std::vector<TensorDesc> descs;
  for (const TensorId output : model_.outputs) descs.push_back(values_[output].desc);
  return descs;
}

template <class Visit>
void StagedRun::forEachSession(Visit&& visit) const {
  for (const Step& step : steps_) {
    if (step.session) visit(*step.session);
    for (const Control& control : step.control)
      for (const auto& runner : control.runners) visit(runner->session());
  }
}

Result<Tensor> StagedRun::readTensor(const std::string& name) {
  const TensorId tensor = model_.findTensor(name);
  if (tensor && values_[tensor].buffer) return copyOf(values_[tensor]);
  for (Step& step : steps_) {
    if (!step.session) continue;
    Result<Tensor> value = step.session->readTensor(name);
    if (value) return value;
  }
  return Status::invalidArgument("tensor '{}' has no value after this run", name);
}

Status StagedRun::waitForMove() {
  Status status;
  forEachSession([&](Session& session) {
    const Status moved = session.waitForMove();
    if (status.isOk()) status = moved;
  });
  return status;
}

std::string StagedRun::runsOn() const {
  SessionStatistics statistics;
  addStatistics(statistics);
  return statistics.runsOn;
}

Status StagedRun::checkGuards() {
  Status status;
  forEachSession([&](Session& session) {
    if (status.isOk()) status = session.checkGuards();
  });
  return status;
}

std::vector<Placement> StagedRun::placement() const {
  std::vector<Placement> rows;
  for (const Step& step : steps_) {
    if (step.session)
      for (Placement& row : step.session->placement()) rows.push_back(std::move(row));
    for (const Control& control : step.control) {
      Placement row;
      row.node = control.node->name;
      row.type = control.def->type;
      row.backend = "host";
      row.provider = "control";
      rows.push_back(std::move(row));
      for (const auto& runner : control.runners) {
        for (Placement& inner : runner->session().placement()) {
          inner.node = fmt::format("{}/{}/{}", control.node->name, runner->name(), inner.node);
          rows.push_back(std::move(inner));
        }
      }
    }
  }
  return rows;
}

/// One look at each part: its statistics look at those inside it, and two looks per level would double with each.
void StagedRun::addStatistics(SessionStatistics& statistics) const {
  statistics.stages = 0;
  statistics.runsOn = backend_;
  forEachSession([&](Session& session) {
    const SessionStatistics part = session.statistics();
    if (part.plansMade > 0 && part.runsOn != backend_) statistics.runsOn = part.runsOn;
    addPart(statistics, part);
  });
}

BackendCounters StagedRun::counters() const {
  BackendCounters sum;
  forEachSession([&](Session& session) { sum += session.counters(); });
  return sum;
}

}  // namespace opkit
