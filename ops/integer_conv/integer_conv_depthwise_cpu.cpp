// Depthwise ConvInteger and QLinearConv on the CPU, on floats, which hold these sums exactly: by blocks of channels
// (integer_conv_depthwise_vectors.h), or plane by plane by the kernel of Conv where blocks do not fit.
#include "engine/backend/cpu/cpu_scratch.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/base/divide.h"
#include "ops/conv/conv_depthwise_vectors.h"
#include "ops/conv/depthwise_tasks.h"
#include "ops/integer_conv/depthwise_ends.h"
#include "ops/integer_conv/integer_conv_cpu.h"
#include "ops/integer_conv/integer_conv_depthwise_vectors.h"

namespace opkit::ops::integer_conv {
namespace {

class DepthwiseCpu final : public IntegerConvCpu {
 public:
  /// Packs constant weights if there may be blocks: one output per channel. OutOfMemory when refused.
  static Result<std::unique_ptr<Execution>> create(const CreateArgs& args, Backend& backend) {
    auto execution = std::make_unique<DepthwiseCpu>(args, backend);
    const Tensor* weights = args.constant(static_cast<size_t>(execution->roles_.a));
    if (weights && weights->desc.shape[0] == execution->params_.group)
      OPKIT_TRY(execution->packWeights(*weights, backend));
    return std::unique_ptr<Execution>(std::move(execution));
  }
  using IntegerConvCpu::IntegerConvCpu;

  /// Zero points and scales; per thread, what a block needs, or a channel as floats, its padded planes, the weights and
  /// the sums of an output.
  Result<size_t> scratchBytes(TensorList inputs, TensorList outputs) override {
    OPKIT_TRY(planTasks(inputs, outputs));
    return static_cast<size_t>(lineBytes_) +
           cpu::scratchBytesOf(floatsPerThread_ * static_cast<int64_t>(pool_.threadCount()));
  }
  Status onResize(TensorList inputs, TensorList outputs) override {
    OPKIT_TRY(planTasks(inputs, outputs));
    offsets_ = volume_.tapOffsets();
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const LineValues values(roles_, inputs, scratchAt(0));
    const auto task = [&](size_t index, size_t thread) {
      auto* floats = reinterpret_cast<float*>(scratchAt(lineBytes_)) + floatsPerThread_ * static_cast<int64_t>(thread);
      if (blocks_.count() > 0)
        runBlock(blocks_.at(static_cast<int64_t>(index)), values, inputs, *outputs[0], floats);
      else
        runChannel(static_cast<int64_t>(index), values, inputs, *outputs[0], floats);
    };
    if (isSmall_ && !pool_.splitsAll())
      for (int64_t i = 0; i < tasks_; ++i) task(static_cast<size_t>(i), 0);
    else
      pool_.parallelFor(static_cast<size_t>(tasks_), std::ref(task));
    return Status::ok();
  }

 private:
  Status planTasks(TensorList inputs, TensorList outputs) {
    OPKIT_TRY(plan(inputs));
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    isSmall_ = outputs[0]->desc.elements() * plan_.kernelTaps() < 8 * cpu::kGrainElements;
    blocks_ = conv::DepthwiseTasks(plan_, volume_, pool_);
    if (blocks_.count() > 0) {
      tasks_ = blocks_.count();
      weightFloats_ = packed_ ? 0 : cpu::scratchPart(blocks_.shape().taps() * blocks_.shape().lanes());
      floatsPerThread_ = weightFloats_ + cpu::scratchPart(byteBlockFloats(blocks_.shape()));
      return Status::ok();
    }
    tasks_ = plan_.batch * plan_.groups;
    channelFloats_ = cpu::scratchPart(plan_.inputPositions());
    planeFloats_ = cpu::scratchPart(volume_.channelElements() + conv::kDepthwiseSlack);
    weightFloats_ = cpu::scratchPart(plan_.kernelTaps());
    floatsPerThread_ = channelFloats_ + planeFloats_ + weightFloats_ + cpu::scratchPart(planeOutputs());
    return Status::ok();
  }
  int64_t planeOutputs() const { return volume_.axes()[0].output * volume_.axes()[1].output; }

  Status packWeights(const Tensor& weights, Backend& backend) {
    const int64_t lanes = conv::depthwiseLanes(), channels = weights.desc.shape[0];
    const int64_t taps = elementCount(weights.desc.shape, 1, weights.desc.shape.size());
    const int64_t blocks = ceilDiv(channels, lanes);
    const auto pack = [&](const Tensor& source, float* to) {
      for (int64_t c = 0; c < channels; c += lanes, to += taps * lanes)
        packByteChannels(bytesOf(source) + c * taps, isSigned(weights), taps, std::min(lanes, channels - c), to);
    };
    const std::string form = fmt::format("depthwise bytes {}x{} in {} lanes", channels, taps, lanes);
    OPKIT_ASSIGN(packed_, cpu::packConstant(backend, weights, form, blocks * taps * lanes, pack));
    return Status::ok();
  }

