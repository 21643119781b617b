// Direct convolution on the CPU (conv_direct_vectors.h): constant weights, several taps, and channels enough to fill
// vectors.
#include "engine/backend/cpu/cpu_scratch.h"
#include "engine/backend/cpu/parallel.h"
#include "ops/conv/conv_cpu.h"
#include "ops/conv/conv_direct_vectors.h"

namespace opkit::ops::conv {
namespace {

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
    offsets_ = tasks_.offsets(volume_);
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const int64_t channels = plan_.groups * plan_.groupInputs;
    const int64_t inputFloats = channels * plan_.inputPositions();
    const int64_t outputFloats = plan_.groups * plan_.groupOutputs * plan_.outputPositions();
    if (tasks_.areBands()) {
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
    tasks_ = DirectTasks(plan_, volume_, plan_.groupInputs, directTile(), pool_);
    imageFloats_ = tasks_.areBands() ? 0 : cpu::scratchPart(plan_.groups * tasks_.groupElements());
    sumsFloats_ = cpu::scratchPart(directScratchFloats(tasks_.positionsPerTask()));
    threadFloats_ = sumsFloats_ + (tasks_.areBands() ? cpu::scratchPart(tasks_.groupElements()) : 0);
    return Status::ok();
  }

  Status packWeights(const Tensor& weights, Backend& backend) {
    const Shape& shape = weights.desc.shape;
    const int64_t outputs = shape[0] / params_.group, depth = elementCount(shape, 1, shape.size());
    matrixFloats_ = directWeightFloats(outputs, depth);
    const auto pack = [&](const Tensor& source, float* to) {
      for (int64_t g = 0; g < params_.group; ++g)
        packDirect(floatsOf(source) + g * outputs * depth, outputs, depth, to + g * matrixFloats_);
    };
    OPKIT_ASSIGN(packed_,
                 cpu::packConstant(backend, weights, fmt::format("direct conv {}x{}x{}", params_.group, outputs, depth),
                                   params_.group * matrixFloats_, pack));
    return Status::ok();
  }

  /// The upper rows of all channels first: threads tend to draw the tasks that read what they wrote.
  void padImage(const float* image) {
    const int64_t channels = plan_.groups * plan_.groupInputs, elements = tasks_.channelElements();
    const auto fill = [&](int64_t index) {
      const int64_t part = index / channels, c = index % channels;
      volume_.fillPart(image + c * plan_.inputPositions(), 0.0f, cpu::scratchFloats(scratch(), c * elements), part,
                       tasks_.fillParts());
    };
    cpu::parallelRows(pool_, channels * tasks_.fillParts(), elements / tasks_.fillParts(), fill);
  }

  /// All positions and panels of a group; without addresses of the image and the output.
  DirectTask taskOf(int64_t group, const float* bias, size_t thread) const {
    return {.offsets = offsets_.data(),
            .depth = tasks_.depth(),
            .runLength = volume_.axes()[1].output,
            .runStride = volume_.outputRowStride(),
            .weights = floatsOf(*packed_) + group * matrixFloats_,
            .bias = bias ? bias + group * plan_.groupOutputs : nullptr,
            .outputs = plan_.groupOutputs,
            .planeStride = plan_.outputPositions(),
            .low = params_.clamp_low,
            .high = params_.clamp_high,
            .firstPosition = 0,
            .endPosition = tasks_.positions(),
            .firstPanel = 0,
            .endPanel = tasks_.panels(),
            .scratch = threadScratch(thread)};
  }

  float* threadScratch(size_t thread) const {
    return cpu::scratchFloats(scratch(), imageFloats_ + threadFloats_ * static_cast<int64_t>(thread));
  }

  void convolveImage(const float* bias, float* output) {
    tasks_.forRectangles(pool_, [&](const DirectTasks::Rectangle& at, size_t thread) {
      DirectTask task = taskOf(at.group, bias, thread);
      task.image = cpu::scratchFloats(scratch(), at.group * tasks_.groupElements()) + at.z * volume_.depthStep();
      task.to = output + at.group * plan_.groupOutputs * plan_.outputPositions() + at.z * tasks_.positions();
      task.firstPosition = at.firstPosition;
      task.endPosition = at.endPosition;
      task.firstPanel = at.firstPanel;
      task.endPanel = at.endPanel;
      convolveDirect(task);
    });
  }

  void convolveBands(const float* images, const float* bias, float* outputs) {
    const int64_t width = volume_.axes()[1].output;
    tasks_.forBands(pool_, [&](const DirectTasks::Band& band, size_t thread) {
      const int64_t plane = band.image * plan_.groups + band.group;  // of groups of all images
      float* padded = threadScratch(thread) + sumsFloats_;
      padRows(images + plane * plan_.groupInputs * plan_.inputPositions(), band, padded);
      DirectTask task = taskOf(band.group, bias, thread);
      task.image = padded;
      task.to = outputs + plane * plan_.groupOutputs * tasks_.positions() + band.row * width;
      for (int64_t first = 0; first < band.rows * width; first += tasks_.positionsPerTask()) {
        task.firstPosition = first;
        task.endPosition = std::min(first + tasks_.positionsPerTask(), band.rows * width);
        convolveDirect(task);
      }
    });
  }

  /// Of all channels of a group, the rows that the band reads.
  void padRows(const float* channels, const DirectTasks::Band& band, float* to) const {
    const PaddedImage& image = volume_.image();
    const int64_t begin = band.row * image.rowsPerOutput(), end = begin + image.rowsOf(band.rows);
    for (int64_t c = 0; c < plan_.groupInputs; ++c)
      image.fill(channels + c * plan_.inputPositions(), 0.0f, begin, end, to + c * tasks_.channelElements());
  }

  DirectTasks tasks_;
  int64_t imageFloats_ = 0;   // of scratch: one padded image
  int64_t threadFloats_ = 0;  // of scratch, per thread
  int64_t sumsFloats_ = 0;    // the first of them
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
