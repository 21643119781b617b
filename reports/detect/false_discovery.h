// Benjamini and Hochberg, "Controlling the False Discovery Rate", 1995.
#pragma once

#include <cstddef>
#include <vector>

namespace opkit::reports::detect {

/// The threshold up to which p is accepted so that the expected share of false discoveries among `hypotheses` tests
/// stays below `rate`. `probabilities` may leave out those that are 1. 0 if none is accepted.
double falseDiscoveryCutoff(std::vector<double> probabilities, size_t hypotheses, double rate);

}  // namespace opkit::reports::detect
