// FusedAttention on the CPU, f32 and f64. A task takes up to kRows queries that share a head of keys, and walks blocks
// of keys: products, then exponentials by the largest score so far, then products with the values; what was summed is
// scaled anew when a larger score appears. Blocks, and so results, do not depend on threads. If a sum is not finite,
// the task walks its keys again and leaves out hidden values one by one (attention.h has the rule).
#include <cmath>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "engine/backend/cpu/double_ops.h"
#include "engine/backend/cpu/double_rows.h"
#include "engine/backend/cpu/vector_ops.h"
#include "ops/attention/attention.h"
#include "ops/unary/unary_vectors.h"

namespace opkit::ops::attention {
namespace {

constexpr int64_t kRows = 64;    // queries of a task
constexpr int64_t kKeys = 128;   // of a block: its values stay in L1
constexpr int64_t kFewRows = 8;  // up to which keys are not laid out anew

/// Keys [begin, end) of a row.
struct KeyRange {
  int64_t begin, end;
};

void scaleTo(const float* x, float factor, float* y, int64_t count) { cpu::affine(x, 0, factor, 0, y, count); }
void scaleTo(const double* x, double factor, double* y, int64_t count) { cpu::affine(x, 0, factor, 0, y, count); }
void addTo(const float* x, float* y, int64_t count) { cpu::addTo(x, y, count); }
void addTo(const double* x, double* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] += x[i];
}
void transpose(const float* x, int64_t xRow, int64_t rows, int64_t columns, float* y, int64_t yRow) {
  cpu::transpose(x, xRow, rows, columns, y, yRow);
}
void transpose(const double* x, int64_t xRow, int64_t rows, int64_t columns, double* y, int64_t yRow) {
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i) y[j * yRow + i] = x[i * xRow + j];
}
void tanhOf(float* x, int64_t count) { unary::vectorMapOf("Tanh")(x, x, count, 0, 0); }
void tanhOf(double* x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] = std::tanh(x[i]);
}

/// The memory of one thread.
template <class T>
struct Workspace {
  T* queries;   // [rows, size], scaled
  T* keys;      // [size, kPanel], or [size, kFewRows] for the queries
  T* scores;    // [rows, kKeys]
  T* products;  // [rows, value size], or [kKeys, kFewRows]
  T* sums;      // [rows, value size]
  T largest[kRows];
  T total[kRows];

  static constexpr int64_t kPanel = 256 / sizeof(T);  // keys that are laid out anew together

  /// Elements of each array, for as many rows as a task has.
  struct Sizes {
    int64_t queries, keys, scores, products, sums;
  };
  static Sizes sizes(const AttentionPlan& plan) {
    const int64_t rows = std::min(kRows, plan.rows()), values = rows * plan.v.size;
    return {rows * plan.q.size, plan.q.size * (rows > kFewRows ? kPanel : kFewRows), rows * kKeys,
            std::max(values, kKeys * kFewRows), values};
  }
  static int64_t elements(const AttentionPlan& plan) {
    const Sizes all = sizes(plan);
    return all.queries + all.keys + all.scores + all.products + all.sums;
  }
  Workspace(T* memory, const AttentionPlan& plan) {
    const Sizes all = sizes(plan);
    queries = memory;
    keys = queries + all.queries;
    scores = keys + all.keys;
    products = scores + all.scores;
    sums = products + all.products;
  }
};

/// Some rows of one node: queries of one batch that share a head of keys and values.
template <class T>
class Task {
 public:
  Task(const AttentionPlan& plan, TensorList inputs, const Tensor& output, Workspace<T>& space)
      : plan_(plan), inputs_(inputs), y_(output.data<T>().data()), space_(space) {}

