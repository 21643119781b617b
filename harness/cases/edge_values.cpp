#include "harness/cases/edge_values.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/json_text.h"
#include "engine/tensor/float_format.h"
#include "harness/compare/alterations.h"
#include "harness/compare/tolerance.h"

namespace opkit::harness {
namespace {

/// Adds a number and its opposite, unless they are there. The signs of zero differ.
void addBoth(double magnitude, std::vector<double>& values) {
  if (!std::isfinite(magnitude)) return;
  for (const double value : {magnitude, -magnitude}) {
    const auto same = [&](double other) { return other == value && std::signbit(other) == std::signbit(value); };
    if (std::ranges::none_of(values, same)) values.push_back(value);
  }
}

/// A positive number rounded to the dtype, and the numbers beside it.
void addBeside(DType dtype, double point, std::vector<double>& values) {
  const double at = roundTo(dtype, point);
  addBoth(at, values);
  addBoth(roundTo(dtype, at + ulpOf(dtype, at)), values);
  addBoth(roundTo(dtype, at - ulpOf(dtype, std::nextafter(at, 0.0))), values);
}

double largestOf(const FloatFormat& format) {
  if (isCodedFloat(format.dtype)) return decode(format, format.largestCode());
  return std::ldexp(2 - std::ldexp(1.0, -format.fractionBits), format.greatestExponent());
}

void addInteger(__int128 value, __int128 least, __int128 most, std::vector<int64_t>& values) {
  const auto bits = static_cast<int64_t>(value);
  if (value >= least && value <= most && std::ranges::find(values, bits) == values.end()) values.push_back(bits);
}

}  // namespace

std::vector<double> edgeReals(DType dtype, const std::vector<double>& points) {
  const FloatFormat& format = formatOf(dtype);
  const double least = std::ldexp(1.0, format.leastExponent()), normal = std::ldexp(least, format.fractionBits);
  const double largest = largestOf(format);
  std::vector<double> values;
  for (const double magnitude : {0.0, 1.0, least, normal - least, normal, largest, 0.5, 1.5, 2.5})
    addBoth(roundTo(dtype, magnitude), values);
  addBoth(largest - ulpOf(dtype, largest), values);
  addBeside(dtype, 1, values);
  for (const double point : points) addBeside(dtype, std::fabs(point), values);
  return values;
}

std::vector<int64_t> edgeIntegers(DType dtype, const std::vector<double>& points) {
  if (dtype == DType::Bool) return {0, 1};
  constexpr DTypeSet kUnsigned{DType::UInt2, DType::UInt4, DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64};
  const bool isUnsigned = kUnsigned.contains(dtype);
  const __int128 count = __int128{1} << bitsOf(dtype);
  const __int128 least = isUnsigned ? 0 : -count / 2, most = isUnsigned ? count - 1 : count / 2 - 1;
  std::vector<int64_t> values;
  for (const __int128 value : {least, least + 1, most - 1, most}) addInteger(value, least, most, values);
  for (int value = -2; value <= 3; ++value) addInteger(value, least, most, values);
  for (const double point : points) {
    if (!(std::fabs(point) < 0x1p64) || point != std::floor(point)) continue;
    const auto whole = static_cast<__int128>(point);
    for (const __int128 value : {whole - 1, whole, whole + 1, -whole - 1, -whole, 1 - whole})
      addInteger(value, least, most, values);
  }
  return values;
}

std::vector<double> edgePoints(const OpDef& def, const std::string& params) {
  std::vector<double> points = def.edges;
  const auto bytes = paramsFromJson(def.params, params);
  const std::string all = bytes ? paramsWithDefaults(def.params, *bytes) : params;
  const nlohmann::json json = parseJson(all);
  for (const auto& [name, value] : json.items())
    if (value.is_number()) points.push_back(value.get<double>());
  return points;
}

size_t edgeCount(const Case& c, const OpDef& def, size_t index) {
  const bool hasForm = index < c.data.size() && !c.data[index].empty();
  if (!c.inputs[index] || hasForm) return 0;
  const DType dtype = c.inputs[index]->dtype;
  const std::vector<double> points = edgePoints(def, c.params);
  return isFloat(dtype) ? edgeReals(dtype, points).size() : edgeIntegers(dtype, points).size();
}

size_t edgeElements(const Case& c, const OpDef& def) {
  size_t elements = 1;
  for (size_t i = 0; i < c.inputs.size(); ++i) elements *= std::max<size_t>(edgeCount(c, def, i), 1);
  return elements;
}

}  // namespace opkit::harness
