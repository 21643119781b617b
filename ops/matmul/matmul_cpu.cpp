// MatMul on the CPU, f32: the packed matrix product over the batch. Constant right matrices are packed once;
// a batch of left matrices that share one right matrix is multiplied as one tall matrix.
#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "engine/backend/cpu/gemm/gemm.h"
#include "engine/backend/host/host_execution.h"
#include "engine/backend/host/host_loop.h"
#include "engine/op/op_registry.h"
#include "ops/matmul/matmul.h"

namespace opkit::ops::matmul {
namespace {

namespace gemm = cpu::gemm;

float* floatsOf(const Tensor& tensor) { return tensor.data<float>().data(); }

class MatMulCpu final : public HostExecution {
 public:
  /// Packs constant right matrices. OutOfMemory when refused.
  static Result<std::unique_ptr<Execution>> create(const CreateArgs& args, Backend& backend) {
    auto execution = std::make_unique<MatMulCpu>(args, backend);
    if (args.constant(1)) OPKIT_TRY(execution->packRight(*args.constant(1), backend));
    return std::unique_ptr<Execution>(std::move(execution));
  }
  MatMulCpu(const CreateArgs& args, Backend& backend)
      : HostExecution(backend), pool_(cpu::threadPool(backend)), params_(args.params<MatMulParams>()) {}

  bool readsInput(size_t index) const override { return index != 1 || !packed_; }

  Result<size_t> scratchBytes(TensorList inputs, TensorList) override {
    OPKIT_TRY(plan(inputs));
    return cpu::scratchBytesOf(plan_.workspaceFloats());
  }

  Status onResize(TensorList inputs, TensorList) override {
    OPKIT_TRY(plan(inputs));
    gemm::Problem problem;
    problem.left = {nullptr, shapes_.aRowStride, shapes_.aDepthStride};
    problem.right = packed_ ? gemm::keptRight(nullptr, dims_.k, dims_.n)
                            : gemm::Right{.depthStride = shapes_.bDepthStride, .columnStride = shapes_.bColumnStride};
    problem.cRowStride = dims_.n;
    problem.epilogue.low = params_.clamp_low;
    problem.epilogue.high = params_.clamp_high;
    problems_.assign(static_cast<size_t>(plan_.batch()), problem);
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    for (size_t i = 0; i < problems_.size(); ++i) {
      const auto index = static_cast<int64_t>(i);
      gemm::Problem& problem = problems_[i];
      problem.left.data = floatsOf(*inputs[0]) + shapes_.aMatrix(index) * shapes_.rows * dims_.k;
      problem.right.data = packed_ ? floatsOf(*packed_) + shapes_.bMatrix(index) * matrixFloats_
                                   : floatsOf(*inputs[1]) + shapes_.bMatrix(index) * dims_.k * dims_.n;
      problem.c = floatsOf(*outputs[0]) + index * dims_.m * dims_.n;
    }
    gemm::run(plan_, problems_, cpu::scratchFloats(scratch()), pool_);
    return Status::ok();
  }

 private:
  Status plan(TensorList inputs) {
    OPKIT_ASSIGN(shapes_, planMatMul(inputs[0]->desc.shape, inputs[1]->desc.shape, params_));
    const bool sharedRight = std::ranges::all_of(shapes_.bBatchStrides, [](int64_t stride) { return stride == 0; });
    const bool tall = sharedRight && !params_.trans_a &&
                      inputs[0]->desc.elements() == shapes_.batchCount() * shapes_.rows * shapes_.depth;
    const int64_t count = tall ? std::min<int64_t>(shapes_.batchCount(), 1) : shapes_.batchCount();
    dims_ = {tall ? shapes_.rows * shapes_.batchCount() : shapes_.rows, shapes_.columns, shapes_.depth};
    plan_ = gemm::Plan(dims_, count, packed_ != nullptr, pool_.threadCount(), pool_.splitsAll());
    return Status::ok();
  }

  Status packRight(const Tensor& b, Backend& backend) {
    const Shape& shape = b.desc.shape;
    const bool vector = shape.size() == 1;
    const bool transposed = params_.trans_b && !vector;
    const int64_t depth = vector ? shape[0] : shape[shape.size() - (transposed ? 1 : 2)];
    const int64_t columns = vector ? 1 : shape[shape.size() - (transposed ? 2 : 1)];
    const int64_t count = vector ? 1 : elementCount(shape, 0, shape.size() - 2);
    matrixFloats_ = (gemm::packedRightFloats(depth, columns) + 15) / 16 * 16;
    OPKIT_ASSIGN(packed_, cpu::packConstant(backend, b,
                                            fmt::format("matmul right {}x{}x{} t{}", count, depth, columns, transposed),
                                            count * matrixFloats_, [&](const Tensor& source, float* to) {
                                              for (int64_t i = 0; i < count; ++i)
                                                gemm::keepRight({.data = floatsOf(source) + i * depth * columns,
                                                                 .depthStride = transposed ? 1 : columns,
                                                                 .columnStride = transposed ? depth : 1},
                                                                depth, columns, to + i * matrixFloats_);
                                            }));
    return Status::ok();
  }

  ThreadPool& pool_;
  MatMulParamsT params_;
  MatMulPlan shapes_{};
  gemm::Dims dims_;  // of one product
  gemm::Plan plan_;
  std::vector<gemm::Problem> problems_;
  std::shared_ptr<const Tensor> packed_;  // shared by all products with these constants; null if they change
  int64_t matrixFloats_ = 0;
};

}  // namespace

void addCpu(OpRegistry& registry) {
  const auto isSmall = [](const CreateArgs& args) -> Status {
    const auto params = args.params<MatMulParams>();
    if (params.trans_b && args.input(0).dtype == DType::Float32)
      return Status::unsupported("MatMul: a loop wants rows of b");
    return requireSmallProducts(args, gemm::kLoopProducts);
  };
  registry.addCreator("cpu", "MatMul", hostLoopCreator(cpu::threadPool, isSmall, "small"));
  registry.addCreator("cpu", "MatMul",
                      {.supports = cpu::supportsAll, .create = MatMulCpu::create, .dtypes = DTypeSet(DType::Float32)});
}

}  // namespace opkit::ops::matmul
