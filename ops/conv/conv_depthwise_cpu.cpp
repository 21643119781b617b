// Depthwise convolution on the CPU: by blocks of channels (conv_depthwise_block_vectors.h), or plane by plane
// (conv_depthwise_vectors.h) where blocks do not fit (depthwise_tasks.h).
#include <functional>

#include "engine/backend/cpu/cpu_scratch.h"
#include "engine/backend/cpu/parallel.h"
#include "ops/conv/conv_cpu.h"
#include "ops/conv/conv_depthwise_block_vectors.h"
#include "ops/conv/conv_depthwise_vectors.h"
#include "ops/conv/depthwise_tasks.h"

namespace opkit::ops::conv {
namespace {

class DepthwiseCpu final : public ConvCpu {
 public:
  /// Packs constant weights for blocks. OutOfMemory when refused.
  static Result<std::unique_ptr<Execution>> create(const CreateArgs& args, Backend& backend) {
    auto execution = std::make_unique<DepthwiseCpu>(args, backend);
    if (args.constant(1)) OPKIT_TRY(execution->packWeights(*args.constant(1), backend));
    return std::unique_ptr<Execution>(std::move(execution));
  }
  using ConvCpu::ConvCpu;

  Result<size_t> scratchBytes(TensorList inputs, TensorList outputs) override {
    OPKIT_TRY(planTasks(inputs));
    if (outputs[0]->desc.elements() == 0) return size_t{0};
    return cpu::scratchBytesOf(threadFloats_ * static_cast<int64_t>(pool_.threadCount()));
  }

  Status onResize(TensorList inputs, TensorList) override {
    OPKIT_TRY(planTasks(inputs));
    offsets_ = volume_.tapOffsets();
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const Operands operands{floatsOf(*inputs[0]), floatsOf(*inputs[1]), packed_ ? floatsOf(*packed_) : nullptr,
                            biasOf(inputs), floatsOf(*outputs[0])};
    const auto task = [&](size_t index, size_t thread) {
      float* own = cpu::scratchFloats(scratch(), threadFloats_ * static_cast<int64_t>(thread));
      if (blocks_.count() > 0)
        runBlock(static_cast<int64_t>(index), operands, own);
      else
        runPlane(static_cast<int64_t>(index), operands, own);
    };
    if (isSmall_ && !pool_.splitsAll())
      for (int64_t i = 0; i < tasks_; ++i) task(static_cast<size_t>(i), 0);
    else
      pool_.parallelFor(static_cast<size_t>(tasks_), std::ref(task));
    return Status::ok();
  }

 private:
  struct Operands {
    const float* image;
    const float* weights;
    const float* packed;  // null if the weights are no constant
    const float* bias;    // null if there is none
    float* output;
  };

  Status planTasks(TensorList inputs) {
    OPKIT_TRY(plan(inputs));
    tasks_ = plan_.batch * plan_.groups;
    inputPositions_ = plan_.inputPositions();
    const int64_t outputs = tasks_ * plan_.groupOutputs * plan_.outputPositions();
    if (outputs == 0) return Status::ok();
    isSmall_ = outputs * plan_.kernelTaps() < 8 * cpu::kGrainElements;
    blocks_ = DepthwiseTasks(plan_, volume_, pool_);
    if (blocks_.count() == 0) {
      threadFloats_ = cpu::scratchPart(volume_.channelElements() + kDepthwiseSlack);
      return Status::ok();
    }
    tasks_ = blocks_.count();
    weightFloats_ = packed_ ? 0 : cpu::scratchPart(blocks_.shape().taps() * blocks_.shape().lanes());
    threadFloats_ = weightFloats_ + cpu::scratchPart(blocks_.shape().scratchFloats());
    return Status::ok();
  }

  Status packWeights(const Tensor& weights, Backend& backend) {
    const int64_t lanes = depthwiseLanes(), channels = weights.desc.shape[0];
    const int64_t taps = elementCount(weights.desc.shape, 1, weights.desc.shape.size());
    const int64_t blocks = (channels + lanes - 1) / lanes;
    const auto pack = [&](const Tensor& source, float* to) {
      for (int64_t b = 0; b < blocks; ++b, to += taps * lanes)
        packChannels(floatsOf(source) + b * lanes * taps, taps, std::min(lanes, channels - b * lanes), to);
    };
    const std::string form = fmt::format("depthwise conv {}x{} in {} lanes", channels, taps, lanes);
    OPKIT_ASSIGN(packed_, cpu::packConstant(backend, weights, form, blocks * taps * lanes, pack));
    return Status::ok();
  }

  void runBlock(int64_t index, const Operands& operands, float* floats) const {
    const DepthwiseShape& shape = blocks_.shape();
    const DepthwiseTasks::Task task = blocks_.at(index);
    const int64_t taps = shape.taps();
    if (!operands.packed) packChannels(operands.weights + task.channel * taps, taps, task.channels, floats);
    convolveBlock(shape, {.image = operands.image + task.plane * inputPositions_,
                          .weights = operands.packed ? operands.packed + task.channel * taps : floats,
                          .bias = operands.bias ? operands.bias + task.channel : nullptr,
                          .output = operands.output + task.plane * shape.height().output * shape.width().output,
                          .channels = task.channels,
                          .firstRow = task.firstRow,
                          .endRow = task.endRow,
                          .low = params_.clamp_low,
                          .high = params_.clamp_high,
                          .scratch = floats + weightFloats_});
  }

  /// `index` counts the channels of the batch.
  void runPlane(int64_t index, const Operands& operands, float* padded) const {
    const auto taps = static_cast<int64_t>(offsets_.size());
    const int64_t rows = volume_.axes()[0].output, columns = volume_.axes()[1].output;
    volume_.fill(operands.image + index * inputPositions_, 0.0f, padded);
    float* y = operands.output + index * plan_.groupOutputs * volume_.deep().output * rows * columns;
    for (int64_t m = 0; m < plan_.groupOutputs; ++m) {
      const int64_t channel = index % plan_.groups * plan_.groupOutputs + m;
      for (int64_t z = 0; z < volume_.deep().output; ++z, y += rows * columns)
        computeDepthwise({padded + z * volume_.depthStep(), offsets_.data(), operands.weights + channel * taps, taps,
                          volume_.outputRowStride(), operands.bias ? operands.bias[channel] : 0.0f, params_.clamp_low,
                          params_.clamp_high, y, rows, columns});
    }
  }

  int64_t tasks_ = 0;
  int64_t inputPositions_ = 0;  // of a channel
  bool isSmall_ = false;        // too little work for several threads
  int64_t threadFloats_ = 0;    // of scratch
  DepthwiseTasks blocks_;
  int64_t weightFloats_ = 0;              // of scratch, for weights that are packed in every run
  std::shared_ptr<const Tensor> packed_;  // [blocks, taps, lanes]; null if the weights are no constant
  std::vector<int64_t> offsets_;          // of the taps in a plane
};

Status supportsDepthwise(const CreateArgs& args) {
  const int64_t channels = args.input(0).shape[1];
  const int64_t group = args.params<ConvParams>().group;
  if (group != channels || group == 1)
    return Status::unsupported("Conv: depthwise needs one group per channel, got {} of {}", group, channels);
  return Status::ok();
}

}  // namespace

Creator depthwiseCpuCreator() {
  return {.supports = supportsDepthwise,
          .create = DepthwiseCpu::create,
          .dtypes = DTypeSet(DType::Float32),
          .kernel = "depthwise"};
}

}  // namespace opkit::ops::conv
