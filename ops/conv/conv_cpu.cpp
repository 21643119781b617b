// Conv on the CPU. f32: conv_depthwise_cpu.cpp for depthwise convolution, conv_direct_cpu.cpp for constant weights with
// several taps, and the matrix product for everything else:
// weights [outputs, depth] times the image seen as [depth, positions], which is gathered during packing (im2col that is
// never stored). conv_columns.cpp runs the rest.
#include "ops/conv/conv_cpu.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "engine/backend/cpu/gemm/gemm.h"
#include "engine/op/op_registry.h"
#include "ops/conv/conv_columns.h"

namespace opkit::ops::conv {
namespace {

namespace gemm = cpu::gemm;

class GemmConvCpu final : public ConvCpu {
 public:
  /// Packs constant weights, one matrix per group. OutOfMemory when refused.
  static Result<std::unique_ptr<Execution>> create(const CreateArgs& args, Backend& backend) {
    auto execution = std::make_unique<GemmConvCpu>(args, backend);
    if (args.constant(1)) OPKIT_TRY(execution->packWeights(*args.constant(1), backend));
    return std::unique_ptr<Execution>(std::move(execution));
  }
  using ConvCpu::ConvCpu;

  bool readsInput(size_t index) const override { return index != 1 || !packed_; }

  /// One padded image, whole rows of outputs, then the product's workspace.
  Result<size_t> scratchBytes(TensorList inputs, TensorList outputs) override {
    OPKIT_TRY(planProduct(inputs));
    if (outputs[0]->desc.elements() == 0) return size_t{0};
    return cpu::scratchBytesOf(imageFloats_ + wholeFloats_ + product_.workspaceFloats());
  }

