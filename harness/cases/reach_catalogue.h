// reachCatalogue: a catalogue with the drawn cases of `check`: those of reach.h, and edges.h.
#pragma once

#include <functional>
#include <optional>

#include "harness/cases/case_file.h"

namespace opkit::harness {

/// The draws of one day: one for each operator and place, if they fit into `seconds` of one core, else a part of them.
struct DrawsOfDay {
  uint64_t day = 0;
  double seconds = 0;
};

/// Days after which each pair of features (features.h) had its turn with each operator.
inline constexpr uint64_t kPairDays = 56;

struct ReachOptions {
  std::string filter;               // leaves out draws none of whose candidates has it in its id or name
  std::optional<DrawsOfDay> ofDay;  // draws of that day alone
  size_t threads = 0;               // 0: one per core; the result is the same
  /// Called after each piece of the drawing, by one thread at a time.
  std::function<void(size_t done, size_t all)> progress = nullptr;
};

/// Adds a case per operator of `ops` (empty: all), place and turn to `base`, as far as there is one, one for each two
/// features (features.h), and edges of elementwise operators (edges.h). A backend may refuse them for any reason.
/// `base.notes` states how many were drawn. An interrupt (engine/base/interrupt.h) ends the drawing.
Result<Catalogue> reachCatalogue(Catalogue base, const OpRegistry& registry, const std::vector<std::string>& ops,
                                 uint64_t seed, const ReachOptions& options = {});

}  // namespace opkit::harness
