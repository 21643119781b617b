#include "engine/backend/vulkan/tuner.h"

#include <algorithm>

#include "engine/backend/op_runner.h"
#include "engine/backend/vulkan/vulkan_backend.h"
#include "engine/base/clock.h"

namespace opkit::vulkan {
namespace {

constexpr double kEnoughNs = 2e7;  // of runs of one alternative
constexpr int kLeastRuns = 3;
constexpr int kMostRuns = 50;

/// Copies of `tensors` in separate memory.
Result<std::vector<Tensor>> ownTensors(VulkanBackend& backend, TensorList tensors) {
  std::vector<Tensor> own;
  for (const Tensor* tensor : tensors) {
    own.emplace_back();
    if (!tensor) continue;
    OPKIT_ASSIGN(own.back(), onDevice(backend, {tensor->desc, nullptr, 0, 0, tensor->layout}));
  }
  return own;
}

std::vector<const Tensor*> pointersTo(const std::vector<Tensor>& own, TensorList tensors) {
  std::vector<const Tensor*> pointers;
  for (size_t i = 0; i < own.size(); ++i) pointers.push_back(tensors[i] ? &own[i] : nullptr);
  return pointers;
}

}  // namespace

Result<size_t> Tuner::choose(const Alternatives& alternatives, TensorList inputs, TensorList outputs) {
  OPKIT_CHECK(alternatives.standard < alternatives.count);
  uint64_t& most = backend_.counters().alternatives;
  most = std::max<uint64_t>(most, alternatives.count);
  if (forced_) {
    if (const auto& listener = backend_.runtime().choiceListener()) {
      OfferedChoice offered{alternatives.name, alternatives.standard, {}};
      for (size_t i = 0; i < alternatives.count; ++i) offered.alternatives.emplace_back(i);
      listener(offered);
    }
    return *forced_ < alternatives.count ? *forced_ : alternatives.standard;
  }
  if (const auto choice = known(alternatives.name, alternatives.count)) return *choice;
  if (!enabled_ || alternatives.count == 1) return alternatives.standard;
  TuningCache::Entry entry{alternatives.standard, {}};
  for (size_t choice = 0; choice < alternatives.count; ++choice) {
    const Result<double> ns = time(alternatives, choice, inputs, outputs);
    ++backend_.counters().measurements;
    OPKIT_TRY(note(ns, alternatives.name, entry));
    const double best = entry.ns[entry.choice < entry.ns.size() ? entry.choice : 0];
    if (ns && (best == kNotAble || *ns <= best || entry.choice >= entry.ns.size())) entry.choice = choice;
  }
  backend_.runtime().tuning().put(alternatives.name, entry);
  return entry.choice;
}

std::optional<size_t> Tuner::known(const std::string& name, size_t count) const {
  VulkanRuntime& runtime = backend_.runtime();
  for (const TuningCache* source : {&std::as_const(runtime.tuning()), enabled_ ? nullptr : runtime.guesses()})
    if (const auto entry = source ? source->find(name) : std::nullopt; entry && entry->ns.size() == count)
      return entry->choice;
  return std::nullopt;
}

bool Tuner::isRefusal(const Status& status) {
  return status.code() == StatusCode::Unsupported || status.code() == StatusCode::OutOfMemory;
}

Status Tuner::note(const Result<double>& ns, const std::string& name, TuningCache::Entry& entry) {
  if (!ns && !isRefusal(ns.error())) return ns.error().withContext(fmt::format("tuning {}", name));
  entry.ns.push_back(ns ? *ns : kNotAble);
  return Status::ok();
}

Result<double> Tuner::time(const Alternatives& alternatives, size_t choice, TensorList inputs, TensorList outputs) {
  OPKIT_ASSIGN(const std::vector<Tensor> ownInputs, ownTensors(backend_, inputs));
  OPKIT_ASSIGN(const std::vector<Tensor> ownOutputs, ownTensors(backend_, outputs));
  const std::vector<const Tensor*> in = pointersTo(ownInputs, inputs), out = pointersTo(ownOutputs, outputs);
  ScratchMemory scratch;
  scratch.restart(backend_.alignment(), {});
  MeasuringEncoder measuring(backend_, scratch);
  OPKIT_TRY(alternatives.encode(choice, in, out, measuring));
  Tensor memory{{DType::UInt8, {static_cast<int64_t>(scratch.usedBytes())}}, nullptr, 0, 0};
  if (scratch.usedBytes() > 0) {
    OPKIT_ASSIGN(memory.buffer, backend_.allocate(scratch.usedBytes()));
  }
  scratch.restart(backend_.alignment(), memory);

  ImageSet images(backend_.sharedDevice());
  OPKIT_ASSIGN(const std::unique_ptr<CommandRecording> recording, backend_.trialRecording(images));
  for (const Tensor& tensor : ownInputs)
    if (tensor.layout == Layout::NC4HW4) OPKIT_TRY(recording->initialise(tensor));
  DataReports reports;  // inputs differ from those of a run
  ShaderTables tables(backend_);
  CommandEncoder encoder(backend_, *recording, scratch, tables, reports);
  OPKIT_TRY(alternatives.encode(choice, in, out, encoder));
  OPKIT_TRY(backend_.finishTrial(*recording));
  double best = 0, total = 0;
  for (int run = 0; run < kLeastRuns || (run < kMostRuns && total < kEnoughNs); ++run) {
    const double start = nowNs();
    OPKIT_TRY(backend_.runTrial(*recording));
    const double ns = nowNs() - start;
    best = run == 0 ? ns : std::min(best, ns);
    total += ns;
  }
  return best;
}

}  // namespace opkit::vulkan
