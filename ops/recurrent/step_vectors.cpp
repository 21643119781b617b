#include "ops/recurrent/step_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/recurrent/step_vectors.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::recurrent {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace vm = opkit::cpu::HWY_NAMESPACE;

using V = vm::FloatVec;
constexpr int64_t kLanes = vm::kLanes;
constexpr int kMostGates = 4;
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON  // 32 registers
constexpr int kRows = 4;
#else
constexpr int kRows = 2;
#endif
constexpr int kMostRows = 16;   // between which r is reused from the nearest cache
constexpr int64_t kDepth = 64;  // of the part of r that stays there
constexpr int kBlocks = 2;      // of a single row: its sums are too few to hide the latency of additions

int64_t blockUnitsOf() { return kLanes; }
int64_t rowsTogetherOf() { return kRows; }

/// In place; `x` is aligned. Not inlined: a cell has five, each of any kind.
HWY_NOINLINE void apply(const Function& function, float clip, float* x) {
  const hn::ScalableTag<float> d;
  V v = hn::Load(d, x);
  if (clip > 0) v = vm::limitTo(v, vm::set(-clip), vm::set(clip));
  const V alpha = vm::set(function.alpha), beta = vm::set(function.beta), zero = vm::set(0.0f), one = vm::set(1.0f);
  switch (function.kind) {
    case Activation::Relu: v = vm::choose(hn::Lt(v, zero), zero, v); break;
    case Activation::Tanh: v = vm::tanh(v); break;
    case Activation::Sigmoid: v = vm::sigmoid(v); break;
    case Activation::Affine: v = hn::MulAdd(alpha, v, beta); break;
    case Activation::LeakyRelu: v = vm::choose(hn::Lt(v, zero), hn::Mul(alpha, v), v); break;
    case Activation::ThresholdedRelu: v = vm::choose(hn::Lt(v, alpha), zero, v); break;
    case Activation::ScaledTanh: v = hn::Mul(alpha, vm::tanh(hn::Mul(beta, v))); break;
    case Activation::HardSigmoid: v = vm::limitTo(hn::MulAdd(alpha, v, beta), zero, one); break;
    case Activation::Elu: v = vm::choose(hn::Lt(v, zero), hn::Mul(alpha, vm::expm1(v)), v); break;
    case Activation::Softsign: v = hn::Div(v, hn::Add(one, hn::Abs(v))); break;
    case Activation::Softplus: v = vm::softplus(v); break;
  }
  hn::Store(v, d, x);
}

/// The elements of r from `at` on.
struct FloatWeights {
  const float* at;
  HWY_INLINE V load(int64_t i) const { return hn::Load(hn::ScalableTag<float>(), at + i); }
};
struct WholeWeights {
  const int8_t* at;
  float step;
  HWY_INLINE V load(int64_t i) const {
    const hn::ScalableTag<float> d;
    const hn::RebindToSigned<decltype(d)> whole;
    const auto bytes = hn::LoadU(hn::Rebind<int8_t, decltype(d)>(), at + i);
    return hn::Mul(hn::ConvertTo(d, hn::PromoteTo(whole, bytes)), hn::Set(d, step));
  }
};

/// sums[row][block][gate] += the state of each row times r of each block.
/// k from `begin` to `end` - 1; blocks of r are `blockStride` elements apart.
template <int kGates, int kRowCount, int kBlockCount, class Weights>
HWY_NOINLINE void multiply(const float* const* states, Weights r, int64_t blockStride, int64_t begin, int64_t end,
                           float* sums) {
  const hn::ScalableTag<float> d;
  V sum[kRowCount][kBlockCount * kGates];
  HWY_UNROLL(8) for (int row = 0; row < kRowCount; ++row) {
    HWY_UNROLL(8) for (int j = 0; j < kBlockCount * kGates; ++j) {
      sum[row][j] = hn::Load(d, sums + (row * kBlockCount * kGates + j) * kLanes);
    }
  }
  r.at += begin * kGates * kLanes;
  for (int64_t k = begin; k < end; ++k, r.at += kGates * kLanes) {
    V state[kRowCount];
    HWY_UNROLL(8) for (int row = 0; row < kRowCount; ++row) state[row] = vm::set(states[row][k]);
    HWY_UNROLL(8) for (int j = 0; j < kBlockCount * kGates; ++j) {
      const V weights = r.load(j / kGates * blockStride + j % kGates * kLanes);
      HWY_UNROLL(8)
      for (int row = 0; row < kRowCount; ++row) sum[row][j] = hn::MulAdd(state[row], weights, sum[row][j]);
    }
  }
  HWY_UNROLL(8) for (int row = 0; row < kRowCount; ++row) {
    HWY_UNROLL(8) for (int j = 0; j < kBlockCount * kGates; ++j) {
      hn::Store(sum[row][j], d, sums + (row * kBlockCount * kGates + j) * kLanes);
    }
  }
}

