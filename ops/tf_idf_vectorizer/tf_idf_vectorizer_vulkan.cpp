// TfIdfVectorizer on Vulkan: each token of a row has an invocation that walks down the tree of n-grams and adds to
// integer counts; a second dispatch weights them.
#include <algorithm>
#include <bit>

#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/tf_idf_vectorizer/ngrams.h"
#include "shaders/tf_idf_vectorizer/tf_idf_count.h"
#include "shaders/tf_idf_vectorizer/tf_idf_weight.h"

namespace opkit::ops::tf_idf_vectorizer {
namespace {

using Count = shaders::TfIdfCount;
using Weight = shaders::TfIdfWeight;

class TfIdfVectorizerVulkan final : public vulkan::VulkanExecution {
 public:
  TfIdfVectorizerVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<TfIdfVectorizerParams>()) {
    const Ngrams ngrams =
        ngramsOf(params_, args.constant(kPool)->data<int64_t>(), args.constant(kIndexes)->data<int64_t>());
    for (const NgramNode& node : ngrams.nodes) {
      const auto token = static_cast<uint64_t>(node.token);
      for (const uint64_t word :
           {token & 0xFFFFFFFF, token >> 32, uint64_t{node.firstChild}, uint64_t{node.firstColumn}})
        nodes_.push_back(static_cast<uint32_t>(word));
    }
    columns_ = ngrams.columns;
    if (columns_.empty()) columns_.push_back(0);  // a table has at least one word
  }

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const TensorDesc &x = inputs[kX]->desc, &y = outputs[0]->desc;
    if (y.elements() == 0) return Status::ok();
    OPKIT_ASSIGN(const Tensor* counts, encoder.scratch({DType::UInt32, y.shape}));
    OPKIT_TRY(encoder.fillZero(*counts));
    OPKIT_ASSIGN(const Tensor* nodes, encoder.table(nodes_));
    OPKIT_ASSIGN(const Tensor* columns, encoder.table(columns_));
    OPKIT_TRY(encoder.dispatch<Count>(
        {x.dtype == DType::Int32 ? Count::Storage::I32 : Count::Storage::U32x2},
        {.x = inputs[kX], .nodes = nodes, .columns = columns, .counts = counts},
        {.count = x.elements(), .rowLength = x.shape.back(), .width = y.shape.back(), .distances = distances()},
        vulkan::Items{x.elements()}));
    const Tensor* weights = has(inputs, kWeights) ? inputs[kWeights] : counts;
    return encoder.dispatch<Weight>({}, {.counts = counts, .weights = weights, .y = outputs[0]},
                                    {.count = y.elements(), .width = y.shape.back()}, vulkan::Items{y.elements()},
                                    {.mode = static_cast<uint32_t>(params_.mode), .isWeighted = has(inputs, kWeights)});
  }

 private:
  int64_t distances() const { return int64_t{params_.max_skip_count} + 1; }

  TfIdfVectorizerParamsT params_;
  std::vector<uint32_t> nodes_, columns_;
};

/// A walk searches among the children of a node per token, and adds to the columns of equal n-grams.
Status supports(const CreateArgs& args) {
  const auto params = args.params<TfIdfVectorizerParams>();
  if (!args.constant(kPool) || !args.constant(kIndexes))
    return Status::unsupported("TfIdfVectorizer: the Vulkan kernel needs a pool that is known when it is made");
  const std::vector<NgramNode> nodes =
      ngramsOf(params, args.constant(kPool)->data<int64_t>(), args.constant(kIndexes)->data<int64_t>()).nodes;
  int64_t children = 0, equal = 0;
  for (size_t i = 0; i + 1 < nodes.size(); ++i) {
    children = std::max(children, int64_t{nodes[i + 1].firstChild} - nodes[i].firstChild);
    equal = std::max(equal, int64_t{nodes[i + 1].firstColumn} - nodes[i].firstColumn);
  }
  const int64_t search = std::bit_width(static_cast<uint64_t>(children)) + 1;
  const int64_t distances = int64_t{params.max_skip_count} + 1, length = params.max_gram_length;
  return vulkan::requireLoops(
      args, vulkan::loopPasses({distances, length, search}) + vulkan::loopPasses({distances, length, equal}));
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "TfIdfVectorizer", vulkan::creatorOf<TfIdfVectorizerVulkan>(supports));
}

}  // namespace opkit::ops::tf_idf_vectorizer
