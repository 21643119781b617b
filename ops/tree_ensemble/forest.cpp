#include "ops/tree_ensemble/forest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "ops/tree_ensemble/tree_ensemble.h"

namespace opkit::ops::tree_ensemble {
namespace {

constexpr int32_t kNoSlot = -1;

/// Gives slots to the nodes that the roots lead to, parents first. Each root has a node of its own, which a leaf for
/// root needs in any case.
class Numbering {
 public:
  Numbering(const Forest& forest, const std::string& type) : forest_(forest), type_(type) {
    for (const Branch& root : forest.roots)
      ordered_.push_back(root.isLeaf ? ForestNode{.whenTrue = root, .whenFalse = root} : nodeOr(root.index));
  }

  Status run() {
    OPKIT_TRY(checkBranches());
    countParents();
    slots_.assign(forest_.nodes.size(), kNoSlot);
    for (size_t i = 0; i < ordered_.size(); ++i) {
      for (const Branch& child : {ordered_[i].whenTrue, ordered_[i].whenFalse}) {
        if (child.isLeaf || --parents_[place(child)] > 0) continue;
        slots_[place(child)] = static_cast<int32_t>(ordered_.size());
        ordered_.push_back(forest_.nodes[place(child)]);
      }
    }
    if (static_cast<int64_t>(ordered_.size()) == reached_) return Status::ok();
    return Status::invalidArgument("{}: the nodes of a tree form a cycle", type_);
  }

  const std::vector<ForestNode>& nodes() const { return ordered_; }
  int64_t slotOf(const Branch& branch) const {
    return branch.isLeaf ? static_cast<int64_t>(ordered_.size()) + branch.index : slots_[place(branch)];
  }

 private:
  static size_t place(const Branch& branch) { return static_cast<size_t>(branch.index); }
  /// An index out of range is reported by checkBranches.
  ForestNode nodeOr(int64_t index) const {
    const Branch nowhere{false, index};
    return isValid(nowhere) ? forest_.nodes[place(nowhere)] : ForestNode{.whenTrue = nowhere, .whenFalse = nowhere};
  }
  bool isValid(const Branch& branch) const {
    const size_t count = branch.isLeaf ? forest_.leaves.size() : forest_.nodes.size();
    return branch.index >= 0 && place(branch) < count;
  }
  Status checkBranches() const {
    for (const auto* nodes : {&ordered_, &forest_.nodes})
      for (const ForestNode& node : *nodes)
        for (const Branch& branch : {node.whenTrue, node.whenFalse})
          if (!isValid(branch))
            return Status::invalidArgument("{}: a branch leads to {} {}, which does not exist", type_,
                                           branch.isLeaf ? "leaf" : "node", branch.index);
    return Status::ok();
  }
  /// Of the nodes that the roots lead to.
  void countParents() {
    parents_.assign(forest_.nodes.size(), 0);
    std::vector<ForestNode> open = ordered_;
    reached_ = static_cast<int64_t>(open.size());
    while (!open.empty()) {
      const ForestNode node = open.back();
      open.pop_back();
      for (const Branch& child : {node.whenTrue, node.whenFalse}) {
        if (child.isLeaf || parents_[place(child)]++ > 0) continue;
        ++reached_;
        open.push_back(forest_.nodes[place(child)]);
      }
    }
  }

  const Forest& forest_;
  const std::string& type_;
  std::vector<ForestNode> ordered_;  // by slot
  std::vector<int32_t> slots_;       // of the forest's nodes
  std::vector<int64_t> parents_;     // that have no slot yet
  int64_t reached_ = 0;
};

void packLeaves(const Forest& forest, PackedForest& packed) {
  for (const std::vector<Vote>& leaf : forest.leaves)
    packed.votes = std::max(packed.votes, static_cast<int64_t>(leaf.size()));
  for (const std::vector<Vote>& leaf : forest.leaves)
    for (size_t i = 0; i < static_cast<size_t>(packed.votes); ++i) {
      packed.targets.push_back(i < leaf.size() ? static_cast<int32_t>(leaf[i].target) : -1);
      packed.weights.push_back(i < leaf.size() ? leaf[i].weight : 0);
    }
}

}  // namespace

Result<PackedForest> pack(const Forest& forest, const std::string& type) {
  constexpr int64_t kMostFeatures = std::numeric_limits<int32_t>::max() >> kOutcomeBits;
  Numbering numbering(forest, type);
  OPKIT_TRY(numbering.run());
  if (numbering.nodes().size() + forest.leaves.size() > std::numeric_limits<int32_t>::max())
    return Status::unsupported("{}: a forest may have 2^31 nodes and leaves", type);
  PackedForest packed;
  const auto trees = static_cast<int64_t>(forest.roots.size());
  for (const ForestNode& node : numbering.nodes()) {
    if (node.feature < 0 || node.feature > kMostFeatures)
      return Status::invalidArgument("{}: a feature must be in [0, {}], got {}", type, kMostFeatures, node.feature);
    packed.tests.push_back(static_cast<int32_t>(node.feature << kOutcomeBits | node.outcomes));
    packed.splits.push_back(node.split);
    for (const Branch& branch : {node.whenTrue, node.whenFalse})
      packed.children.push_back(static_cast<int32_t>(numbering.slotOf(branch) - trees));
  }
  packLeaves(forest, packed);
  return packed;
}

Result<uint32_t> outcomesOf(const std::string& type, const std::string& mode, bool tracksTrue, double& split) {
  constexpr std::array<std::pair<const char*, uint32_t>, 6> kModes{{{"LEQ", kLess | kEqual},
                                                                    {"LT", kLess},
                                                                    {"GTE", kGreater | kEqual},
                                                                    {"GT", kGreater},
                                                                    {"EQ", kEqual},
                                                                    {"NEQ", kLess | kGreater}}};
  const auto* found = std::ranges::find(kModes, mode, [](const auto& row) { return std::string(row.first); });
  if (found == kModes.end())
    return Status::unsupported(
        "{}: the mode of a node must be one of BRANCH_LEQ, BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ, "
        "got '{}'",
        type, mode);
  uint32_t outcomes = found->second;
  if (std::isnan(split)) {
    outcomes = mode == "NEQ" ? kLess | kEqual | kGreater : 0;
    split = 0;
  }
  return tracksTrue ? outcomes | kMissing : outcomes;
}

}  // namespace opkit::ops::tree_ensemble
