// One step of an optimizer on one tensor: Adagrad, Adam, Momentum, made of elementwise operators.
#include "ops/optimizer/optimizer.h"

#include <cmath>

#include "engine/op/op_registry.h"
#include "ops/parts.h"

namespace opkit::ops::optimizer {
namespace {

using Value = Decomposition::Value;

/// r and t hold one element; x, its gradient and the state are alike. Outputs are x and the state.
Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  for (size_t i = 0; i < 2; ++i)
    if (args.input(i).elements() != 1)
      return Status::invalidArgument("{} must hold one element, got {}", i == 0 ? "r" : "t", toString(args.shape(i)));
  for (size_t i = 3; i < args.inputs.size(); ++i)
    if (!(args.input(i) == args.input(2)))
      return Status::invalidArgument("input {} must be {} like x, got {}", i, args.input(2).toString(),
                                     args.input(i).toString());
  return std::vector<TensorDesc>(args.inputs.size() - 3, args.input(2));
}

/// The parts of one step, all in the type of x.
class Step {
 public:
  Step(const ShapeArgs& args, Decomposition& parts)
      : args_(args), parts_(parts), params_(args.params<OptimizerParams>()), dtype_(args.input(2).dtype) {}

  Result<Value> number(double value) { return scalarOf(parts_, dtype_, value); }
  Value add(Value a, Value b) { return parts_.add("Add", {a, b}); }
  Value times(Value a, Value b) { return parts_.add("Mul", {a, b}); }
  Value minus(Value a, Value b) { return parts_.add("Sub", {a, b}); }
  Value over(Value a, Value b) { return parts_.add("Div", {a, b}); }
  Result<Value> times(double factor, Value x) {
    OPKIT_ASSIGN(const Value value, number(factor));
    return times(value, x);
  }
  /// old * a + b * value.
  Result<Value> blend(Value old, double a, Value value, double b) {
    OPKIT_ASSIGN(const Value kept, times(a, old));
    OPKIT_ASSIGN(const Value added, times(b, value));
    return add(kept, added);
  }

  /// Input 0 or 1 as a scalar of the type of x.
  Result<Value> scalarInput(size_t i) {
    Value value = parts_.input(i);
    if (!args_.shape(i).empty()) {
      OPKIT_ASSIGN(const Value shape, listOf(parts_, {}));
      value = parts_.add("Reshape", {value, shape});
    }
    return castTo(parts_, value, args_.input(i).dtype, dtype_);
  }
  Result<Value> isLater(Value t) {
    OPKIT_ASSIGN(const Value zero, number(0));
    return parts_.add("Greater", {t, zero});
  }
  /// The gradient with that of the norm of x.
  Result<Value> gradient() {
    if (params_.norm_coefficient == 0) return parts_.input(3);
    OPKIT_ASSIGN(const Value ofNorm, times(params_.norm_coefficient, parts_.input(2)));
    return add(ofNorm, parts_.input(3));
  }
  Result<Value> rootPlus(Value h) {
    OPKIT_ASSIGN(const Value epsilon, number(params_.epsilon));
    return add(parts_.add("Sqrt", {h}), epsilon);
  }
  /// 1 - base^t without cancellation: Elu is e^x - 1 below zero.
  Result<Value> oneMinusPower(double base, Value t) {
    OPKIT_ASSIGN(const Value exponent, times(std::log(base), t));
    return parts_.add("Neg", {parts_.add("Elu", {exponent})});
  }

  const OptimizerParamsT& params() const { return params_; }
  Decomposition& parts() { return parts_; }

