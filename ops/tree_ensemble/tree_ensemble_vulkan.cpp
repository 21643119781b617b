// TreeEnsemble on Vulkan. One dispatch walks the trees: each row and group of trees has an invocation, which folds the
// votes of its trees. A second one folds the groups.
#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/base/divide.h"
#include "engine/op/op_registry.h"
#include "ops/tree_ensemble/tree_ensemble.h"
#include "ops/tree_ensemble/tree_ensemble_parts.h"
#include "shaders/tree_ensemble/tree_ensemble.h"
#include "shaders/tree_ensemble/tree_ensemble_fold.h"

namespace opkit::ops::tree_ensemble {
namespace {

using Walk = shaders::TreeEnsemble;
using Fold = shaders::TreeEnsembleFold;

constexpr int64_t kInvocations = 64;        // of a work group of both shaders
constexpr int64_t kMostPartials = 1 << 25;  // elements of scratch memory

/// Passes of the loops of an invocation that walks `trees` trees.
int64_t walkPasses(const ForestShape& forest, int64_t targets, int64_t trees, int64_t depth) {
  return vulkan::loopPasses({trees, depth}) + vulkan::loopPasses({trees, forest.votes}) + vulkan::loopPasses({targets});
}

int64_t depthOf(const CreateArgs& args) {
  return tree_ensemble::depthOf(args.constant(kChildren)->data<int32_t>(), args.params<TreeEnsembleParams>().trees);
}

/// Children become slots; the last word of four is unused.
std::vector<uint32_t> wordsOf(const Tensor& tests, const Tensor& children, int64_t trees) {
  std::vector<uint32_t> words;
  words.reserve(static_cast<size_t>(4 * tests.desc.elements()));
  const int32_t* slots = children.data<int32_t>().data();
  for (const int32_t test : tests.data<int32_t>()) {
    for (const int64_t word : {int64_t{test}, trees + slots[0], trees + slots[1], int64_t{0}})
      words.push_back(static_cast<uint32_t>(word));
    slots += 2;
  }
  return words;
}

class TreeEnsembleVulkan final : public vulkan::VulkanExecution {
 public:
  TreeEnsembleVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend),
        params_(args.params<TreeEnsembleParams>()),
        forest_(forestShapeOf(args.inputs)),
        depth_(depthOf(args)),
        nodes_(wordsOf(*args.constant(kTests), *args.constant(kChildren), params_.trees)) {
    for (const int32_t target : args.constant(kTargets)->data<int32_t>())
      targets_.push_back(static_cast<uint32_t>(target));
    // A table has at least one word.
    if (nodes_.empty()) nodes_.resize(4);
    if (targets_.empty()) targets_.resize(1);
  }

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const int64_t rows = outputs[0]->desc.shape[0], count = outputs[0]->desc.elements();
    if (count == 0) return Status::ok();
    if (params_.trees == 0) return encoder.fillZero(*outputs[0]);
    const int64_t perGroup = ceilDiv(params_.trees, wantedGroups(rows, encoder.caps()));
    const int64_t groups = ceilDiv(params_.trees, perGroup);
    const DType dtype = outputs[0]->desc.dtype;
    OPKIT_ASSIGN(const Tensor* partials, encoder.scratch({dtype, {groups, rows, params_.targets}}));
    OPKIT_ASSIGN(const Tensor* nodes, encoder.table(nodes_));
    OPKIT_ASSIGN(const Tensor* targets, encoder.table(targets_));
    const auto aggregate = static_cast<uint32_t>(params_.aggregate);
    OPKIT_TRY(encoder.dispatch<Walk>({*Walk::storageOf(dtype)},
                                     {.x = inputs[kX],
                                      .nodes = nodes,
                                      .splits = inputs[kSplits],
                                      .targets = targets,
                                      .weights = inputs[kWeights],
                                      .partials = partials},
                                     {.rows = rows,
                                      .features = inputs[kX]->desc.shape[1],
                                      .nodeCount = forest_.nodes,
                                      .trees = params_.trees,
                                      .perGroup = perGroup,
                                      .votes = forest_.votes,
                                      .targetCount = params_.targets,
                                      .count = groups * rows},
                                     vulkan::Items{groups * rows}, {.aggregate = aggregate}));
    return encoder.dispatch<Fold>({*Fold::storageOf(dtype)}, {.partials = partials, .y = outputs[0]},
                                  {.count = count, .groups = groups, .trees = params_.trees}, vulkan::Items{count},
                                  {.aggregate = aggregate});
  }

 private:
  /// Enough groups of trees to fill the device and to keep loops short; not more than memory allows.
  int64_t wantedGroups(int64_t rows, const DeviceCaps& device) const {
    const int64_t toFill = ceilDiv(device.deviceClass->groupsToFill * kInvocations, rows);
    const int64_t inMemory = std::max<int64_t>(kMostPartials / (rows * params_.targets), 1);
    int64_t groups = std::clamp<int64_t>(std::min(toFill, inMemory), 1, params_.trees);
    const auto limit = static_cast<int64_t>(std::min<uint64_t>(device.loopIterations, INT64_MAX));
    while (groups < params_.trees &&
           walkPasses(forest_, params_.targets, ceilDiv(params_.trees, groups), depth_) > limit)
      groups = std::min<int64_t>(2 * groups, params_.trees);
    return groups;
  }

  TreeEnsembleParamsT params_;
  ForestShape forest_;
  int64_t depth_;
  std::vector<uint32_t> nodes_, targets_;
};

/// Trees may have a group each: then the second loop is over them.
Status supports(const CreateArgs& args) {
  const auto params = args.params<TreeEnsembleParams>();
  if (!args.constant(kTests) || !args.constant(kChildren) || !args.constant(kTargets))
    return Status::unsupported("TreeEnsemble: the Vulkan kernel needs a forest that is known when it is made");
  const int64_t ofWalk = walkPasses(forestShapeOf(args.inputs), params.targets, 1, depthOf(args));
  return vulkan::requireLoops(args, std::max(ofWalk, vulkan::loopPasses({params.trees})));
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "TreeEnsemble", vulkan::creatorOf<TreeEnsembleVulkan>(supports));
}

}  // namespace opkit::ops::tree_ensemble
