// The steps of RNN, GRU and LSTM on the CPU. f32: r is packed into panels (once, if constant), and a pass over the
// state makes sums and gates together (step_vectors.h). Sequences and directions are independent: where they keep all
// threads busy, each thread walks its own through all steps. Else the units of a step are shared out, and threads meet
// after each pass. f64: plain rows (step_doubles.h).
#include <algorithm>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "engine/tensor/lazy_buffer.h"
#include "ops/recurrent/step_doubles.h"
#include "ops/recurrent/step_vectors.h"
#include "ops/recurrent/whole_weights.h"

namespace opkit::ops::recurrent {
namespace {

/// Multiplications of a step for which threads are worth a meeting.
constexpr int64_t kMeetingWork = 65536;

/// InvalidArgument if a sequence has another length than [0, times].
Status checkLengths(const StepsPlan& plan, TensorList inputs) {
  if (kLengths >= inputs.size() || !inputs[kLengths]) return Status::ok();
  for (const int32_t length : inputs[kLengths]->data<int32_t>())
    if (length < 0 || length > plan.times) return badLength(plan.times, length);
  return Status::ok();
}

class StepsCpu final : public cpu::CpuKernel {
 public:
  /// Packs a constant r. OutOfMemory when refused.
  static Result<std::unique_ptr<Execution>> create(const CreateArgs& args, Backend& backend) {
    auto execution = std::make_unique<StepsCpu>(args, backend);
    if (args.constant(kR)) OPKIT_TRY(execution->packConstantR(*args.constant(kR), backend));
    return std::unique_ptr<Execution>(std::move(execution));
  }
  StepsCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<RecurrentParams>()), cell_(cellOf(args.def.type)) {
    passes_ = {{0, gatesOf(cell_)}};
    if (cell_ == Cell::Gru && !params_.linear_before_reset) passes_ = {{0, 2}, {2, 1}};
  }

  bool readsInput(size_t index) const override { return index != kR || !packed_; }
  bool plansNothing() const override { return false; }

  Result<size_t> scratchBytes(TensorList inputs, TensorList) override {
    plan(inputs);
    return cpu::scratchBytesOf(ends_.back());
  }
  Status onResize(TensorList inputs, TensorList) override {
    plan(inputs);
    rows_.assign(static_cast<size_t>(plan_.directions * plan_.batches), {});
    shareOut();
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    OPKIT_TRY(checkLengths(plan_, inputs));
    if (plan_.hidden == 0) return Status::ok();
    begin(inputs);
    const auto walk = [&](size_t task, size_t) { walkTask(static_cast<int64_t>(task), inputs, outputs); };
    if (unitTasks_ == 0)
      pool_.parallelFor(static_cast<size_t>(plan_.directions * rowTasks_), std::ref(walk));
    else
      for (int64_t step = 0; step < plan_.times; ++step) shareStep(step, inputs, outputs);
    for (size_t i = 1; i < outputs.size(); ++i) keepStates(i == 1 ? part(kH, plan_.times % 2) : part(kC), *outputs[i]);
    return Status::ok();
  }

 private:
  /// Parts of the scratch memory, in floats.
  enum Part : size_t { kPackedR, kBiases, kLinearBiases, kPeepholeRows, kH, kC, kOther, kParts };

  void plan(TensorList inputs) {
    plan_ = planSteps(params_, cell_, inputs[kProducts]->desc.shape, inputs[kR]->desc.shape);
    const int64_t units = blockUnits();
    blocks_ = (plan_.hidden + units - 1) / units;
    pitch_ = blocks_ * units;
    const int64_t state = plan_.directions * plan_.batches * pitch_, row = plan_.directions * pitch_;
    const int64_t sizes[kParts] = {packed_ ? 0 : packedFloats(plan_.directions, plan_.hidden),
                                   row * plan_.gates,
                                   row,
                                   row * 3,
                                   2 * state,
                                   state,
                                   cell_ == Cell::Gru ? state : 0};
    for (size_t i = 0; i < kParts; ++i) ends_[i] = (i == 0 ? 0 : ends_[i - 1]) + cpu::scratchPart(sizes[i]);
  }
  float* part(Part which, int64_t row = 0) const {
    const int64_t state = plan_.directions * plan_.batches * pitch_;
    return cpu::scratchFloats(scratch(), which == 0 ? 0 : ends_[which - 1]) + row * state;
  }

