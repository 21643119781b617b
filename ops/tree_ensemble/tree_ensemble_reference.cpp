// Each row walks each tree by itself. The votes of a target are listed first and aggregated then.
#include <cmath>
#include <numeric>

#include "ops/tree_ensemble/tree_ensemble_parts.h"

namespace opkit::ops::tree_ensemble {
namespace {

struct Forest {
  const OracleTensor &tests, &splits, &children, &targets, &weights;
  int64_t trees;
};

/// Whether the test of a node sends `value` to its first child: digit 0 of the test is for smaller values, 1 for equal
/// ones, 2 for larger ones and those beside a split that is NaN, 3 for NaN.
bool passes(const Forest& forest, size_t node, double value) {
  int digit = 2;
  if (std::isnan(value))
    digit = 3;
  else if (value == forest.splits.real[node])
    digit = 1;
  else if (value < forest.splits.real[node])
    digit = 0;
  return (forest.tests.integer[node] / (1 << digit)) % 2 == 1;
}

/// The leaf of tree `tree` for the features that begin at element `first` of x.
size_t leafOf(const Forest& forest, int64_t tree, const std::vector<double>& x, size_t first) {
  const auto nodes = static_cast<int64_t>(forest.tests.integer.size());
  int64_t slot = tree;
  while (slot < nodes) {
    const auto node = static_cast<size_t>(slot);
    const auto feature = static_cast<size_t>(forest.tests.integer[node] / 16);
    slot = forest.trees + forest.children.integer[2 * node + (passes(forest, node, x[first + feature]) ? 0 : 1)];
  }
  return static_cast<size_t>(slot - nodes);
}

double aggregateOf(Aggregate aggregate, const std::vector<double>& votes, int64_t trees) {
  double least = std::numeric_limits<double>::quiet_NaN(), most = least;
  for (const double vote : votes) {
    least = std::fmin(least, vote);
    most = std::fmax(most, vote);
  }
  switch (aggregate) {
    case Aggregate::min: return std::isnan(least) ? 0 : least;
    case Aggregate::max: return std::isnan(most) ? 0 : most;
    default: break;
  }
  const double sum = std::accumulate(votes.begin(), votes.end(), 0.0);
  return aggregate == Aggregate::average && trees > 0 ? sum / static_cast<double>(trees) : sum;
}

}  // namespace

Status reference(const OracleArgs& args) {
  const auto params = args.params<TreeEnsembleParams>();
  const OracleTensor& x = args.input(0);
  const Forest forest{args.input(1), args.input(2), args.input(3), args.input(4), args.input(5), params.trees};
  OracleTensor& y = args.output();
  const auto votes = static_cast<size_t>(forest.targets.shape()[1]), columns = static_cast<size_t>(params.targets);
  const bool sums = params.aggregate == Aggregate::sum || params.aggregate == Aggregate::average;
  y.magnitude.assign(y.real.size(), 0);
  for (size_t row = 0; row < static_cast<size_t>(x.shape()[0]); ++row) {
    std::vector<std::vector<double>> perTarget(columns);
    for (int64_t tree = 0; tree < params.trees; ++tree) {
      const size_t leaf = leafOf(forest, tree, x.real, row * static_cast<size_t>(x.shape()[1]));
      for (size_t vote = leaf * votes; vote < (leaf + 1) * votes; ++vote)
        if (forest.targets.integer[vote] >= 0)
          perTarget[static_cast<size_t>(forest.targets.integer[vote])].push_back(forest.weights.real[vote]);
    }
    for (size_t column = 0; column < columns; ++column) {
      std::vector<double>& cast = perTarget[column];
      const size_t element = row * columns + column;
      y.real[element] = aggregateOf(params.aggregate, cast, params.trees);
      y.terms = std::max(y.terms, static_cast<int64_t>(cast.size()));
      for (double& vote : cast) vote = std::fabs(vote);
      if (sums) y.magnitude[element] = aggregateOf(params.aggregate, cast, params.trees);
    }
  }
  return Status::ok();
}

}  // namespace opkit::ops::tree_ensemble