template <int kGates, class Weights>
HWY_INLINE void multiplyPart(int rows, const float* const* states, const Weights& r, int64_t begin, int64_t end,
                             float* sums) {
  switch (rows) {
    case 1: return multiply<kGates, 1, 1>(states, r, 0, begin, end, sums);
    case 2: return multiply<kGates, 2, 1>(states, r, 0, begin, end, sums);
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON
    case 3: return multiply<kGates, 3, 1>(states, r, 0, begin, end, sums);
    default: return multiply<kGates, 4, 1>(states, r, 0, begin, end, sums);
#endif
  }
}

/// All sums of a tile. Of many rows, in parts of the depth.
template <int kGates, class Weights>
HWY_INLINE void multiplyTile(int rows, int blocks, const float* const* states, const Weights& r, int64_t depth,
                             float* sums) {
  if (blocks == kBlocks) return multiply<kGates, 1, kBlocks>(states, r, depth * kGates * kLanes, 0, depth, sums);
  const int64_t step = rows <= kRows ? depth : kDepth;
  for (int64_t k = 0; k < depth; k += step)
    for (int row = 0; row < rows; row += kRows)
      multiplyPart<kGates>(std::min(kRows, rows - row), states + row, r, k, std::min(depth, k + step),
                           sums + row * kGates * kLanes);
}

template <class Weights>
HWY_INLINE void multiplyGates(int64_t gates, int rows, int blocks, const float* const* states, const Weights& r,
                              int64_t depth, float* sums) {
  switch (gates) {
    case 1: return multiplyTile<1>(rows, blocks, states, r, depth, sums);
    case 2: return multiplyTile<2>(rows, blocks, states, r, depth, sums);
    case 3: return multiplyTile<3>(rows, blocks, states, r, depth, sums);
    default: return multiplyTile<4>(rows, blocks, states, r, depth, sums);
  }
}

/// One block of one row: what the gates do with their sums.
class Finish {
 public:
  Finish(const StepCell& cell, const StepRow& row, int64_t block, float* sums)
      : cell_(cell),
        row_(row),
        at_(block * kLanes),
        count_(std::min<int64_t>(kLanes, cell.hidden - at_)),
        sums_(sums) {}

  HWY_INLINE void run() const {
    switch (cell_.cell) {
      case Cell::Rnn: applyTo(0, 0); return keep(gate(0));
      case Cell::Gru: return cell_.linear ? linearGru() : cell_.pass.firstGate == 0 ? gatesOfGru() : hiddenOfGru();
      case Cell::Lstm: return lstm();
    }
  }
  /// Without a step.
  HWY_INLINE void skip() const {
    vm::store(vm::load(row_.h + at_), row_.next + at_);
    if (row_.y) vm::storePart(vm::set(0.0f), row_.y + at_, count_);
  }

 private:
  HWY_INLINE V gate(int64_t i) const { return hn::Load(hn::ScalableTag<float>(), sums_ + i * kLanes); }
  HWY_INLINE void setGate(int64_t i, V value) const { hn::Store(value, hn::ScalableTag<float>(), sums_ + i * kLanes); }
  HWY_INLINE void applyTo(int64_t i, size_t function) const {
    apply(cell_.functions[function], cell_.clip, sums_ + i * kLanes);
  }
  HWY_INLINE void keep(V h) const {
    vm::store(h, row_.next + at_);
    if (row_.y) vm::storePart(h, row_.y + at_, count_);
  }
  HWY_INLINE V blend(V update, V hidden) const {
    return hn::MulAdd(update, vm::load(row_.h + at_), hn::Mul(hn::Sub(vm::set(1.0f), update), hidden));
  }

  HWY_INLINE void gatesOfGru() const {
    applyTo(0, 0);
    applyTo(1, 0);
    vm::store(gate(0), row_.other + at_);
    vm::store(hn::Mul(gate(1), vm::load(row_.h + at_)), row_.c + at_);
  }
  HWY_INLINE void hiddenOfGru() const {
    applyTo(0, 1);
    keep(blend(vm::load(row_.other + at_), gate(0)));
  }
  HWY_INLINE void linearGru() const {
    applyTo(0, 0);
    applyTo(1, 0);
    const V input = hn::Add(vm::loadPart(row_.product + 2 * cell_.hidden + at_, count_),
                            vm::load(cell_.bias + 2 * cell_.pitch + at_));
    setGate(2, hn::MulAdd(gate(1), gate(2), input));
    applyTo(2, 1);
    keep(blend(gate(0), gate(2)));
  }

