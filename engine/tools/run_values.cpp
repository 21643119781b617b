#include "engine/tools/run_values.h"

#include <cmath>

#include "engine/op/oracle.h"
#include "engine/tensor/float_format.h"
#include "engine/tensor/objects.h"

namespace opkit {
namespace {

/// splitmix64: a counter in, 64 well-mixed bits out.
uint64_t mix(uint64_t counter) {
  uint64_t z = counter * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

template <class Real, class Integer>
void fill(const Tensor& tensor, Real&& real, Integer&& integer) {
  if (isCoded(tensor.desc.dtype)) {
    const bool isReal = isFloat(tensor.desc.dtype);
    for (size_t i = 0; i < static_cast<size_t>(tensor.desc.elements()); ++i)
      writeCoded(tensor, i, isReal ? real(i) : static_cast<double>(integer(i) % 100));
    return;
  }
  visitDType(tensor.desc.dtype, [&](auto tag) {
    using T = decltype(tag);
    const std::span<T> elements = tensor.data<T>();
    for (size_t i = 0; i < elements.size(); ++i) {
      if constexpr (std::is_same_v<T, Half>)
        elements[i] = toHalf(real(i));
      else if constexpr (std::is_floating_point_v<T>)
        elements[i] = static_cast<T>(real(i));
      else
        elements[i] = static_cast<T>(integer(i) % (tensor.desc.dtype == DType::Bool ? 2 : 100));
    }
  });
}

/// Elements as doubles; 64-bit integers beyond 2^53 lose digits, which a summary may.
std::vector<double> widened(const Tensor& tensor) {
  if (isObject(tensor.desc.dtype)) return {};
  OracleTensor values = OracleTensor::fromTensor(tensor);
  return values.isReal() ? std::move(values.real) : std::vector<double>(values.integer.begin(), values.integer.end());
}

bool accepts(double got, double expected, double rtol, double atol) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected)) return got == expected;  // its tolerance would be infinite
  return got == expected || std::fabs(got - expected) <= atol + rtol * std::fabs(expected);
}

}  // namespace

void fillRandom(const Tensor& tensor, uint64_t seed) {
  const auto bits = [seed](size_t i) { return mix(seed * 0x100000001B3u + i + 1); };
  fill(
      tensor, [&](size_t i) { return static_cast<double>(bits(i) >> 11) * 0x1p-52 - 1.0; },
      [&](size_t i) { return bits(i) % 10; });
}

void fillRamp(const Tensor& tensor) {
  const double step = 1.0 / static_cast<double>(std::max<int64_t>(tensor.desc.elements(), 1));
  fill(
      tensor, [&](size_t i) { return static_cast<double>(i) * step; }, [](size_t i) { return i; });
}

TensorSummary summarize(const Tensor& tensor) {
  TensorSummary summary;
  double sum = 0;
  int64_t count = 0;
  for (double value : widened(tensor)) {
    if (std::isnan(value)) {
      ++summary.nans;
      continue;
    }
    summary.minimum = count == 0 ? value : std::min(summary.minimum, value);
    summary.maximum = count == 0 ? value : std::max(summary.maximum, value);
    sum += value;
    ++count;
  }
  summary.mean = count == 0 ? 0 : sum / static_cast<double>(count);
  return summary;
}

namespace {

/// Sequences and the like, tensor by tensor; strings must be equal.
Comparison compareObjects(const Tensor& got, const Tensor& expected, double rtol, double atol) {
  if (describe(got) != describe(expected))
    return {false, fmt::format("expected {}, got {}", describe(expected), describe(got))};
  if (got.desc.dtype == DType::String) {
    const std::vector<std::string>&a = stringsOf(got), &b = stringsOf(expected);
    const auto differ = std::ranges::mismatch(a, b);
    if (differ.in1 == a.end()) return {true, fmt::format("{} equal strings", a.size())};
    return {false, fmt::format("string {}: expected '{}', got '{}'", differ.in1 - a.begin(), *differ.in2, *differ.in1)};
  }
  for (size_t i = 0; i < valuesOf(got).size(); ++i) {
    Comparison one = compareTensors(valuesOf(got)[i], valuesOf(expected)[i], rtol, atol);
    if (!one.passed) return {false, fmt::format("[{}]: {}", i, one.message)};
  }
  return {true, fmt::format("equal: {}", describe(got))};
}

}  // namespace

Comparison compareTensors(const Tensor& got, const Tensor& expected, double rtol, double atol) {
  if (isObject(got.desc.dtype) || isObject(expected.desc.dtype)) return compareObjects(got, expected, rtol, atol);
  if (got.desc != expected.desc)
    return {false, fmt::format("expected {}, got {}", expected.desc.toString(), got.desc.toString())};
  const std::vector<double> a = widened(got), b = widened(expected);
  size_t wrong = 0, worst = 0;
  double largest = -1;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = a[i] == b[i] ? 0 : std::fabs(a[i] - b[i]);
    const bool bad = !accepts(a[i], b[i], rtol, atol);
    wrong += bad;
    const double rank = bad && std::isnan(difference) ? INFINITY : difference;
    if (rank > largest) {
      largest = rank;
      worst = i;
    }
  }
  if (a.empty()) return {true, "no elements"};
  return {wrong == 0, fmt::format("{} of {} elements outside rtol {} atol {}; worst at {}: expected {}, got {}", wrong,
                                  a.size(), rtol, atol, worst, b[worst], a[worst])};
}

}  // namespace opkit
