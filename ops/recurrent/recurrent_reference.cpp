// The recurrences as ONNX writes them, one unit of one sequence at a time. Every number carries an estimate of the
// rounding error that a correct kernel makes, in units of its roundoff: errors of independent numbers add as squares,
// and pass through each step by the derivatives of its functions.
#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/recurrent/recurrent_oracles.h"
#include "ops/recurrent/recurrent_parts.h"

namespace opkit::ops::recurrent {
namespace {

struct Number {
  double value = 0;
  double error = 0;
};

Number operator*(Number a, Number b) {
  const double value = a.value * b.value;
  return {value, std::hypot(a.error * b.value, a.value * b.error) + std::fabs(value)};
}
Number operator+(Number a, Number b) {
  const double value = a.value + b.value;
  return {value, std::hypot(a.error, b.error) + std::fabs(value)};
}
Number operator-(double a, Number b) { return Number{a} + Number{-b.value, b.error}; }

/// A sum of products, whose roundings are relative to the sum of the terms' magnitudes.
class Sum {
 public:
  void add(Number a, Number b) {
    const double term = a.value * b.value, passed = a.value * b.error + b.value * a.error;
    value_ += term;
    magnitude_ += std::fabs(term);
    passed_ += passed * passed;
    ++terms_;
  }
  void add(Number a) { add(a, {1}); }
  Number total() const { return {value_, std::sqrt(passed_ + static_cast<double>(terms_) * magnitude_ * magnitude_)}; }

 private:
  double value_ = 0, magnitude_ = 0, passed_ = 0;
  int64_t terms_ = 0;
};

constexpr double kFunctionError = 4;  // roundings of a function

class Apply {
 public:
  /// Function `index` of all directions.
  Apply(const RecurrentParamsT& params, size_t index, Activation usual) : clip_(params.clip) {
    kind_ = params.activations.empty() ? usual : params.activations[index];
    setDefaults();
    if (!params.activation_alpha.empty()) alpha_ = params.activation_alpha[index];
    if (!params.activation_beta.empty()) beta_ = params.activation_beta[index];
  }

  Number operator()(Number x) const {
    if (clip_ > 0 && x.value > clip_) x.value = clip_;
    if (clip_ > 0 && x.value < -clip_) x.value = -clip_;
    const double y = valueAt(x.value);
    return {y, std::fabs(slopeAt(x.value)) * x.error + kFunctionError * (std::fabs(y) + offset())};
  }

 private:
  void setDefaults() {
    if (kind_ == Activation::LeakyRelu) alpha_ = static_cast<float>(0.01);
    if (kind_ == Activation::HardSigmoid) {
      alpha_ = static_cast<float>(0.2);
      beta_ = 0.5;
    }
    if (kind_ == Activation::ScaledTanh) beta_ = 1;
  }
  double valueAt(double x) const {
    switch (kind_) {
      case Activation::Relu: return x < 0 ? 0 : x;
      case Activation::Tanh: return std::tanh(x);
      case Activation::Sigmoid: return 1 / (1 + std::exp(-x));
      case Activation::Affine: return alpha_ * x + beta_;
      case Activation::LeakyRelu: return x < 0 ? alpha_ * x : x;
      case Activation::ThresholdedRelu: return x < alpha_ ? 0 : x;
      case Activation::ScaledTanh: return alpha_ * std::tanh(beta_ * x);
      case Activation::HardSigmoid: return std::min(std::max(alpha_ * x + beta_, 0.0), 1.0);
      case Activation::Elu: return x < 0 ? alpha_ * std::expm1(x) : x;
      case Activation::Softsign: return x / (1 + std::fabs(x));
      case Activation::Softplus: return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    }
    return 0;
  }
  /// At least the derivative: of functions with corners, the steepest.
  double slopeAt(double x) const {
    const double tanh = std::tanh(kind_ == Activation::ScaledTanh ? beta_ * x : x);
    switch (kind_) {
      case Activation::Tanh: return 1 - tanh * tanh;
      case Activation::Sigmoid: return valueAt(x) * (1 - valueAt(x));
      case Activation::ScaledTanh: return alpha_ * beta_ * (1 - tanh * tanh);
      case Activation::Affine:
      case Activation::HardSigmoid: return alpha_;
      case Activation::LeakyRelu:
      case Activation::Elu: return std::max(1.0, std::fabs(alpha_));
      case Activation::Softsign: return 1 / ((1 + std::fabs(x)) * (1 + std::fabs(x)));
      default: return 1;
    }
  }
  /// The roundings that a sum inside the function adds.
  double offset() const {
    return kind_ == Activation::Affine || kind_ == Activation::HardSigmoid ? std::fabs(beta_) : 0;
  }