  void run(int64_t batch, int64_t kvHead, int64_t firstRow) {
    batch_ = batch, kvHead_ = kvHead, firstRow_ = firstRow;
    rows_ = std::min(kRows, plan_.rows() - firstRow);
    const int64_t size = plan_.q.size, values = plan_.v.size;
    KeyRange all{plan_.k.tokens, 0};
    for (int64_t r = 0; r < rows_; ++r) {
      const int64_t at =
          batch_ * plan_.q.batchStride + headOf(r) * plan_.q.headStride + tokenOf(r) * plan_.q.tokenStride;
      scaleTo(elements(kQ) + at, static_cast<T>(plan_.scale), space_.queries + r * size, size);
      ranges_[r] = rangeOf(tokenOf(r));
      if (ranges_[r].begin >= ranges_[r].end) continue;
      all = {std::min(all.begin, ranges_[r].begin), std::max(all.end, ranges_[r].end)};
    }
    walk(all, false);
    const auto isFinite = [](T sum) { return std::isfinite(sum); };
    if (!std::all_of(space_.sums, space_.sums + rows_ * values, isFinite)) walk(all, true);
    for (int64_t r = 0; r < rows_; ++r) store(r);
  }

 private:
  void walk(KeyRange all, bool isCareful) {
    for (int64_t r = 0; r < rows_; ++r) {
      // The sink is the first score of a row; it weighs no value.
      const T sink = hasInput(kSink) ? elements(kSink)[headOf(r)] : static_cast<T>(-INFINITY);
      space_.largest[r] = sink;
      space_.total[r] = sink == static_cast<T>(-INFINITY) ? T{0} : std::exp(sink - sink);  // 1, or NaN
    }
    std::fill_n(space_.sums, rows_ * plan_.v.size, T{0});
    for (int64_t key = all.begin; key < all.end; key += kKeys) addBlock(key, std::min(kKeys, all.end - key), isCareful);
  }

  const T* elements(size_t input) const { return inputs_[input]->data<T>().data(); }
  int64_t headOf(int64_t r) const { return kvHead_ * plan_.group + (firstRow_ + r) / plan_.q.tokens; }
  int64_t tokenOf(int64_t r) const { return (firstRow_ + r) % plan_.q.tokens; }
  bool hasInput(size_t i) const { return i < inputs_.size() && inputs_[i]; }

  KeyRange rangeOf(int64_t query) const {
    KeyRange range{0, plan_.mask ? plan_.mask->keys : plan_.k.tokens};
    int64_t position = query + plan_.past;
    if (hasInput(kLengths)) {
      const int64_t length = inputs_[kLengths]->data<int64_t>()[static_cast<size_t>(batch_)];
      range.end = std::clamp<int64_t>(length, 0, range.end);
      position = query + length - plan_.q.tokens;
    }
    if (plan_.left >= 0) range.begin = std::max<int64_t>(position - plan_.left, 0);
    if (plan_.right >= 0) range.end = std::min(range.end, position + plan_.right + 1);
    return range;
  }

  void addBlock(int64_t key, int64_t count, bool isCareful) {
    multiplyKeys(key, count);
    for (int64_t r = 0; r < rows_; ++r) {
      T* row = space_.scores + r * kKeys;
      adjust(r, key, count, row);
      weigh(r, row, count);
    }
    const int64_t values = plan_.v.size;
    const T* v = elements(kV) + batch_ * plan_.v.batchStride + kvHead_ * plan_.v.headStride + key * plan_.v.tokenStride;
    if (isCareful)
      multiplySeen(key, count, v);
    else
      cpu::multiplySmall({rows_, values, count, kKeys, 1, plan_.v.tokenStride, values, -INFINITY, INFINITY},
                         space_.scores, v, space_.products);
    addTo(space_.products, space_.sums, rows_ * values);
  }

