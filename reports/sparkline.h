// Small drawings in the page, as inline SVG without a script: a line over the nights, and a map of errors.
#pragma once

#include <span>
#include <string>

namespace opkit::reports {

/// Times of nights, oldest first, from three quarters of their largest, or their least, to their largest; the last one
/// is a dot. NaN where a night has none. Its title says how many there are, and the first, the least and the last.
/// Empty with fewer than two values.
std::string sparkline(std::span<const double> times);

/// A map of errors (CaseRecord::map): lines of '.', '+' and '#', right, partly and wholly wrong. Empty for none.
std::string errorPicture(const std::string& map);

}  // namespace opkit::reports
