#include "engine/runtime/pipeline_cache.h"

namespace opkit {

PipelineCache::PipelineCache(const Interpreter& interpreter, const SessionConfig& config)
    : parts_{interpreter.model(), interpreter.registry(), config} {}

PipelineCache::~PipelineCache() = default;

Result<std::unique_ptr<PipelineCache>> PipelineCache::create(const Interpreter& interpreter,
                                                             const SessionConfig& config,
                                                             const std::shared_ptr<Runtime>& runtime) {
  std::unique_ptr<PipelineCache> cache(new PipelineCache(interpreter, config));
  PipelineParts& parts = cache->parts_;
  OPKIT_ASSIGN(parts.referenceRuntime, createRuntime("reference"));
  OPKIT_ASSIGN(parts.reference, parts.referenceRuntime->createBackend(interpreter.registry(), {.threads = 1}));
  OPKIT_ASSIGN(parts.backends, BackendSet::create(interpreter, config, runtime));
  // A harness that reads or guards every tensor needs separate memory for each.
  const EncodeOptions options{.views = !config.keepTensors && config.guardBytes == 0,
                              .disabledPasses = interpreter.options().disabledPasses,
                              .viewsOn = &parts.backends.main(),
                              .folded = interpreter.foldedConstants()};
  parts.encoder = std::make_unique<GraphEncoder>(parts.model, parts.registry, *parts.reference, options);
  parts.watched = parts.encoder->contentPlan().inputs;
  return cache;
}

bool PipelineCache::isCurrent(std::span<const Tensor> inputs) const {
  return hasCurrent_ && pipelines_.front()->fits(inputs);
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

Status PipelineCache::resize(std::span<const Tensor> inputs) {
  OPKIT_TRY(plan(inputs));
  OPKIT_TRY(bindCurrent());
  hasCurrent_ = true;
  return Status::ok();
}

Status PipelineCache::add(std::span<const Tensor> inputs) {
  const bool large = parts_.config.memory == MemoryHint::Normal;
  const size_t kept = large ? std::max<size_t>(parts_.config.planCacheSize, 1) : 1;
  ExecutionCache executions;
  while (pipelines_.size() >= kept) {
    executions = pipelines_.back()->releaseExecutions();
    pipelines_.pop_back();
  }
  for (size_t b = 0; b < parts_.backends.size(); ++b) parts_.backends.at(b).constants().dropUnreachable();
  auto pipeline = std::make_unique<Pipeline>(parts_, nextId_++, std::move(executions));
  OPKIT_TRY(pipeline->plan(inputs));
  pipelines_.push_front(std::move(pipeline));
  return Status::ok();
}

Status PipelineCache::bindCurrent() {
  Pipeline& pipeline = current();
  parts_.arenas.resize(parts_.backends.size());
  OPKIT_TRY(checkLimit(pipeline));
  for (size_t b = 0; b < parts_.arenas.size(); ++b) {
    const size_t bytes = pipeline.arenaBytes(b);
    std::shared_ptr<Buffer>& arena = parts_.arenas[b];
    if (bytes == 0 || (arena && arena->sizeBytes() >= bytes)) continue;
    giveUpPlaces();
    arena.reset();  // before the larger one is allocated
    OPKIT_ASSIGN(arena, parts_.backends.at(b).allocate(bytes));
  }
  OPKIT_TRY(pipeline.bind());
  return checkLimit(pipeline);  // constants were uploaded meanwhile
}

Status PipelineCache::checkLimit(const Pipeline& pipeline) const {
  const size_t limit = parts_.config.memoryLimitBytes;
  if (limit == 0) return Status::ok();
  size_t arenas = 0;
  for (size_t b = 0; b < parts_.arenas.size(); ++b)
    arenas += std::max(pipeline.arenaBytes(b), parts_.arenas[b] ? parts_.arenas[b]->sizeBytes() : 0);
  const size_t constants = constantBytes();
  if (arenas + constants <= limit) return Status::ok();
  return Status::outOfMemory("these shapes need {} bytes of tensors and {} of constants, the limit is {}", arenas,
                             constants, limit);
}

/// Recordings are freed before the memory that they refer to.
void PipelineCache::giveUpPlaces() {
  for (const std::unique_ptr<Pipeline>& pipeline : pipelines_) pipeline->unbind();
}

size_t PipelineCache::constantBytes() const {
  size_t bytes = 0;
  for (size_t b = 0; b < parts_.backends.size(); ++b) bytes += parts_.backends.at(b).constants().bytes();
  return bytes;
}

bool PipelineCache::runsStepwise() const {
  return parts_.config.record == RecordMode::Direct || parts_.backends.main().sharesHostMemory();
}

void PipelineCache::addStatistics(SessionStatistics& statistics) const {
  statistics.plansMade = planned_;
  statistics.plansFound = found_;
  statistics.plansKept = pipelines_.size();
  for (size_t b = 0; b < parts_.backends.size(); ++b) {
    MemoryStatistics memory{.backend = parts_.backends.at(b).name()};
    if (b < parts_.arenas.size() && parts_.arenas[b]) memory.arenaBytes = parts_.arenas[b]->sizeBytes();
    memory.constantBytes = parts_.backends.at(b).constants().bytes();
    if (hasCurrent_) pipelines_.front()->addMemory(b, memory);
    statistics.memory.push_back(std::move(memory));
  }
  if (!statistics.memory.empty()) {
    statistics.plannedPeakBytes = statistics.memory.front().plannedPeakBytes;
    statistics.lowerBoundBytes = statistics.memory.front().lowerBoundBytes;
  }
  for (const std::unique_ptr<Pipeline>& pipeline : pipelines_)
    statistics.executionsCreated += pipeline->executionsCreated();
  if (hasCurrent_) pipelines_.front()->addStatistics(statistics);
}

BackendCounters PipelineCache::counters() const {
  BackendCounters sum;
  for (size_t b = 0; b < parts_.backends.size(); ++b) sum += parts_.backends.at(b).counters();
  return sum;
}

}  // namespace opkit