  /// The number of tasks: of sequences, each for all steps, or of units, for one pass.
  void shareOut() {
    const auto threads = static_cast<int64_t>(pool_.threadCount());
    const int64_t together = pool_.splitsAll() ? 1 : rowsTogether();
    const int64_t step = plan_.directions * plan_.batches * plan_.gates * plan_.hidden * plan_.hidden;
    const int64_t wanted = (threads + plan_.directions - 1) / plan_.directions;
    rowTasks_ = std::clamp<int64_t>((plan_.batches + together - 1) / together, 1, wanted);
    unitTasks_ = 0;
    const bool meets = plan_.directions * rowTasks_ < threads && (step >= threads * kMeetingWork || pool_.splitsAll());
    if (meets && blocks_ > 1) unitTasks_ = std::min(wanted, (blocks_ + 1) / 2);
  }

  void begin(TensorList inputs) {
    int64_t first = 0;  // of the packed r
    if (!packed_) pack(floatsOf(*inputs[kR]), plan_.directions, plan_.hidden, part(kPackedR), &pool_);
    for (int64_t d = 0; d < plan_.directions; ++d) {
      setBiases(d, has(inputs, kBias) ? floatsOf(*inputs[kBias]) : nullptr);
      if (has(inputs, kPeepholes))
        for (int64_t i = 0; i < 3; ++i)
          padRow(floatsOf(*inputs[kPeepholes]) + (d * 3 + i) * plan_.hidden,
                 part(kPeepholeRows) + (d * 3 + i) * pitch_);
      for (int64_t b = 0; b < plan_.batches; ++b) {
        setState(inputs, kInitialH, d, b, part(kH));
        if (cell_ == Cell::Lstm) setState(inputs, kInitialC, d, b, part(kC));
      }
      for (size_t i = 0; i < passes_.size(); ++i) {
        cells_[static_cast<size_t>(d)][i] = cellOfPass(d, passes_[i], has(inputs, kPeepholes), first);
        first += pitch_ * plan_.hidden * passes_[i].gates;
      }
    }
  }
  StepCell cellOfPass(int64_t direction, const Pass& pass, bool peepholes, int64_t first) const {
    const float* r = packed_ ? floatsOf(*packed_) : part(kPackedR);
    const bool whole = !steps_.empty();
    return {.cell = cell_,
            .pass = pass,
            .linear = cell_ == Cell::Gru && params_.linear_before_reset,
            .coupled = params_.input_forget,
            .clip = params_.clip,
            .functions = functionsOf(params_, cell_, direction),
            .hidden = plan_.hidden,
            .pitch = pitch_,
            .r = whole ? nullptr : r + first,
            .wholeR = whole ? reinterpret_cast<const int8_t*>(r) + first : nullptr,
            .step = whole ? steps_[static_cast<size_t>(direction)] : 0,
            .bias = part(kBiases) + direction * plan_.gates * pitch_,
            .linearBias = part(kLinearBiases) + direction * pitch_,
            .peepholes = peepholes ? part(kPeepholeRows) + direction * 3 * pitch_ : nullptr};
  }
  void padRow(const float* from, float* to) const {
    std::copy_n(from, plan_.hidden, to);
    std::fill(to + plan_.hidden, to + pitch_, 0.0f);
  }
  /// The sums of both biases; of GRU's last gate with linear_before_reset, that of r stays apart.
  void setBiases(int64_t direction, const float* b) const {
    const int64_t hidden = plan_.hidden;
    float* sums = part(kBiases) + direction * plan_.gates * pitch_;
    float* linear = part(kLinearBiases) + direction * pitch_;
    std::fill_n(sums, plan_.gates * pitch_, 0.0f);
    std::fill_n(linear, pitch_, 0.0f);
    if (!b) return;
    const float *ofW = b + direction * 2 * plan_.gates * hidden, *ofR = ofW + plan_.gates * hidden;
    const bool isApart = cell_ == Cell::Gru && params_.linear_before_reset;
    for (int64_t gate = 0; gate < plan_.gates; ++gate)
      for (int64_t u = 0; u < hidden; ++u) {
        const float other = ofR[gate * hidden + u];
        if (isApart && gate == 2) linear[u] = other;
        sums[gate * pitch_ + u] = ofW[gate * hidden + u] + (isApart && gate == 2 ? 0 : other);
      }
  }
  void setState(TensorList inputs, size_t index, int64_t direction, int64_t batch, float* states) const {
    float* to = states + (direction * plan_.batches + batch) * pitch_;
    if (has(inputs, index))
      padRow(floatsOf(*inputs[index]) + plan_.stateRow(direction, batch) * plan_.hidden, to);
    else
      std::fill_n(to, pitch_, 0.0f);
  }
  void keepStates(const float* states, const Tensor& output) const {
    float* to = floatsOf(output);
    for (int64_t d = 0; d < plan_.directions; ++d)
      for (int64_t b = 0; b < plan_.batches; ++b)
        std::copy_n(states + (d * plan_.batches + b) * pitch_, plan_.hidden, to + plan_.stateRow(d, b) * plan_.hidden);
  }

