#include "harness/guest/testing/planted_provider_kernel.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>

namespace opkit::harness::planted_provider {
namespace {

constexpr std::array<std::pair<std::string_view, Fault>, 13> kFaults = {{
    {"maximum", Fault::Maximum},
    {"tail", Fault::Tail},
    {"crash", Fault::Crash},
    {"hang", Fault::Hang},
    {"refuse", Fault::Refuse},
    {"remember", Fault::Remember},
    {"unstable", Fault::Unstable},
    {"leak", Fault::Leak},
    {"writes-input", Fault::WritesInput},
    {"beyond", Fault::Beyond},
    {"prints", Fault::Prints},
    {"abort-at-load", Fault::AbortAtLoad},
    {"refuse-at-load", Fault::RefuseAtLoad},
}};

constexpr size_t kLeakBytes = 64 * 1024;
constexpr size_t kPrintedBytes = 256 * 1024;  // a pipe holds 64 KiB
constexpr int64_t kTile = 8;

int64_t elementsOf(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

/// `<`, so that NaN stays.
std::vector<float> relu(const FloatTensor& x) {
  std::vector<float> y(x.data, x.data + x.elements());
  for (float& value : y) value = value < 0 ? 0 : value;
  return y;
}

/// The position in a tensor that broadcasts to `shape` of that shape's element number `element`.
int64_t positionIn(const std::vector<int64_t>& own, const std::vector<int64_t>& shape, int64_t element) {
  int64_t position = 0, stride = 1;
  for (size_t i = 0; i < own.size(); ++i) {
    const int64_t extent = own[own.size() - 1 - i];
    const int64_t full = shape[shape.size() - 1 - i];
    if (extent != 1) position += element % full * stride;
    element /= full;
    stride *= extent;
  }
  return position;
}

std::vector<float> add(const FloatTensor& a, const FloatTensor& b, const std::vector<int64_t>& shape) {
  std::vector<float> y(static_cast<size_t>(elementsOf(shape)));
  for (size_t i = 0; i < y.size(); ++i) {
    const auto element = static_cast<int64_t>(i);
    y[i] = a.data[positionIn(a.shape, shape, element)] + b.data[positionIn(b.shape, shape, element)];
  }
  return y;
}

/// One row, whose elements are `stride` apart.
void softmaxRow(const float* x, float* y, int64_t length, int64_t stride, bool subtractMaximum) {
  float maximum = subtractMaximum ? -std::numeric_limits<float>::infinity() : 0;
  for (int64_t i = 0; subtractMaximum && i < length; ++i) maximum = std::max(maximum, x[i * stride]);
  double sum = 0;
  for (int64_t i = 0; i < length; ++i) {
    y[i * stride] = std::exp(x[i * stride] - maximum);
    sum += y[i * stride];
  }
  for (int64_t i = 0; i < length; ++i) y[i * stride] = static_cast<float>(y[i * stride] / sum);
}

std::vector<float> softmax(const FloatTensor& x, int64_t axis, bool subtractMaximum) {
  std::vector<float> y(static_cast<size_t>(x.elements()));
  if (x.shape.empty()) return {x.data[0] - x.data[0] + 1};
  const size_t at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(x.shape.size()) : axis);
  const int64_t length = x.shape[at];
  int64_t inner = 1;
  for (size_t i = at + 1; i < x.shape.size(); ++i) inner *= x.shape[i];
  if (y.empty()) return y;
  for (int64_t row = 0; row < x.elements() / length; ++row) {
    const int64_t start = row / inner * inner * length + row % inner;
    softmaxRow(x.data + start, y.data() + start, length, inner, subtractMaximum);
  }
  return y;
}

/// Writes to address 0, which no compiler may foresee.
void crash() {
  int* volatile nowhere = nullptr;
  *static_cast<volatile int*>(nowhere) = 1;
}

void hang() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

/// Reachable, so that a leak checker of the build does not report it; touched, so that it is in memory.
void leak() {
  static std::vector<std::unique_ptr<char[]>> kept;
  kept.push_back(std::make_unique<char[]>(kLeakBytes));
  std::memset(kept.back().get(), 1, kLeakBytes);
}

void printMuch() {
  const std::string line = "the planted provider prints\n";
  for (std::FILE* stream : {stdout, stderr}) {
    for (size_t i = 0; i < kPrintedBytes / line.size(); ++i) std::fwrite(line.data(), 1, line.size(), stream);
    std::fflush(stream);
  }
}

void changeLastBit(float& value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  bits ^= 1;
  std::memcpy(&value, &bits, sizeof(bits));
}

}  // namespace

std::optional<Fault> faultOf(std::string_view name) {
  const auto found = std::ranges::find(kFaults, name, &std::pair<std::string_view, Fault>::first);
  return found == kFaults.end() ? std::nullopt : std::optional(found->second);
}

std::string faultNames() {
  std::string names;
  for (const auto& [name, fault] : kFaults) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

int64_t FloatTensor::elements() const { return elementsOf(shape); }

std::vector<int64_t> Kernel::outputShape(const std::vector<FloatTensor>& inputs) const {
  std::vector<int64_t> shape;
  for (const FloatTensor& input : inputs) {
    if (input.shape.size() > shape.size()) shape.insert(shape.begin(), input.shape.size() - shape.size(), 1);
    for (size_t i = 0; i < input.shape.size(); ++i) {
      int64_t& extent = shape[shape.size() - 1 - i];
      if (extent == 1) extent = input.shape[input.shape.size() - 1 - i];
    }
  }
  return shape;
}

std::vector<float> Kernel::compute(const std::vector<FloatTensor>& inputs) const {
  if (op_ == "Relu") return relu(inputs[0]);
  if (op_ == "Add") return add(inputs[0], inputs[1], outputShape(inputs));
  return softmax(inputs[0], axis_, fault_ != Fault::Maximum);
}

/// Copies of the inputs that have the extents of the first run: cut, or filled with zeros.
std::vector<float> Kernel::computeAsFirst(const std::vector<FloatTensor>& inputs) {
  if (runs_ == 1)
    for (const FloatTensor& input : inputs) firstShapes_.push_back(input.shape);
  std::vector<std::vector<float>> copies;
  std::vector<FloatTensor> stale;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<float>& copy = copies.emplace_back(inputs[i].data, inputs[i].data + inputs[i].elements());
    copy.resize(static_cast<size_t>(elementsOf(firstShapes_[i])));
    stale.push_back({copy.data(), firstShapes_[i]});
  }
  return compute(stale);
}

void Kernel::store(const std::vector<float>& values, const FloatTensor& output) const {
  const int64_t count = std::min(output.elements(), static_cast<int64_t>(values.size()));
  if (fault_ != Fault::Tail) {
    std::copy_n(values.begin(), count, output.data);
    return;
  }
  const int64_t length = output.shape.empty() ? 1 : output.shape.back();
  for (int64_t start = 0; start < count; start += length)
    std::copy_n(values.begin() + start, length / kTile * kTile, output.data + start);
}

void Kernel::misbehaveBefore(const FloatTensor& output) const {
  if (fault_ == Fault::Crash && output.shape.size() == 3) crash();
  if (fault_ == Fault::Hang && output.shape.size() == 3) hang();
  if (fault_ == Fault::Leak) leak();
  if (fault_ == Fault::Prints) printMuch();
}

void Kernel::misbehaveAfter(const std::vector<FloatTensor>& inputs, const FloatTensor& output) const {
  if (output.elements() == 0) return;
  if (fault_ == Fault::Unstable && runs_ % 3 == 0) changeLastBit(output.data[0]);
  if (fault_ == Fault::WritesInput && inputs[0].elements() > 0) changeLastBit(inputs[0].data[0]);
  if (fault_ == Fault::Beyond) output.data[output.elements()] = 1;
}

void Kernel::run(const std::vector<FloatTensor>& inputs, const FloatTensor& output) {
  ++runs_;
  misbehaveBefore(output);
  store(fault_ == Fault::Remember ? computeAsFirst(inputs) : compute(inputs), output);
  misbehaveAfter(inputs, output);
}

}  // namespace opkit::harness::planted_provider
