// The steps as ONNX writes them, element by element. Magnitudes: a sum's error is relative to its terms, a quotient's
// and a root's to themselves.
#include <cmath>

#include "ops/optimizer/optimizer.h"

namespace opkit::ops::optimizer {
namespace {

using Real = long double;

constexpr int64_t kRoundings = 8;  // of the longest chain

struct Element {
  Real x, g, gradient, gradientTerms;
};

/// Calls body(i, element) for each element, with its regularised gradient.
template <class Body>
void forEachElement(const OracleArgs& args, const Body& body) {
  const Real c = args.params<OptimizerParams>().norm_coefficient;
  for (OracleTensor& output : args.outputs) {
    output.magnitude.assign(output.real.size(), 0.0);
    output.terms = kRoundings;
  }
  for (size_t i = 0; i < args.input(2).real.size(); ++i) {
    const Real x = args.input(2).real[i], g = args.input(3).real[i];
    body(i, Element{x, g, c * x + g, std::fabs(c * x) + std::fabs(g)});
  }
}

void set(const OracleArgs& args, size_t output, size_t i, Real value, Real magnitude) {
  args.output(output).real[i] = static_cast<double>(value);
  args.output(output).magnitude[i] = static_cast<double>(magnitude);
}

Real rateOf(const OracleArgs& args) { return args.input(0).real[0]; }
int64_t updatesOf(const OracleArgs& args) { return args.input(1).integer[0]; }

}  // namespace

Status adagradReference(const OracleArgs& args) {
  const auto params = args.params<OptimizerParams>();
  const Real rate = rateOf(args) / (1 + static_cast<Real>(updatesOf(args)) * params.decay_factor);
  forEachElement(args, [&](size_t i, const Element& e) {
    const Real old = args.input(4).real[i], h = old + e.gradient * e.gradient;
    const Real hTerms = std::fabs(old) + e.gradientTerms * e.gradientTerms;
    const Real root = std::sqrt(h) + params.epsilon, step = std::fabs(rate * e.gradientTerms / root);
    set(args, 0, i, e.x - rate * e.gradient / root, std::fabs(e.x) + step * (1 + hTerms / h));
    set(args, 1, i, h, hTerms);
  });
  return Status::ok();
}

Status adamReference(const OracleArgs& args) {
  const auto params = args.params<OptimizerParams>();
  const Real alpha = params.alpha, beta = params.beta, updates = static_cast<Real>(updatesOf(args));
  Real rate = rateOf(args);
  if (updates > 0) rate *= std::sqrt(1 - std::pow(beta, updates)) / (1 - std::pow(alpha, updates));
  const Real kept = 1 - static_cast<Real>(params.norm_coefficient_post);
  forEachElement(args, [&](size_t i, const Element& e) {
    const Real oldV = args.input(4).real[i], oldH = args.input(5).real[i];
    const Real v = alpha * oldV + (1 - alpha) * e.gradient;
    const Real h = beta * oldH + (1 - beta) * e.gradient * e.gradient;
    const Real vTerms = std::fabs(alpha * oldV) + std::fabs(1 - alpha) * e.gradientTerms;
    const Real hTerms = std::fabs(beta * oldH) + std::fabs(1 - beta) * e.gradientTerms * e.gradientTerms;
    const Real root = std::sqrt(h) + params.epsilon, step = std::fabs(rate * vTerms / root);
    set(args, 0, i, kept * (e.x - rate * v / root), std::fabs(kept) * (std::fabs(e.x) + step * (1 + hTerms / h)));
    set(args, 1, i, v, vTerms);
    set(args, 2, i, h, hTerms);
  });
  return Status::ok();
}

Status momentumReference(const OracleArgs& args) {
  const auto params = args.params<OptimizerParams>();
  const Real rate = rateOf(args), alpha = params.alpha, beta = updatesOf(args) > 0 ? static_cast<Real>(params.beta) : 1;
  forEachElement(args, [&](size_t i, const Element& e) {
    const Real old = args.input(4).real[i], v = alpha * old + beta * e.gradient;
    const Real vTerms = std::fabs(alpha * old) + std::fabs(beta) * e.gradientTerms;
    const Real direction = params.nesterov ? e.gradient + alpha * v : v;
    const Real terms = params.nesterov ? e.gradientTerms + std::fabs(alpha) * vTerms : vTerms;
    set(args, 0, i, e.x - rate * direction, std::fabs(e.x) + std::fabs(rate) * terms);
    set(args, 1, i, v, vTerms);
  });
  return Status::ok();
}

}  // namespace opkit::ops::optimizer
