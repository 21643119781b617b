// ConvInteger and QLinearConv on the CPU: integer_conv_depthwise_cpu.cpp; integer_conv_direct_cpu.cpp for constant
// weights without a zero point; and the matrix product of bytes of the weights [outputs, depth] and the image seen as
// [depth, positions], which is gathered during packing.
#include "ops/integer_conv/integer_conv_cpu.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "engine/op/op_registry.h"

namespace opkit::ops::integer_conv {
namespace {

int64_t roundUp(int64_t bytes) { return (bytes + 63) / 64 * 64; }

class GemmCpu final : public IntegerConvCpu {
 public:
  /// Packs constant weights, one matrix per group. OutOfMemory when refused.
  static Result<std::unique_ptr<Execution>> create(const CreateArgs& args, Backend& backend) {
    auto execution = std::make_unique<GemmCpu>(args, backend);
    if (const Tensor* weights = args.constant(static_cast<size_t>(execution->roles_.a)))
      OPKIT_TRY(execution->packConstantWeights(*weights, backend));
    return std::unique_ptr<Execution>(std::move(execution));
  }
  using IntegerConvCpu::IntegerConvCpu;

  bool readsInput(size_t index) const override { return static_cast<int>(index) != roles_.a || !packed_; }

  /// Zero points and scales, packed weights if they change, one padded image, the product's workspace.
  Result<size_t> scratchBytes(TensorList inputs, TensorList outputs) override {
    OPKIT_TRY(planProduct(inputs));
    if (outputs[0]->desc.elements() == 0) return size_t{0};
    return static_cast<size_t>(imageAt_ + imageBytes_ + product_.workspaceBytes());
  }

  Status onResize(TensorList inputs, TensorList) override {
    OPKIT_TRY(planProduct(inputs));
    const std::vector<int64_t> taps = direct_ ? std::vector<int64_t>{0} : volume_.tapOffsets();
    depthOffsets_.clear();
    for (int64_t c = 0; c < plan_.groupInputs; ++c)
      for (const int64_t tap : taps) depthOffsets_.push_back(c * channelBytes_ + tap);
    problems_.assign(static_cast<size_t>(product_.batch()), {});
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const LineValues values(roles_, inputs, scratchAt(0));
    const bytes::Dims& dims = product_.dims();
    if (!packed_)
      bytes::packLeft({bytesOf(w(inputs)), dims.k, isSigned(w(inputs))}, plan_.groups, dims.m, dims.k,
                      scratchAt(lineBytes_), &pool_);
    if (direct_) {
      runProblems(inputs, values, bytesOf(x(inputs)), *outputs[0], 0);
      return Status::ok();
    }
    const Tensor* zeroPoint = inputAt(inputs, roles_.bZeroPoint);
    const uint8_t padding = zeroPoint ? *bytesOf(*zeroPoint) : uint8_t{0};
    const int64_t channels = plan_.groups * plan_.groupInputs, positions = plan_.inputPositions();
    for (int64_t i = 0; i < plan_.batch; ++i) {
      const uint8_t* image = bytesOf(x(inputs)) + i * channels * positions;
      const auto fill = [&](size_t channel, size_t) {
        const auto c = static_cast<int64_t>(channel);
        volume_.fill(image + c * positions, padding, scratchAt(imageAt_ + c * channelBytes_));
      };
      pool_.parallelFor(static_cast<size_t>(channels), std::ref(fill));
      runProblems(inputs, values, scratchAt(imageAt_), *outputs[0],
                  i * plan_.groups * plan_.groupOutputs * plan_.outputPositions());
    }
    return Status::ok();
  }

 private:
  Status planProduct(TensorList inputs) {
    OPKIT_TRY(plan(inputs));
    // Without padding, strides and taps the input is already the matrix.
    direct_ = plan_.kernelTaps() == 1 && std::ranges::all_of(plan_.axes, [](const WindowAxis& axis) {
                return axis.input == axis.output && axis.padBegin == 0 && axis.stride == 1;
              });
    const int64_t planePositions = volume_.axes()[0].output * volume_.axes()[1].output;
    const bytes::Dims dims{plan_.groupOutputs, direct_ ? plan_.outputPositions() : planePositions,
                           plan_.groupInputs * plan_.kernelTaps()};
    channelBytes_ = direct_ ? plan_.inputPositions() : volume_.channelElements();
    const int64_t together = direct_ ? plan_.batch * plan_.groups : plan_.groups * volume_.deep().output;
    product_ = bytes::Plan(dims, together, false, pool_);
    matrixBytes_ = bytes::packedLeftBytes(dims.m, dims.k);
    imageAt_ = lineBytes_ + (packed_ ? 0 : plan_.groups * matrixBytes_);
    imageBytes_ = direct_ ? 0 : roundUp(plan_.groups * plan_.groupInputs * channelBytes_ + bytes::kGatherSlack);
    return Status::ok();
  }