  /// The products of a block's weights and values, without the values that are hidden from a row.
  void multiplySeen(int64_t key, int64_t count, const T* v) {
    const int64_t values = plan_.v.size;
    std::fill_n(space_.products, rows_ * values, T{0});
    for (int64_t r = 0; r < rows_; ++r)
      for (int64_t j = 0; j < count; ++j) {
        if (isHidden(r, key + j)) continue;
        const T weight = space_.scores[r * kKeys + j];
        for (int64_t d = 0; d < values; ++d) space_.products[r * values + d] += weight * v[j * plan_.v.tokenStride + d];
      }
  }

  int64_t maskAt(int64_t r, int64_t key) const {
    const MaskStrides& mask = *plan_.mask;
    return batch_ * mask.batch + headOf(r) * mask.head + tokenOf(r) * mask.query + key * mask.key;
  }

  bool isHidden(int64_t r, int64_t key) const {
    if (key < ranges_[r].begin || key >= ranges_[r].end) return true;
    if (!plan_.mask) return false;
    const int64_t at = maskAt(r, key);
    if (inputs_[kMask]->desc.dtype == DType::Bool) return inputs_[kMask]->data<uint8_t>().data()[at] == 0;
    return elements(kMask)[at] == static_cast<T>(-INFINITY);
  }

  /// Scores [rows, count] of a block of keys.
  void multiplyKeys(int64_t key, int64_t count) {
    const int64_t size = plan_.q.size, step = plan_.k.tokenStride;
    const T* k = elements(kK) + batch_ * plan_.k.batchStride + kvHead_ * plan_.k.headStride + key * step;
    if (rows_ > kFewRows) return multiplyPanels(k, count);
    const int64_t columns = (rows_ + 3) / 4 * 4;
    for (int64_t d = 0; d < size; ++d)
      for (int64_t r = 0; r < columns; ++r)
        space_.keys[d * columns + r] = r < rows_ ? space_.queries[r * size + d] : T{0};
    cpu::multiplySmall({count, columns, size, step, 1, columns, columns, -INFINITY, INFINITY}, k, space_.keys,
                       space_.products);
    for (int64_t r = 0; r < rows_; ++r)
      for (int64_t j = 0; j < count; ++j) space_.scores[r * kKeys + j] = space_.products[j * columns + r];
  }

  /// Keys are laid out in panels [size, kPanel], which stay in L1 while the queries pass by.
  void multiplyPanels(const T* k, int64_t count) {
    constexpr int64_t kPanel = Workspace<T>::kPanel;
    const int64_t size = plan_.q.size, step = plan_.k.tokenStride;
    for (int64_t first = 0; first < count; first += kPanel) {
      const int64_t columns = std::min(kPanel, count - first);
      transpose(k + first * step, step, columns, size, space_.keys, kPanel);
      cpu::multiplySmall({rows_, columns, size, size, 1, kPanel, kKeys, -INFINITY, INFINITY}, space_.queries,
                         space_.keys, space_.scores + first);
    }
  }

  /// Softcap, mask and window of a row's scores.
  void adjust(int64_t r, int64_t key, int64_t count, T* row) const {
    if (plan_.softcap > 0) {
      const T cap = static_cast<T>(plan_.softcap);
      for (int64_t j = 0; j < count; ++j) row[j] /= cap;
      tanhOf(row, count);
      for (int64_t j = 0; j < count; ++j) row[j] *= cap;
    }
    const int64_t begin = std::clamp<int64_t>(ranges_[r].begin - key, 0, count);
    const int64_t end = std::clamp<int64_t>(ranges_[r].end - key, begin, count);
    std::fill_n(row, begin, static_cast<T>(-INFINITY));
    std::fill(row + end, row + count, static_cast<T>(-INFINITY));
    if (plan_.mask) applyMask(r, key + begin, row + begin, end - begin);
  }

