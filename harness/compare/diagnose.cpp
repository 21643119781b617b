#include "harness/compare/diagnose.h"

#include <cmath>
#include <set>

#include "harness/compare/dependence.h"
#include "harness/compare/diagnose_place.h"
#include "harness/compare/diagnose_rows.h"
#include "harness/compare/hypotheses.h"

namespace opkit::harness {
namespace {

using Values = std::vector<double>;

Values valuesOf(const OracleTensor& tensor) {
  return tensor.isReal() ? tensor.real : Values(tensor.integer.begin(), tensor.integer.end());
}

/// True if every byte of the element is the poison of unwritten memory, or all are the same other byte.
bool isPoisoned(const Tensor& tensor, size_t i, bool anyByte = false) {
  if (isPacked(tensor.desc.dtype)) return false;  // a code of ones may be a result
  const size_t size = sizeOf(tensor.desc.dtype);
  const auto bytes = tensor.bytes().subspan(i * size, size);
  const std::byte poison = anyByte ? bytes.front() : std::byte{0xFF};
  return std::ranges::all_of(bytes, [poison](std::byte b) { return b == poison; });
}

bool areFinite(const HostInputs& inputs) {
  for (const auto& input : inputs)
    if (input && isFloat(input->desc.dtype))
      for (const double v : OracleTensor::fromTensor(*input).real)
        if (!std::isfinite(v)) return false;
  return true;
}

constexpr size_t kFewValues = 3;
constexpr int64_t kFewFailures = 3;

class Doctor {
 public:
  explicit Doctor(const Evidence& evidence) : e_(evidence), shape_(evidence.got.desc.shape) {
    compareTensor(expected(), e_.got, e_.tolerance, &wrong_);
    got_ = valuesOf(OracleTensor::fromTensor(e_.got));
    want_ = valuesOf(expected());
    for (const bool w : wrong_) failures_ += w;
  }

  Diagnosis diagnose() {
    if (got_.size() != want_.size() || failures_ == 0) return {"unknown", "no element is wrong by itself"};
    for (const auto step :
         {&Doctor::race,      &Doctor::accumulated,   &Doctor::unwritten,     &Doctor::stale,    &Doctor::specials,
          &Doctor::clamped,   &Doctor::saturated,     &Doctor::wholeImitated, &Doctor::scaled,   &Doctor::rounded,
          &Doctor::imitated,  &Doctor::transposed,    &Doctor::shifted,       &Doctor::repeated, &Doctor::neighbours,
          &Doctor::reordered, &Doctor::otherElements, &Doctor::place,         &Doctor::rows,     &Doctor::signs,
          &Doctor::precision})
      if (auto found = (this->*step)()) return completed(*std::move(found));
    return completed({"unknown", fmt::format("no simple explanation fits; {}", extent())});
  }

 private:
  using Found = std::optional<Diagnosis>;

  const OracleTensor& expected() const { return e_.expected[e_.output]; }

  /// With the elements that the wrong ones follow, unless the mistake is proved.
  Diagnosis completed(Diagnosis found) const {
    static const std::set<std::string> kOfMemory = {"race", "accumulated", "unwritten", "stale"};
    if (isImitated_ || e_.quick || kOfMemory.contains(found.kind)) return found;
    const auto follows = explainByDependence(e_, wrong_);
    if (!follows) return found;
    if (found.kind == "unknown") return {"dependence", fmt::format("{}; {}", *follows, extent())};
    return {found.kind, fmt::format("{}; {}", *follows, found.text)};
  }

  /// "3 elements are wrong, from [0,1] to [2,7]".
  std::string extent() const {
    const auto first = std::ranges::find(wrong_, true) - wrong_.begin();
    const auto last =
        static_cast<int64_t>(wrong_.size()) - 1 - (std::find(wrong_.rbegin(), wrong_.rend(), true) - wrong_.rbegin());
    if (failures_ == 1) return fmt::format("only element {} is wrong", coordinates(shape_, first));
    return fmt::format("{} of {} elements are wrong, from {} to {}", failures_, wrong_.size(),
                       coordinates(shape_, first), coordinates(shape_, last));
  }