  Status onResize(TensorList inputs, TensorList) override {
    OPKIT_TRY(planProduct(inputs));
    makeProblems(inputs, product_.batch());
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const int64_t channels = plan_.groups * plan_.groupInputs;
    const int64_t inputFloats = channels * plan_.inputPositions();
    const int64_t outputFloats = plan_.groups * dims_.m * plan_.outputPositions();
    if (direct_) {
      runProblems(inputs, floatsOf(*inputs[0]), floatsOf(*outputs[0]));
      return Status::ok();
    }
    for (int64_t i = 0; i < plan_.batch; ++i) {
      const float* image = floatsOf(*inputs[0]) + i * inputFloats;
      const auto fill = [&](int64_t c) {
        volume_.fill(image + c * plan_.inputPositions(), 0.0f, cpu::scratchFloats(scratch(), c * planeFloats_));
      };
      cpu::parallelRows(pool_, channels, planeFloats_, fill);
      float* output = floatsOf(*outputs[0]) + i * outputFloats;
      float* whole = wholeFloats_ > 0 ? cpu::scratchFloats(scratch(), imageFloats_) : nullptr;
      runProblems(inputs, cpu::scratchFloats(scratch()), whole ? whole : output);
      if (whole) keepPositions(whole, output);
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
    const int64_t positions = direct_ ? plan_.outputPositions() : volume_.axes()[0].output * volume_.axes()[1].output;
    const int64_t rows = volume_.axes()[0].output, stride = volume_.outputRowStride();
    const int64_t whole = (rows - 1) * stride + volume_.axes()[1].output;  // with what lies between rows
    const bool isWhole =
        !direct_ && positions > 0 && plan_.groupOutputs <= 2 * gemm::panelShape().rows && 2 * whole <= 3 * positions;
    dims_ = {plan_.groupOutputs, isWhole ? whole : positions, plan_.groupInputs * plan_.kernelTaps()};
    planeFloats_ = direct_ ? plan_.inputPositions() : volume_.channelElements();
    const int64_t together = direct_ ? plan_.batch * plan_.groups : plan_.groups * volume_.deep().output;
    product_ = gemm::Plan(dims_, together, false, pool_.threadCount(), pool_.splitsAll());
    const int64_t channels = plan_.groups * plan_.groupInputs;
    imageFloats_ = direct_ ? 0 : cpu::scratchPart(channels * planeFloats_ + gemm::kGatherSlack);
    wholeFloats_ = isWhole ? cpu::scratchPart(together * dims_.m * dims_.n) : 0;
    return Status::ok();
  }

  Status packWeights(const Tensor& weights, Backend& backend) {
    const Shape& shape = weights.desc.shape;
    const int64_t rows = shape[0] / params_.group;
    const int64_t depth = elementCount(shape, 1, shape.size());
    matrixFloats_ = gemm::packedLeftFloats(rows, depth);
    const auto pack = [&](const Tensor& source, float* to) {
      for (int64_t g = 0; g < params_.group; ++g)
        gemm::packLeft({floatsOf(source) + g * rows * depth, depth, 1}, rows, depth, to + g * matrixFloats_);
    };
    OPKIT_ASSIGN(packed_, cpu::packConstant(backend, weights, fmt::format("conv {}x{}x{}", params_.group, rows, depth),
                                            params_.group * matrixFloats_, pack));
    return Status::ok();
  }

  /// Everything of the problems but the addresses, which may differ from run to run.
  void makeProblems(TensorList, int64_t count) {
    const std::vector<int64_t> taps = direct_ ? std::vector<int64_t>{0} : volume_.tapOffsets();
    depthOffsets_.clear();
    for (int64_t c = 0; c < plan_.groupInputs; ++c)
      for (const int64_t tap : taps) depthOffsets_.push_back(c * planeFloats_ + tap);
    gemm::Problem problem;
    problem.left = {nullptr, dims_.k, 1, packed_ != nullptr};
    problem.right = {.form = gemm::Right::Form::Gathered,
                     .depthOffsets = depthOffsets_.data(),
                     .runLength = direct_ || wholeFloats_ > 0 ? dims_.n : volume_.axes()[1].output,
                     .runStride = direct_ ? 0 : volume_.outputRowStride(),
                     .slack = !direct_};
    problem.cRowStride = wholeFloats_ > 0 ? dims_.n : plan_.outputPositions();
    problem.epilogue.biasRowStride = 1;
    problem.epilogue.low = params_.clamp_low;
    problem.epilogue.high = params_.clamp_high;
    problems_.assign(static_cast<size_t>(count), problem);
  }

  void runProblems(TensorList inputs, const float* channels, float* output) {
    const float* bias = biasOf(inputs);
    for (size_t i = 0; i < problems_.size(); ++i) {
      // Of a volume every plane of outputs is a product.
      const int64_t planes = direct_ ? 1 : volume_.deep().output;
      const int64_t index = static_cast<int64_t>(i) / planes, z = static_cast<int64_t>(i) % planes;
      const int64_t group = index % plan_.groups;
      gemm::Problem& problem = problems_[i];
      problem.left.data =
          packed_ ? floatsOf(*packed_) + group * matrixFloats_ : floatsOf(*inputs[1]) + group * dims_.m * dims_.k;
      problem.right.data = channels + index * plan_.groupInputs * planeFloats_ + z * volume_.depthStep();
      problem.c = wholeFloats_ > 0 ? output + static_cast<int64_t>(i) * dims_.m * dims_.n
                                   : output + index * dims_.m * plan_.outputPositions() + z * dims_.n;
      problem.epilogue.bias = bias ? bias + group * dims_.m : nullptr;
    }
    gemm::run(product_, problems_, cpu::scratchFloats(scratch(), imageFloats_ + wholeFloats_), pool_);
  }

  /// Copies the rows of outputs out of the products.
  void keepPositions(const float* whole, float* output) const {
    const int64_t rows = volume_.axes()[0].output, columns = volume_.axes()[1].output;
    const int64_t planes = volume_.deep().output, stride = volume_.outputRowStride();
    cpu::parallelRows(pool_, product_.batch() * dims_.m, rows * columns, [&](int64_t i) {
      const int64_t problem = i / dims_.m, row = i % dims_.m;
      const float* from = whole + i * dims_.n;
      float* to = output + ((problem / planes * dims_.m + row) * planes + problem % planes) * rows * columns;
      for (int64_t y = 0; y < rows; ++y) std::copy_n(from + y * stride, columns, to + y * columns);
    });
  }

  gemm::Dims dims_;  // of one group
  gemm::Plan product_;
  std::vector<gemm::Problem> problems_;  // per group; per image and group when direct
  std::vector<int64_t> depthOffsets_;
  bool direct_ = false;
  int64_t planeFloats_ = 0;               // between channels
  int64_t imageFloats_ = 0;               // one padded image in scratch; 0 when direct
  int64_t wholeFloats_ = 0;               // products that hold what lies between rows too: few outputs, not packed
  std::shared_ptr<const Tensor> packed_;  // shared by all convolutions with these constants; null if they change
  int64_t matrixFloats_ = 0;              // of one group in packed_
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "Conv", depthwiseCpuCreator());
  registry.addCreator("cpu", "Conv", directCpuCreator());
  registry.addCreator("cpu", "Conv",
                      {.supports = cpu::supportsAll,
                       .create = GemmConvCpu::create,
                       .dtypes = DTypeSet(DType::Float32),
                       .kernel = "gemm"});
  registry.addCreator("cpu", "Conv", columnsCreator());
}

}  // namespace opkit::ops::conv
