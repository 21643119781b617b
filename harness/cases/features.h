// features: what a case can have that kernels treat in a branch of their own, and the pairs of them. Faults hide where
// two meet: a clamp and an input that repeats, a block size and the last axis, a mask and many keys. Part of reach.
#pragma once

#include <set>
#include <string>

#include "harness/cases/reach.h"

namespace opkit::harness {

/// Plain values and functions without state. `def` and `examples` of featuresOf must outlive it.
struct Feature {
  std::string name;  // "attribute clamp_low", "one input repeats along rows of thousands"
  enum class Kind { Extent, Repeats, Form, DType, Own } kind;  // those of one kind exclude each other, but for the last
  /// Variations of a case with the feature, best first, none of them checked; empty if this case leads nowhere.
  std::function<std::vector<Case>(const Case& c, Rng& rng)> add;
  std::function<bool(const Case& c)> has;
};

/// Features that the operator's card allows: each attribute off its default, each optional input, other dtypes,
/// constants, inputs that repeat, extents that kernels divide by, long axes, NaN and -Inf where rows begin.
/// -Inf and NaN only with `infinities`, and not in sums, where they meet zeros and each other: the order and the
/// padding of a kernel decide between Inf and NaN.
std::vector<Feature> featuresOf(const OpDef& def, const std::vector<const Case*>& examples, bool infinities);

/// Operators with written cases of the lane specials, so that results of infinities are defined.
std::set<std::string> operatorsOfInfinities(const Catalogue& base);

/// True for a case that was drawn for one.
bool isDrawnPair(const Case& c);

/// A Place of one turn for each two features: its candidates have both.
std::vector<Place> placesOfPairs(const OpDef& def, const std::vector<const Case*>& examples, bool infinities);

}  // namespace opkit::harness
