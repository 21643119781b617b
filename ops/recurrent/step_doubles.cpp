#include "ops/recurrent/step_doubles.h"

#include <algorithm>
#include <cmath>

namespace opkit::ops::recurrent {
namespace {

double activated(const Function& function, double clip, double x) {
  if (clip > 0) x = x < -clip ? -clip : x > clip ? clip : x;
  const double alpha = function.alpha, beta = function.beta;
  switch (function.kind) {
    case Activation::Relu: return x < 0 ? 0 : x;
    case Activation::Tanh: return std::tanh(x);
    case Activation::Sigmoid: {
      const double e = std::exp(-std::fabs(x));
      return (x < 0 ? e : 1) / (1 + e);
    }
    case Activation::Affine: return alpha * x + beta;
    case Activation::LeakyRelu: return x < 0 ? alpha * x : x;
    case Activation::ThresholdedRelu: return x < alpha ? 0 : x;
    case Activation::ScaledTanh: return alpha * std::tanh(beta * x);
    case Activation::HardSigmoid: {
      const double y = alpha * x + beta;
      return y < 0 ? 0 : y > 1 ? 1 : y;
    }
    case Activation::Elu: return x < 0 ? alpha * std::expm1(x) : x;
    case Activation::Softsign: return x / (1 + std::fabs(x));
    case Activation::Softplus: return (x < 0 ? 0 : x) + std::log1p(std::exp(-std::fabs(x)));
  }
  return x;
}

const double* doublesOf(TensorList list, size_t index) {
  return index < list.size() && list[index] ? list[index]->data<double>().data() : nullptr;
}

/// The sum of a[i] * b[i] in four parts, so that additions do not wait for each other.
double dot(const double* a, const double* b, int64_t count) {
  double parts[4] = {};
  int64_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (int64_t k = 0; k < 4; ++k) parts[k] += a[i + k] * b[i + k];
  for (; i < count; ++i) parts[0] += a[i] * b[i];
  return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

class DoubleWalk {
 public:
  double *const h, *const c;  // of each unit

  DoubleWalk(const StepsPlan& plan, const RecurrentParamsT& params, int64_t direction, TensorList inputs, double* work)
      : h(work),
        c(h + plan.hidden),
        plan_(plan),
        params_(params),
        functions_(functionsOf(params, plan.cell, direction)),
        r_(doublesOf(inputs, kR) + direction * plan.gates * plan.hidden * plan.hidden),
        b_(doublesOf(inputs, kBias)),
        p_(doublesOf(inputs, kPeepholes)),
        next_(c + plan.hidden),
        gates_(next_ + plan.hidden) {
    if (b_) b_ += direction * 2 * plan.gates * plan.hidden;
    if (p_) p_ += direction * 3 * plan.hidden;
  }

  void step(const double* product) {
    switch (plan_.cell) {
      case Cell::Rnn:
        for (int64_t u = 0; u < plan_.hidden; ++u) next_[u] = apply(0, sum(product, 0, u) + ofState(h, 0, u));
        break;
      case Cell::Gru: gru(product); break;
      case Cell::Lstm:
        for (int64_t u = 0; u < plan_.hidden; ++u) lstm(product, u);
    }
    std::copy_n(next_, plan_.hidden, h);
  }

 private:
  double apply(size_t function, double x) const { return activated(functions_[function], params_.clip, x); }
  double sum(const double* product, int64_t gate, int64_t unit) const {
    const int64_t row = gate * plan_.hidden + unit;
    return product[row] + (b_ ? b_[row] : 0);
  }
  double ofState(const double* state, int64_t gate, int64_t unit) const {
    const int64_t row = gate * plan_.hidden + unit;
    return dot(r_ + row * plan_.hidden, state, plan_.hidden) + (b_ ? b_[plan_.gates * plan_.hidden + row] : 0);
  }
  void gru(const double* product) {
    const int64_t hidden = plan_.hidden;
    double *update = gates_, *reset = update + hidden, *kept = reset + hidden;
    for (int64_t u = 0; u < hidden; ++u) {
      update[u] = apply(0, sum(product, 0, u) + ofState(h, 0, u));
      reset[u] = apply(0, sum(product, 1, u) + ofState(h, 1, u));
      kept[u] = reset[u] * h[u];
    }
    for (int64_t u = 0; u < hidden; ++u) {
      const double linear = params_.linear_before_reset ? reset[u] * ofState(h, 2, u) : ofState(kept, 2, u);
      next_[u] = (1 - update[u]) * apply(1, sum(product, 2, u) + linear) + update[u] * h[u];
    }
  }
  void lstm(const double* product, int64_t u) {
    const auto gate = [&](int64_t which, double cell) {
      const double peephole = p_ && which < 3 ? p_[which * plan_.hidden + u] * cell : 0;
      return sum(product, which, u) + ofState(h, which, u) + peephole;
    };
    const double in = apply(0, gate(0, c[u]));
    const double forget = params_.input_forget ? 1 - in : apply(0, gate(2, c[u]));
    c[u] = forget * c[u] + in * apply(1, gate(3, 0));
    next_[u] = apply(0, gate(1, c[u])) * apply(2, c[u]);
  }

  const StepsPlan& plan_;
  const RecurrentParamsT& params_;
  std::array<Function, 3> functions_;
  const double *r_, *b_, *p_;
  double *next_, *gates_;
};

}  // namespace

int64_t doublesOfWalk(const StepsPlan& plan) { return (3 + plan.gates) * plan.hidden; }

void walkDoubles(const StepsPlan& plan, const RecurrentParamsT& params, int64_t direction, int64_t batch,
                 TensorList inputs, TensorList outputs, double* work) {
  const int64_t hidden = plan.hidden, state = plan.stateRow(direction, batch) * hidden;
  DoubleWalk walk(plan, params, direction, inputs, work);
  const auto begin = [&](size_t index, double* to) {
    const double* from = doublesOf(inputs, index);
    for (int64_t u = 0; u < hidden; ++u) to[u] = from ? from[state + u] : 0;
  };
  begin(kInitialH, walk.h);
  begin(kInitialC, walk.c);
  const bool hasLengths = kLengths < inputs.size() && inputs[kLengths];
  const int64_t length = hasLengths ? inputs[kLengths]->data<int32_t>()[static_cast<size_t>(batch)] : plan.times;
  const double* products = doublesOf(inputs, kProducts) + direction * plan.gates * hidden;
  double* y = outputs[0]->data<double>().data();
  for (int64_t i = 0; i < plan.times; ++i) {
    const bool active = i < length;
    const int64_t time = active && isReverse(params, direction) ? length - 1 - i : i;
    if (active) walk.step(products + plan.productRow(time, batch) * plan.columns());
    double* to = y + plan.outputRow(time, direction, batch) * hidden;
    for (int64_t u = 0; u < hidden; ++u) to[u] = active ? walk.h[u] : 0;
  }
  for (size_t i = 1; i < outputs.size(); ++i)
    std::copy_n(i == 1 ? walk.h : walk.c, hidden, outputs[i]->data<double>().data() + state);
}

}  // namespace opkit::ops::recurrent
