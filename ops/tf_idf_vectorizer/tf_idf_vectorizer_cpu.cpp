// TfIdfVectorizer on the CPU: from each token of a row, and for each distance, a walk down the tree of n-grams. Counts
// are integers in the memory of the result until the row is done.
#include <algorithm>
#include <bit>

#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/tf_idf_vectorizer/ngrams.h"

namespace opkit::ops::tf_idf_vectorizer {
namespace {

class TfIdfVectorizerCpu final : public cpu::CpuKernel {
 public:
  TfIdfVectorizerCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend),
        params_(args.params<TfIdfVectorizerParams>()),
        ngrams_(ngramsOf(params_, args.constant(kPool)->data<int64_t>(), args.constant(kIndexes)->data<int64_t>())) {}

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const Shape& x = inputs[kX]->desc.shape;
    const int64_t length = x.back(), columns = outputs[0]->desc.shape.back(), rows = x.size() == 2 ? x[0] : 1;
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const float* weights = has(inputs, kWeights) ? floatsOf(*inputs[kWeights]) : nullptr;
    cpu::parallelRows(pool_, rows, length * (params_.max_skip_count + 1) * 8 + columns, [&](int64_t row) {
      float* y = floatsOf(*outputs[0]) + row * columns;
      std::fill_n(y, columns, std::bit_cast<float>(uint32_t{0}));
      if (inputs[kX]->desc.dtype == DType::Int32)
        count(inputs[kX]->data<int32_t>().data() + row * length, length, y);
      else
        count(inputs[kX]->data<int64_t>().data() + row * length, length, y);
      for (int64_t column = 0; column < columns; ++column)
        y[column] = weighted(std::bit_cast<uint32_t>(y[column]), weights ? weights[column] : 1);
    });
    return Status::ok();
  }

 private:
  /// The child of a node for a token; 0 if there is none.
  uint32_t childOf(uint32_t node, int64_t token) const {
    const NgramNode* first = ngrams_.nodes.data() + ngrams_.nodes[node].firstChild;
    const NgramNode* last = ngrams_.nodes.data() + ngrams_.nodes[node + 1].firstChild;
    const NgramNode* found =
        std::lower_bound(first, last, token, [](const NgramNode& a, int64_t b) { return a.token < b; });
    return found != last && found->token == token ? static_cast<uint32_t>(found - ngrams_.nodes.data()) : 0;
  }

  template <class T>
  void count(const T* x, int64_t length, float* counts) const {
    for (int64_t start = 0; start < length; ++start) {
      const uint32_t first = childOf(0, x[start]);
      if (first == 0) continue;
      add(first, counts);
      for (int64_t distance = 1; distance <= int64_t{params_.max_skip_count} + 1; ++distance) {
        uint32_t node = first;
        for (int64_t at = start + distance; at < length; at += distance) {
          node = childOf(node, x[at]);
          if (node == 0) break;
          add(node, counts);
        }
      }
    }
  }

  void add(uint32_t node, float* counts) const {
    for (uint32_t i = ngrams_.nodes[node].firstColumn; i < ngrams_.nodes[node + 1].firstColumn; ++i) {
      float& element = counts[ngrams_.columns[i]];
      element = std::bit_cast<float>(std::bit_cast<uint32_t>(element) + 1);
    }
  }

  float weighted(uint32_t times, float weight) const {
    if (params_.mode == Mode::tf) return static_cast<float>(times);
    if (params_.mode == Mode::idf) return times > 0 ? weight : 0;
    return static_cast<float>(times) * weight;
  }

  TfIdfVectorizerParamsT params_;
  Ngrams ngrams_;
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "TfIdfVectorizer", cpu::creatorOf<TfIdfVectorizerCpu>(cpu::supportsAll, kAnyDType));
}

}  // namespace opkit::ops::tf_idf_vectorizer
