#include "harness/compare/diagnose.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/compare/diagnose_place.h"
#include "harness/compare/expected.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;
using Values = std::vector<double>;

constexpr int64_t kOracleElements = 1 << 16;  // larger cases are not computed again

Values valuesOf(const OracleTensor& tensor) {
  return tensor.isReal() ? tensor.real : Values(tensor.integer.begin(), tensor.integer.end());
}

/// True if every bit of the element is one, the poison of unwritten memory.
bool isPoison(const Tensor& tensor, size_t i) {
  if (isPacked(tensor.desc.dtype)) return false;  // a code of ones may be a result
  const size_t size = sizeOf(tensor.desc.dtype);
  const auto bytes = tensor.bytes().subspan(i * size, size);
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0xFF}; });
}

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
    for (const auto step : {&Doctor::race, &Doctor::unwritten, &Doctor::stale, &Doctor::specials, &Doctor::transposed,
                            &Doctor::clamped, &Doctor::scaled, &Doctor::shifted, &Doctor::repeated, &Doctor::parameters,
                            &Doctor::inputs, &Doctor::tiles, &Doctor::place, &Doctor::precision})
      if (auto found = (this->*step)()) return *found;
    return {"unknown", "no simple explanation fits"};
  }

 private:
  using Found = std::optional<Diagnosis>;

  const OracleTensor& expected() const { return e_.expected[e_.output]; }

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

  /// Poison that was narrowed or converted is another pattern, but not the same over other poison.
  std::vector<bool> poisonedElements() const {
    if (e_.overOther && e_.overOther->desc == e_.got.desc) return differingElements(e_.got, *e_.overOther, true);
    std::vector<bool> poisoned(wrong_.size());
    for (size_t i = 0; i < wrong_.size(); ++i) poisoned[i] = isPoison(e_.got, i);
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
    return Diagnosis{"unwritten", fmt::format("all wrong elements were never written{}",
                                              where ? ": " + where->text : std::string())};
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
    for (size_t i = 0; i < wrong_.size(); ++i)
      if (wrong_[i] && (!std::isnan(got_[i]) || !std::isfinite(want_[i]))) return {};
    return Diagnosis{"nan", "the wrong elements are NaN: 0/0, Inf-Inf or a function outside its domain"};
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
    if (!varied && failures_ > 1) return {};  // one value only: nothing can be concluded
    if (failures_ < 2) return {};
    const char* which = failures_ == static_cast<int64_t>(wrong_.size()) ? "the output is" : "the wrong elements are";
    if (scales && std::fabs(factor + 1) < 1e-3) return Diagnosis{"sign", fmt::format("{} the negated values", which)};
    if (scales && factor == 0) return Diagnosis{"zeros", fmt::format("{} zero", which)};
    if (scales && std::fabs(factor - 1) > 1e-3)
      return Diagnosis{"scaled", fmt::format("{} the right values multiplied by {:.6g}", which, factor)};
    if (offsets) return Diagnosis{"offset", fmt::format("{} the right values plus {:.6g}", which, offset)};
    return {};
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
    for (int64_t i = 0; i < static_cast<int64_t>(got_.size()); ++i) {
      const int64_t source = i / stride % shape_[axis] - step;
      if (source < 0 || source >= shape_[axis]) continue;
      if (!near(want_[static_cast<size_t>(i - step * stride)], got_[static_cast<size_t>(i)])) return false;
      checked += wrong_[static_cast<size_t>(i)];
    }
    return checked > 0;
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

  bool small() const {
    int64_t elements = 0;
    for (const auto& input : e_.inputs) elements += input ? input->desc.elements() : 0;
    return elements <= kOracleElements && static_cast<int64_t>(want_.size()) <= kOracleElements && e_.def.oracle;
  }

  /// The oracle's output for altered inputs or parameters; nullopt if it refuses. An altered extent may make it large.
  std::optional<Values> again(const HostInputs& inputs, const std::string& paramsJson) const {
    const auto params = paramsFromJson(e_.def.params, paramsJson);
    if (!params) return std::nullopt;
    const auto outputs = expectedOutputs(e_.def, *params, inputs, e_.expected.size(), kOracleElements);
    if (!outputs || (*outputs)[e_.output].desc != expected().desc) return std::nullopt;
    return valuesOf((*outputs)[e_.output]);
  }

  bool explainedBy(const HostInputs& inputs, const std::string& params) const {
    const auto candidate = again(inputs, params);
    return candidate && explains(*candidate);
  }

  /// Each parameter at its default, and the axis moved by one.
  Found parameters() {
    if (!small()) return {};
    const Json params = Json::parse(e_.description.params, nullptr, false);
    if (!params.is_object()) return {};
    for (const auto& [key, value] : params.items()) {
      Json without = params;
      without.erase(key);
      if (explainedBy(e_.inputs, without.dump()))
        return Diagnosis{"parameter",
                         fmt::format("parameter \"{}\" is ignored: the output is that of its default", key)};
      if (!value.is_number_integer()) continue;
      for (const int step : {-1, 1}) {
        Json moved = params;
        moved[key] = value.get<int64_t>() + step;
        if (explainedBy(e_.inputs, moved.dump()))
          return Diagnosis{"parameter", fmt::format("the output is that of \"{}\" = {} instead of {}", key,
                                                    moved[key].dump(), value.dump())};
      }
    }
    return {};
  }

  /// An input left out, two swapped, or one read as if it had a single element.
  Found inputs() {
    if (!small()) return {};
    for (size_t i = e_.inputs.size(); i-- > 0;) {
      if (!e_.inputs[i] || !isFloat(e_.inputs[i]->desc.dtype)) continue;
      const Port* port = portOf(e_.def.inputs, i);
      const std::string name = port ? port->name : std::to_string(i);
      if (auto zeroed = altered(i, [](OracleTensor& t) { std::fill(t.real.begin(), t.real.end(), 0.0); });
          zeroed && explainedBy(*zeroed, e_.description.params))
        return Diagnosis{"input",
                         fmt::format("input {} '{}' is left out: the output is right with zeros for it", i, name)};
      if (auto first = altered(
              i, [](OracleTensor& t) { std::fill(t.real.begin(), t.real.end(), t.real.empty() ? 0.0 : t.real[0]); });
          first && explainedBy(*first, e_.description.params))
        return Diagnosis{"broadcast", fmt::format("only the first element of input {} '{}' is read", i, name)};
    }
    for (size_t i = 0; i + 1 < e_.inputs.size(); ++i) {
      HostInputs swapped = e_.inputs;
      std::swap(swapped[i], swapped[i + 1]);
      if (swapped[i] && swapped[i + 1] && explainedBy(swapped, e_.description.params))
        return Diagnosis{"swapped", fmt::format("inputs {} and {} are swapped", i, i + 1)};
    }
    return {};
  }

  /// Copies of the inputs with one changed; nullopt if out of memory.
  template <class Change>
  std::optional<HostInputs> altered(size_t index, Change&& change) const {
    auto copy = copyOf(*e_.inputs[index]);
    if (!copy) return std::nullopt;
    OracleTensor values = OracleTensor::fromTensor(*copy);
    change(values);
    values.toTensor(*copy);
    HostInputs inputs = e_.inputs;
    inputs[index] = *std::move(copy);
    return inputs;
  }

  /// The end of a summed axis missing: the last tile of a reduction.
  Found tiles() {
    if (!small() || e_.inputs.empty() || !e_.inputs[0]) return {};
    const TensorDesc& desc = e_.inputs[0]->desc;
    if (!isFloat(desc.dtype)) return {};
    for (size_t d = desc.shape.size(); d-- > 0;)
      for (const int64_t count : lastTiles(desc.shape[d]))
        if (auto cut = altered(0, [&](OracleTensor& t) { zeroTail(t, d, count); });
            cut && explainedBy(*cut, e_.description.params))
          return Diagnosis{
              "tile",
              fmt::format("the last {} of axis {} of input 0 are not accumulated (a tile is missing)", count, d)};
    return {};
  }

  static std::vector<int64_t> lastTiles(int64_t extent) {
    std::vector<int64_t> counts;
    for (const int64_t width : {1, 2, 4, 8, 16, 32, 64})
      for (const int64_t count : {width, extent % width})
        if (count > 0 && count < extent) counts.push_back(count);
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
  }

  static void zeroTail(OracleTensor& tensor, size_t axis, int64_t count) {
    size_t i = 0;
    forEachIndex(tensor.desc.shape, [&](const DimVector& at) {
      if (at[axis] >= tensor.desc.shape[axis] - count) tensor.real[i] = 0;
      ++i;
    });
  }

  Found place() { return diagnosePlace(shape_, wrong_); }

  Found precision() {
    double worst = 0;
    bool half = isFloat(e_.got.desc.dtype) && e_.got.desc.dtype != DType::Float16;
    for (size_t i = 0; i < got_.size(); ++i) {
      worst = std::max(worst, std::fabs(got_[i] - want_[i]) / std::max({std::fabs(want_[i]), scale(), 1e-30}));
      half = half && roundTo(DType::Float16, got_[i]) == got_[i];
    }
    if (!(worst < 0.02)) return {};
    if (half) return Diagnosis{"half", "every result is an fp16 number: it was rounded to fp16 on the way"};
    return Diagnosis{"precision",
                     fmt::format("errors are small everywhere, at most {:.2g} of the value: lost precision (the "
                                 "accumulator's type, an approximate built-in, the order of a long sum)",
                                 worst)};
  }

  const Evidence& e_;
  Shape shape_;
  std::vector<bool> wrong_;
  Values got_, want_;
  int64_t failures_ = 0;
  mutable double scale_ = -1;
};

}  // namespace

Diagnosis diagnose(const Evidence& evidence) { return Doctor(evidence).diagnose(); }

}  // namespace opkit::harness
