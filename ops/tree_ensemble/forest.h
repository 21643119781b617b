// Forest: decision trees as models state them, and their compact form (tree_ensemble.h). For import rules. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::ops::tree_ensemble {

/// A node or a leaf of a Forest.
struct Branch {
  bool isLeaf = false;
  int64_t index = 0;
};

struct ForestNode {
  int64_t feature = 0;
  uint32_t outcomes = 0;  // a set of Outcome: those that lead to whenTrue
  double split = 0;
  Branch whenTrue, whenFalse;
};

struct Vote {
  int64_t target = 0;
  double weight = 0;
};

struct Forest {
  std::vector<ForestNode> nodes;
  std::vector<std::vector<Vote>> leaves;
  std::vector<Branch> roots;
};

/// The values of TreeEnsemble's inputs: children [nodes, 2]; targets and weights [leaves, votes], filled up with
/// votes for target -1.
struct PackedForest {
  std::vector<int32_t> tests, children, targets;
  std::vector<double> splits, weights;
  int64_t votes = 0;
};

/// Numbers nodes so that children follow their parents. A node may have several parents. InvalidArgument, beginning
/// with `type`: a branch that leads nowhere, a cycle, a feature out of range.
Result<PackedForest> pack(const Forest& forest, const std::string& type);

/// The outcomes of a test: BRANCH_LEQ and so on, without the prefix. `tracksTrue`: NaN takes the first branch. A
/// `split` that is NaN equals nothing, so a test by it holds for all values or for none; it becomes 0. Unsupported
/// names the modes.
Result<uint32_t> outcomesOf(const std::string& type, const std::string& mode, bool tracksTrue, double& split);

}  // namespace opkit::ops::tree_ensemble
