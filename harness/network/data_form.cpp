#include "harness/network/data_form.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/op/oracle.h"
#include "engine/tools/cli.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

constexpr size_t kFewIntegers = 64;                  // constants
constexpr size_t kMostIndices = 1024;                // columns of indices have ranges of their own: GatherND
constexpr int64_t kLargestBound = int64_t{1} << 62;  // a form's bounds pass through double

/// Three digits if that stays inside: up for a lower bound, down for an upper one.
double shortened(double value, bool up) {
  if (value == 0) return 0;
  const double unit = std::pow(10, std::floor(std::log10(std::fabs(value))) - 2);
  const double rounded = (up ? std::ceil(value / unit) : std::floor(value / unit)) * unit;
  const double text = std::stod(fmt::format("{:.3g}", rounded));
  return std::isfinite(text) && (up ? text >= value : text <= value) ? text : value;
}

std::string realForm(const std::vector<double>& values, bool known) {
  const bool isEqual = std::ranges::all_of(values, [&](double v) { return v == values.front(); });
  if (isEqual) return known ? Json{{"value", cli::jsonNumber(values.front())}}.dump() : "";
  double low = INFINITY, high = -INFINITY;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (!(low < high)) return "";
  const double from = shortened(low, true), to = shortened(high, false);
  return Json{{"range", from < to ? Json{from, to} : Json{low, high}}}.dump();
}

std::string integerForm(const OracleTensor& tensor, bool known) {
  const auto [low, high] = std::ranges::minmax(tensor.integer);
  if (low == high) return Json{{"value", low}}.dump();
  if (tensor.desc.dtype == DType::Bool) return "";
  const bool isIndex = tensor.desc.dtype == DType::Int64 || tensor.desc.dtype == DType::Int32;
  if (tensor.integer.size() <= (isIndex ? kMostIndices : known ? kFewIntegers : 0))
    return Json{{"values", tensor.integer}}.dump();
  return Json{{"range", {std::max(low, -kLargestBound), std::min(high, kLargestBound)}}}.dump();
}

}  // namespace

std::string exactForm(const Tensor& tensor) {
  const OracleTensor values = OracleTensor::fromTensor(tensor);
  Json list = Json::array();
  for (const double value : values.real) list.push_back(cli::jsonNumber(value));
  for (const int64_t value : values.integer) list.push_back(value);
  return Json{{"values", list}}.dump();
}

std::string randomForm(const Tensor& tensor, bool known) {
  if (tensor.desc.elements() == 0) return "";
  const OracleTensor values = OracleTensor::fromTensor(tensor);
  return values.isReal() ? realForm(values.real, known) : integerForm(values, known);
}

}  // namespace opkit::harness
