#include "harness/compare/dependence.h"

#include <cmath>

#include "engine/base/clock.h"
#include "harness/cases/rng.h"
#include "harness/compare/alterations.h"
#include "harness/compare/expected.h"
#include "harness/compare/tolerance.h"

namespace opkit::harness {
namespace {

constexpr double kSearchSeconds = 3;
constexpr int64_t kMostElements = 1 << 16;  // of an output or input
constexpr size_t kMostNamed = 4, kMostInputs = 2;
constexpr size_t kLongText = 200;  // no second element is named behind it
/// A change that one side follows and the other does not must be so many times the rounding.
constexpr double kClear = 4, kClearOfIntegers = 2;
constexpr double kSumOfRoundings = 32;
constexpr double kResidue = 1e-4;  // of a change: what a rounding leaves of nothing

using Indices = std::vector<int64_t>;

/// Each element replaced by another one that a user could pass: by one of the same tensor, if that differs clearly.
void replaceAll(OracleTensor& tensor, uint64_t seed) {
  if (tensor.isReal()) {
    const std::vector<double> old = tensor.real;
    double low = INFINITY, high = -INFINITY;
    for (const double v : old)
      if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
    const double range = high > low ? high - low : 0;
    for (size_t i = 0; i < old.size(); ++i) {
      const double other = old[(seed + i * 2654435761u) % old.size()];
      const bool differs = std::fabs(other - old[i]) > 0.1 * range && range > 0;
      tensor.real[i] = differs ? other : old[i] + (range > 0 ? range / 2 : std::max(1.0, std::fabs(old[i])) / 2);
    }
    return;
  }
  const std::vector<int64_t> old = tensor.integer;
  const bool isBool = tensor.desc.dtype == DType::Bool;
  for (size_t i = 0; i < old.size(); ++i) {
    const int64_t other = old[(seed + i * 2654435761u) % old.size()];
    tensor.integer[i] = isBool ? 1 - old[i] : other != old[i] ? other : old[i] > 0 ? old[i] - 1 : old[i] + 1;
  }
}

/// How far an element moves.
struct Response {
  double kernel = 0, oracle = 0;
};

/// Elements of one input that only one of them follows.
struct Difference {
  size_t input = 0;
  Indices missing, foreign;  // the oracle alone follows; the kernel alone
  size_t unequal = 0;        // elements that both follow, by other amounts
};

class Experiment {
 public:
  Experiment(const Evidence& evidence, size_t element, double deadlineNs)
      : e_(evidence), element_(element), deadlineNs_(deadlineNs) {
    params_ = paramsFromJson(e_.def.params, e_.description.params).value();
    const OracleTensor got = OracleTensor::fromTensor(e_.got);
    before_ = {valueAt(got, element_), valueAt(e_.expected[e_.output], element_)};
    double largest = 0;
    for (size_t i = 0; i < wholeSize(); ++i) {
      const double v = std::fabs(valueAt(e_.expected[e_.output], i));
      if (std::isfinite(v)) largest = std::max(largest, v);
    }
    scale_ = std::max({std::fabs(before_.kernel), std::fabs(before_.oracle), largest / 100});
  }

  std::optional<std::string> find() {
    if (!std::isfinite(before_.kernel) || !std::isfinite(before_.oracle)) return std::nullopt;
    if (isConstant())
      return "element " + at(e_.got.desc.shape, element_) +
             " follows no input: it is a constant, or it was not computed";
    for (const size_t input : bySize()) search(input);
    std::string text;
    for (size_t i = 0; i < differences_.size() && i < kMostInputs; ++i)
      text += (i == 0 ? "" : " and ") + textOf(differences_[i]);
    if (differences_.size() > kMostInputs) text += ", and so other inputs";
    if (text.empty() && !unequal_.empty() && !equal_.empty() && !isLate())
      text = fmt::format("follows {} by another amount than it should, but {} as it should", namesOf(unequal_),
                         namesOf(equal_));
    if (text.empty()) return std::nullopt;
    return "element " + at(e_.got.desc.shape, element_) + " " + text;
  }