  Activation kind_ = Activation::Tanh;
  double alpha_ = 1, beta_ = 0, clip_;
};

/// One direction of one sequence. `first` is the index of r: 1 of steps, 2 of a whole operator.
class Walk {
 public:
  std::vector<Number> h, c;  // of each unit
  std::vector<Apply> apply;  // f, g, h

  Walk(const OracleArgs& args, size_t first, size_t gates, size_t functions, int64_t direction, int64_t batch)
      : args_(args),
        params_(args.params<RecurrentParams>()),
        first_(first),
        gates_(static_cast<int64_t>(gates)),
        hidden_(args.input(first).shape()[2]),
        direction_(direction),
        batch_(batch) {
    h.resize(static_cast<size_t>(hidden_));
    c.resize(h.size());
    for (size_t i = 0; i < functions; ++i) {
      const Activation usual = functions > 1 && i == 0 ? Activation::Sigmoid : Activation::Tanh;
      apply.emplace_back(params_, static_cast<size_t>(direction) * functions + i, usual);
    }
    for (size_t u = 0; u < h.size(); ++u) {
      if (has(3)) h[u] = {state(input(3), u)};
      if (gates == 4 && has(4)) c[u] = {state(input(4), u)};
    }
  }

  const RecurrentParamsT& params() const { return params_; }
  int64_t times() const { return args_.input(0).shape()[params_.batch_first ? 1 : 0]; }
  int64_t length() const { return has(2) ? input(2).integer[static_cast<size_t>(batch_)] : times(); }
  bool isReverse() const { return params_.direction == Direction::Reverse || direction_ == 1; }
  void goTo(int64_t time) { time_ = time; }

  /// The term of a unit of a gate from the input at this time, with the bias of w.
  void addInput(Sum& sum, int64_t gate, size_t unit) const {
    const int64_t row = gate * hidden_ + static_cast<int64_t>(unit);
    const OracleTensor& x = args_.input(0);
    const int64_t extent = x.shape()[2];
    if (extent > 0) {
      const Coordinates first = params_.batch_first ? Coordinates{batch_, time_, 0} : Coordinates{time_, batch_, 0};
      const double* values = x.real.data() + elementAt(x.shape(), first);
      const int64_t column = direction_ * gates_ * hidden_ + row;
      if (first_ == 1) sum.add({values[column]});
      if (first_ == 2)
        for (int64_t k = 0; k < extent; ++k) sum.add({values[k]}, {args_.input(1).real[at(column * extent + k)]});
    }
    addBias(sum, row);
  }
  /// The term of a unit of a gate from a state, with the bias of r.
  void addState(Sum& sum, const std::vector<Number>& state, int64_t gate, size_t unit) const {
    const int64_t row = gate * hidden_ + static_cast<int64_t>(unit);
    const double* weights = args_.input(first_).real.data() + (direction_ * gates_ * hidden_ + row) * hidden_;
    for (size_t k = 0; k < state.size(); ++k) sum.add(state[k], {weights[k]});
    addBias(sum, gates_ * hidden_ + row);
  }
  /// The term from the cell by peephole i, o or f.
  void addPeephole(Sum& sum, int64_t which, Number cell, size_t unit) const {
    if (!has(5)) return;
    sum.add({input(5).real[at((direction_ * 3 + which) * hidden_) + unit]}, cell);
  }
  Number gate(int64_t gate, size_t unit) const {
    Sum sum;
    addInput(sum, gate, unit);
    addState(sum, h, gate, unit);
    return sum.total();
  }

  /// The state of unit u as an element of `output`, here at this time.
  void storeOutput(size_t u) const {
    const auto unit = static_cast<int64_t>(u);
    store(args_.output(0),
          params_.batch_first ? Coordinates{batch_, time_, direction_, unit}
                              : Coordinates{time_, direction_, batch_, unit},
          h[u]);
  }
  void storeStates() const {
    for (size_t output = 1; output < args_.outputs.size(); ++output)
      for (size_t u = 0; u < h.size(); ++u) store(args_.output(output), stateAt(u), output == 1 ? h[u] : c[u]);
  }