 private:
  const ShapeArgs& args_;
  Decomposition& parts_;
  OptimizerParamsT params_;
  DType dtype_;
};

Status decomposeAdagrad(const ShapeArgs& args, std::span<const TensorDesc>, Decomposition& parts) {
  Step step(args, parts);
  OPKIT_ASSIGN(const Value r, step.scalarInput(0));
  OPKIT_ASSIGN(const Value t, step.scalarInput(1));
  OPKIT_ASSIGN(const Value one, step.number(1));
  OPKIT_ASSIGN(const Value decay, step.times(step.params().decay_factor, t));
  const Value rate = step.over(r, step.add(one, decay));
  OPKIT_ASSIGN(const Value g, step.gradient());
  const Value h = step.add(parts.input(4), step.times(g, g));
  OPKIT_ASSIGN(const Value root, step.rootPlus(h));
  parts.setOutput(0, step.minus(parts.input(2), step.over(step.times(rate, g), root)));
  parts.setOutput(1, h);
  return Status::ok();
}

Status decomposeAdam(const ShapeArgs& args, std::span<const TensorDesc>, Decomposition& parts) {
  Step step(args, parts);
  const OptimizerParamsT& p = step.params();
  OPKIT_ASSIGN(const Value r, step.scalarInput(0));
  OPKIT_ASSIGN(const Value t, step.scalarInput(1));
  OPKIT_ASSIGN(const Value g, step.gradient());
  OPKIT_ASSIGN(const Value v, step.blend(parts.input(4), p.alpha, g, 1 - static_cast<double>(p.alpha)));
  OPKIT_ASSIGN(const Value h, step.blend(parts.input(5), p.beta, step.times(g, g), 1 - static_cast<double>(p.beta)));
  OPKIT_ASSIGN(const Value root, step.rootPlus(h));
  OPKIT_ASSIGN(const Value ofSquares, step.oneMinusPower(p.beta, t));
  OPKIT_ASSIGN(const Value ofGradients, step.oneMinusPower(p.alpha, t));
  OPKIT_ASSIGN(const Value isLater, step.isLater(t));
  const Value adjusted = step.over(step.times(r, parts.add("Sqrt", {ofSquares})), ofGradients);
  const Value rate = parts.add("Where", {isLater, adjusted, r});
  Value x = step.minus(parts.input(2), step.over(step.times(rate, v), root));
  if (p.norm_coefficient_post != 0) {
    OPKIT_ASSIGN(x, step.times(1 - static_cast<double>(p.norm_coefficient_post), x));
  }
  parts.setOutput(0, x);
  parts.setOutput(1, v);
  parts.setOutput(2, h);
  return Status::ok();
}

Status decomposeMomentum(const ShapeArgs& args, std::span<const TensorDesc>, Decomposition& parts) {
  Step step(args, parts);
  OPKIT_ASSIGN(const Value r, step.scalarInput(0));
  OPKIT_ASSIGN(const Value t, step.scalarInput(1));
  OPKIT_ASSIGN(const Value g, step.gradient());
  OPKIT_ASSIGN(const Value isLater, step.isLater(t));
  OPKIT_ASSIGN(const Value one, step.number(1));
  OPKIT_ASSIGN(const Value beta, step.number(step.params().beta));
  OPKIT_ASSIGN(const Value kept, step.times(step.params().alpha, parts.input(4)));
  const Value v = step.add(kept, step.times(parts.add("Where", {isLater, beta, one}), g));
  Value direction = v;
  if (step.params().nesterov) {
    OPKIT_ASSIGN(const Value ahead, step.times(step.params().alpha, v));
    direction = step.add(g, ahead);
  }
  parts.setOutput(0, step.minus(parts.input(2), step.times(r, direction)));
  parts.setOutput(1, v);
  return Status::ok();
}

/// The rest of a card whose type, summary, parts and oracle are given. Class Norm: rounding errors are relative to the
/// magnitudes that the oracle states, since sums may cancel.
OpDef completed(OpDef card, const std::vector<std::string>& states) {
  constexpr DTypeSet kTypes{DType::Float32, DType::Float64};
  card.params = paramsSchema<OptimizerParams>(kOptimizerSchema);
  card.inputs = {{"r", kTypes}, {"t", DTypeSet{DType::Int64}}, {"x", kTypes}, {"g", kTypes}};
  card.outputs = {{"x_new", kTypes}};
  for (const std::string& state : states) {
    card.inputs.push_back({state, kTypes});
    card.outputs.push_back({state + "_new", kTypes});
  }
  card.numeric = NumericClass::Norm;
  card.domain = {0.25, 4};
  card.inferShapes = shapeRule;
  card.flops = [](const ShapeArgs& args, auto) { return 10.0 * static_cast<double>(args.input(2).elements()); };
  return card;
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add(completed({.type = "Adagrad",
                          .summary = "a step of Adagrad: x and the sum of squared gradients",
                          .decompose = decomposeAdagrad,
                          .oracle = adagradReference},
                         {"h"}));
  registry.add(completed({.type = "Adam",
                          .summary = "a step of Adam: x, the averages of the gradient and of its square",
                          .decompose = decomposeAdam,
                          .oracle = adamReference},
                         {"v", "h"}));
  registry.add(completed({.type = "Momentum",
                          .summary = "a step of gradient descent with momentum: x and the momentum",
                          .decompose = decomposeMomentum,
                          .oracle = momentumReference},
                         {"v"}));
}

}  // namespace opkit::ops::optimizer
