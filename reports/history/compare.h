// Comparing two result files: statuses, errors and times.
//
// Times are compared by process runs: samples of one process are correlated. A file needs at least two runs of a
// figure, each with its least sample; Welch's test on the logarithms, corrected for the number of figures
// (Benjamini-Hochberg), and a least change decide. Plain values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reports/results/reader.h"

namespace opkit::reports {

struct CompareOptions {
  double threshold = 0.02;       // least relative change of a time
  double marginStep = 0.01;      // least growth of a margin, as a share of the bound
  double falseDiscovery = 0.05;  // expected share of false findings among those of times
};

struct Finding {
  enum class Kind { Status, Error, Time };
  Kind kind = Kind::Status;
  bool worse = true;
  std::string caseId, backend,
      what;  // what: "pass -> fail", "margin 0.2 -> 0.9", "executeWall 1 ms -> 2 ms, p = 0.001"
};

struct Comparison {
  std::vector<Finding> findings;  // worse ones first
  size_t cases = 0;               // in both files
  size_t onlyBefore = 0, onlyAfter = 0;
  size_t times = 0;         // figures that were tested
  size_t insufficient = 0;  // figures with fewer than two process runs in a file
  size_t otherBits = 0;     // cases whose bits changed while status and error did not

  size_t worse() const;
};
Comparison compareResults(const Results& before, const Results& after, const CompareOptions& options);

/// Two-sided p of Welch's test on the logarithms; 1 if a side has fewer than two values, or no value varies.
double welchOnLogarithms(std::span<const double> before, std::span<const double> after);
/// Of positive values.
double geometricMean(std::span<const double> values);

}  // namespace opkit::reports
