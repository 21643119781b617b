// Outcomes: what cases gave, except for times, by subject; and the subjects on which nothing ever differed.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "reports/history/sqlite.h"

namespace opkit::reports {

inline constexpr size_t kExactMetrics = 10;

struct Outcome {
  std::array<double, kExactMetrics> values{};  // of exactMetrics(); NaN: none
  std::string provider;

  bool operator==(const Outcome& other) const;
};

/// The metric whose series stands for all exact series of a subject but status, and their number; 0: each has its own.
struct Folded {
  size_t metric = 0, alike = 0;
};

class Outcomes {
 public:
  /// Of the subjects with these ids; below, a subject is its place in this list.
  static Result<Outcomes> read(const Database& database, const std::vector<int64_t>& subjects);

  /// Of `variant` from 0 to count(subject) - 1.
  size_t indexOf(size_t subject, size_t variant) const { return first_[subject] + variant; }
  size_t count(size_t subject) const { return first_[subject + 1] - first_[subject]; }
  const Outcome& operator[](size_t index) const { return all_[index]; }
  /// Of each subject. Subjects of one group are folded if all of them gave one and the same outcome in every run.
  std::vector<Folded> fold(const std::vector<size_t>& groups) const;

 private:
  std::vector<Outcome> all_;   // by subject and variant
  std::vector<size_t> first_;  // by subject; one more at the end
};

}  // namespace opkit::reports
