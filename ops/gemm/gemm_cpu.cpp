// Gemm on the CPU. f32: the packed matrix product, with alpha, beta and C applied as its epilogue; a constant B is
// packed once. f64: rows of small products; a transposed B is copied first.
#include "engine/backend/cpu/gemm/gemm.h"

#include <cmath>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "engine/backend/cpu/vector_ops.h"
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
    problem_.right = packed_ ? product::keptRight(nullptr, shapes.depth, shapes.columns)
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
    return {{shapes.rows, shapes.columns, shapes.depth}, 1, packed_ != nullptr, pool_.threadCount(), pool_.splitsAll()};
  }

  Status packRight(const Tensor& b, Backend& backend) {
    const int64_t depth = b.desc.shape[params_.trans_b ? 1 : 0];
    const int64_t columns = b.desc.shape[params_.trans_b ? 0 : 1];
    OPKIT_ASSIGN(packed_,
                 cpu::packConstant(backend, b, fmt::format("gemm right {}x{} t{}", depth, columns, params_.trans_b),
                                   product::packedRightFloats(depth, columns), [&](const Tensor& source, float* to) {
                                     const product::Right right{.data = floatsOf(source),
                                                                .depthStride = params_.trans_b ? 1 : columns,
                                                                .columnStride = params_.trans_b ? depth : 1};
                                     product::keepRight(right, depth, columns, to);
                                   }));
    return Status::ok();
  }

  ThreadPool& pool_;
  GemmParamsT params_;
  product::Plan plan_;
  product::Problem problem_;
  std::shared_ptr<const Tensor> packed_;  // shared by all products with this constant B; null if B changes
};

class WideGemmCpu final : public cpu::CpuKernel {
 public:
  WideGemmCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<GemmParams>()) {}

  Result<size_t> scratchBytes(TensorList inputs, TensorList) override {
    return params_.trans_b ? inputs[1]->sizeBytes() : size_t{0};
  }
  Status onResize(TensorList inputs, TensorList) override {
    OPKIT_ASSIGN(plan_, planGemm(params_, inputs[0]->desc.shape, inputs[1]->desc.shape,
                                 has(inputs, 2) ? &inputs[2]->desc.shape : nullptr));
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const double *a = inputs[0]->data<double>().data(), *b = rightOf(*inputs[1]);
    const double* c = has(inputs, 2) ? inputs[2]->data<double>().data() : nullptr;
    double* y = outputs[0]->data<double>().data();
    const int64_t work = plan_.columns * (plan_.depth + 1);
    cpu::parallelRanges(pool_, plan_.rows, std::max<int64_t>(2 * cpu::kGrainElements / work, 1),
                        [&](int64_t begin, int64_t end) {
                          const cpu::SmallProduct product{end - begin,      plan_.columns,      plan_.depth,
                                                          plan_.aRowStride, plan_.aDepthStride, plan_.columns,
                                                          plan_.columns,    -INFINITY,          INFINITY};
                          cpu::multiplySmall(product, a + begin * plan_.aRowStride, b, y + begin * plan_.columns);
                          for (int64_t row = begin; row < end; ++row) finishRow(c, row, y + row * plan_.columns);
                        });
    return Status::ok();
  }

 private:
  /// B as [depth, columns].
  const double* rightOf(const Tensor& b) const {
    const double* from = b.data<double>().data();
    if (!params_.trans_b || b.desc.elements() == 0) return from;
    auto* to = reinterpret_cast<double*>(cpu::scratchFloats(scratch()));
    cpu::parallelRows(pool_, plan_.depth, plan_.columns, [&](int64_t k) {
      for (int64_t column = 0; column < plan_.columns; ++column)
        to[k * plan_.columns + column] = from[column * plan_.depth + k];
    });
    return to;
  }
  void finishRow(const double* c, int64_t row, double* y) const {
    const double alpha = params_.alpha, beta = params_.beta, low = params_.clamp_low, high = params_.clamp_high;
    for (int64_t column = 0; column < plan_.columns; ++column) {
      double value = alpha * y[column];
      if (c) value += beta * c[row * plan_.cRowStride + column * plan_.cColumnStride];
      y[column] = value < low ? low : value > high ? high : value;
    }
  }

  GemmParamsT params_;
  GemmPlan plan_{};
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "Gemm",
                      {.supports = cpu::supportsAll,
                       .create = GemmCpu::create,
                       .dtypes = DTypeSet(DType::Float32),
                       .kernel = "packed"});
  registry.addCreator("cpu", "Gemm", cpu::creatorOf<WideGemmCpu>(cpu::supportsAll, DTypeSet(DType::Float64), "small"));
}

}  // namespace opkit::ops::gemm