  /// Where sequences [begin, end) are at a step.
  std::span<const StepRow> rowsAt(int64_t step, int64_t direction, int64_t begin, int64_t end, TensorList inputs,
                                  TensorList outputs) {
    const int32_t* lengths = has(inputs, kLengths) ? inputs[kLengths]->data<int32_t>().data() : nullptr;
    const int64_t columns = plan_.columns(), first = direction * plan_.batches;
    const float* products = floatsOf(*inputs[kProducts]) + direction * plan_.gates * plan_.hidden;
    for (int64_t b = begin; b < end; ++b) {
      const int64_t length = lengths ? lengths[b] : plan_.times, state = (first + b) * pitch_;
      const bool active = step < length;
      const int64_t time = active && isReverse(params_, direction) ? length - 1 - step : step;
      rows_[static_cast<size_t>(first + b)] = {
          products + plan_.productRow(time, b) * columns,
          part(kH, step % 2) + state,
          part(kH, (step + 1) % 2) + state,
          part(kC) + state,
          part(kOther) + state,
          floatsOf(*outputs[0]) + plan_.outputRow(time, direction, b) * plan_.hidden,
          active};
    }
    return {rows_.data() + first + begin, static_cast<size_t>(end - begin)};
  }

  void walkTask(int64_t task, TensorList inputs, TensorList outputs) {
    const int64_t direction = task / rowTasks_, share = task % rowTasks_;
    const int64_t begin = share * plan_.batches / rowTasks_, end = (share + 1) * plan_.batches / rowTasks_;
    for (int64_t step = 0; step < plan_.times; ++step) {
      const std::span<const StepRow> rows = rowsAt(step, direction, begin, end, inputs, outputs);
      for (size_t i = 0; i < passes_.size(); ++i)
        runPass(cells_[static_cast<size_t>(direction)][i], rows, 0, blocks_, step % 2 == 1);
    }
  }
  void shareStep(int64_t step, TensorList inputs, TensorList outputs) {
    for (int64_t d = 0; d < plan_.directions; ++d) rowsAt(step, d, 0, plan_.batches, inputs, outputs);
    for (size_t pass = 0; pass < passes_.size(); ++pass) {
      const auto run = [&](size_t index, size_t) {
        const auto task = static_cast<int64_t>(index);
        const int64_t d = task / unitTasks_, share = task % unitTasks_, pairs = (blocks_ + 1) / 2;
        const int64_t first = share * pairs / unitTasks_ * 2, last = (share + 1) * pairs / unitTasks_ * 2;
        runPass(cells_[static_cast<size_t>(d)][pass],
                {rows_.data() + d * plan_.batches, static_cast<size_t>(plan_.batches)}, first, std::min(last, blocks_),
                step % 2 == 1);
      };
      pool_.parallelFor(static_cast<size_t>(plan_.directions * unitTasks_), std::ref(run));
    }
  }

