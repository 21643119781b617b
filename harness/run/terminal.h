// Output of the commands: colour and a progress bar on a terminal, plain lines elsewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "harness/run/results.h"

namespace opkit::harness {

/// `text` in the colour of a status if stdout is a terminal.
std::string coloured(CaseStatus status, const std::string& text);

/// A bar on stderr that is redrawn in place. Without a terminal it is silent, or prints a line on stdout every half
/// minute if it knows `what` is done: "checked: 120 of 400 groups".
class Progress {
 public:
  explicit Progress(size_t total, std::string what = "");
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(const std::string& label);
  /// Removes the bar so that lines can be printed.
  void clear();

 private:
  size_t total_;
  std::string what_;
  size_t done_ = 0;
  bool visible_;
  double nextSeconds_;  // of the next line
};

/// Says how far a preparation is that may take minutes: a bar on a terminal, elsewhere a line on stdout after two
/// seconds and then every half minute: "drawing cases: 1240 of 9310".
class Announcement {
 public:
  explicit Announcement(std::string what, double nowSeconds = nowNs() * 1e-9);
  void step(size_t done, size_t all);
  /// The line that is due at that time, if any.
  std::optional<std::string> lineAt(double nowSeconds, size_t done, size_t all);

 private:
  std::string what_;
  double nextSeconds_;
  std::optional<Progress> bar_;
};

/// Columns padded to their widest cell; the first row is the heading. Numbers are right-aligned.
class Table {
 public:
  explicit Table(std::vector<std::string> heading);
  void add(std::vector<std::string> cells);
  std::string toString() const;
  bool empty() const { return rows_.size() == 1; }

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// A short number: "0.04", "1.2e-07", "-".
std::string formatNumber(double value);

/// The block printed for a failed case: id, sub-check, how many elements, the worst one, how to repeat it.
std::string failureBlock(const CaseResult& result, const std::string& repeatCommand);

}  // namespace opkit::harness
