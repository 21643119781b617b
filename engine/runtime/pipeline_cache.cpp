#include "engine/runtime/pipeline_cache.h"

#include "engine/base/hostile_memory.h"

namespace opkit {

namespace {

/// The reference backend is for comparisons: there everything is the oracle's.
FoldingOptions foldingOn(PipelineParts& parts) {
  if (parts.backends.main().name() == "reference") return {};
  FoldingOptions options;
  options.backend = &parts.backends.main();
  options.providers = parts.config.providers;
  options.mayRefuse = !parts.config.allowFallback || !parts.config.providers.rules.empty();
  options.cpu = [&parts]() -> Result<Backend*> {
    OPKIT_ASSIGN(const BackendIndex cpu, parts.backends.fallback());
    return &parts.backends.at(cpu);
  };
  return options;
}

}  // namespace

PipelineCache::PipelineCache(const Interpreter& interpreter, const SessionConfig& config,
                             std::shared_ptr<SessionShare> share, MemoryBudget& budget)
    : parts_{interpreter.model(), interpreter.registry(), interpreter.options().sources, config, std::move(share)},
      budget_(budget) {}

PipelineCache::~PipelineCache() { budget_.leave(*this); }

Result<std::unique_ptr<PipelineCache>> PipelineCache::create(const Interpreter& interpreter,
                                                             const SessionConfig& config,
                                                             const std::shared_ptr<Runtime>& runtime,
                                                             std::shared_ptr<SessionShare> share,
                                                             MemoryBudget& budget) {
  std::unique_ptr<PipelineCache> cache(new PipelineCache(interpreter, config, std::move(share), budget));
  PipelineParts& parts = cache->parts_;
  OPKIT_ASSIGN(parts.referenceRuntime, createRuntime("reference"));
  OPKIT_ASSIGN(parts.reference, parts.referenceRuntime->createBackend(interpreter.registry(), {.threads = 1}));
  OPKIT_ASSIGN(parts.backends, BackendSet::create(interpreter, config, runtime, parts.share->backends));
  // A harness that reads or guards every tensor needs separate memory for each.
  const EncodeOptions options{.views = !config.keepTensors && config.guardBytes == 0,
                              .disabledPasses = interpreter.options().disabledPasses,
                              .viewsOn = &parts.backends.main(),
                              .folded = interpreter.foldedConstants(),
                              .folding = foldingOn(parts)};
  parts.encoder = std::make_unique<GraphEncoder>(parts.model, parts.registry, *parts.reference, options);
  parts.watched = parts.encoder->contentPlan().inputs;
  return cache;
}

bool PipelineCache::isCurrent(std::span<const Tensor> inputs) const {
  return hasCurrent_ && pipelines_.front()->isBound() && pipelines_.front()->fits(inputs);
}

Status PipelineCache::plan(std::span<const Tensor> inputs) {
  const auto known =
      std::ranges::find_if(pipelines_, [&](const std::unique_ptr<Pipeline>& each) { return each->fits(inputs); });
  hasCurrent_ = false;
  if (known == pipelines_.end()) {
    OPKIT_TRY(add(inputs));
    ++planned_;
  } else {
    pipelines_.splice(pipelines_.begin(), pipelines_, known);
    ++found_;
  }
  return Status::ok();
}

Status PipelineCache::resize(const RunInputs& inputs) {
  OPKIT_TRY(plan(inputs.tensors));
  OPKIT_TRY(bindCurrent(inputs));
  if (HostileMemory::isOn()) dropUnused();
  hasCurrent_ = true;
  return Status::ok();
}

Status PipelineCache::add(std::span<const Tensor> inputs) {
  const bool large = parts_.config.memory == MemoryHint::Normal;
  const size_t kept = large ? std::max<size_t>(parts_.config.planCacheSize, 1) : 1;
  while (pipelines_.size() >= kept) pipelines_.pop_back();  // the new one takes over their Executions
  for (const BackendIndex b : parts_.backends.ids()) parts_.backends.at(b).constants().dropUnreachable();
  auto pipeline = std::make_unique<Pipeline>(parts_);
  const size_t discarded = parts_.executions.discarded();
  OPKIT_TRY(pipeline->plan(inputs));
  mostSteps_ = std::max(mostSteps_, pipeline->stepCount());
  parts_.executions.trim(kept * mostSteps_);
  if (parts_.executions.discarded() > discarded) dropUnused();
  pipelines_.push_front(std::move(pipeline));
  return Status::ok();
}

/// A refused plan leaves nothing behind that would count against smaller shapes.
Status PipelineCache::bindCurrent(const RunInputs& inputs) {
  Status status = takeMemory();
  if (status.isOk()) status = current().bind(inputs);
  if (status.isOk() && !hold(false).isOk()) {  // constants were uploaded meanwhile, beside arenas of larger plans
    status = takeMemory();
    if (status.isOk()) status = current().bind(inputs);
  }
  if (status.isOk()) return status;
  pipelines_.pop_front();
  freeMemory();
  budget_.freed(*this);
  return status;
}

/// Makes the arenas at least as large as the current plan needs, and no larger than the budget allows.
Status PipelineCache::takeMemory() {
  parts_.arenas.resize(parts_.backends.size());
  if (!hold(false).isOk()) {
    keepOnlyCurrent();
    OPKIT_TRY(hold(true));
  }
  for (const BackendIndex b : parts_.arenas.ids()) {
    const size_t bytes = current().arenaBytes(b);
    std::shared_ptr<Buffer>& arena = parts_.arenas[b];
    if (bytes == 0 || (arena && arena->sizeBytes() >= bytes)) continue;
    giveUpPlaces();
    arena.reset();  // before the larger one is allocated
    OPKIT_ASSIGN(arena, parts_.backends.at(b).allocate(bytes));
  }
  return Status::ok();
}

/// Asks the budget for what the current plan needs and, unless `onlyCurrent`, the larger arenas of other plans.
Status PipelineCache::hold(bool onlyCurrent) {
  size_t bytes = 0;
  MemoryBudget::Stores stores;
  for (const BackendIndex b : parts_.arenas.ids()) {
    const std::shared_ptr<Buffer>& arena = parts_.arenas[b];
    bytes += std::max(current().arenaBytes(b), arena && !onlyCurrent ? arena->sizeBytes() : 0);
    stores.push_back(&parts_.backends.at(b).constants());
  }
  return budget_.hold(*this, bytes, stores);
}

void PipelineCache::keepOnlyCurrent() {
  freeMemory();
  pipelines_.erase(std::next(pipelines_.begin()), pipelines_.end());
  parts_.executions.trim(0);
  dropUnused();
}

void PipelineCache::dropUnused() {
  for (const BackendIndex b : parts_.backends.ids()) parts_.backends.at(b).constants().dropUnused();
}

bool PipelineCache::giveUpMemory() {
  if (parts_.config.keepTensors || parts_.config.guardBytes > 0) return false;  // both are read after a run
  freeMemory();
  return true;
}

void PipelineCache::freeMemory() {
  giveUpPlaces();
  for (std::shared_ptr<Buffer>& arena : parts_.arenas) arena.reset();
}

/// Recordings are freed before the memory that they refer to.
void PipelineCache::giveUpPlaces() {
  for (const std::unique_ptr<Pipeline>& pipeline : pipelines_) pipeline->unbind();
}

void PipelineCache::addStatistics(SessionStatistics& statistics) const {
  statistics.plansMade = planned_;
  statistics.plansFound = found_;
  statistics.plansKept = pipelines_.size();
  for (const BackendIndex b : parts_.backends.ids()) {
    MemoryStatistics memory{.backend = parts_.backends.at(b).name()};
    if (parts_.arenas.contains(b) && parts_.arenas[b]) memory.arenaBytes = parts_.arenas[b]->sizeBytes();
    memory.constantBytes = parts_.backends.at(b).constants().bytes();
    if (hasCurrent_) pipelines_.front()->addMemory(b, memory);
    statistics.memory.push_back(std::move(memory));
  }
  if (!statistics.memory.empty()) {
    statistics.plannedPeakBytes = statistics.memory.front().plannedPeakBytes;
    statistics.lowerBoundBytes = statistics.memory.front().lowerBoundBytes;
  }
  statistics.executionsCreated += parts_.executions.created();
  statistics.lastExecution = parts_.executions.lastMade();
  if (hasCurrent_) pipelines_.front()->addStatistics(statistics);
}

BackendCounters PipelineCache::counters() const {
  BackendCounters sum;
  for (const BackendIndex b : parts_.backends.ids()) sum += parts_.backends.at(b).counters();
  return sum;
}

}  // namespace opkit
