// Imitator: parameters that are ignored, taken from another place, or used at another place of the formula.
#include <cmath>

#include "engine/base/json_text.h"
#include "harness/compare/imitator.h"

namespace opkit::harness {

void Imitator::tryParameter(const std::string& key, const Json& value, const std::string& note) {
  if (isDone() || value == params_[key]) return;
  Json changed = params_;
  changed[key] = value;
  offer("parameter",
        fmt::format("the output is that of \"{}\" = {} instead of {}{}", key, value.dump(), params_[key].dump(), note),
        outputOf(e_.inputs, changed.dump()));
}

/// Each parameter at its default.
void Imitator::defaults() {
  const Json given = parseJson(e_.description.params.empty() ? "{}" : e_.description.params);
  if (!given.is_object()) return;
  for (const auto& [key, value] : given.items()) {
    Json without = given;
    without.erase(key);
    offer("parameter", fmt::format("parameter \"{}\" is ignored: the output is that of its default", key),
          outputOf(e_.inputs, without.dump()));
  }
  if (const auto bytes = paramsFromJson(e_.def.params, given.dump()))
    params_ = parseJson(paramsWithDefaults(e_.def.params, *bytes));
}

/// Each parameter at other values, and with the value of another one.
void Imitator::parameters() {
  if (!params_.is_object()) return;
  const Json all = params_;
  for (const auto& [key, value] : all.items()) {
    if (value.is_boolean()) tryParameter(key, !value.get<bool>());
    if (value.is_number_integer())
      for (const int64_t other : {value.get<int64_t>() - 1, value.get<int64_t>() + 1, int64_t{0}, int64_t{1}})
        tryParameter(key, other);
    if (value.is_number_float()) tryReals(key, value.get<double>());
    if (value.is_array()) tryLists(key, value);
    if (value.is_string()) tryNames(key);
    for (const auto& [other, its] : all.items())
      if (other != key && its.type() == value.type() && !value.is_string())
        tryParameter(key, its, fmt::format(", the value of \"{}\"", other));
  }
}

/// The other values of an enumeration, which the schema also takes by number; a text takes no number.
void Imitator::tryNames(const std::string& key) {
  constexpr int kMostNames = 8;
  for (int number = 0; number < kMostNames && !isDone(); ++number) {
    Json changed = params_;
    changed[key] = number;
    const auto bytes = paramsFromJson(e_.def.params, changed.dump());
    if (!bytes) continue;
    const Json named = parseJson(paramsWithDefaults(e_.def.params, *bytes));
    if (named.is_object() && named.contains(key) && named[key].is_string()) tryParameter(key, named[key]);
  }
}

void Imitator::tryReals(const std::string& key, double value) {
  for (const double other : {0.0, 1.0, -value, 2 * value, value / 2}) tryParameter(key, other);
  tryParameter(key, value * value, ", its square");
  if (value > 0) tryParameter(key, std::sqrt(value), ", its square root");
  if (value != 0) tryParameter(key, 1 / value, ", its reciprocal");
}

void Imitator::tryLists(const std::string& key, const Json& value) {
  const size_t length = value.size();
  const auto changed = [&](auto&& change) {
    Json list = value;
    change(list);
    return list;
  };
  for (size_t i = 0; i < length; ++i) {
    for (size_t j = i + 1; j < length; ++j)
      tryParameter(key, changed([&](Json& list) { std::swap(list[i], list[j]); }),
                   fmt::format(": elements {} and {} are exchanged", i, j));
    for (size_t j = 0; j < length; ++j)
      tryParameter(key, changed([&](Json& list) { list[i] = value[j]; }),
                   fmt::format(": element {} is read for element {}", j, i));
    if (!value[i].is_number_integer()) continue;
    for (const int64_t other : {value[i].get<int64_t>() - 1, value[i].get<int64_t>() + 1, int64_t{0}, int64_t{1}})
      tryParameter(key, changed([&](Json& list) { list[i] = other; }));
  }
  tryParameter(key, changed([&](Json& list) { std::reverse(list.begin(), list.end()); }), ": backwards");
  if (length % 2 == 0)
    tryParameter(key, changed([&](Json& list) {
                   std::rotate(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(length / 2), list.end());
                 }),
                 ": begins and ends are exchanged");
}

/// y = b + n / sqrt(v + epsilon), as all normalisations are. The oracle with other values of epsilon gives b, n and
/// v.
void Imitator::epsilon() {
  if (!params_.is_object() || !params_.contains("epsilon") || !expected().isReal()) return;
  const double e = params_["epsilon"].get<double>();
  const auto with = [&](double value) {
    Json changed = params_;
    changed["epsilon"] = value;
    return outputOf(e_.inputs, changed.dump());
  };
  const auto b = with(1e30), none = with(0), one = with(1);
  if (!b || !none || !one) return;
  OracleTensor root = expected(), larger = expected();
  Open open(wrong_.size());
  for (size_t i = 0; i < open.size(); ++i) {
    const double n = none->real[i] - b->real[i], ratio = (one->real[i] - b->real[i]) / n;
    const double v = ratio * ratio / (1 - ratio * ratio);
    open[i] = !(std::fabs(n) > 1e-6 && v > 0 && std::isfinite(v));
    root.real[i] = open[i] ? 0 : b->real[i] + n * std::sqrt(v) / (std::sqrt(v) + e);
    larger.real[i] = open[i] ? 0 : b->real[i] + n * std::sqrt(v / std::max(v, e));
  }
  offer("epsilon", "\"epsilon\" is added to the root, outside of it, instead of to the variance", root, open);
  offer("epsilon", "the larger of the variance and \"epsilon\" is taken instead of their sum", larger, open);
}

/// The padding of the spatial axes counts as zero, in place of a zero point, of nothing, or of minus infinity.
void Imitator::padding() {
  if (!params_.is_object() || !params_.contains("pads") || e_.inputs.empty() || !e_.inputs[0]) return;
  const TensorDesc& desc = e_.inputs[0]->desc;
  const Json pads = params_["pads"];
  const size_t spatial = desc.shape.size() < 3 ? 0 : desc.shape.size() - 2;
  if (spatial == 0 || pads.size() != 2 * spatial) return;
  std::vector<int64_t> before(desc.shape.size()), after(desc.shape.size());
  for (size_t d = 0; d < spatial; ++d) {
    before[d + 2] = pads[d].get<int64_t>();
    after[d + 2] = pads[d + spatial].get<int64_t>();
    if (before[d + 2] < 0 || after[d + 2] < 0) return;
  }
  auto padded = withZeros(*e_.inputs[0], before, after);
  if (!padded) return;
  Json without = params_;
  without["pads"] = std::vector<int64_t>(2 * spatial, 0);
  HostInputs inputs = e_.inputs;
  inputs[0] = *std::move(padded);
  offer("pad_value", fmt::format("the padding of {} counts as elements that are 0", nameOf(0)),
        outputOf(inputs, without.dump()));
}

}  // namespace opkit::harness