  void applyMask(int64_t r, int64_t key, T* row, int64_t count) const {
    const MaskStrides& mask = *plan_.mask;
    const int64_t first = maskAt(r, key);
    if (inputs_[kMask]->desc.dtype == DType::Bool) {
      const uint8_t* seen = inputs_[kMask]->data<uint8_t>().data() + first;
      for (int64_t j = 0; j < count; ++j) row[j] = seen[j * mask.key] ? row[j] : static_cast<T>(-INFINITY);
    } else {
      const T* added = elements(kMask) + first;
      for (int64_t j = 0; j < count; ++j) {
        const T more = added[j * mask.key];
        row[j] = more == static_cast<T>(-INFINITY) ? more : row[j] + more;
      }
    }
  }

  /// Scores become weights by the largest score so far.
  void weigh(int64_t r, T* row, int64_t count) {
    const T found = cpu::maxOf(row, count), before = space_.largest[r];
    const T largest = found > before || std::isnan(found) ? found : before;
    if (largest == static_cast<T>(-INFINITY)) {
      std::fill_n(row, count, T{0});
      return;
    }
    const T factor = largest == before ? T{1} : std::exp(before - largest);
    space_.total[r] = space_.total[r] * factor + cpu::expBelow(row, largest, row, count);
    space_.largest[r] = largest;
    T* sums = space_.sums + r * plan_.v.size;
    if (factor != T{1}) scaleTo(sums, factor, sums, plan_.v.size);
  }

  void store(int64_t r) {
    const int64_t values = plan_.v.size;
    T* y = y_ + batch_ * plan_.y.batchStride + headOf(r) * plan_.y.headStride + tokenOf(r) * plan_.y.tokenStride;
    const T total = space_.total[r];
    for (int64_t d = 0; d < values; ++d) y[d] = total == 0 ? T{0} : space_.sums[r * values + d] / total;
  }

  const AttentionPlan& plan_;
  TensorList inputs_;
  T* y_;
  Workspace<T>& space_;
  KeyRange ranges_[kRows];
  int64_t batch_ = 0, kvHead_ = 0, firstRow_ = 0, rows_ = 0;
};

template <class T>
class AttentionCpu final : public cpu::CpuKernel {
 public:
  AttentionCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<FusedAttentionParams>()) {}

  Result<size_t> scratchBytes(TensorList inputs, TensorList) override {
    OPKIT_TRY(plan(inputs));
    return static_cast<size_t>(threadElements_) * pool_.threadCount() * sizeof(T);
  }
  Status onResize(TensorList inputs, TensorList) override { return plan(inputs); }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    T* memory = reinterpret_cast<T*>(scratch().bytes().data());
    const int64_t blocks = (plan_.rows() + kRows - 1) / kRows;
    const auto task = [&](size_t index, size_t thread) {
      Workspace<T> space(memory + static_cast<int64_t>(thread) * threadElements_, plan_);
      const auto i = static_cast<int64_t>(index), head = i / blocks;
      Task<T>(plan_, inputs, *outputs[0], space).run(head / plan_.k.heads, head % plan_.k.heads, i % blocks * kRows);
    };
    pool_.parallelFor(static_cast<size_t>(plan_.q.batch * plan_.k.heads * blocks), std::ref(task));
    return Status::ok();
  }

 private:
  Status plan(TensorList inputs) {
    const Shape* mask = has(inputs, kMask) ? &inputs[kMask]->desc.shape : nullptr;
    OPKIT_ASSIGN(plan_,
                 planAttention(params_, inputs[kQ]->desc.shape, inputs[kK]->desc.shape, inputs[kV]->desc.shape, mask));
    threadElements_ = cpu::scratchPart(Workspace<T>::elements(plan_));
    return Status::ok();
  }

  FusedAttentionParamsT params_;
  AttentionPlan plan_{};
  int64_t threadElements_ = 0;
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "FusedAttention",
                      cpu::creatorOf<AttentionCpu<float>>(cpu::supportsAll, DTypeSet(DType::Float32)));
  registry.addCreator("cpu", "FusedAttention",
                      cpu::creatorOf<AttentionCpu<double>>(cpu::supportsAll, DTypeSet(DType::Float64)));
}

}  // namespace opkit::ops::attention
