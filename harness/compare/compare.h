// compare: compares a tensor with the oracle's result within a tolerance.
//
// Every element must make `error <= bound` true, so NaN fails; an infinity must be expected. The normalised mean square
// error has a separate gate, to detect many small errors in one direction.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/op/oracle.h"
#include "harness/compare/tolerance.h"

namespace opkit::harness {

/// Upper bounds, in ULPs of the expected value, of the histogram's buckets; one more bucket holds larger and non-finite
/// errors.
inline constexpr std::array<double, 10> kUlpBuckets = {0, 0.5, 1, 2, 4, 8, 16, 64, 256, 4096};
using UlpHistogram = std::array<int64_t, kUlpBuckets.size() + 1>;

struct Comparison {
  bool pass = false;
  std::string reason;  // one line; empty on success
  int64_t elements = 0;
  int64_t failed = 0;     // elements outside their bound
  int64_t unwritten = 0;  // of those, elements that still hold the poison (all bits set)
  int64_t worst = -1;     // index of the element that uses most of its bound; -1 for an empty tensor
  double expected = 0;    // at worst
  double got = 0;         // at worst
  double bound = 0;       // at worst
  double maxAbs = 0;      // over finite pairs
  double maxRel = 0;      // |error| / |expected|, where expected is not zero
  double maxUlp = 0;      // in ULPs of the expected value
  double bias = 0;        // mean of (got - expected) / bound over finite pairs
  double nmse = 0;        // sum(error^2) / sum(expected^2)
  double margin = 0;      // max(error / bound); at most 1 when passing
  int64_t nanGot = 0, nanExpected = 0;
  int64_t infGot = 0, infExpected = 0;
  UlpHistogram ulps{};  // elements by the size of their error
};

/// REQUIRES a host tensor. A different description is a failure, not an error. `wrong`, if given, becomes one flag per
/// element.
Comparison compareTensor(const OracleTensor& expected, const Tensor& got, const Tolerance& tolerance,
                         std::vector<bool>* wrong = nullptr);

/// Merges the later result into the earlier one: counts add up, the worse of the two worst elements stays.
void merge(Comparison& total, const Comparison& one);

/// "[2,0,17]" for a flat index of a shape.
std::string coordinates(const Shape& shape, int64_t index);

}  // namespace opkit::harness
