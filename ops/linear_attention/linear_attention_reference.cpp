#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/linear_attention/linear_attention_parts.h"

namespace opkit::ops::linear_attention {
namespace {

using Matrix = std::vector<std::vector<double>>;  // [key size][value size]

/// The state of one head, and the error it may have, in units of roundoff.
struct State {
  Matrix values, doubt;
};

/// One head of a node, token by token.
struct Head {
  const OracleArgs& args;
  LinearAttentionParamsT params;
  int64_t batch, head, keySize, valueSize;

  double at(size_t input, int64_t token, int64_t heads, int64_t i) const {
    const OracleTensor& x = args.input(input);
    const int64_t size = x.shape()[2] / heads;
    return x.real[elementAt(x.shape(), {batch, token, head * size + i})];
  }
  double keyAt(int64_t token, int64_t i) const { return at(1, token, params.kv_heads, i); }
  double valueAt(int64_t token, int64_t j) const { return at(2, token, params.kv_heads, j); }
  double decayAt(int64_t token, int64_t i) const {
    if (params.rule == UpdateRule::Linear || params.rule == UpdateRule::Delta) return 1;
    const bool perHead = args.input(4).shape()[2] == params.kv_heads;
    return std::exp(at(4, token, params.kv_heads, perHead ? 0 : i));
  }
  double betaAt(int64_t token) const {
    const OracleTensor& beta = args.input(5);
    return beta.real[elementAt(beta.shape(), {batch, token, beta.shape()[2] == 1 ? 0 : head})];
  }
  bool isDelta() const { return params.rule == UpdateRule::Delta || params.rule == UpdateRule::GatedDelta; }

  State start() const {
    State state;
    const std::vector<double> row(static_cast<size_t>(valueSize), 0.0);
    state.values.assign(static_cast<size_t>(keySize), row);
    state.doubt = state.values;
    if (!args.hasInput(3)) return state;
    for (int64_t i = 0; i < keySize; ++i)
      for (int64_t j = 0; j < valueSize; ++j)
        state.values[static_cast<size_t>(i)][static_cast<size_t>(j)] =
            args.input(3).real[elementAt(args.input(3).shape(), {batch, head, i, j})];
    return state;
  }

  /// The state after a token. Errors pass on through |I - beta k k^T|.
  void step(int64_t token, State& state) const {
    std::vector<double> keys, factors;
    for (int64_t i = 0; i < keySize; ++i) {
      keys.push_back(keyAt(token, i));
      factors.push_back(decayAt(token, i));
    }
    const double beta = isDelta() ? betaAt(token) : 0;
    for (int64_t j = 0; j < valueSize; ++j)
      stepColumn(keys, factors, beta, valueAt(token, j), static_cast<size_t>(j), state);
  }

  void stepColumn(const std::vector<double>& keys, const std::vector<double>& factors, double beta, double value,
                  size_t j, State& state) const {
    double held = 0, heldMagnitude = 0, doubts = 0;
    for (size_t i = 0; i < keys.size(); ++i) {
      double &cell = state.values[i][j], &doubt = state.doubt[i][j];
      cell *= factors[i];
      doubt = factors[i] * doubt + std::fabs(cell);
      held += keys[i] * cell;
      heldMagnitude += std::fabs(keys[i] * cell);
      doubts += std::fabs(keys[i]) * doubt;
    }
    const double added = isDelta() ? beta * (value - held) : value;
    const double addedMagnitude = isDelta() ? std::fabs(beta) * (std::fabs(value) + heldMagnitude) : std::fabs(value);
    for (size_t i = 0; i < keys.size(); ++i) {
      double &cell = state.values[i][j], &doubt = state.doubt[i][j];
      const double key = std::fabs(keys[i]), others = doubts - key * doubt;
      doubt = std::fabs(1 - beta * key * key) * doubt + std::fabs(beta) * key * others + std::fabs(cell) +
              key * addedMagnitude;
      cell += keys[i] * added;
    }
  }

  void read(int64_t token, const State& state) const {
    const int64_t group = params.q_heads / params.kv_heads;
    const double scale =
        params.scale != 0 ? static_cast<double>(params.scale) : std::pow(static_cast<double>(keySize), -0.5);
    OracleTensor& y = args.output();
    const OracleTensor& query = args.input(0);
    for (int64_t own = head * group; own < (head + 1) * group; ++own) {
      std::vector<double> factors;
      for (int64_t i = 0; i < keySize; ++i)
        factors.push_back(scale * query.real[elementAt(query.shape(), {batch, token, own * keySize + i})]);
      for (size_t j = 0; j < static_cast<size_t>(valueSize); ++j) {
        const size_t element = elementAt(y.shape(), {batch, token, own * valueSize + static_cast<int64_t>(j)});
        double sum = 0, magnitude = 0;
        for (size_t i = 0; i < factors.size(); ++i) {
          sum += factors[i] * state.values[i][j];
          magnitude += std::fabs(factors[i]) * (std::fabs(state.values[i][j]) + state.doubt[i][j]);
        }
        y.real[element] = sum;
        if (args.wantMagnitude) y.magnitude[element] = magnitude;
      }
    }
  }

  void store(const State& state) const {
    OracleTensor& present = args.output(1);
    for (int64_t i = 0; i < keySize; ++i)
      for (int64_t j = 0; j < valueSize; ++j) {
        const size_t element = elementAt(present.shape(), {batch, head, i, j});
        present.real[element] = state.values[static_cast<size_t>(i)][static_cast<size_t>(j)];
        if (args.wantMagnitude)
          present.magnitude[element] = state.doubt[static_cast<size_t>(i)][static_cast<size_t>(j)];
      }
  }
};

}  // namespace

Status reference(const OracleArgs& args) {
  const auto params = args.params<LinearAttentionParams>();
  const Shape &query = args.input(0).shape(), &value = args.input(2).shape();
  const int64_t keySize = query[2] / params.q_heads, valueSize = value[2] / params.kv_heads;
  for (OracleTensor& output : args.outputs) {
    output.terms = keySize + query[1];
    if (args.wantMagnitude) output.magnitude.assign(output.real.size(), 0.0);
  }
  for (int64_t batch = 0; batch < query[0]; ++batch)
    for (int64_t h = 0; h < params.kv_heads; ++h) {
      const Head head{args, params, batch, h, keySize, valueSize};
      State state = head.start();
      for (int64_t token = 0; token < query[1]; ++token) {
        head.step(token, state);
        head.read(token, state);
      }
      if (args.outputs.size() > 1) head.store(state);
    }
  return Status::ok();
}

}  // namespace opkit::ops::linear_attention
