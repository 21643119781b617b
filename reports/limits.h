// Limits: what keeps a page and a terminal usable, whatever the results hold.
#pragma once

#include <fmt/format.h>

#include <kainjow/mustache.hpp>

#include "reports/operator_facts.h"
#include "reports/results/reader.h"

namespace opkit::reports {

inline constexpr size_t kLongestShown = 2000;  // characters of one text; commands and ids included
inline constexpr size_t kMostOperators = 2000, kTimesOfOneShown = 1000, kTimesShown = 20'000;
inline constexpr size_t kCasesListed = 200, kRowsListed = 1000;
inline constexpr size_t kCasesOfOneShown = 5000, kCasesShown = 100'000;  // in the views of operators, failures first

/// Cuts texts that are longer than kLongestShown in the middle, where they say how much is missing.
void cutTexts(Results& results);
/// Leaves at most kMostOperators operators and kTimesShown times, kTimesOfOneShown of one operator; what is left out
/// is counted in OperatorFacts::moreTimes. Returns the number of operators that are left out.
size_t cutFacts(std::vector<OperatorFacts>& facts);

/// "and 12 more"
inline std::string moreText(size_t count) { return fmt::format("and {} more", count); }

/// The rows of a table, up to a number; further ones are counted, not made.
class Rows {
 public:
  explicit Rows(size_t most = kRowsListed) : most_(most) {}

  template <class Make>
  void add(const Make& make) {
    if (all_++ < most_) rows_.push_back(make());
  }
  size_t count() const { return all_; }
  kainjow::mustache::data more() const {
    return all_ > most_ ? kainjow::mustache::data(moreText(all_ - most_)) : kainjow::mustache::data(false);
  }
  kainjow::mustache::data take() const { return kainjow::mustache::data(rows_); }

 private:
  kainjow::mustache::list rows_;
  size_t most_, all_ = 0;
};

}  // namespace opkit::reports