 private:
  size_t wholeSize() const { return static_cast<size_t>(e_.got.desc.elements()); }
  bool isLate() const { return nowNs() > deadlineNs_; }

  static std::string at(const Shape& shape, size_t index) { return coordinates(shape, static_cast<int64_t>(index)); }

  /// Small inputs first: vectors of parameters say most.
  std::vector<size_t> bySize() const {
    std::vector<size_t> order;
    for (size_t i = 0; i < e_.inputs.size(); ++i)
      if (e_.inputs[i] && e_.inputs[i]->desc.elements() > 0) order.push_back(i);
    std::ranges::stable_sort(order, {}, [this](size_t i) { return e_.inputs[i]->desc.elements(); });
    return order;
  }

  /// True if the element of the kernel keeps its value on several other inputs, and the oracle's does not.
  bool isConstant() {
    bool oracleFollows = false;
    for (const size_t input : bySize())
      for (uint64_t seed = 2; seed < 6; ++seed) {
        replaced_ = OracleTensor::fromTensor(*e_.inputs[input]);
        replaceAll(replaced_, seed);
        const auto moved = respond(input, 0, replaced_.elements());
        if (!moved) continue;
        if (moved->kernel != 0 || isLate()) return false;
        oracleFollows = oracleFollows || isClear(std::fabs(moved->oracle));
      }
    return oracleFollows;
  }

  void search(size_t input) {
    replaced_ = OracleTensor::fromTensor(*e_.inputs[input]);
    replaceAll(replaced_, 1);
    Difference found{.input = input};
    isFollowed_ = false;
    split(found, 0, e_.inputs[input]->desc.elements());
    if (found.unequal > 0)
      unequal_.push_back(input);
    else if (isFollowed_)
      equal_.push_back(input);
    if (!found.missing.empty() || !found.foreign.empty()) differences_.push_back(std::move(found));
  }

  std::string nameOf(size_t input) const {
    const Port* port = portOf(e_.def.inputs, input);
    return fmt::format("input {}{}", input, port ? " '" + port->name + "'" : "");
  }

  std::string namesOf(const std::vector<size_t>& inputs) const {
    std::string text;
    for (const size_t input : inputs) text += (text.empty() ? "" : " and ") + nameOf(input);
    return text;
  }

  /// Descends to the elements of [first, last) to which kernel and oracle respond otherwise. The oracle does not
  /// follow what leaves its bits, the kernel what leaves them but for a rounding.
  void split(Difference& found, int64_t first, int64_t last) {
    if (isLate()) return;
    const std::optional<Response> moved = respond(found.input, first, last);
    if (!moved || !std::isfinite(moved->kernel) || !std::isfinite(moved->oracle)) return;
    const double a = std::fabs(moved->kernel), b = std::fabs(moved->oracle);
    isFollowed_ = isFollowed_ || isClear(b);
    if (agree(*moved)) return;
    if (last - first > 1) {
      const int64_t middle = first + (last - first) / 2;
      split(found, first, middle);
      split(found, middle, last);
    } else if (a <= kResidue * b && isClear(b)) {
      found.missing.push_back(first);
    } else if (b == 0 && isClear(a)) {
      found.foreign.push_back(first);
    } else if (a > 0 && b > 0) {
      ++found.unequal;
    }
  }

  /// The most by which rounding moves the output. Integers of few bits are quantised.
  double rounding() const {
    const DType dtype = e_.got.desc.dtype;
    if (!isFloat(dtype)) return bitsOf(dtype) == 8 || bitsOf(dtype) == 16 ? 1 : 0.5;
    return 2 * ulpOf(dtype, scale_);
  }

  /// True if both moved alike, but for approximations of the kernel.
  bool agree(const Response& moved) const {
    const double apart = std::fabs(moved.kernel - moved.oracle);
    if (!isFloat(e_.got.desc.dtype)) return apart <= rounding();
    const double relative = bitsOf(e_.got.desc.dtype) >= 32 ? 1e-3 : 2e-2;
    const double size = std::max(std::fabs(moved.kernel), std::fabs(moved.oracle));
    return apart <= kSumOfRoundings * rounding() + relative * size;
  }

