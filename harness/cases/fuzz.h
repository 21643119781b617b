// fuzz: random cases drawn from an operator's card: ranks, shapes, dtypes and parameters that its shape rule accepts.
// The same seed draws the same cases on every machine.
#pragma once

#include "harness/cases/case_file.h"

namespace opkit::harness {

struct FuzzOptions {
  std::vector<std::string> ops;  // empty: all
  size_t count = 0;              // per operator
  uint64_t seed = kDefaultSeed;
  std::string filter;  // part of the id or the name
};

/// Adds drawn cases to `base`. Half of the draws start from a case of `written`, the rest from the card alone. Draws
/// that the card refuses are discarded; the refusal must be one line. A backend may refuse a drawn case for any reason.
/// `base.notes` states how many were drawn. Draws on all cores. Internal if a refusal has more than one line.
Result<Catalogue> fuzzCatalogue(Catalogue base, const Catalogue& written, const OpRegistry& registry,
                                const FuzzOptions& options);

}  // namespace opkit::harness