 private:
  static size_t at(int64_t i) { return static_cast<size_t>(i); }
  bool has(size_t i) const { return args_.hasInput(first_ + i); }
  const OracleTensor& input(size_t i) const { return args_.input(first_ + i); }
  Coordinates stateAt(size_t u) const {
    const auto unit = static_cast<int64_t>(u);
    return params_.batch_first ? Coordinates{batch_, direction_, unit} : Coordinates{direction_, batch_, unit};
  }
  double state(const OracleTensor& from, size_t u) const { return from.real[elementAt(from.shape(), stateAt(u))]; }
  void addBias(Sum& sum, int64_t row) const {
    if (has(1)) sum.add({input(1).real[at(direction_ * 2 * gates_ * hidden_ + row)]});
  }
  static void store(OracleTensor& to, const Coordinates& at, Number number) {
    const size_t i = elementAt(to.shape(), at);
    to.real[i] = number.value;
    to.magnitude[i] = number.error;
  }

  const OracleArgs& args_;
  RecurrentParamsT params_;
  size_t first_;
  int64_t gates_, hidden_, direction_, batch_, time_ = 0;
};

std::vector<Number> rnnStep(Walk& walk) {
  std::vector<Number> next(walk.h.size());
  for (size_t u = 0; u < next.size(); ++u) next[u] = walk.apply[0](walk.gate(0, u));
  return next;
}

std::vector<Number> gruStep(Walk& walk) {
  std::vector<Number> next(walk.h.size()), reset(next.size());
  for (size_t u = 0; u < next.size(); ++u) reset[u] = walk.apply[0](walk.gate(1, u));
  std::vector<Number> kept(next.size());
  for (size_t u = 0; u < next.size(); ++u) kept[u] = reset[u] * walk.h[u];
  for (size_t u = 0; u < next.size(); ++u) {
    const Number update = walk.apply[0](walk.gate(0, u));
    Sum input, state;
    walk.addInput(input, 2, u);
    walk.addState(state, walk.params().linear_before_reset ? walk.h : kept, 2, u);
    const Number linear = walk.params().linear_before_reset ? reset[u] * state.total() : state.total();
    const Number hidden = walk.apply[1](input.total() + linear);
    next[u] = (1.0 - update) * hidden + update * walk.h[u];
  }
  return next;
}

std::vector<Number> lstmStep(Walk& walk) {
  enum { kIn, kOut, kForget, kCell };
  std::vector<Number> next(walk.h.size());
  for (size_t u = 0; u < next.size(); ++u) {
    const auto gate = [&](int64_t which, Number cell) {
      Sum peephole;
      if (which != kCell) walk.addPeephole(peephole, which, cell, u);
      return walk.gate(which, u) + peephole.total();
    };
    const Number in = walk.apply[0](gate(kIn, walk.c[u]));
    const Number forget = walk.params().input_forget ? 1.0 - in : walk.apply[0](gate(kForget, walk.c[u]));
    const Number cell = forget * walk.c[u] + in * walk.apply[1](gate(kCell, {}));
    next[u] = walk.apply[0](gate(kOut, cell)) * walk.apply[2](cell);
    walk.c[u] = cell;
  }
  return next;
}

using Step = std::vector<Number> (*)(Walk&);

Status run(const OracleArgs& args, size_t first, size_t gates, size_t functions, Step step) {
  for (OracleTensor& output : args.outputs) output.magnitude.assign(output.real.size(), 0.0);
  const bool batchFirst = args.params<RecurrentParams>().batch_first;
  const int64_t batches = args.input(0).shape()[batchFirst ? 0 : 1];
  for (int64_t direction = 0; direction < args.input(first).shape()[0]; ++direction)
    for (int64_t batch = 0; batch < batches; ++batch) {
      Walk walk(args, first, gates, functions, direction, batch);
      const int64_t length = walk.length();
      if (length < 0 || length > walk.times())
        return Status::invalidArgument("sequence_lens must be in [0, {}], got {}", walk.times(), length);
      for (int64_t i = 0; i < length; ++i) {
        walk.goTo(walk.isReverse() ? length - 1 - i : i);
        walk.h = step(walk);
        for (size_t u = 0; u < walk.h.size(); ++u) walk.storeOutput(u);
      }
      walk.storeStates();
    }
  return Status::ok();
}

}  // namespace

Status rnnReference(const OracleArgs& args) { return run(args, 2, 1, 1, rnnStep); }
Status gruReference(const OracleArgs& args) { return run(args, 2, 3, 2, gruStep); }
Status lstmReference(const OracleArgs& args) { return run(args, 2, 4, 3, lstmStep); }
Status rnnStepsReference(const OracleArgs& args) { return run(args, 1, 1, 1, rnnStep); }
Status gruStepsReference(const OracleArgs& args) { return run(args, 1, 3, 2, gruStep); }
Status lstmStepsReference(const OracleArgs& args) { return run(args, 1, 4, 3, lstmStep); }

}  // namespace opkit::ops::recurrent
