// MatMulInteger and QLinearMatMul on the CPU: the packed product of bytes over the batch. Constant right matrices are
// packed once; a batch of left matrices that share one right matrix is multiplied as one tall matrix. A right matrix of
// one column is not packed, nor is the left one then.
#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "engine/backend/cpu/gemm/byte_column.h"
#include "engine/op/op_registry.h"
#include "ops/integer_matmul/line_values.h"

namespace opkit::ops::integer_matmul {
namespace {

namespace bytes = cpu::bytes;

uint8_t* bytesOf(const Tensor& tensor) { return reinterpret_cast<uint8_t*>(tensor.bytes().data()); }
bool isSigned(const Tensor& tensor) { return tensor.desc.dtype == DType::Int8; }
int64_t matricesOf(const Shape& shape) { return shape.size() > 2 ? elementCount(shape, 0, shape.size() - 2) : 1; }

class IntegerMatMulCpu final : public HostExecution {
 public:
  /// Packs constant right matrices. OutOfMemory when refused.
  static Result<std::unique_ptr<Execution>> create(const CreateArgs& args, Backend& backend) {
    auto execution = std::make_unique<IntegerMatMulCpu>(args, backend);
    if (const Tensor* b = args.constant(static_cast<size_t>(execution->roles_.b)); b && columnsOf(*b) != 1)
      OPKIT_TRY(execution->packRight(*b, backend));
    return std::unique_ptr<Execution>(std::move(execution));
  }
  IntegerMatMulCpu(const CreateArgs& args, Backend& backend)
      : HostExecution(backend), pool_(cpu::threadPool(backend)), roles_(rolesOf(args.def.type)) {}

  bool readsInput(size_t index) const override { return static_cast<int>(index) != roles_.b || !packed_; }

  /// Zero points and scales, the packed left matrices, the workspace of the product.
  Result<size_t> scratchBytes(TensorList inputs, TensorList) override {
    OPKIT_TRY(plan(inputs));
    if (isColumn()) return static_cast<size_t>(lineBytes_ + bytes::widenedElements(product_.dims().k) * 2);
    return static_cast<size_t>(lineBytes_ + leftMatrices_ * leftBytes_ + product_.workspaceBytes());
  }

  Status onResize(TensorList inputs, TensorList) override {
    OPKIT_TRY(plan(inputs));
    problems_.assign(static_cast<size_t>(product_.batch()), {});
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    uint8_t* left = bytesOf(scratch()) + lineBytes_;
    const LineValues values(roles_, inputs, bytesOf(scratch()));
    const Tensor &a = *inputAt(inputs, roles_.a), &b = *inputAt(inputs, roles_.b), &y = *outputs[0];
    const bytes::Dims& dims = product_.dims();
    if (isColumn()) {
      multiplyColumns(values, a, b, y);
      return Status::ok();
    }
    bytes::packLeft({bytesOf(a), dims.k, isSigned(a)}, leftMatrices_, dims.m, dims.k, left, &pool_);
    for (size_t i = 0; i < problems_.size(); ++i) {
      const auto index = static_cast<int64_t>(i);
      const int64_t aMatrix = plan_.product.aMatrix(index), bMatrix = plan_.product.bMatrix(index);
      bytes::Problem& problem = problems_[i];
      problem.left = left + aMatrix * leftBytes_;
      problem.right.packed = packed_ != nullptr;
      problem.right.isSigned = isSigned(b);
      problem.right.data = packed_ ? bytesOf(*packed_) + bMatrix * rightBytes_ : bytesOf(b) + bMatrix * dims.k * dims.n;
      problem.right.depthStride = dims.n;
      problem.leftZeroPoint = values.aZeroPoint(plan_.aZeroPoint, aMatrix);
      problem.rightZeroPoint = values.bZeroPoint(plan_.bZeroPoint, bMatrix);
      problem.cRowStride = dims.n;
      if (!roles_.isQuantized()) {
        problem.c = y.data<int32_t>().data() + index * dims.m * dims.n;
        continue;
      }
      problem.y = bytesOf(y) + index * dims.m * dims.n;
      problem.requantization = requantization(values, aMatrix, bMatrix);
    }
    bytes::run(product_, problems_, left + leftMatrices_ * leftBytes_, pool_);
    return Status::ok();
  }

 private:
  static int64_t columnsOf(const Tensor& b) { return b.desc.shape.size() == 1 ? 1 : b.desc.shape.back(); }
  bool isColumn() const { return product_.dims().n == 1; }

  bytes::Requantization requantization(const LineValues& values, int64_t aMatrix, int64_t bMatrix) const {
    bytes::Requantization to = values.target();
    to.left = values.aScale(plan_.aScale, aMatrix);
    to.right = values.bScale(plan_.bScale, bMatrix);
    return to;
  }