  /// True if an element moved beyond doubt.
  bool isClear(double moved) const {
    return moved >= (isFloat(e_.got.desc.dtype) ? kClear : kClearOfIntegers) * rounding();
  }

  /// nullopt if the oracle refuses the changed input, or the kernel does.
  std::optional<Response> respond(size_t input, int64_t first, int64_t last) const {
    auto copy = copyOf(*e_.inputs[input]);
    if (!copy) return std::nullopt;
    OracleTensor values = OracleTensor::fromTensor(*copy);
    for (int64_t i = first; i < last; ++i)
      copyElement(replaced_, static_cast<size_t>(i), values, static_cast<size_t>(i));
    values.toTensor(*copy);
    HostInputs inputs = e_.inputs;
    inputs[input] = *std::move(copy);
    const auto oracle = expectedOutputs(e_.def, params_, inputs, e_.expected.size(), kMostElements);
    if (!oracle || (*oracle)[e_.output].desc != e_.got.desc) return std::nullopt;
    const auto kernel = e_.rerun(inputs);
    if (!kernel || kernel->size() <= e_.output || (*kernel)[e_.output].desc != e_.got.desc) return std::nullopt;
    const double k = valueAt(OracleTensor::fromTensor((*kernel)[e_.output]), element_);
    const double o = valueAt((*oracle)[e_.output], element_);
    return Response{k - before_.kernel, o - before_.oracle};
  }

  /// "takes input 1 'scale' [2] in place of [5]".
  std::string textOf(const Difference& one) const {
    const std::string name = nameOf(one.input);
    const Shape& shape = e_.inputs[one.input]->desc.shape;
    if (one.missing.empty()) return fmt::format("follows {} {}, as it should not", name, listOf(shape, one.foreign));
    if (one.foreign.empty())
      return fmt::format("does not follow {} {}, as it should", name, listOf(shape, one.missing));
    return fmt::format("takes {} {} in place of {}", name, listOf(shape, one.foreign), listOf(shape, one.missing));
  }

  static std::string listOf(const Shape& shape, const Indices& elements) {
    if (elements.size() > kMostNamed)
      return fmt::format("{} to {} ({} elements)", coordinates(shape, elements.front()),
                         coordinates(shape, elements.back()), elements.size());
    std::string text;
    for (const int64_t i : elements) text += (text.empty() ? "" : ", ") + coordinates(shape, i);
    return text;
  }

  const Evidence& e_;
  const size_t element_;
  const double deadlineNs_;
  ParamBytes params_;
  Response before_;  // values, not moves
  double scale_ = 0;
  OracleTensor replaced_;    // the input that is searched, with other elements
  bool isFollowed_ = false;  // by either, that input
  std::vector<Difference> differences_;
  std::vector<size_t> unequal_, equal_;  // inputs that both follow, by other amounts or alike
};

}  // namespace

std::optional<std::string> explainByDependence(const Evidence& evidence, const std::vector<bool>& wrong) {
  if (!evidence.rerun || !evidence.def.oracle || evidence.got.desc.elements() > kMostElements) return std::nullopt;
  for (const auto& input : evidence.inputs)
    if (input && input->desc.elements() > kMostElements) return std::nullopt;
  const double begin = nowNs();
  const auto first = static_cast<size_t>(std::ranges::find(wrong, true) - wrong.begin());
  const auto last =
      wrong.size() - 1 - static_cast<size_t>(std::find(wrong.rbegin(), wrong.rend(), true) - wrong.rbegin());
  auto text = Experiment(evidence, first, begin + kSearchSeconds / 2 * 1e9).find();
  if (first == last || (text && text->size() > kLongText)) return text;
  const auto further = Experiment(evidence, last, begin + kSearchSeconds * 1e9).find();
  if (!text || !further) return text ? text : further;
  return *text + "; " + *further;
}

}  // namespace opkit::harness
