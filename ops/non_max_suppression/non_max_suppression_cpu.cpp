// NonMaxSuppression on the CPU: a heap gives the boxes of each row by falling score, until enough are selected.
#include <algorithm>
#include <cmath>

#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/non_max_suppression/non_max_suppression.h"
#include "ops/non_max_suppression/non_max_suppression_parts.h"

namespace opkit::ops::non_max_suppression {
namespace {

struct Box {
  float low[2], high[2], area;

  static Box of(const float* x, bool aroundCentre) {
    Box box{};
    for (size_t d = 0; d < 2; ++d) {
      box.low[d] = aroundCentre ? x[d] - x[d + 2] * 0.5f : std::min(x[d], x[d + 2]);
      box.high[d] = aroundCentre ? x[d] + x[d + 2] * 0.5f : std::max(x[d], x[d + 2]);
    }
    box.area = (box.high[0] - box.low[0]) * (box.high[1] - box.low[1]);
    return box;
  }
  bool overlaps(const Box& other, float limit) const {
    const float height = std::min(high[0], other.high[0]) - std::max(low[0], other.low[0]);
    const float width = std::min(high[1], other.high[1]) - std::max(low[1], other.low[1]);
    if (!(height > 0) || !(width > 0) || !(area > 0) || !(other.area > 0)) return false;
    const float common = height * width;
    return common / (area + other.area - common) > limit;
  }
};

/// The selection in one row of scores.
struct Row {
  const float* boxes;
  const float* scores;
  int64_t count;
  int64_t most;
  bool aroundCentre;
  float limit;
  std::optional<float> least;
  int32_t* heap;  // [count]
  Box* kept;      // [most]
  int64_t* out;   // [most, 3]: the last word of each

  int64_t select() const {
    int32_t* end = least ? gather([lowest = *least](float score) { return score > lowest; })
                         : gather([](float score) { return !std::isnan(score); });
    const auto isWorse = [this](int32_t a, int32_t b) {
      return scores[a] != scores[b] ? scores[a] < scores[b] : a > b;
    };
    std::make_heap(heap, end, isWorse);
    int64_t found = 0;
    for (; end != heap && found < most; --end) {
      std::pop_heap(heap, end, isWorse);
      const Box box = Box::of(boxes + 4 * end[-1], aroundCentre);
      if (std::any_of(kept, kept + found, [&](const Box& other) { return box.overlaps(other, limit); })) continue;
      kept[found] = box;
      out[3 * found++ + 2] = end[-1];
    }
    return found;
  }

 private:
  /// Fills the heap with the scores that count, without branches: whether one does is hard to predict.
  template <class Counts>
  int32_t* gather(const Counts& counts) const {
    int32_t* end = heap;
    for (int32_t i = 0; i < count; ++i) {
      *end = i;
      end += counts(scores[i]) ? 1 : 0;
    }
    return end;
  }
};

class NonMaxSuppressionCpu final : public cpu::CpuKernel {
 public:
  NonMaxSuppressionCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), aroundCentre_(args.params<NonMaxSuppressionParams>().center_point_box) {}

  Result<size_t> scratchBytes(TensorList inputs, TensorList outputs) override {
    const Extents extents = Extents::of(inputs[1]->desc.shape, outputs[0]->desc.shape);
    return static_cast<size_t>(extents.rows()) * bytesPerRow(extents);
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const Extents extents = Extents::of(inputs[1]->desc.shape, outputs[0]->desc.shape);
    const auto indices = outputs[0]->data<int64_t>();
    if (extents.most > 0)
      cpu::parallelRows(pool_, extents.rows(), extents.boxes * 8, [&](int64_t row) {
        *foundIn(extents, row) = rowOf(inputs, extents, row, indices.data()).select();
      });
    int64_t used = 0;
    for (int64_t row = 0; extents.most > 0 && row < extents.rows(); ++row)
      for (int64_t k = 0; k < *foundIn(extents, row); ++k, ++used) {
        const int64_t words[] = {row / extents.classes, row % extents.classes,
                                 indices[static_cast<size_t>(3 * (row * extents.most + k) + 2)]};
        std::copy_n(words, 3, indices.begin() + 3 * used);
      }
    std::fill(indices.begin() + 3 * used, indices.end(), 0);
    outputs[1]->data<int64_t>()[0] = used;
    return Status::ok();
  }

 private:
  /// Scratch of a row: the number found, kept boxes, the heap.
  static size_t bytesPerRow(const Extents& extents) {
    const size_t bytes = sizeof(int64_t) + static_cast<size_t>(extents.most) * sizeof(Box) +
                         static_cast<size_t>(extents.boxes) * sizeof(int32_t);
    return (bytes + 63) / 64 * 64;
  }
  int64_t* foundIn(const Extents& extents, int64_t row) const {
    return reinterpret_cast<int64_t*>(scratch().bytes().data() + static_cast<size_t>(row) * bytesPerRow(extents));
  }
  Row rowOf(TensorList inputs, const Extents& extents, int64_t row, int64_t* indices) const {
    const auto scalar = [&](size_t i) {
      return has(inputs, i) ? std::optional(inputs[i]->data<float>()[0]) : std::nullopt;
    };
    auto* const kept = reinterpret_cast<Box*>(foundIn(extents, row) + 1);
    return {.boxes = inputs[0]->data<float>().data() + row / extents.classes * extents.boxes * 4,
            .scores = inputs[1]->data<float>().data() + row * extents.boxes,
            .count = extents.boxes,
            .most = extents.most,
            .aroundCentre = aroundCentre_,
            .limit = scalar(3).value_or(0.0f),
            .least = scalar(4),
            .heap = reinterpret_cast<int32_t*>(kept + extents.most),
            .kept = kept,
            .out = indices + 3 * row * extents.most};
  }

  bool aroundCentre_;
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "NonMaxSuppression",
                      cpu::creatorOf<NonMaxSuppressionCpu>(cpu::supportsAll, DTypeSet(DType::Float32)));
}

}  // namespace opkit::ops::non_max_suppression