  void runBlock(const conv::DepthwiseTasks::Task& task, const LineValues& values, TensorList inputs, const Tensor& y,
                float* floats) const {
    const Tensor &image = x(inputs), &weights = w(inputs);
    const int64_t taps = blocks_.shape().taps(), outputs = plan_.outputPositions();
    if (!packed_)
      packByteChannels(bytesOf(weights) + task.channel * taps, isSigned(weights), taps, task.channels, floats);
    const int32_t* bias = biasOf(inputs);
    bytes::Requantization target = values.target();
    ByteBlock block{.image = bytesOf(image) + task.plane * plan_.inputPositions(),
                    .isSigned = isSigned(image),
                    .imageZeroPoint = *values.bZeroPoint({}, 0).data,
                    .weights = packed_ ? packed_->data<float>().data() + task.channel * taps : floats,
                    .weightZeroPoint = values.aZeroPoint(wZeroPoint_, 0, task.channel),
                    .bias = {bias ? bias + task.channel : nullptr, 1},
                    .channels = task.channels,
                    .firstRow = task.firstRow,
                    .endRow = task.endRow,
                    .sums = nullptr,
                    .y = nullptr,
                    .requantization = nullptr,
                    .scratch = floats + weightFloats_};
    if (roles_.isQuantized()) {
      target.left = values.aScale(wScale_, 0, task.channel);
      target.right = values.bScale({}, 0);
      block.requantization = &target;
      block.y = bytesOf(y) + task.plane * outputs;
    } else {
      block.sums = y.data<int32_t>().data() + task.plane * outputs;
    }
    convolveByteBlock(blocks_.shape(), block);
  }

  /// `index` counts the channels of the batch.
  void runChannel(int64_t index, const LineValues& values, TensorList inputs, const Tensor& y, float* floats) const {
    const Tensor &image = x(inputs), &weights = w(inputs);
    float *planes = floats + channelFloats_, *own = planes + planeFloats_, *sums = own + weightFloats_;
    const int32_t xZeroPoint = values.bZeroPoint({}, 0).data[0] - bytes::rightOffset(isSigned(image));
    differences(bytesOf(image) + index * plan_.inputPositions(), isSigned(image), xZeroPoint, floats,
                plan_.inputPositions());
    volume_.fill(floats, 0.0f, planes);
    const int64_t taps = plan_.kernelTaps(), outputs = plan_.outputPositions();
    for (int64_t m = 0; m < plan_.groupOutputs; ++m) {
      const int64_t output = index % plan_.groups * plan_.groupOutputs + m;
      const int32_t wZeroPoint = *values.aZeroPoint(wZeroPoint_, 0, output).data - bytes::leftOffset(isSigned(weights));
      differences(bytesOf(weights) + output * taps, isSigned(weights), wZeroPoint, own, taps);
      const int32_t* bias = biasOf(inputs);
      OutputEnd end{.bias = bias ? bias[output] : 0};
      if (roles_.isQuantized()) {
        end.target = values.target();
        end.multiplier = *values.aScale(wScale_, 0, output).data * *values.bScale({}, 0).data / end.target.target;
      }
      for (int64_t z = 0; z < volume_.deep().output; ++z) {
        conv::computeDepthwise({planes + z * volume_.depthStep(), offsets_.data(), own, taps, volume_.outputRowStride(),
                                0.0f, -INFINITY, INFINITY, sums, volume_.axes()[0].output, volume_.axes()[1].output});
        const int64_t at = (index * plan_.groupOutputs + m) * outputs + z * planeOutputs();
        if (roles_.isQuantized())
          storeQuantized(sums, end, bytesOf(y) + at, planeOutputs());
        else
          storeSums(sums, y.data<int32_t>().data() + at, planeOutputs());
      }
    }
  }

  int64_t tasks_ = 0;
  bool isSmall_ = false;  // too little work for several threads
  int64_t floatsPerThread_ = 0;
  conv::DepthwiseTasks blocks_;
  std::shared_ptr<const Tensor> packed_;  // [blocks, taps, lanes]; null if the weights are no constant
  std::vector<int64_t> offsets_;          // of the taps in a plane
  int64_t channelFloats_ = 0, planeFloats_ = 0, weightFloats_ = 0;
};

Status supportsDepthwise(const CreateArgs& args) {
  const integer_matmul::Roles& roles = integer_matmul::rolesOf(args.def.type);
  const int64_t channels = args.input(static_cast<size_t>(roles.b)).shape[1];
  const Shape& weights = args.input(static_cast<size_t>(roles.a)).shape;
  const int64_t group = args.params<conv::ConvParams>().group, taps = elementCount(weights, 2, weights.size());
  if (group != channels || group == 1)
    return Status::unsupported("{}: depthwise needs one group per channel, got {} of {}", args.def.type, group,
                               channels);
  constexpr int64_t kMostTaps = (1 << 24) / (255 * 255);  // a float holds sums of so many products
  if (taps > kMostTaps)
    return Status::unsupported("{}: depthwise takes up to {} taps, got {}", args.def.type, kMostTaps, taps);
  return Status::ok();
}

}  // namespace

Creator depthwiseCpuCreator() {
  return {.supports = supportsDepthwise,
          .create = DepthwiseCpu::create,
          .dtypes = DTypeSet{DType::Int8, DType::UInt8},
          .kernel = "depthwise"};
}

}  // namespace opkit::ops::integer_conv
