// Direct convolution on the CPU (conv_direct_vectors.h): constant weights, several taps, and channels enough to fill
// vectors.
#include <functional>

#include "engine/backend/cpu/cpu_scratch.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/base/divide.h"
#include "ops/conv/conv_cpu.h"
#include "ops/conv/conv_direct_vectors.h"

namespace opkit::ops::conv {
namespace {

constexpr int64_t kMostPositions = 256;     // of a task: the image that they read stays in the second-level cache
constexpr int64_t kLeastPositions = 64;     // of a task that has more panels than one: weights are read once per task
constexpr double kLeastTaskWork = 1 << 17;  // multiply-adds
constexpr int64_t kTasksPerThread = 4;      // more than one, so that a preempted thread does not delay the rest

class DirectConvCpu final : public ConvCpu {
 public:
  /// Packs the weights, one matrix per group. OutOfMemory when refused.
  static Result<std::unique_ptr<Execution>> create(const CreateArgs& args, Backend& backend) {
    auto execution = std::make_unique<DirectConvCpu>(args, backend);
    OPKIT_TRY(execution->packWeights(*args.constant(1), backend));
    return std::unique_ptr<Execution>(std::move(execution));
  }
  using ConvCpu::ConvCpu;

  bool readsInput(size_t index) const override { return index != 1; }

  /// One padded image, then the sums of each thread's task.
  Result<size_t> scratchBytes(TensorList inputs, TensorList outputs) override {
    OPKIT_TRY(planTasks(inputs));
    if (outputs[0]->desc.elements() == 0) return size_t{0};
    return cpu::scratchBytesOf(imageFloats_ + threadFloats_ * static_cast<int64_t>(pool_.threadCount()));
  }

  Status onResize(TensorList inputs, TensorList) override {
    OPKIT_TRY(planTasks(inputs));
    offsets_.clear();
    const std::vector<int64_t> taps = volume_.tapOffsets();
    for (int64_t c = 0; c < plan_.groupInputs; ++c)
      for (const int64_t tap : taps) offsets_.push_back(c * channelFloats_ + tap);
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const int64_t channels = plan_.groups * plan_.groupInputs;
    const int64_t inputFloats = channels * plan_.inputPositions();
    const int64_t outputFloats = plan_.groups * plan_.groupOutputs * plan_.outputPositions();
    for (int64_t i = 0; i < plan_.batch; ++i) {
      padImage(floatsOf(*inputs[0]) + i * inputFloats);
      convolveImage(biasOf(inputs), floatsOf(*outputs[0]) + i * outputFloats);
    }
    return Status::ok();
  }

 private:
  Status planTasks(TensorList inputs) {
    OPKIT_TRY(plan(inputs));
    planes_ = volume_.deep().output * plan_.groups;
    positions_ = volume_.axes()[0].output * volume_.axes()[1].output;
    channelFloats_ = volume_.channelElements();
    imageFloats_ = cpu::scratchPart(plan_.groups * plan_.groupInputs * channelFloats_);
    const int64_t parts = std::max<int64_t>(ceilDiv(positions_, kMostPositions), 1);
    positionsPerTask_ = tilesOf(ceilDiv(positions_, parts));
    panels_ = panelsPerTask_ = directPanels(plan_.groupOutputs);
    fillParts_ = 1;
    if (pool_.threadCount() > 1) split(static_cast<int64_t>(pool_.threadCount()));
    threadFloats_ = cpu::scratchPart(directScratchFloats(positionsPerTask_));
    return Status::ok();
  }

  int64_t positionTasks() const { return ceilDiv(positions_, positionsPerTask_); }
  int64_t panelTasks() const { return ceilDiv(panels_, panelsPerTask_); }
  int64_t tasks() const { return planes_ * positionTasks() * panelTasks(); }

  /// Halves a side of the tasks until there are several per thread.
  void split(int64_t threads) {
    const double work = static_cast<double>(plan_.groupOutputs) * static_cast<double>(depth()) *
                        static_cast<double>(positions_) * static_cast<double>(planes_);
    const int64_t most = pool_.splitsAll() ? INT64_MAX : static_cast<int64_t>(work / kLeastTaskWork);
    const int64_t wanted = std::min(kTasksPerThread * threads, most);
    if (wanted > 1 && volume_.axes()[0].output >= 4 * threads) fillParts_ = threads;
    while (tasks() < wanted) {
      const bool morePositions = positionsPerTask_ > directTile().positions;
      if (panelsPerTask_ > 1 && (positionsPerTask_ <= kLeastPositions || !morePositions))
        panelsPerTask_ = ceilDiv(panelsPerTask_, 2);
      else if (morePositions)
        positionsPerTask_ = tilesOf(positionsPerTask_ / 2);
      else
        break;
    }
  }

  int64_t depth() const { return plan_.groupInputs * plan_.kernelTaps(); }

