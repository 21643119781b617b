// reach: variations of an operator's cases that lie where faults hide: beyond 65,536 elements, in long rows, in later
// matrices of a batch, at higher ranks, with more loops, with many inputs, in all bits of integers, at large and tiny
// magnitudes, and where two attributes meet. Drawn for every `check`, and by --fuzz with other seeds.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "engine/op/op_def.h"
#include "harness/cases/case_file.h"
#include "harness/cases/rng.h"

namespace opkit::harness {

/// A kind of place. A place has several turns: axes, ranks, sizes or pairs of attributes.
struct Place {
  std::string name;  // "more than 65,536 elements"
  /// Candidates for turn `turn`, best first, none of them checked; empty if this example leads nowhere.
  std::function<std::vector<Case>(const Case& example, const OpDef& def, const std::vector<const Case*>& examples,
                                  size_t turn, Rng& rng)>
      vary;
  size_t turns;
  size_t tries = 24;     // examples that are varied for one draw
  bool isCheap = false;  // draws no case rather than a slow one
};
std::span<const Place> places();

/// The first case found at the place that the operator accepts and that proves something; nullopt if there is none.
/// `examples` are cases of the operator. The same `rng` gives the same case; with `newSeed`, also the seed of its data.
std::optional<Case> drawAt(const Place& place, size_t turn, const OpDef& def, const std::vector<const Case*>& examples,
                           const OpRegistry& registry, Rng& rng, bool newSeed = false);
constexpr uint64_t kSeeds = 100'000;  // of data that is drawn

/// True if a candidate of that draw has `filter` in its id or name. Much cheaper than to check whether candidates are
/// accepted.
bool mayMatch(const Place& place, size_t turn, const OpDef& def, const std::vector<const Case*>& examples,
              const std::string& filter, Rng rng);

/// Cases of `base` by operator, without those whose data or bound are special.
std::map<std::string, std::vector<const Case*>> examplesOf(const Catalogue& base);

}  // namespace opkit::harness
