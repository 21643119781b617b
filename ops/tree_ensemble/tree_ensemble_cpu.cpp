// TreeEnsemble on the CPU. A tree is walked by eight rows in turn, so that their loads overlap. Blocks of rows visit
// groups of trees. With few blocks the groups go to threads too. The votes of a group are folded first, then the groups
// in order: results do not depend on the number of threads.
#include <cmath>
#include <limits>

#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/tree_ensemble/tree_ensemble.h"
#include "ops/tree_ensemble/tree_ensemble_parts.h"

namespace opkit::ops::tree_ensemble {
namespace {

constexpr int64_t kLanes = 8;       // rows that walk a tree together
constexpr int64_t kBlockRows = 64;  // a group's trees come from memory once per block
constexpr int64_t kGroupTrees = 64;

template <class T>
struct Node {
  T split;
  uint32_t test;        // feature and outcomes
  int32_t children[2];  // slots
};

/// The child that a test chooses. The place of the outcome among the bits of a test is computed: a branch that depends
/// on the data would be guessed wrongly half the time.
template <class T>
int32_t childOf(const Node<T>& node, T value) {
  const int isLess = value < node.split, isEqual = value == node.split, isMissing = value != value;
  const int outcome = 2 - 2 * isLess - isEqual + isMissing;
  return node.children[~(node.test >> outcome) & 1];
}

/// Walks a tree with rows [0, count) of x, count <= kLanes; writes their leaves' slots.
template <class T>
void walk(const Node<T>* nodes, int32_t nodeCount, int32_t root, const T* x, int64_t features, int64_t count,
          int32_t* slots) {
  std::fill_n(slots, count, root);
  for (bool isInside = root < nodeCount; isInside;) {
    isInside = false;
    for (int64_t lane = 0; lane < count; ++lane) {
      if (slots[lane] >= nodeCount) continue;
      const Node<T>& node = nodes[slots[lane]];
      slots[lane] = childOf(node, x[lane * features + (node.test >> kOutcomeBits)]);
      isInside |= slots[lane] < nodeCount;
    }
  }
}

/// NaN stands for no vote where the least or the largest vote counts.
template <class T>
T noVote(Aggregate aggregate) {
  return aggregate == Aggregate::min || aggregate == Aggregate::max ? std::numeric_limits<T>::quiet_NaN() : T{0};
}
template <class T>
void addVote(Aggregate aggregate, T& sum, T vote) {
  if (aggregate == Aggregate::min)
    sum = vote < sum || sum != sum ? vote : sum;
  else if (aggregate == Aggregate::max)
    sum = vote > sum || sum != sum ? vote : sum;
  else
    sum += vote;
}

template <class T>
class TreeEnsembleCpu final : public cpu::CpuKernel {
 public:
  TreeEnsembleCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<TreeEnsembleParams>()), shape_(forestShapeOf(args.inputs)) {
    if (const Tensor* splits = args.constant(kSplits)) {
      pack(*args.constant(kTests), *splits, *args.constant(kChildren));
      isPacked_ = true;
    }
  }

  bool plansNothing() const override { return false; }

  Status onResize(TensorList inputs, TensorList) override {
    shape_ = {.rows = inputs[kX]->desc.shape[0],
              .features = inputs[kX]->desc.shape[1],
              .nodes = inputs[kTests]->desc.shape[0],
              .leaves = inputs[kTargets]->desc.shape[0],
              .votes = inputs[kTargets]->desc.shape[1]};
    blocks_ = (shape_.rows + kBlockRows - 1) / kBlockRows;
    groups_ = std::max<int64_t>((params_.trees + kGroupTrees - 1) / kGroupTrees, 1);
    const auto threads = static_cast<int64_t>(pool_.threadCount());
    splitsGroups_ = groups_ > 1 && (pool_.splitsAll() || (threads > 1 && blocks_ < 2 * threads));
    partials_.resize(static_cast<size_t>((splitsGroups_ ? blocks_ * groups_ : threads) * blockElements()));
    if (!isPacked_) nodes_.resize(static_cast<size_t>(shape_.nodes));
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (!isPacked_) pack(*inputs[kTests], *inputs[kSplits], *inputs[kChildren]);
    T* y = outputs[0]->data<T>().data();
    if (splitsGroups_) {
      const auto vote = [&](size_t task, size_t) {
        const auto item = static_cast<int64_t>(task);
        voteOf(inputs, item / groups_, item % groups_, partial(item));
      };
      pool_.parallelFor(static_cast<size_t>(blocks_ * groups_), std::ref(vote));
      for (int64_t item = 0; item < blocks_ * groups_; ++item) fold(item / groups_, item % groups_, partial(item), y);
      return Status::ok();
    }
    const auto block = [&](size_t task, size_t thread) {
      T* votes = partial(static_cast<int64_t>(thread));
      for (int64_t group = 0; group < groups_; ++group) {
        voteOf(inputs, static_cast<int64_t>(task), group, votes);
        fold(static_cast<int64_t>(task), group, votes, y);
      }
    };
    pool_.parallelFor(static_cast<size_t>(blocks_), std::ref(block));
    return Status::ok();
  }