  /// `positions` rounded up to whole tiles.
  static int64_t tilesOf(int64_t positions) {
    return std::max<int64_t>(roundUp(positions, directTile().positions), directTile().positions);
  }

  Status packWeights(const Tensor& weights, Backend& backend) {
    const Shape& shape = weights.desc.shape;
    const int64_t outputs = shape[0] / params_.group, depth = elementCount(shape, 1, shape.size());
    matrixFloats_ = directWeightFloats(outputs, depth);
    const auto pack = [&](float* to) {
      for (int64_t g = 0; g < params_.group; ++g)
        packDirect(floatsOf(weights) + g * outputs * depth, outputs, depth, to + g * matrixFloats_);
    };
    OPKIT_ASSIGN(packed_,
                 cpu::packConstant(backend, weights, fmt::format("direct conv {}x{}x{}", params_.group, outputs, depth),
                                   params_.group * matrixFloats_, pack));
    return Status::ok();
  }

  /// The upper rows of all channels first: threads tend to draw the tasks that read what they wrote.
  void padImage(const float* image) {
    const int64_t channels = plan_.groups * plan_.groupInputs;
    const auto fill = [&](int64_t index) {
      const int64_t part = index / channels, c = index % channels;
      volume_.fillPart(image + c * plan_.inputPositions(), 0.0f, cpu::scratchFloats(scratch(), c * channelFloats_),
                       part, fillParts_);
    };
    cpu::parallelRows(pool_, channels * fillParts_, channelFloats_ / fillParts_, fill);
  }

  /// Tasks in the order of planes of outputs, positions, groups, panels.
  void convolveImage(const float* bias, float* output) {
    const auto task = [&](size_t index, size_t thread) {
      const auto i = static_cast<int64_t>(index);
      const int64_t panel = i % panelTasks() * panelsPerTask_;
      const int64_t group = i / panelTasks() % plan_.groups;
      const int64_t position = i / (panelTasks() * plan_.groups) % positionTasks() * positionsPerTask_;
      const int64_t z = i / (panelTasks() * plan_.groups * positionTasks());
      const int64_t image = group * plan_.groupInputs * channelFloats_ + z * volume_.depthStep();
      convolveDirect(
          {.image = cpu::scratchFloats(scratch(), image),
           .offsets = offsets_.data(),
           .depth = depth(),
           .runLength = volume_.axes()[1].output,
           .runStride = volume_.outputRowStride(),
           .weights = floatsOf(*packed_) + group * matrixFloats_,
           .bias = bias ? bias + group * plan_.groupOutputs : nullptr,
           .outputs = plan_.groupOutputs,
           .to = output + group * plan_.groupOutputs * plan_.outputPositions() + z * positions_,
           .planeStride = plan_.outputPositions(),
           .low = params_.clamp_low,
           .high = params_.clamp_high,
           .firstPosition = position,
           .endPosition = std::min(position + positionsPerTask_, positions_),
           .firstPanel = panel,
           .endPanel = std::min(panel + panelsPerTask_, panels_),
           .scratch = cpu::scratchFloats(scratch(), imageFloats_ + threadFloats_ * static_cast<int64_t>(thread))});
    };
    pool_.parallelFor(static_cast<size_t>(tasks()), std::ref(task));
  }

  int64_t planes_ = 0;     // of outputs of all groups
  int64_t positions_ = 0;  // of a plane
  int64_t positionsPerTask_ = 0;
  int64_t panels_ = 0;  // of a group
  int64_t panelsPerTask_ = 0;
  int64_t fillParts_ = 1;      // of the rows of a plane that is padded
  int64_t channelFloats_ = 0;  // of a padded channel
  int64_t imageFloats_ = 0;    // of scratch: one padded image
  int64_t threadFloats_ = 0;   // of scratch, per thread
  std::vector<int64_t> offsets_;
  std::shared_ptr<const Tensor> packed_;
  int64_t matrixFloats_ = 0;  // of one group in packed_
};

Status supportsDirect(const CreateArgs& args) {
  const Shape& weights = args.input(1).shape;
  const int64_t outputs = weights[0] / args.params<ConvParams>().group;
  const int64_t taps = elementCount(weights, 2, weights.size());
  if (!args.constant(1)) return Status::unsupported("Conv: direct needs constant weights");
  if (taps == 1) return Status::unsupported("Conv: direct needs several taps");
  if (4 * outputs < 3 * directTile().lanes)
    return Status::unsupported("Conv: direct needs outputs that fill vectors, got {} per group", outputs);
  return Status::ok();
}

}  // namespace

Creator directCpuCreator() {
  return {.supports = supportsDirect,
          .create = DirectConvCpu::create,
          .dtypes = DTypeSet(DType::Float32),
          .kernel = "direct"};
}

}  // namespace opkit::ops::conv