  void multiplyColumns(const LineValues& values, const Tensor& a, const Tensor& b, const Tensor& y) const {
    const bytes::Dims& dims = product_.dims();
    auto* column = reinterpret_cast<int16_t*>(bytesOf(scratch()) + lineBytes_);
    for (int64_t i = 0; i < static_cast<int64_t>(problems_.size()); ++i) {
      const int64_t aMatrix = plan_.product.aMatrix(i), bMatrix = plan_.product.bMatrix(i);
      bytes::widenColumn(bytesOf(b) + bMatrix * dims.k, isSigned(b), *values.bZeroPoint(plan_.bZeroPoint, bMatrix).data,
                         dims.k, column);
      bytes::ColumnProblem problem{.left = {bytesOf(a) + aMatrix * dims.m * dims.k, dims.k, isSigned(a)},
                                   .rows = dims.m,
                                   .k = dims.k,
                                   .column = column,
                                   .leftZeroPoint = values.aZeroPoint(plan_.aZeroPoint, aMatrix)};
      if (roles_.isQuantized()) {
        problem.y = bytesOf(y) + i * dims.m;
        problem.requantization = requantization(values, aMatrix, bMatrix);
      } else {
        problem.c = y.data<int32_t>().data() + i * dims.m;
      }
      const int64_t grain = std::max<int64_t>(8 * cpu::kGrainElements / std::max<int64_t>(dims.k, 1), 1);
      cpu::parallelRanges(pool_, dims.m, grain,
                          [&](int64_t begin, int64_t end) { bytes::multiplyColumn(problem, begin, end); });
    }
  }

  Status plan(TensorList inputs) {
    OPKIT_ASSIGN(plan_, planIntegers(roles_, shapesOf(inputs)));
    const matmul::MatMulPlan& shapes = plan_.product;
    const Tensor& a = *inputAt(inputs, roles_.a);
    const auto goesOn = [&](const Lines& lines) { return lines.matrixStep == lines.step * shapes.rows; };
    const bool sharedRight = std::ranges::all_of(shapes.bBatchStrides, [](int64_t stride) { return stride == 0; });
    const bool tall = sharedRight && a.desc.elements() == shapes.batchCount() * shapes.rows * shapes.depth &&
                      goesOn(plan_.aZeroPoint) && goesOn(plan_.aScale);
    const int64_t count = tall ? std::min<int64_t>(shapes.batchCount(), 1) : shapes.batchCount();
    const bytes::Dims dims{tall ? shapes.rows * shapes.batchCount() : shapes.rows, shapes.columns, shapes.depth};
    product_ = bytes::Plan(dims, count, packed_ != nullptr, pool_);
    leftMatrices_ = tall ? count : matricesOf(a.desc.shape);
    leftBytes_ = bytes::packedLeftBytes(dims.m, dims.k);
    lineBytes_ = LineValues::bytesOf(roles_, inputs);
    return Status::ok();
  }

  Status packRight(const Tensor& b, Backend& backend) {
    const Shape& shape = b.desc.shape;
    const int64_t depth = shape.size() == 1 ? shape[0] : shape[shape.size() - 2];
    const int64_t columns = columnsOf(b), count = matricesOf(shape);
    rightBytes_ = bytes::packedRightBytes(depth, columns);
    const auto pack = [&](const Tensor& source, float* to) {
      for (int64_t i = 0; i < count; ++i)
        bytes::packRight(
            {.data = bytesOf(source) + i * depth * columns, .isSigned = isSigned(b), .depthStride = columns}, depth,
            columns, reinterpret_cast<uint8_t*>(to) + i * rightBytes_);
    };
    OPKIT_ASSIGN(packed_, cpu::packConstant(backend, b, fmt::format("bytes right {}x{}x{}", count, depth, columns),
                                            count * rightBytes_ / 4, pack));
    return Status::ok();
  }

  ThreadPool& pool_;
  const Roles& roles_;
  IntegerPlan plan_;
  bytes::Plan product_;
  std::vector<bytes::Problem> problems_;
  int64_t lineBytes_ = 0, leftMatrices_ = 0, leftBytes_ = 0;
  std::shared_ptr<const Tensor> packed_;  // shared by all products with these constants; null if they change
  int64_t rightBytes_ = 0;                // of one packed matrix
};

}  // namespace

void addCpu(OpRegistry& registry) {
  for (const char* type : {"MatMulInteger", "QLinearMatMul"})
    registry.addCreator("cpu", type,
                        {.supports = cpu::supportsAll,
                         .create = IntegerMatMulCpu::create,
                         .dtypes = DTypeSet(DType::Int8, DType::UInt8)});
}

}  // namespace opkit::ops::integer_matmul