  HWY_INLINE void addPeephole(int64_t gateIndex, V cell) const {
    if (!cell_.peepholes) return;
    const V weight = vm::load(cell_.peepholes + gateIndex * cell_.pitch + at_);
    setGate(gateIndex, hn::MulAdd(weight, cell, gate(gateIndex)));
  }
  HWY_INLINE void lstm() const {
    constexpr int64_t kIn = 0, kOut = 1, kForget = 2, kCell = 3;
    const V old = vm::load(row_.c + at_);
    addPeephole(kIn, old);
    applyTo(kIn, 0);
    if (cell_.coupled) {
      setGate(kForget, hn::Sub(vm::set(1.0f), gate(kIn)));
    } else {
      addPeephole(kForget, old);
      applyTo(kForget, 0);
    }
    applyTo(kCell, 1);
    const V cell = hn::MulAdd(gate(kForget), old, hn::Mul(gate(kIn), gate(kCell)));
    vm::store(cell, row_.c + at_);
    addPeephole(kOut, cell);
    applyTo(kOut, 0);
    setGate(kCell, cell);
    applyTo(kCell, 2);
    keep(hn::Mul(gate(kOut), gate(kCell)));
  }

  const StepCell& cell_;
  const StepRow& row_;
  int64_t at_, count_;
  float* sums_;
};

/// Products and biases, where the sums of a block begin.
HWY_INLINE void beginSums(const StepCell& cell, const StepRow& row, int64_t block, float* sums) {
  const hn::ScalableTag<float> d;
  const int64_t at = block * kLanes, count = std::min<int64_t>(kLanes, cell.hidden - at);
  for (int64_t g = 0; g < cell.pass.gates; ++g, sums += kLanes) {
    const int64_t gate = cell.pass.firstGate + g;
    if (cell.linear && gate == 2)
      hn::Store(vm::load(cell.linearBias + at), d, sums);
    else
      hn::Store(hn::Add(vm::loadPart(row.product + gate * cell.hidden + at, count),
                        vm::load(cell.bias + gate * cell.pitch + at)),
                d, sums);
  }
}

/// `blocks` neighbouring blocks of `rows` rows: one of either is 1.
HWY_INLINE void runTile(const StepCell& cell, const StepRow* rows, int rowCount, int64_t block, int blocks) {
  HWY_ALIGN float sums[kMostRows * kMostGates * kLanes];
  const int64_t gates = cell.pass.gates, step = gates * kLanes;
  const float* states[kMostRows];
  const bool isSecond = cell.pass.firstGate > 0;
  for (int i = 0; i < rowCount; ++i) {
    states[i] = isSecond ? rows[i].c : rows[i].h;
    for (int b = 0; b < blocks; ++b) beginSums(cell, rows[i], block + b, sums + (i * blocks + b) * step);
  }
  const int64_t first = block * cell.hidden * step;
  if (cell.wholeR)
    multiplyGates(gates, rowCount, blocks, states, WholeWeights{cell.wholeR + first, cell.step}, cell.hidden, sums);
  else
    multiplyGates(gates, rowCount, blocks, states, FloatWeights{cell.r + first}, cell.hidden, sums);
  for (int i = 0; i < rowCount; ++i)
    for (int b = 0; b < blocks; ++b) {
      const Finish finish(cell, rows[i], block + b, sums + (i * blocks + b) * step);
      if (rows[i].active)
        finish.run();
      else if (!isSecond || cell.cell != Cell::Gru)
        finish.skip();
    }
}

void runPassOf(const StepCell& cell, std::span<const StepRow> rows, int64_t firstBlock, int64_t lastBlock,
               bool isBackward) {
  const auto count = static_cast<int64_t>(rows.size());
  const int64_t width = count == 1 ? kBlocks : 1, tiles = (lastBlock - firstBlock + width - 1) / width;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t block = firstBlock + (isBackward ? tiles - 1 - i : i) * width;
    const int blocks = static_cast<int>(std::min(width, lastBlock - block));
    for (int64_t row = 0; row < count; row += kMostRows)
      runTile(cell, rows.data() + row, static_cast<int>(std::min<int64_t>(kMostRows, count - row)), block, blocks);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::recurrent
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::recurrent {
HWY_EXPORT(blockUnitsOf);
HWY_EXPORT(rowsTogetherOf);
HWY_EXPORT(runPassOf);
int64_t blockUnits() { return HWY_DYNAMIC_DISPATCH(blockUnitsOf)(); }
int64_t rowsTogether() { return HWY_DYNAMIC_DISPATCH(rowsTogetherOf)(); }
void runPass(const StepCell& cell, std::span<const StepRow> rows, int64_t firstBlock, int64_t lastBlock,
             bool isBackward) {
  HWY_DYNAMIC_DISPATCH(runPassOf)(cell, rows, firstBlock, lastBlock, isBackward);
}
}  // namespace opkit::ops::recurrent
#endif
