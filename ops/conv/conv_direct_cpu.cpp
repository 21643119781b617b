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

constexpr int64_t kMostPositions = 256;       // that a panel of weights serves in turn
constexpr int64_t kLeastPositions = 64;       // of a task that could have fewer panels: it reads all their weights
constexpr int64_t kMostBandFloats = 1 << 17;  // of padded rows: a quarter of a second-level cache of 2 MB
constexpr int64_t kMostOverlap = 4;           // rows that a band pads / rows that it needs by itself
constexpr double kLeastTaskWork = 1 << 17;    // multiply-adds
constexpr int64_t kTasksPerThread = 4;        // more than one, so that a preempted thread does not delay the rest

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

  /// The padded image unless tasks pad their own rows; then of each thread its padded rows, and sums.
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
    if (rowsPerBand_ > 0) {
      convolveBands(floatsOf(*inputs[0]), biasOf(inputs), floatsOf(*outputs[0]));
      return Status::ok();
    }
    for (int64_t i = 0; i < plan_.batch; ++i) {
      padImage(floatsOf(*inputs[0]) + i * inputFloats);
      convolveImage(biasOf(inputs), floatsOf(*outputs[0]) + i * outputFloats);
    }
    return Status::ok();
  }

 private:
  Status planTasks(TensorList inputs) {
    OPKIT_TRY(plan(inputs));
    positions_ = volume_.axes()[0].output * volume_.axes()[1].output;
    panels_ = panelsPerTask_ = directPanels(plan_.groupOutputs);
    planBands();
    const int64_t positions = rowsPerBand_ > 0 ? rowsPerBand_ * volume_.axes()[1].output : positions_;
    const int64_t parts = std::max<int64_t>(ceilDiv(positions, kMostPositions), 1);
    positionsPerTask_ = tilesOf(ceilDiv(positions, parts));
    fillParts_ = 1;
    if (rowsPerBand_ == 0) planShared();
    sumsFloats_ = cpu::scratchPart(directScratchFloats(positionsPerTask_));
    threadFloats_ = sumsFloats_ + (rowsPerBand_ > 0 ? cpu::scratchPart(plan_.groupInputs * channelFloats_) : 0);
    return Status::ok();
  }

  int64_t tasksWanted() const {
    const auto threads = static_cast<int64_t>(pool_.threadCount());
    if (threads == 1) return 1;
    if (pool_.splitsAll()) return 1 << 20;
    const double work = static_cast<double>(plan_.groupOutputs) * static_cast<double>(depth()) *
                        static_cast<double>(positions_) * static_cast<double>(plan_.groups * volume_.deep().output);
    return std::clamp<int64_t>(static_cast<int64_t>(work / kLeastTaskWork), 1, kTasksPerThread * threads);
  }

  /// Bands of rows of outputs: each task pads the rows that it reads, so they stay in its cache. rowsPerBand_ is 0 if
  /// there are too few rows for all threads, for volumes, and if dilated windows overlap so far that most of what a
  /// band pads is padded by others too.
  void planBands() {
    const WindowAxis &deep = volume_.deep(), &height = volume_.axes()[0];
    const auto threads = static_cast<int64_t>(pool_.threadCount());
    const PaddedImage& image = volume_.image();
    rowsPerBand_ = 0;
    if (deep.kernel > 1 || deep.input > 1 || height.output == 0) return;
    const int64_t wanted = ceilDiv(tasksWanted(), std::max<int64_t>(plan_.groups * plan_.batch, 1));
    const int64_t most = std::max<int64_t>(height.output / (2 * ceilDiv(image.rowsOf(1), image.rowsPerOutput())), 1);
    const int64_t fewest = wanted == 1 ? 1 : std::min(threads, wanted);
    if (most < fewest && !pool_.splitsAll()) return;
    int64_t bands = std::clamp(wanted, fewest, std::max(most, fewest));
    if (bands > threads) bands = bands / threads * threads;
    const auto floats = [&](int64_t rows) { return plan_.groupInputs * image.rowsOf(rows) * image.rowElements(); };
    while (bands < height.output && floats(ceilDiv(height.output, bands)) > kMostBandFloats) bands += fewest;
    const int64_t rows = ceilDiv(height.output, std::min(bands, height.output));
    if (image.rowsOf(rows) > kMostOverlap * rows * image.rowsPerOutput() && !pool_.splitsAll()) return;
    rowsPerBand_ = rows;
    channelFloats_ = image.rowsOf(rowsPerBand_) * image.rowElements();
    imageFloats_ = 0;
  }

  /// One padded image for all tasks. Halves a side of the tasks until there are enough.
  void planShared() {
    channelFloats_ = volume_.channelElements();
    imageFloats_ = cpu::scratchPart(plan_.groups * plan_.groupInputs * channelFloats_);
    const auto threads = static_cast<int64_t>(pool_.threadCount());
    const int64_t wanted = tasksWanted();
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

  int64_t positionTasks() const { return ceilDiv(positions_, positionsPerTask_); }
  int64_t panelTasks() const { return ceilDiv(panels_, panelsPerTask_); }
  int64_t tasks() const { return volume_.deep().output * plan_.groups * positionTasks() * panelTasks(); }
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

  /// All positions and panels of a group; without addresses of the image and the output.
  DirectTask taskOf(int64_t group, const float* bias) const {
    return {.offsets = offsets_.data(),
            .depth = depth(),
            .runLength = volume_.axes()[1].output,
            .runStride = volume_.outputRowStride(),
            .weights = floatsOf(*packed_) + group * matrixFloats_,
            .bias = bias ? bias + group * plan_.groupOutputs : nullptr,
            .outputs = plan_.groupOutputs,
            .planeStride = plan_.outputPositions(),
            .low = params_.clamp_low,
            .high = params_.clamp_high,
            .firstPosition = 0,
            .endPosition = positions_,
            .firstPanel = 0,
            .endPanel = panels_};
  }

  float* threadScratch(size_t thread) const {
    return cpu::scratchFloats(scratch(), imageFloats_ + threadFloats_ * static_cast<int64_t>(thread));
  }

  /// Tasks in the order of planes of outputs, positions, groups, panels.
  void convolveImage(const float* bias, float* output) {
    const auto body = [&](size_t index, size_t thread) {
      const auto i = static_cast<int64_t>(index);
      const int64_t group = i / panelTasks() % plan_.groups;
      const int64_t z = i / (panelTasks() * plan_.groups * positionTasks());
      DirectTask task = taskOf(group, bias);
      task.image = cpu::scratchFloats(scratch(), group * plan_.groupInputs * channelFloats_) + z * volume_.depthStep();
      task.to = output + group * plan_.groupOutputs * plan_.outputPositions() + z * positions_;
      task.firstPosition = i / (panelTasks() * plan_.groups) % positionTasks() * positionsPerTask_;
      task.endPosition = std::min(task.firstPosition + positionsPerTask_, positions_);
      task.firstPanel = i % panelTasks() * panelsPerTask_;
      task.endPanel = std::min(task.firstPanel + panelsPerTask_, panels_);
      task.scratch = threadScratch(thread);
      convolveDirect(task);
    };
    pool_.parallelFor(static_cast<size_t>(tasks()), std::ref(body));
  }

  /// Tasks in the order of images, bands, groups.
  void convolveBands(const float* images, const float* bias, float* outputs) {
    const WindowAxis &height = volume_.axes()[0], &width = volume_.axes()[1];
    const int64_t bands = ceilDiv(height.output, rowsPerBand_);
    const auto body = [&](size_t index, size_t thread) {
      const auto i = static_cast<int64_t>(index);
      const int64_t group = i % plan_.groups;
      const int64_t plane = i / (bands * plan_.groups) * plan_.groups + group;  // of groups of all images
      const int64_t row = i / plan_.groups % bands * rowsPerBand_;
      const int64_t rows = std::min(rowsPerBand_, height.output - row);
      float* padded = threadScratch(thread) + sumsFloats_;
      padRows(images + plane * plan_.groupInputs * plan_.inputPositions(), row, rows, padded);
      DirectTask task = taskOf(group, bias);
      task.image = padded;
      task.to = outputs + plane * plan_.groupOutputs * positions_ + row * width.output;
      task.scratch = threadScratch(thread);
      for (int64_t first = 0; first < rows * width.output; first += positionsPerTask_) {
        task.firstPosition = first;
        task.endPosition = std::min(first + positionsPerTask_, rows * width.output);
        convolveDirect(task);
      }
    };
    pool_.parallelFor(static_cast<size_t>(plan_.batch * bands * plan_.groups), std::ref(body));
  }

  /// Of all channels of a group, the rows that `rows` rows of outputs from `row` on read.
  void padRows(const float* channels, int64_t row, int64_t rows, float* to) const {
    const PaddedImage& image = volume_.image();
    const int64_t begin = row * image.rowsPerOutput(), end = begin + image.rowsOf(rows);
    for (int64_t c = 0; c < plan_.groupInputs; ++c)
      image.fill(channels + c * plan_.inputPositions(), 0.0f, begin, end, to + c * channelFloats_);
  }

  int64_t positions_ = 0;    // of a plane of outputs
  int64_t rowsPerBand_ = 0;  // of outputs; 0 if all tasks share a padded image
  int64_t positionsPerTask_ = 0;
  int64_t panels_ = 0;  // of a group
  int64_t panelsPerTask_ = 0;
  int64_t fillParts_ = 1;      // of the rows of a plane that is padded
  int64_t channelFloats_ = 0;  // of a channel of the padded image or band
  int64_t imageFloats_ = 0;    // of scratch: one padded image
  int64_t threadFloats_ = 0;   // of scratch, per thread
  int64_t sumsFloats_ = 0;     // the first of them
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