  Status packConstantWeights(const Tensor& weights, Backend& backend) {
    const Shape& shape = weights.desc.shape;
    const int64_t rows = shape[0] / params_.group, depth = elementCount(shape, 1, shape.size());
    const int64_t packedBytes = params_.group * bytes::packedLeftBytes(rows, depth);
    const auto pack = [&](const Tensor& source, float* to) {
      bytes::packLeft({bytesOf(source), depth, isSigned(weights)}, params_.group, rows, depth,
                      reinterpret_cast<uint8_t*>(to), nullptr);
    };
    OPKIT_ASSIGN(packed_,
                 cpu::packConstant(backend, weights, fmt::format("bytes left {}x{}x{}", params_.group, rows, depth),
                                   packedBytes / 4, pack));
    return Status::ok();
  }

  /// `first` is the number of the first element of y.
  void runProblems(TensorList inputs, const LineValues& values, const uint8_t* channels, const Tensor& y,
                   int64_t first) {
    const bytes::Dims& dims = product_.dims();
    const int32_t* bias = biasOf(inputs);
    for (size_t i = 0; i < problems_.size(); ++i) {
      // Of a volume every plane of outputs is a product.
      const int64_t planes = direct_ ? 1 : volume_.deep().output;
      const int64_t index = static_cast<int64_t>(i) / planes, z = static_cast<int64_t>(i) % planes;
      const int64_t group = index % plan_.groups, channel = group * dims.m;
      bytes::Problem& problem = problems_[i];
      problem.left = (packed_ ? bytesOf(*packed_) : scratchAt(lineBytes_)) + group * matrixBytes_;
      problem.right = {
          .data = channels + index * plan_.groupInputs * channelBytes_ + (direct_ ? 0 : z * volume_.depthStep()),
          .isSigned = isSigned(x(inputs)),
          .depthOffsets = depthOffsets_.data(),
          .runLength = direct_ ? dims.n : volume_.axes()[1].output,
          .runStride = direct_ ? 0 : volume_.outputRowStride(),
          .slack = !direct_};
      problem.leftZeroPoint = values.aZeroPoint(wZeroPoint_, 0, channel);
      problem.rightZeroPoint = values.bZeroPoint({}, 0);
      problem.bias = {bias ? bias + channel : nullptr, 1};
      problem.cRowStride = plan_.outputPositions();
      const int64_t at = first + index * dims.m * plan_.outputPositions() + z * dims.n;
      if (!roles_.isQuantized()) {
        problem.c = y.data<int32_t>().data() + at;
        continue;
      }
      problem.y = bytesOf(y) + at;
      problem.requantization = values.target();
      problem.requantization.left = values.aScale(wScale_, 0, channel);
      problem.requantization.right = values.bScale({}, 0);
    }
    bytes::run(product_, problems_, scratchAt(imageAt_ + imageBytes_), pool_);
  }

  bytes::Plan product_;
  std::vector<bytes::Problem> problems_;  // per group; per image and group when direct
  std::vector<int64_t> depthOffsets_;
  bool direct_ = false;
  int64_t channelBytes_ = 0, matrixBytes_ = 0, imageAt_ = 0, imageBytes_ = 0;
  std::shared_ptr<const Tensor> packed_;  // shared by all convolutions with these constants; null if they change
};

}  // namespace

void addCpu(OpRegistry& registry) {
  constexpr DTypeSet kBytes{DType::Int8, DType::UInt8};
  for (const char* type : {"ConvInteger", "QLinearConv"}) {
    registry.addCreator("cpu", type, depthwiseCpuCreator());
    registry.addCreator("cpu", type, directCpuCreator());
    registry.addCreator("cpu", type,
                        {.supports = cpu::supportsAll, .create = GemmCpu::create, .dtypes = kBytes, .kernel = "gemm"});
  }
}

}  // namespace opkit::ops::integer_conv