  bool near(double a, double b) const {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    if (std::isinf(a) || std::isinf(b)) return a == b;
    const double relative = e_.got.desc.dtype == DType::Float16 ? 2e-3 : isFloat(e_.got.desc.dtype) ? 2e-5 : 0;
    return std::fabs(a - b) <= relative * std::max({std::fabs(a), std::fabs(b), scale()});
  }

  /// A hundredth of the largest value: cancellation leaves absolute errors relative to that value.
  double scale() const {
    if (scale_ < 0) {
      scale_ = 0;
      for (const double v : want_) scale_ = std::isfinite(v) ? std::max(scale_, std::fabs(v) / 100) : scale_;
    }
    return scale_;
  }

  /// True if `candidate` explains the whole output, including right elements.
  bool explains(const Values& candidate) const {
    if (candidate.size() != got_.size()) return false;
    bool differs = false;
    for (size_t i = 0; i < got_.size(); ++i) {
      if (!near(candidate[i], got_[i])) return false;
      differs = differs || !near(candidate[i], want_[i]);
    }
    return differs;
  }

  Found race() {
    if (!e_.again || e_.again->desc != e_.got.desc) return {};
    const auto a = e_.got.bytes(), b = e_.again->bytes();
    if (std::equal(a.begin(), a.end(), b.begin())) return {};
    return Diagnosis{"race", "a second run on the same data gave something else: a race, or memory nobody wrote"};
  }

  /// Right over zeros, wrong over other memory.
  Found accumulated() {
    if (!e_.overZero || e_.overZero->desc != e_.got.desc) return {};
    std::vector<bool> stillWrong;
    compareTensor(expected(), *e_.overZero, e_.tolerance, &stillWrong);
    bool zeros = true;
    for (size_t i = 0; i < wrong_.size(); ++i) {
      if (stillWrong[i]) return {};
      zeros = zeros && (!wrong_[i] || want_[i] == 0);
    }
    if (zeros) return {};  // elements that are zero were not written
    return Diagnosis{"accumulated", "right over zeroed memory only: the kernel adds to its output without clearing it"};
  }

  /// Poison that was narrowed or converted is another pattern, but not the same over other poison.
  std::vector<bool> poisonedElements() const {
    if (e_.overOther && e_.overOther->desc == e_.got.desc) return differingElements(e_.got, *e_.overOther, true);
    std::vector<bool> poisoned(wrong_.size());
    for (size_t i = 0; i < wrong_.size(); ++i) poisoned[i] = isPoisoned(e_.got, i);
    return poisoned;
  }

  Found unwritten() {
    const std::vector<bool> isUnwritten = poisonedElements();
    int64_t poisoned = 0;
    for (size_t i = 0; i < wrong_.size(); ++i) poisoned += wrong_[i] && isUnwritten[i];
    const auto dependent = std::ranges::count(isUnwritten, true);
    if (poisoned < failures_ && e_.overOther && dependent > 0)
      return Diagnosis{"unwritten", fmt::format("{} elements depend on memory that was never written", dependent)};
    if (poisoned == 0 || poisoned < failures_) return {};
    const Found where = diagnosePlace(shape_, wrong_);
    return Diagnosis{
        "unwritten",
        fmt::format("all wrong elements {}{}",
                    areComputed() ? "are made of memory that was never written: a read outside of a tensor, "
                                    "or of a part that no dispatch fills"
                                  : "were never written",
                    where ? ": " + where->text : std::string())};
  }

  /// True if some wrong element is not the other poison itself: the kernel wrote what it made of it.
  bool areComputed() const {
    const DType dtype = e_.got.desc.dtype;
    if (!e_.overOther || isPacked(dtype) || sizeOf(dtype) < 2) return false;
    for (size_t i = 0; i < wrong_.size(); ++i)
      if (wrong_[i] && !isPoisoned(*e_.overOther, i, true)) return true;
    return false;
  }