  int64_t packedFloats(int64_t directions, int64_t hidden) const {
    const int64_t units = blockUnits();
    return directions * gatesOf(cell_) * hidden * ((hidden + units - 1) / units) * units;
  }
  /// r [directions, gates * hidden, hidden] as [direction][pass][block][k][gate][lane]; lanes behind the last unit are
  /// 0. Of int8_t: in units of the direction's step.
  template <class T>
  void pack(const float* r, int64_t directions, int64_t hidden, T* to, ThreadPool* pool) const {
    const int64_t units = blockUnits(), blocks = (hidden + units - 1) / units, gates = gatesOf(cell_);
    const auto packBlock = [&](int64_t index) {
      const int64_t block = index % blocks;
      const float* from = r + index / blocks * gates * hidden * hidden;
      T* direction = to + index / blocks * gates * hidden * blocks * units;
      for (const Pass& pass : passes_) {
        T* target = direction + (pass.firstGate * blocks + block * pass.gates) * hidden * units;
        for (int64_t k = 0; k < hidden; ++k)
          for (int64_t gate = 0; gate < pass.gates; ++gate)
            for (int64_t lane = 0; lane < units; ++lane, ++target) {
              const int64_t unit = block * units + lane;
              const float value = unit < hidden ? from[((pass.firstGate + gate) * hidden + unit) * hidden + k] : 0;
              if constexpr (std::is_same_v<T, int8_t>)
                *target = inSteps(value, steps_[static_cast<size_t>(index / blocks)]);
              else
                *target = value;
            }
      }
    };
    if (pool) return cpu::parallelRows(*pool, directions * blocks, gates * hidden * units, packBlock);
    for (int64_t i = 0; i < directions * blocks; ++i) packBlock(i);
  }
  Status packConstantR(const Tensor& r, Backend& backend) {
    const Shape& shape = r.desc.shape;
    OPKIT_ASSIGN(const Tensor values, readable(r));
    steps_ = commonSteps({floatsOf(values), static_cast<size_t>(r.desc.elements())}, shape[0]);
    const bool whole = !steps_.empty();
    const std::string form =
        fmt::format("recurrent r {}x{}x{} in passes of {} and blocks of {}{}", shape[0], gatesOf(cell_), shape[2],
                    passes_[0].gates, blockUnits(), whole ? ", whole" : "");
    const int64_t count = packedFloats(shape[0], shape[2]);
    const auto packAll = [&](const Tensor&, float* to) {
      if (whole) return pack(floatsOf(values), shape[0], shape[2], reinterpret_cast<int8_t*>(to), nullptr);
      pack(floatsOf(values), shape[0], shape[2], to, nullptr);
    };
    OPKIT_ASSIGN(packed_, cpu::packConstant(backend, r, form, whole ? (count + 3) / 4 : count, packAll));
    return Status::ok();
  }

  RecurrentParamsT params_;
  Cell cell_;
  std::vector<Pass> passes_;
  StepsPlan plan_;
  int64_t blocks_ = 0, pitch_ = 0;  // of units
  int64_t rowTasks_ = 1, unitTasks_ = 0;
  std::array<int64_t, kParts> ends_{};
  std::array<std::array<StepCell, 2>, 2> cells_;  // by direction and pass
  std::vector<StepRow> rows_;                     // by direction and sequence
  std::shared_ptr<const Tensor> packed_;          // null if r changes
  std::vector<float> steps_;                      // by direction, if a constant r is whole numbers of them
};

class WideStepsCpu final : public cpu::CpuKernel {
 public:
  WideStepsCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<RecurrentParams>()), cell_(cellOf(args.def.type)) {}

  Result<size_t> scratchBytes(TensorList inputs, TensorList) override {
    const StepsPlan plan = planOf(inputs);
    return static_cast<size_t>(plan.directions * plan.batches * doublesOfWalk(plan)) * sizeof(double);
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const StepsPlan plan = planOf(inputs);
    OPKIT_TRY(checkLengths(plan, inputs));
    if (plan.hidden == 0) return Status::ok();
    auto* work = reinterpret_cast<double*>(cpu::scratchFloats(scratch()));
    cpu::parallelRows(pool_, plan.directions * plan.batches, plan.times * plan.gates * plan.hidden * plan.hidden,
                      [&](int64_t row) {
                        walkDoubles(plan, params_, row / plan.batches, row % plan.batches, inputs, outputs,
                                    work + row * doublesOfWalk(plan));
                      });
    return Status::ok();
  }

 private:
  StepsPlan planOf(TensorList inputs) const {
    return planSteps(params_, cell_, inputs[kProducts]->desc.shape, inputs[kR]->desc.shape);
  }

  RecurrentParamsT params_;
  Cell cell_;
};

}  // namespace

void addCpu(OpRegistry& registry) {
  for (const char* type : {"RNNSteps", "GRUSteps", "LSTMSteps"}) {
    registry.addCreator("cpu", type,
                        {.supports = cpu::supportsAll,
                         .create = StepsCpu::create,
                         .dtypes = DTypeSet(DType::Float32),
                         .kernel = "panels"});
    registry.addCreator("cpu", type, cpu::creatorOf<WideStepsCpu>(cpu::supportsAll, DTypeSet(DType::Float64), "rows"));
  }
}

}  // namespace opkit::ops::recurrent
