#include "harness/compare/diagnose_rows.h"

#include <cmath>

namespace opkit::harness {
namespace {

constexpr int kFewestRows = 2;

class Rows {
 public:
  Rows(const std::vector<double>& got, const std::vector<double>& want, const std::vector<bool>& wrong,
       const std::function<bool(double, double)>& near)
      : got_(got), want_(want), wrong_(wrong), near_(near) {}

  /// Rows of `extent` elements `stride` apart.
  std::optional<std::string> find(size_t extent, size_t stride) const {
    if (extent < 2) return std::nullopt;
    if (all(extent, stride, true)) return "times one factor: what the row is divided by (a sum, a norm, a variance)";
    if (all(extent, stride, false)) return "plus one term: what is subtracted from the row (a mean, a maximum, a sum)";
    return std::nullopt;
  }

 private:
  bool all(size_t extent, size_t stride, bool scales) const {
    int rows = 0;
    bool varied = false;
    double first = NAN;
    for (size_t row = 0; row < got_.size(); ++row) {
      if (row / stride % extent != 0) continue;
      std::optional<double> by;
      if (!fits(row, extent, stride, scales, by)) return false;
      if (!by) continue;
      if (rows++ == 0) first = *by;
      varied = varied || !near_(*by, first);
    }
    return rows >= kFewestRows && varied;
  }

  /// False if an element contradicts; `by` is the factor or term of a row with two wrong elements or more.
  bool fits(size_t row, size_t extent, size_t stride, bool scales, std::optional<double>& by) const {
    size_t wrong = 0, largest = row;
    for (size_t k = 0; k < extent; ++k) {
      const size_t i = row + k * stride;
      wrong += wrong_[i];
      if (wrong_[i] && (!wrong_[largest] || std::fabs(want_[i]) > std::fabs(want_[largest]))) largest = i;
    }
    if (wrong == 0) return true;
    const double value = scales ? got_[largest] / want_[largest] : got_[largest] - want_[largest];
    if (!std::isfinite(value)) return false;
    bool differ = false;
    for (size_t k = 0; k < extent; ++k) {
      const size_t i = row + k * stride;
      if (!near_(scales ? want_[i] * value : want_[i] + value, got_[i])) return false;
      differ = differ || (wrong_[i] && !near_(want_[i], want_[largest]));
    }
    if (differ) by = value;
    return true;
  }

  const std::vector<double>&got_, &want_;
  const std::vector<bool>& wrong_;
  const std::function<bool(double, double)>& near_;
};

}  // namespace

std::optional<Diagnosis> diagnoseRows(const Shape& shape, const std::vector<double>& got,
                                      const std::vector<double>& want, const std::vector<bool>& wrong,
                                      const std::function<bool(double a, double b)>& near) {
  const Rows rows(got, want, wrong, near);
  const DimVector strides = contiguousStrides(shape);
  const auto said = [](const std::string& which, const std::string& what) {
    return Diagnosis{"row", fmt::format("each {} is the right one {} is wrong", which, what)};
  };
  for (size_t d = shape.size(); d-- > 0;) {
    const auto extent = static_cast<size_t>(shape[d]), stride = static_cast<size_t>(strides[d]);
    if (const auto what = rows.find(extent, stride)) return said(fmt::format("row along axis {}", d), *what);
    if (d + 1 == shape.size()) continue;
    if (const auto what = rows.find(extent * stride, 1)) return said(fmt::format("block from axis {} on", d), *what);
  }
  return std::nullopt;
}

}  // namespace opkit::harness
