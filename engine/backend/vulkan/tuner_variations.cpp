// Tuner: kernels without alternatives of their own, as variations of the device class.
#include <algorithm>

#include "engine/backend/class_variations.h"
#include "engine/backend/vulkan/tuner.h"
#include "engine/backend/vulkan/vulkan_backend.h"

namespace opkit::vulkan {
namespace {

/// Times within this share of the standard's are noise, and the standard stays.
constexpr double kNoise = 0.02;

/// `first`: of each variation, the first that records the same; `different`: those, in the order in which they are
/// forced.
OfferedChoice offeredChoice(const std::string& name, const std::vector<std::optional<size_t>>& first,
                            const std::vector<size_t>& different) {
  OfferedChoice offered{name, 0, {}};
  for (const std::optional<size_t>& same : first) {
    offered.alternatives.emplace_back();
    if (same)
      offered.alternatives.back() = static_cast<size_t>(std::ranges::find(different, *same) - different.begin());
  }
  return offered;
}

}  // namespace

Result<RecordedWork> Tuner::describe(VulkanExecution& execution, size_t variation, TensorList inputs,
                                     TensorList outputs) {
  const EncodingAs varied(backend_, variation);
  RecordedWork work;
  ScratchMemory scratch;
  scratch.restart(backend_.alignment(), {}, backend_.guardBytes());
  MeasuringEncoder encoder(backend_, scratch, &work);
  OPKIT_TRY(execution.onEncode(inputs, outputs, encoder));
  return work;
}

Result<std::vector<std::optional<size_t>>> Tuner::firstOfKind(VulkanExecution& execution, const RecordedWork& standard,
                                                              TensorList inputs, TensorList outputs) {
  std::vector<uint64_t> hashes = {standard.hash};
  std::vector<std::optional<size_t>> first = {0};
  for (size_t i = 1; i < backend_.variedCaps().size(); ++i) {
    const Result<RecordedWork> work = describe(execution, i, inputs, outputs);
    if (!work && !isRefusal(work.error())) return work.error();
    hashes.push_back(work ? work->hash : 0);
    const auto same = static_cast<size_t>(std::ranges::find(hashes, hashes.back()) - hashes.begin());
    first.push_back(work ? std::optional(same) : std::nullopt);
  }
  return first;
}

Result<size_t> Tuner::timeVariations(VulkanExecution& execution, const std::string& name,
                                     const std::vector<std::optional<size_t>>& first, TensorList inputs,
                                     TensorList outputs) {
  const Alternatives alternatives{name, first.size(), 0,
                                  [&](size_t choice, TensorList in, TensorList out, Encoder& encoder) {
                                    const EncodingAs varied(backend_, choice);
                                    return execution.onEncode(in, out, encoder);
                                  }};
  TuningCache::Entry entry{0, {}};
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i] != i) {
      entry.ns.push_back(first[i] ? entry.ns[*first[i]] : kNotAble);
      continue;
    }
    const Result<double> ns = time(alternatives, i, inputs, outputs);
    ++backend_.counters().measurements;
    OPKIT_TRY(note(ns, name, entry));
    const double best = entry.ns[entry.choice];
    const double bar = entry.choice == 0 ? best * (1 - kNoise) : best;
    if (ns && (best == kNotAble || *ns < bar)) entry.choice = i;
  }
  backend_.runtime().tuning().put(name, entry);
  return entry.choice;
}

Result<size_t> Tuner::chooseVariation(VulkanExecution& execution, TensorList inputs, TensorList outputs) {
  const size_t count = backend_.variedCaps().size();
  VulkanRuntime& runtime = backend_.runtime();
  const bool nothingKnown = runtime.tuning().size() == 0 && !runtime.guesses();
  if (count == 1 || (!forced_ && !enabled_ && nothingKnown)) return size_t{0};
  OPKIT_ASSIGN(const RecordedWork standard, describe(execution, 0, inputs, outputs));
  if (standard.dispatches == 0 || standard.offersAlternatives) return size_t{0};

  const std::string name = fmt::format("{}: {}", backend_.caps().deviceClass->name, standard.shapeClass);
  if (const auto choice = forced_ ? std::nullopt : known(name, count)) {
    // Another shape of the class may be beyond the device.
    return describe(execution, *choice, inputs, outputs) ? *choice : size_t{0};
  }
  if (!forced_ && !enabled_) return size_t{0};
  OPKIT_ASSIGN(const auto first, firstOfKind(execution, standard, inputs, outputs));
  std::vector<size_t> different;
  for (size_t i = 0; i < count; ++i)
    if (first[i] == i) different.push_back(i);
  uint64_t& most = backend_.counters().alternatives;
  most = std::max<uint64_t>(most, different.size());
  if (forced_ && runtime.choiceListener()) runtime.choiceListener()(offeredChoice(name, first, different));
  if (forced_) return *forced_ < different.size() ? different[*forced_] : size_t{0};
  return different.size() == 1 ? size_t{0} : timeVariations(execution, name, first, inputs, outputs);
}

}  // namespace opkit::vulkan