  Found stale() {
    if (!e_.previous) return {};
    const Values old = valuesOf(OracleTensor::fromTensor(*e_.previous));
    int64_t same = 0;
    for (size_t i = 0; i < got_.size(); ++i) same += wrong_[i] && i < old.size() && (near(old[i], got_[i]));
    if (same == failures_)
      return Diagnosis{"stale",
                       fmt::format("the wrong elements are those of the previous shape's output, {}: a stale resize",
                                   e_.previous->desc.toString())};
    return Diagnosis{"stale",
                     "a fresh kernel is right, one that ran other shapes before is not: it keeps something of them"};
  }

  Found specials() {
    bool all = true, infinities = false;
    for (size_t i = 0; i < wrong_.size(); ++i) {
      all = all && (!wrong_[i] || !std::isfinite(want_[i]));
      infinities = infinities || (wrong_[i] && std::isinf(want_[i]));
    }
    if (all)
      return Diagnosis{"specials", fmt::format("only elements that should be {} are wrong: special values are lost",
                                               infinities ? "infinite or NaN" : "NaN")};
    bool nan = true, infinite = true;
    for (size_t i = 0; i < wrong_.size(); ++i) {
      nan = nan && (!wrong_[i] || (std::isnan(got_[i]) && std::isfinite(want_[i])));
      infinite = infinite && (!wrong_[i] || (!std::isfinite(got_[i]) && std::isfinite(want_[i])));
    }
    if ((nan || infinite) && !areFinite(e_.inputs))
      return Diagnosis{"infinite", "the wrong elements are infinite or NaN, as some elements of the inputs are" +
                                       placeText() + ": they take one that they should not, or lose a mask"};
    if (nan)
      return Diagnosis{"nan",
                       "the wrong elements are NaN" + placeText() + ": 0/0, Inf-Inf or a function outside its domain"};
    if (infinite)
      return Diagnosis{"infinite", "the wrong elements are infinite or NaN" + placeText() +
                                       ": an overflow, a division by zero or a logarithm of zero on the way"};
    return {};
  }

  /// The oracle's output with two axes swapped, read with the output's own strides.
  Found transposed() {
    const DimVector strides = contiguousStrides(shape_);
    for (size_t a = 0; a < shape_.size(); ++a)
      for (size_t b = a + 1; b < shape_.size(); ++b) {
        if (shape_[a] < 2 || shape_[b] < 2) continue;
        Shape swapped = shape_;
        std::swap(swapped[a], swapped[b]);
        DimVector from = strides;
        std::swap(from[a], from[b]);
        Values candidate;
        forEachIndex(swapped, [&](const DimVector& at) {
          int64_t source = 0;
          for (size_t d = 0; d < at.size(); ++d) source += at[d] * from[d];
          candidate.push_back(want_[static_cast<size_t>(source)]);
        });
        if (explains(candidate))
          return Diagnosis{"transposed",
                           fmt::format("the output is right with axes {} and {} swapped (H and W, rows and "
                                       "columns)",
                                       a, b)};
      }
    return {};
  }

  Found clamped() {
    Values candidate = want_;
    for (double& v : candidate) v = std::max(v, 0.0);
    if (explains(candidate)) return Diagnosis{"clamped", "negative results became 0: a maximum that starts at 0"};
    return {};
  }

  /// Results at the ends of an integer type's range that are something else.
  Found saturated() {
    if (expected().isReal() || failures_ < 2) return {};
    const auto [low, high] = std::ranges::minmax(want_);
    if (low == high) return {};
    const double range = std::exp2(static_cast<double>(bitsOf(e_.got.desc.dtype)));
    const bool isSigned = low < 0 || high == range / 2 - 1;
    const double least = isSigned ? -range / 2 : 0, most = least + range - 1;
    for (size_t i = 0; i < wrong_.size(); ++i)
      if (wrong_[i] && want_[i] != least && want_[i] != most) return {};
    return Diagnosis{"saturated",
                     fmt::format("only results that should be {:.0f} or {:.0f}, the ends of {}, are wrong: "
                                 "values wrap around or are not clamped",
                                 least, most, nameOf(e_.got.desc.dtype))};
  }

