// TreeEnsembleRegressor and TreeEnsembleClassifier, whose nodes are named by tree and number. Base values, post
// transforms and class labels are other operators behind TreeEnsemble.
#include <map>
#include <optional>

#include "ops/features/scores.h"
#include "ops/tree_ensemble/rules.h"

namespace opkit::ops::tree_ensemble {
namespace {

using features::Transform;
using Key = std::pair<int64_t, int64_t>;  // tree and node

/// A list of floats, or the tensor of doubles in its place. Empty if both are missing.
struct RealList {
  Reals values;
  bool isDouble = false;
};
Result<RealList> listOf(const OnnxNode& node, const std::string& name) {
  RealList list;
  if (node.hasAttribute(name + "_as_tensor")) {
    OPKIT_ASSIGN(list.values, realsOf(node, name + "_as_tensor"));
    list.isDouble = true;
    return list;
  }
  const std::vector<float> values = node.floatsAttribute(name);
  list.values.assign(values.begin(), values.end());
  return list;
}

/// A forest whose nodes and leaves are named by tree and node.
struct NamedForest {
  Forest forest;
  std::map<Key, Branch> branches;
  bool isDouble = false;
};

Status addBranches(const OnnxNode& node, const std::vector<std::string>& modes, NamedForest& named) {
  OPKIT_ASSIGN(const Integers trees, integersOf(node, "nodes_treeids", modes.size()));
  OPKIT_ASSIGN(const Integers ids, integersOf(node, "nodes_nodeids", modes.size()));
  size_t nodes = 0, leaves = 0;
  std::map<int64_t, Branch> roots;  // the first node of each tree that is listed
  for (size_t i = 0; i < modes.size(); ++i) {
    const bool isLeaf = modes[i] == "LEAF";
    const Branch branch{isLeaf, static_cast<int64_t>(isLeaf ? leaves++ : nodes++)};
    if (!named.branches.emplace(Key{trees[i], ids[i]}, branch).second)
      return Status::invalidArgument("{}: node {} of tree {} is listed twice", node.opType(), ids[i], trees[i]);
    if (roots.emplace(trees[i], branch).second) named.forest.roots.push_back(branch);
  }
  named.forest.leaves.resize(leaves);
  return Status::ok();
}

Result<NamedForest> namedForestOf(const OnnxNode& node) {
  const std::vector<std::string> modes = node.stringsAttribute("nodes_modes");
  NamedForest named;
  OPKIT_TRY(addBranches(node, modes, named));
  OPKIT_ASSIGN(RealList splits, listOf(node, "nodes_values"));
  OPKIT_TRY(requireCount(node, "nodes_values", splits.values.size(), modes.size()));
  OPKIT_ASSIGN(const Integers trees, integersOf(node, "nodes_treeids", modes.size()));
  OPKIT_ASSIGN(const Integers featureIds, integersOf(node, "nodes_featureids", modes.size()));
  OPKIT_ASSIGN(const Integers trueIds, integersOf(node, "nodes_truenodeids", modes.size()));
  OPKIT_ASSIGN(const Integers falseIds, integersOf(node, "nodes_falsenodeids", modes.size()));
  OPKIT_ASSIGN(const Integers tracks, flagsOf(node, "nodes_missing_value_tracks_true", modes.size()));
  named.isDouble = splits.isDouble;
  for (size_t i = 0; i < modes.size(); ++i) {
    if (modes[i] == "LEAF") continue;
    const auto whenTrue = named.branches.find({trees[i], trueIds[i]});
    const auto whenFalse = named.branches.find({trees[i], falseIds[i]});
    if (whenTrue == named.branches.end() || whenFalse == named.branches.end())
      return Status::invalidArgument("{}: a branch of tree {} leads to node {}, which does not exist", node.opType(),
                                     trees[i], whenTrue == named.branches.end() ? trueIds[i] : falseIds[i]);
    const std::string mode = modes[i].starts_with("BRANCH_") ? modes[i].substr(7) : modes[i];
    OPKIT_ASSIGN(const uint32_t outcomes, outcomesOf(node.opType(), mode, tracks[i] != 0, splits.values[i]));
    named.forest.nodes.push_back({featureIds[i], outcomes, splits.values[i], whenTrue->second, whenFalse->second});
  }
  return named;
}

/// Adds the votes in attributes PREFIX_treeids, _nodeids, _ids and _weights to the leaves.
Status addVotes(const OnnxNode& node, const std::string& prefix, int64_t targets, NamedForest& named) {
  OPKIT_ASSIGN(const RealList weights, listOf(node, prefix + "_weights"));
  const size_t count = weights.values.size();
  OPKIT_ASSIGN(const Integers trees, integersOf(node, prefix + "_treeids", count));
  OPKIT_ASSIGN(const Integers nodes, integersOf(node, prefix + "_nodeids", count));
  OPKIT_ASSIGN(const Integers ids, integersOf(node, prefix + "_ids", count));
  named.isDouble |= weights.isDouble;
  for (size_t i = 0; i < count; ++i) {
    const auto leaf = named.branches.find({trees[i], nodes[i]});
    if (leaf == named.branches.end() || !leaf->second.isLeaf)
      return Status::invalidArgument("{}: {}_treeids and {}_nodeids must name leaves, got node {} of tree {}",
                                     node.opType(), prefix, prefix, nodes[i], trees[i]);
    if (ids[i] < 0 || ids[i] >= targets)
      return Status::invalidArgument("{}: {}_ids must be in [0, {}), got {}", node.opType(), prefix, targets, ids[i]);
    named.forest.leaves[static_cast<size_t>(leaf->second.index)].push_back({ids[i], weights.values[i]});
  }
  return Status::ok();
}

/// One value for all targets, or one each, which are added to the scores.
Result<TensorId> emitBase(OnnxNode& node, const Reals& base, int64_t targets, DType dtype, TensorId scores) {
  if (base.empty()) return scores;
  const auto count = static_cast<int64_t>(base.size());
  if (count != 1 && count != targets)
    return Status::invalidArgument("{}: base_values must have {} values, got {}", node.opType(), targets, count);
  OPKIT_ASSIGN(Tensor values, tensorOf(dtype, {count}, base));
  return node.emitIntermediate("Add", {scores, node.addConstant("base", std::move(values))});
}

DType dtypeOf(const NamedForest& named) { return named.isDouble ? DType::Float64 : DType::Float32; }

/// Which of two classes has all votes, if one has.
struct Votes {
  std::optional<int64_t> only;
  bool arePositive = true;
};
Votes votesOf(const Forest& forest) {
  Votes votes;
  bool isOne = true;
  for (const std::vector<Vote>& leaf : forest.leaves)
    for (const Vote& vote : leaf) {
      isOne &= votes.only.value_or(vote.target) == vote.target;
      votes.arePositive &= vote.weight >= 0;
      votes.only = vote.target;
    }
  if (!isOne) votes.only.reset();
  return votes;
}

/// The sum above which the second of two classes wins.
float leastOf(const Votes& votes) { return votes.arePositive ? 0.5f : 0.0f; }

/// All votes are for the first of two classes: their sum is the score of the second.
Status oneSum(OnnxNode& node, const NamedForest& named, const Tensor& labels, Transform transform, RealList base) {
  const Votes votes = votesOf(named.forest);
  if (base.values.size() == 2) base.values.erase(base.values.begin());
  OPKIT_ASSIGN(TensorId scores, emitScores(node, named.forest, {}, dtypeOf(named)));
  OPKIT_ASSIGN(scores, emitBase(node, base.values, 1, dtypeOf(named), scores));
  scores = features::emitFloat(node, scores);
  const TensorId isSecond = features::emitIsAbove(node, scores, leastOf(votes));
  return features::emitTwoClasses(node, labels, transform, {scores, isSecond, votes.arePositive});
}

}  // namespace

Status treeEnsembleRegressor(OnnxNode& node) {
  OPKIT_ASSIGN(TreeEnsembleParamsT params, targetsOf(node));
  const int64_t targets = params.targets;
  OPKIT_ASSIGN(const Transform transform, features::transformOf(node));
  OPKIT_ASSIGN(params.aggregate, choiceAttribute<Aggregate>(node, "aggregate_function",
                                                            {{"SUM", Aggregate::sum},
                                                             {"AVERAGE", Aggregate::average},
                                                             {"MIN", Aggregate::min},
                                                             {"MAX", Aggregate::max}}));
  OPKIT_ASSIGN(NamedForest named, namedForestOf(node));
  OPKIT_TRY(addVotes(node, "target", targets, named));
  OPKIT_ASSIGN(const RealList base, listOf(node, "base_values"));
  OPKIT_ASSIGN(TensorId scores, emitScores(node, named.forest, params, dtypeOf(named)));
  OPKIT_ASSIGN(scores, emitBase(node, base.values, targets, dtypeOf(named), scores));
  scores = features::emitFloat(node, scores);
  return node.emit("Identity", {features::emitTransform(node, transform, scores)});
}

Status treeEnsembleClassifier(OnnxNode& node) {
  OPKIT_ASSIGN(const Tensor labels, features::labelsOf(node, "classlabels_int64s"));
  OPKIT_ASSIGN(const Transform transform, features::transformOf(node));
  const int64_t classes = labels.desc.elements();
  OPKIT_ASSIGN(NamedForest named, namedForestOf(node));
  OPKIT_TRY(addVotes(node, "class", classes, named));
  OPKIT_ASSIGN(RealList base, listOf(node, "base_values"));
  const Votes votes = votesOf(named.forest);
  if (classes == 2 && votes.only == 0) return oneSum(node, named, labels, transform, std::move(base));
  TreeEnsembleParamsT params;
  params.targets = static_cast<int>(classes);
  OPKIT_ASSIGN(TensorId scores, emitScores(node, named.forest, params, dtypeOf(named)));
  OPKIT_ASSIGN(scores, emitBase(node, base.values, classes, dtypeOf(named), scores));
  scores = features::emitFloat(node, scores);
  TensorId ranking = scores;
  if (classes == 2 && votes.only == 1) {
    OPKIT_ASSIGN(const TensorId least, features::addFloats(node, "least", {leastOf(votes), 0}, {2}));
    ranking = node.emitIntermediate("Add", {scores, least});
  }
  return features::emitClasses(node, labels, ranking, features::emitTransform(node, transform, scores));
}

}  // namespace opkit::ops::tree_ensemble
