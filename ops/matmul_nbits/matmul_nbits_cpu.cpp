// MatMulNBits on the CPU: a is arranged once. Few rows of it are multiplied with the weights as they are stored. For
// many rows, some hundred rows of the weights at a time become floats, and a product of floats takes them.
#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "engine/backend/cpu/gemm/gemm.h"
#include "engine/op/op_registry.h"
#include "ops/matmul_nbits/matmul_nbits.h"
#include "ops/matmul_nbits/matmul_nbits_wide.h"

namespace opkit::ops::matmul_nbits {
namespace {

const uint8_t* bytesOf(const Tensor& tensor) { return reinterpret_cast<const uint8_t*>(tensor.bytes().data()); }

class MatMulNBitsCpu final : public cpu::CpuKernel {
 public:
  MatMulNBitsCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<MatMulNBitsParams>()) {}

  /// a, arranged; for many rows also a part of the weights and the product's workspace.
  Result<size_t> scratchBytes(TensorList inputs, TensorList) override {
    OPKIT_TRY(plan(inputs));
    const int64_t floats =
        isTall() ? partAt() + cpu::scratchPart(partColumns_ * rowFloats_) + workspaceFloats() : partAt();
    return cpu::scratchBytesOf(floats);
  }
  Status onResize(TensorList inputs, TensorList) override { return plan(inputs); }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    float* rows = cpu::scratchFloats(scratch());
    const int bits = bitsOf(inputs[kWeights]->desc.dtype);
    const Weights weights{bytesOf(*inputs[kWeights]),
                          floatsOf(*inputs[kScales]),
                          has(inputs, kZeroPoints) ? bytesOf(*inputs[kZeroPoints]) : nullptr,
                          plan_.blocks,
                          plan_.blockSize * bits / 8,
                          bits};
    cpu::parallelRows(pool_, plan_.rows, plan_.depth, [&](int64_t m) {
      arrange(floatsOf(*inputs[kA]) + m * plan_.depth, plan_.depth, weights, rows + m * rowFloats_);
    });
    const float* bias = has(inputs, kBias) ? floatsOf(*inputs[kBias]) : nullptr;
    if (isTall())
      multiplyParts(weights, rows, bias, floatsOf(*outputs[0]));
    else
      multiplyRows(weights, rows, bias, floatsOf(*outputs[0]));
    return Status::ok();
  }

 private:
  static constexpr int64_t kTaskProducts = 1 << 18;  // worth a task
  static constexpr int64_t kMostColumns = 64;        // whose weights stay in the second-level cache for all rows
  static constexpr int64_t kPartFloats = 1 << 20;    // of the weights

  bool isTall() const { return plan_.rows > 2 * mostRows(); }
  int64_t partAt() const { return cpu::scratchPart(plan_.rows * rowFloats_); }
  int64_t workspaceFloats() const { return std::max(part_.workspaceFloats(), lastPart_.workspaceFloats()); }

  void multiplyRows(const Weights& weights, const float* rows, const float* bias, float* y) const {
    const int64_t grain = std::max<int64_t>(1, kTaskProducts / std::max<int64_t>(plan_.rows * plan_.depth, 1));
    cpu::parallelRanges(pool_, plan_.columns, std::min(grain, kMostColumns), [&](int64_t begin, int64_t end) {
      for (int64_t m = 0; m < plan_.rows; m += mostRows())
        productRows(weights, rows + m * rowFloats_, std::min(mostRows(), plan_.rows - m), bias, begin, end,
                    y + m * plan_.columns, plan_.columns);
    });
  }

  void multiplyParts(const Weights& weights, const float* rows, const float* bias, float* y) const {
    float* part = cpu::scratchFloats(scratch(), partAt());
    float* workspace = part + cpu::scratchPart(partColumns_ * rowFloats_);
    for (int64_t first = 0; first < plan_.columns; first += partColumns_) {
      const int64_t columns = std::min(partColumns_, plan_.columns - first);
      cpu::parallelRows(pool_, columns, rowFloats_,
                        [&](int64_t n) { widenRows(weights, first + n, first + n + 1, part + n * rowFloats_); });
      cpu::gemm::Problem problem;
      problem.left = {.data = rows, .rowStride = rowFloats_};
      problem.right = {.data = part, .depthStride = 1, .columnStride = rowFloats_};
      problem.c = y + first;
      problem.cRowStride = plan_.columns;
      problem.epilogue.bias = bias ? bias + first : nullptr;
      problem.epilogue.biasColumnStride = 1;
      cpu::gemm::run(columns == partColumns_ ? part_ : lastPart_, {&problem, 1}, workspace, pool_);
    }
  }

  Status plan(TensorList inputs) {
    const auto shapeOf = [&](size_t i) { return has(inputs, i) ? &inputs[i]->desc.shape : nullptr; };
    OPKIT_ASSIGN(plan_, planMatMulNBits(params_, *shapeOf(kA), *shapeOf(kWeights), *shapeOf(kScales),
                                        shapeOf(kZeroPoints), shapeOf(kBias)));
    rowFloats_ = plan_.blocks * plan_.blockSize;
    if (!isTall()) return Status::ok();
    partColumns_ = std::clamp<int64_t>(kPartFloats / rowFloats_, kMostColumns, std::max(plan_.columns, kMostColumns));
    const auto partOf = [&](int64_t columns) {
      return cpu::gemm::Plan({plan_.rows, columns, rowFloats_}, 1, false, pool_.threadCount(), pool_.splitsAll());
    };
    part_ = partOf(partColumns_);
    lastPart_ = partOf(plan_.columns % partColumns_);
    return Status::ok();
  }

  MatMulNBitsParamsT params_;
  MatMulNBitsPlan plan_;
  int64_t rowFloats_ = 0;
  int64_t partColumns_ = 1;              // of weights that become floats at a time
  cpu::gemm::Plan part_{}, lastPart_{};  // the products with them
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "MatMulNBits", cpu::creatorOf<MatMulNBitsCpu>(cpu::supportsAll, DTypeSet(DType::Float32)));
}

}  // namespace opkit::ops::matmul_nbits
