#include "ops/matmul/matmul.h"

#include "engine/op/clamp.h"
#include "engine/op/op_registry.h"

namespace opkit::ops::matmul {
namespace {

constexpr DTypeSet kTypes = kFloats | DTypeSet{DType::Int32, DType::UInt32, DType::Int64, DType::UInt64};

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  if (args.input(0).dtype != args.input(1).dtype)
    return Status::invalidArgument("both inputs must have one type, got {} and {}", nameOf(args.input(0).dtype),
                                   nameOf(args.input(1).dtype));
  const Clamp clamp = clampOf(args.params<MatMulParams>());
  OPKIT_TRY(clamp.check());
  if (clamp.isActive() && !isFloat(args.input(0).dtype))
    return Status::unsupported("a clamp needs floating inputs, got {}", nameOf(args.input(0).dtype));
  OPKIT_ASSIGN(const MatMulPlan plan, planMatMul(args.shape(0), args.shape(1), args.params<MatMulParams>()));
  return std::vector{TensorDesc{args.input(0).dtype, plan.output}};
}

double flops(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  const Result<MatMulPlan> plan = planMatMul(args.shape(0), args.shape(1), args.params<MatMulParams>());
  return plan ? 2.0 * static_cast<double>(outputs[0].elements() * plan->depth) : 0.0;
}

DimVector times(DimVector strides, int64_t factor) {
  for (int64_t& stride : strides) stride *= factor;
  return strides;
}

Result<LoopRegion> loop(const ShapeArgs& args, std::span<const TensorDesc>) {
  OPKIT_ASSIGN(const MatMulPlan plan, planMatMul(args.shape(0), args.shape(1), args.params<MatMulParams>()));
  const int64_t rows = plan.rows, columns = plan.columns, depth = plan.depth;
  LoopRegion loop;
  loop.command = LoopRegion::Command::Product;
  loop.iterations = plan.batch;
  loop.size = {rows, columns, depth};
  loop.operands = {{.source = 0,
                    .steps = times(plan.aBatchStrides, rows * depth),
                    .strides = {plan.aRowStride, 0, plan.aDepthStride}},
                   {.source = 1,
                    .steps = times(plan.bBatchStrides, depth * columns),
                    .strides = {0, plan.bColumnStride, plan.bDepthStride}}};
  loop.target = {.steps = times(contiguousStrides(plan.batch), rows * columns), .strides = {columns, 1, 0}};
  loop.clamp = clampOf(args.params<MatMulParams>());
  return loop;
}

}  // namespace

int64_t MatMulPlan::matrixOf(const DimVector& strides, int64_t i) const {
  int64_t matrix = 0;
  for (size_t d = batch.size(); d-- > 0; i /= batch[d]) matrix += i % batch[d] * strides[d];
  return matrix;
}

Result<MatMulPlan> planMatMul(const Shape& a, const Shape& b, const MatMulParamsT& params) {
  if (a.empty() || b.empty())
    return Status::invalidArgument("inputs must have rank 1 or more, got {} and {}", toString(a), toString(b));
  const bool vectorA = a.size() == 1;
  const bool vectorB = b.size() == 1;
  MatMulPlan plan;
  if ((vectorA && params.trans_a) || (vectorB && params.trans_b))
    return Status::invalidArgument("a transposed input must have rank 2 or more, got {} and {}", toString(a),
                                   toString(b));
  plan.rows = vectorA ? 1 : a[a.size() - (params.trans_a ? 1 : 2)];
  plan.depth = a[a.size() - (params.trans_a ? 2 : 1)];
  plan.columns = vectorB ? 1 : b[b.size() - (params.trans_b ? 2 : 1)];
  const int64_t depthOfB = vectorB ? b[0] : b[b.size() - (params.trans_b ? 1 : 2)];
  if (plan.depth != depthOfB)
    return Status::invalidArgument("inner extents must be equal, got {} and {} of {} and {}", plan.depth, depthOfB,
                                   toString(a), toString(b));
  plan.aRowStride = params.trans_a ? 1 : plan.depth;
  plan.aDepthStride = params.trans_a ? plan.rows : 1;
  plan.bDepthStride = params.trans_b ? 1 : plan.columns;
  plan.bColumnStride = params.trans_b ? plan.depth : 1;
  const Shape batchA(a.begin(), vectorA ? a.begin() : a.end() - 2);
  const Shape batchB(b.begin(), vectorB ? b.begin() : b.end() - 2);
  OPKIT_ASSIGN(plan.batch, broadcastShapes(batchA, batchB));
  plan.aBatchStrides = broadcastStrides(batchA, plan.batch);
  plan.bBatchStrides = broadcastStrides(batchB, plan.batch);
  plan.output = plan.batch;
  if (!vectorA) plan.output.push_back(plan.rows);
  if (!vectorB) plan.output.push_back(plan.columns);
  return plan;
}

Status requireSmallProducts(const CreateArgs& args, int64_t mostProducts) {
  constexpr int64_t kDeepest = 256;  // also one depth block of the packed kernel: the same bits
  OPKIT_ASSIGN(const MatMulPlan plan,
               planMatMul(args.input(0).shape, args.input(1).shape, args.params<MatMulParams>()));
  const int64_t products = plan.rows * plan.columns * plan.depth;
  const bool isDot = plan.rows * plan.columns == 1;
  const bool isSmall = products > 0 && plan.depth <= kDeepest && (isDot || products <= mostProducts);
  // With one right matrix for all they form one tall product.
  const bool shared = std::ranges::all_of(plan.bBatchStrides, [](int64_t stride) { return stride == 0; });
  if (isSmall && !shared) return Status::ok();
  return Status::unsupported("MatMul: a loop is for batches of products of at most {} multiplications, got {}x{}x{}",
                             mostProducts, plan.rows, plan.depth, plan.columns);
}

void define(OpRegistry& registry) {
  registry.add({.type = "MatMul",
                .summary = "matrix product, batched and broadcast as in NumPy",
                .params = paramsSchema<MatMulParams>(kMatmulSchema),
                .inputs = {{"a", kTypes}, {"b", kTypes}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Products,
                .inferShapes = shapeRule,
                .loop = loop,
                .flops = flops,
                .oracle = reference});
}

}  // namespace opkit::ops::matmul
