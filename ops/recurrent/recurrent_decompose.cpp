// RNN, GRU and LSTM as parts: one product of all inputs with the weights, then the steps. Halves are widened first and
// rounded at the end.
#include "ops/gemm/gemm_generated.h"
#include "ops/parts.h"
#include "ops/recurrent/recurrent.h"
#include "ops/reshape/reshape_generated.h"

namespace opkit::ops::recurrent {
namespace {

using Value = Decomposition::Value;

Result<Value> reshaped(Decomposition& parts, Value x, const Shape& shape) {
  reshape::ReshapeParamsT exact;
  exact.allow_zero = true;
  OPKIT_ASSIGN(const Value list, listOf(parts, shape));
  return parts.add("Reshape", {x, list}, packParams(exact));
}

/// x * w^T of all directions and gates: [time, batch, columns], or batch first.
Result<Value> products(const ShapeArgs& args, Decomposition& parts, DType computed) {
  const Shape &x = args.shape(0), &w = args.shape(1);
  const Value wideX = castTo(parts, parts.input(0), args.input(0).dtype, computed);
  const Value wideW = castTo(parts, parts.input(1), args.input(1).dtype, computed);
  OPKIT_ASSIGN(const Value rows, reshaped(parts, wideX, {x[0] * x[1], x[2]}));
  OPKIT_ASSIGN(const Value weights, reshaped(parts, wideW, {w[0] * w[1], w[2]}));
  gemm::GemmParamsT params;
  params.trans_b = true;
  const Value product = parts.add("Gemm", {rows, weights}, packParams(params));
  return reshaped(parts, product, {x[0], x[1], w[0] * w[1]});
}

}  // namespace

Status decompose(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts, Cell cell) {
  static constexpr const char* kSteps[] = {"RNNSteps", "GRUSteps", "LSTMSteps"};
  const DType dtype = args.input(0).dtype, computed = widened(dtype);
  OPKIT_ASSIGN(const Value made, products(args, parts, computed));
  std::vector<Value> inputs{made};
  for (size_t i = 2; i < args.inputs.size(); ++i) {
    if (!args.hasInput(i))
      inputs.push_back(Decomposition::kAbsent);
    else
      inputs.push_back(i == kLengths + 1 ? parts.input(i) : castTo(parts, parts.input(i), dtype, computed));
  }
  const std::vector<Value> results = parts.add(kSteps[static_cast<size_t>(cell)], std::move(inputs),
                                               packParams(args.params<RecurrentParams>()), outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) parts.setOutput(i, castTo(parts, results[i], computed, dtype));
  return Status::ok();
}

}  // namespace opkit::ops::recurrent
