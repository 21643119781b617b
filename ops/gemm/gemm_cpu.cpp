// Gemm on the CPU, f32: the packed matrix product, with alpha, beta and C applied as its epilogue. A constant
// B is packed once.
#include "engine/backend/cpu/gemm/gemm.h"

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "engine/backend/host/host_execution.h"
#include "engine/op/op_registry.h"
#include "ops/gemm/gemm.h"

namespace opkit::ops::gemm {
namespace {

namespace product = cpu::gemm;

float* floatsOf(const Tensor& tensor) { return tensor.data<float>().data(); }

class GemmCpu final : public HostExecution {
 public:
  /// Packs a constant B. OutOfMemory when refused.
  static Result<std::unique_ptr<Execution>> create(const CreateArgs& args, Backend& backend) {
    auto execution = std::make_unique<GemmCpu>(args, backend);
    if (args.constant(1)) OPKIT_TRY(execution->packRight(*args.constant(1), backend));
    return std::unique_ptr<Execution>(std::move(execution));
  }
  GemmCpu(const CreateArgs& args, Backend& backend)
      : HostExecution(backend), pool_(cpu::threadPool(backend)), params_(args.params<GemmParams>()) {}

  bool readsInput(size_t index) const override { return index != 1 || !packed_; }

  Result<size_t> scratchBytes(TensorList inputs, TensorList) override {
    OPKIT_ASSIGN(const GemmPlan shapes, shapesOf(inputs));
    return cpu::scratchBytesOf(planOf(shapes).workspaceFloats());
  }

  Status onResize(TensorList inputs, TensorList) override {
    OPKIT_ASSIGN(const GemmPlan shapes, shapesOf(inputs));
    problem_.left = {nullptr, shapes.aRowStride, shapes.aDepthStride};
    problem_.right = packed_ ? product::Right{.form = product::Right::Form::Packed}
                             : product::Right{.depthStride = shapes.bDepthStride, .columnStride = shapes.bColumnStride};
    problem_.cRowStride = shapes.columns;
    problem_.epilogue.alpha = params_.alpha;
    problem_.epilogue.beta = params_.beta;
    problem_.epilogue.low = params_.clamp_low;
    problem_.epilogue.high = params_.clamp_high;
    problem_.epilogue.biasRowStride = shapes.cRowStride;
    problem_.epilogue.biasColumnStride = shapes.cColumnStride;
    plan_ = planOf(shapes);
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    problem_.left.data = floatsOf(*inputs[0]);
    problem_.right.data = packed_ ? floatsOf(*packed_) : floatsOf(*inputs[1]);
    problem_.c = floatsOf(*outputs[0]);
    problem_.epilogue.bias = hasBias(inputs) ? floatsOf(*inputs[2]) : nullptr;
    product::run(plan_, {&problem_, 1}, cpu::scratchFloats(scratch()), pool_);
    return Status::ok();
  }

 private:
  static bool hasBias(TensorList inputs) { return inputs.size() > 2 && inputs[2]; }

  Result<GemmPlan> shapesOf(TensorList inputs) const {
    return planGemm(params_, inputs[0]->desc.shape, inputs[1]->desc.shape,
                    hasBias(inputs) ? &inputs[2]->desc.shape : nullptr);
  }
  product::Plan planOf(const GemmPlan& shapes) const {
    return {{shapes.rows, shapes.columns, shapes.depth}, 1, packed_ != nullptr, pool_.threadCount()};
  }

  Status packRight(const Tensor& b, Backend& backend) {
    const int64_t depth = b.desc.shape[params_.trans_b ? 1 : 0];
    const int64_t columns = b.desc.shape[params_.trans_b ? 0 : 1];
    const product::Right right{
        .data = floatsOf(b), .depthStride = params_.trans_b ? 1 : columns, .columnStride = params_.trans_b ? depth : 1};
    OPKIT_ASSIGN(packed_,
                 cpu::packConstant(backend, b, fmt::format("gemm right {}x{} t{}", depth, columns, params_.trans_b),
                                   product::packedRightFloats(depth, columns),
                                   [&](float* to) { product::packRight(right, depth, columns, to); }));
    return Status::ok();
  }

  ThreadPool& pool_;
  GemmParamsT params_;
  product::Plan plan_;
  product::Problem problem_;
  std::shared_ptr<const Tensor> packed_;  // shared by all products with this constant B; null if B changes
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "Gemm",
                      {.supports = cpu::supportsAll, .create = GemmCpu::create, .dtypes = DTypeSet(DType::Float32)});
}

}  // namespace opkit::ops::gemm
