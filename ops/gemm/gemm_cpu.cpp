// Gemm on the CPU, f32: the packed matrix product, with alpha, beta and C applied as its epilogue. A constant
// B is packed once.
#include "engine/backend/cpu/gemm/gemm.h"

#include "engine/backend/cpu/cpu_backend.h"
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
    if (args.constant(1)) OPKIT_TRY(execution->packRight(*args.constant(1)));
    return std::unique_ptr<Execution>(std::move(execution));
  }
  GemmCpu(const CreateArgs& args, Backend& backend)
      : HostExecution(backend),
        backend_(backend),
        pool_(cpu::threadPool(backend)),
        params_(args.params<GemmParams>()) {}

  bool readsInput(size_t index) const override { return index != 1 || !packed_; }

  Status onResize(TensorList inputs, TensorList) override {
    const Shape* c = hasBias(inputs) ? &inputs[2]->desc.shape : nullptr;
    OPKIT_ASSIGN(const GemmPlan shapes, planGemm(params_, inputs[0]->desc.shape, inputs[1]->desc.shape, c));
    problem_.left = {nullptr, shapes.aRowStride, shapes.aDepthStride};
    problem_.right = packed_ ? product::Right{.form = product::Right::Form::Packed}
                             : product::Right{.depthStride = shapes.bDepthStride, .columnStride = shapes.bColumnStride};
    problem_.cRowStride = shapes.columns;
    problem_.epilogue.alpha = params_.alpha;
    problem_.epilogue.beta = params_.beta;
    problem_.epilogue.biasRowStride = shapes.cRowStride;
    problem_.epilogue.biasColumnStride = shapes.cColumnStride;
    plan_ = product::Plan({shapes.rows, shapes.columns, shapes.depth}, 1, packed_, pool_.threadCount());
    return workspace_.reserve(backend_, plan_.workspaceFloats());
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    problem_.left.data = floatsOf(*inputs[0]);
    problem_.right.data = packed_ ? right_.data() : floatsOf(*inputs[1]);
    problem_.c = floatsOf(*outputs[0]);
    problem_.epilogue.bias = hasBias(inputs) ? floatsOf(*inputs[2]) : nullptr;
    product::run(plan_, {&problem_, 1}, workspace_.data(), pool_);
    return Status::ok();
  }

 private:
  static bool hasBias(TensorList inputs) { return inputs.size() > 2 && inputs[2]; }

  Status packRight(const Tensor& b) {
    const int64_t depth = b.desc.shape[params_.trans_b ? 1 : 0];
    const int64_t columns = b.desc.shape[params_.trans_b ? 0 : 1];
    OPKIT_TRY(right_.reserve(backend_, product::packedRightFloats(depth, columns)));
    product::packRight({.data = floatsOf(b),
                        .depthStride = params_.trans_b ? 1 : columns,
                        .columnStride = params_.trans_b ? depth : 1},
                       depth, columns, right_.data());
    packed_ = true;
    return Status::ok();
  }

  Backend& backend_;
  ThreadPool& pool_;
  GemmParamsT params_;
  product::Plan plan_;
  product::Problem problem_;
  cpu::Scratch workspace_;
  bool packed_ = false;  // B is constant and in right_
  cpu::Scratch right_;
};

Status supports(const CreateArgs& args) {
  if (args.input(0).dtype == DType::Float32) return Status::ok();
  return Status::unsupported("Gemm: the CPU kernel computes f32, got {}", nameOf(args.input(0).dtype));
}

}  // namespace

void addCpu(OpRegistry& registry) { registry.addCreator("cpu", "Gemm", {"opkit", supports, GemmCpu::create}); }

}  // namespace opkit::ops::gemm