 private:
  int64_t blockElements() const { return kBlockRows * params_.targets; }
  int64_t rowsIn(int64_t block) const { return std::min(kBlockRows, shape_.rows - block * kBlockRows); }
  T* partial(int64_t index) { return partials_.data() + index * blockElements(); }

  void pack(const Tensor& tests, const Tensor& splits, const Tensor& children) {
    nodes_.resize(static_cast<size_t>(tests.desc.elements()));
    const int32_t* slots = children.data<int32_t>().data();
    for (size_t i = 0; i < nodes_.size(); ++i)
      nodes_[i] = {splits.data<T>()[i],
                   static_cast<uint32_t>(tests.data<int32_t>()[i]),
                   {params_.trees + slots[2 * i], params_.trees + slots[2 * i + 1]}};
  }

  /// The votes of a group of trees for a block of rows, [rows, targets].
  void voteOf(TensorList inputs, int64_t block, int64_t group, T* votes) const {
    const int64_t rows = rowsIn(block);
    const T* x = inputs[kX]->data<T>().data() + block * kBlockRows * shape_.features;
    const int32_t* targets = inputs[kTargets]->data<int32_t>().data();
    const T* weights = inputs[kWeights]->data<T>().data();
    std::fill_n(votes, rows * params_.targets, noVote<T>(params_.aggregate));
    const auto last = static_cast<int32_t>(std::min<int64_t>((group + 1) * kGroupTrees, params_.trees));
    const auto nodeCount = static_cast<int32_t>(nodes_.size());
    int32_t slots[kLanes];
    for (auto tree = static_cast<int32_t>(group * kGroupTrees); tree < last; ++tree)
      for (int64_t row = 0; row < rows; row += kLanes) {
        const int64_t count = std::min(kLanes, rows - row);
        walk(nodes_.data(), nodeCount, tree, x + row * shape_.features, shape_.features, count, slots);
        for (int64_t lane = 0; lane < count; ++lane) {
          T* sums = votes + (row + lane) * params_.targets;
          const int64_t first = (slots[lane] - nodeCount) * shape_.votes;
          for (int64_t vote = first; vote < first + shape_.votes; ++vote)
            if (targets[vote] >= 0) addVote(params_.aggregate, sums[targets[vote]], weights[vote]);
        }
      }
  }

  /// Groups come in order.
  void fold(int64_t block, int64_t group, const T* votes, T* y) const {
    T* results = y + block * blockElements();
    const int64_t count = rowsIn(block) * params_.targets;
    if (group == 0) std::fill_n(results, count, noVote<T>(params_.aggregate));
    for (int64_t i = 0; i < count; ++i) addVote(params_.aggregate, results[i], votes[i]);
    if (group + 1 < groups_ || params_.aggregate == Aggregate::sum) return;
    for (int64_t i = 0; i < count; ++i) {
      if (params_.aggregate == Aggregate::average)
        results[i] /= static_cast<T>(std::max(params_.trees, 1));
      else if (results[i] != results[i])
        results[i] = 0;
    }
  }

  TreeEnsembleParamsT params_;
  ForestShape shape_;
  int64_t blocks_ = 0, groups_ = 1;
  bool splitsGroups_ = false;
  bool isPacked_ = false;  // once, because the splits are constant
  std::vector<Node<T>> nodes_;
  std::vector<T> partials_;  // votes of each block and group, or of each thread
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "TreeEnsemble",
                      cpu::creatorOf<TreeEnsembleCpu<float>>(cpu::supportsAll, DTypeSet(DType::Float32)));
  registry.addCreator("cpu", "TreeEnsemble",
                      cpu::creatorOf<TreeEnsembleCpu<double>>(cpu::supportsAll, DTypeSet(DType::Float64)));
}

}  // namespace opkit::ops::tree_ensemble