  Found scaled() {
    const size_t first = static_cast<size_t>(std::find(wrong_.begin(), wrong_.end(), true) - wrong_.begin());
    const double factor = got_[first] / want_[first], offset = got_[first] - want_[first];
    bool scales = std::isfinite(factor), offsets = std::isfinite(offset) && failures_ >= 2, varied = false;
    for (size_t i = 0; i < wrong_.size(); ++i) {
      if (!wrong_[i]) continue;
      const bool rounded = near(want_[i], got_[i]);  // too small an error for either
      scales = scales && !rounded && near(want_[i] * factor, got_[i]) && want_[i] != 0;
      offsets = offsets && !rounded && near(want_[i] + offset, got_[i]);
      varied = varied || !near(want_[i], want_[first]);
    }
    if (const Found power = byPowersOfTwo()) return power;
    if (!varied && failures_ > 1) return {};  // one value only: nothing can be concluded
    if (failures_ < 2) return {};
    const char* which = failures_ == static_cast<int64_t>(wrong_.size()) ? "the output is" : "the wrong elements are";
    if (scales && std::fabs(factor + 1) < 1e-3) return Diagnosis{"sign", fmt::format("{} the negated values", which)};
    if (scales && factor == 0) return Diagnosis{"zeros", fmt::format("{} zero", which)};
    if (scales && std::fabs(factor - 1) > 1e-3)
      return Diagnosis{"scaled", fmt::format("{} the right values multiplied by {:.6g}", which, factor)};
    const bool isRounding = !expected().isReal() && std::fabs(offset) == 1;  // see rounded()
    if (offsets && !(isRounding && failures_ < static_cast<int64_t>(wrong_.size())))
      return Diagnosis{"offset", fmt::format("{} the right values plus {:.6g}", which, offset)};
    return {};
  }

  /// Right mantissas, wrong exponents. Few ratios are powers of two by chance, so one element suffices.
  Found byPowersOfTwo() const {
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < wrong_.size(); ++i) {
      if (!wrong_[i]) continue;
      const double exponent = std::log2(got_[i] / want_[i]);
      if (!std::isfinite(exponent) || std::fabs(exponent - std::round(exponent)) > 1e-6) return {};
      least = std::min(least, std::round(exponent));
      most = std::max(most, std::round(exponent));
    }
    const bool isUsual = least == most && std::fabs(least) == 1;  // half or twice: a term, not an exponent
    if (!expected().isReal() || bitsOf(e_.got.desc.dtype) < 32 || least == 0 || most == 0 || isUsual) return {};
    const std::string power =
        least == most ? fmt::format("2^{:.0f}", least) : fmt::format("2^{:.0f} to 2^{:.0f}", least, most);
    return Diagnosis{"scaled", fmt::format("the wrong elements are the right values times a power of two, {}: an "
                                           "exponent or a scale is wrong",
                                           power)};
  }

  /// Moved along an axis by a few steps; elements whose source lies outside may hold anything.
  Found shifted() {
    for (size_t d = shape_.size(); d-- > 0;)
      for (const int64_t step : {1, -1, 2, -2, 4, -4})
        if (shape_[d] > 2 * std::abs(step) && isShifted(d, step))
          return Diagnosis{"shifted", fmt::format("the output is shifted by {} along axis {}", step, d)};
    return {};
  }

  bool isShifted(size_t axis, int64_t step) const {
    const int64_t stride = contiguousStrides(shape_)[axis];
    size_t checked = 0;
    std::set<double> values;  // few values agree by chance
    for (int64_t i = 0; i < static_cast<int64_t>(got_.size()); ++i) {
      const int64_t source = i / stride % shape_[axis] - step;
      if (source < 0 || source >= shape_[axis]) continue;
      if (!near(want_[static_cast<size_t>(i - step * stride)], got_[static_cast<size_t>(i)])) return false;
      const bool moved = !near(got_[static_cast<size_t>(i)], want_[static_cast<size_t>(i)]);
      checked += wrong_[static_cast<size_t>(i)] && moved;
      if (moved && values.size() < kFewValues) values.insert(got_[static_cast<size_t>(i)]);
    }
    return checked > 0 && values.size() == kFewValues;
  }

  /// Every slice along an axis is the first one: that axis is left out of an index.
  Found repeated() {
    for (size_t d = 0; d < shape_.size(); ++d) {
      if (shape_[d] < 2) continue;
      const int64_t stride = contiguousStrides(shape_)[d];
      Values candidate = want_;
      for (int64_t i = 0; i < static_cast<int64_t>(want_.size()); ++i)
        candidate[static_cast<size_t>(i)] = want_[static_cast<size_t>(i - i / stride % shape_[d] * stride)];
      if (explains(candidate))
        return Diagnosis{"repeated", fmt::format("index 0 of axis {} is repeated: the axis is missing in an index", d)};
    }
    return {};
  }

  /// A mistake of the kernel that gives all its values; else imitated() has what gives the wrong ones.
  Found wholeImitated() {
    imitation_ = e_.quick ? Found() : explainByOracle(e_, wrong_);
    isImitated_ = imitation_ && !imitation_->text.ends_with(kOnlyWrong);
    return isImitated_ ? imitation_ : Found();
  }

  Found imitated() { return imitation_; }

  Found rows() {
    return diagnoseRows(shape_, got_, want_, wrong_, [this](double a, double b) { return near(a, b); });
  }

  /// Wrong elements that hold the right value of one a fixed distance away.
  Found neighbours() {
    std::set<double> values;
    for (size_t i = 0; i < wrong_.size() && values.size() < kFewValues; ++i)
      if (wrong_[i]) values.insert(got_[i]);
    if (values.size() < kFewValues || failures_ < 4) return {};
    const DimVector strides = contiguousStrides(shape_);
    for (size_t d = shape_.size(); d-- > 0;)
      for (int64_t step = 1; step < std::min<int64_t>(shape_[d], 65); ++step)
        for (const int64_t distance : {step * strides[d], -step * strides[d]})
          if (holdsElementAt(distance))
            return Diagnosis{"neighbour", fmt::format("each wrong element is the right value of the one {} {} along "
                                                      "axis {}: an index is off{}",
                                                      step, distance < 0 ? "before it" : "behind it", d, placeText())};
    return {};
  }

  bool holdsElementAt(int64_t distance) const {
    for (int64_t i = 0; i < static_cast<int64_t>(got_.size()); ++i) {
      if (!wrong_[static_cast<size_t>(i)]) continue;
      const int64_t source = i + distance;
      if (source < 0 || source >= static_cast<int64_t>(want_.size())) return false;
      if (!near(want_[static_cast<size_t>(source)], got_[static_cast<size_t>(i)])) return false;
    }
    return true;
  }

  std::string placeText() const {
    const Found where = diagnosePlace(shape_, wrong_);
    return where ? " (" + where->text + ")" : "";
  }

  /// Rows of an axis that hold the right values in another order.
  Found reordered() {
    const DimVector strides = contiguousStrides(shape_);
    for (size_t d = shape_.size(); d-- > 0;) {
      const auto extent = static_cast<size_t>(shape_[d]), stride = static_cast<size_t>(strides[d]);
      bool same = extent > 1, moved = false;
      // Only elements that differ: among many dense values a wrong one is near some neighbour of the sorted row.
      for (size_t first = 0; first < got_.size() && same; ++first) {
        if (first / stride % extent != 0) continue;
        Values a, b;
        for (size_t k = 0; k < extent; ++k) {
          const size_t at = first + k * stride;
          if (near(got_[at], want_[at])) continue;
          a.push_back(got_[at]);
          b.push_back(want_[at]);
        }
        moved = moved || !a.empty();
        std::ranges::sort(a);
        std::ranges::sort(b);
        for (size_t k = 0; k < a.size() && same; ++k) same = near(a[k], b[k]);
      }
      if (same && moved)
        return Diagnosis{"order", fmt::format("the right values in another order along axis {}: ties, or a comparison, "
                                              "are decided otherwise",
                                              d)};
    }
    return {};
  }

  /// Right and wrong values are elements of an input: one was chosen, another should have been.
  Found otherElements() {
    if (bitsOf(e_.got.desc.dtype) < 16) return {};  // an input holds most values of the type
    std::set<double> distinct;
    for (size_t i = 0; i < wrong_.size(); ++i)
      if (wrong_[i]) distinct.insert(got_[i]);
    if (distinct.size() < kFewValues) return {};
    std::set<double> elements;
    for (const auto& input : e_.inputs) {
      if (!input || input->desc.dtype != e_.got.desc.dtype) continue;
      const Values values = valuesOf(OracleTensor::fromTensor(*input));
      elements.insert(values.begin(), values.end());
    }
    if (elements.size() <= 2 * kFewValues) return {};
    for (size_t i = 0; i < wrong_.size(); ++i)
      if (wrong_[i] && !(elements.contains(got_[i]) && elements.contains(want_[i]))) return {};
    return Diagnosis{"element",
                     "each wrong element is an element of an input, but another one: an index or a choice "
                     "(ties, the rounding of a place, a comparison) is wrong" +
                         placeText()};
  }

  /// Integers that are one off everywhere.
  Found rounded() {
    if (expected().isReal() || failures_ < kFewFailures) return {};
    bool up = true, down = true;
    for (size_t i = 0; i < wrong_.size(); ++i) {
      if (!wrong_[i]) continue;
      up = up && got_[i] == want_[i] + 1;
      down = down && got_[i] == want_[i] - 1;
      if (std::fabs(got_[i] - want_[i]) != 1) return {};
    }
    return Diagnosis{"rounding", fmt::format("every wrong integer is one {}: rounded another way (ties, truncation in "
                                             "place of rounding, two roundings){}",
                                             up     ? "too large"
                                             : down ? "too small"
                                                    : "off",
                                             placeText())};
  }

  /// Only results of one sign are wrong.
  Found signs() {
    bool below = failures_ >= 4, above = below;
    size_t negative = 0, positive = 0;
    for (size_t i = 0; i < wrong_.size(); ++i) {
      negative += want_[i] < 0;
      positive += want_[i] > 0;
      if (!wrong_[i]) continue;
      below = below && want_[i] < 0;
      above = above && want_[i] > 0;
    }
    const auto most = static_cast<double>(failures_) * 1.25;
    if (below && positive > 4 && static_cast<double>(negative) <= most)
      return Diagnosis{"signs", "only negative results are wrong, nearly all of them"};
    if (above && negative > 4 && static_cast<double>(positive) <= most)
      return Diagnosis{"signs", "only positive results are wrong, nearly all of them"};
    return {};
  }

  Found place() { return diagnosePlace(shape_, wrong_); }

  Found precision() {
    double worst = 0;
    bool half = isFloat(e_.got.desc.dtype) && e_.got.desc.dtype != DType::Float16;
    for (size_t i = 0; i < got_.size(); ++i) {
      worst = std::max(worst, std::fabs(got_[i] - want_[i]) / std::max({std::fabs(want_[i]), scale(), 1e-30}));
      half = half && roundTo(DType::Float16, got_[i]) == got_[i];
    }
    if (!(worst < 0.02) || failures_ < kFewFailures) return {};
    if (half) return Diagnosis{"half", "every result is an fp16 number: it was rounded to fp16 on the way"};
    return Diagnosis{"precision",
                     fmt::format("errors are small everywhere, at most {:.2g} of the value: lost precision (the "
                                 "accumulator's type, an approximate built-in, a long sum), or a term that hardly "
                                 "counts (one element of a window, epsilon)",
                                 worst)};
  }

  const Evidence& e_;
  Shape shape_;
  std::vector<bool> wrong_;
  Values got_, want_;
  int64_t failures_ = 0;
  mutable double scale_ = -1;
  Found imitation_;
  bool isImitated_ = false;  // in every element
};

}  // namespace

Diagnosis diagnose(const Evidence& evidence) { return Doctor(evidence).diagnose(); }

}  // namespace opkit::harness
