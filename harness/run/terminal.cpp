#include "harness/run/terminal.h"
#include "engine/base/printable.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace opkit::harness {
namespace {

bool isNumeric(const std::string& cell) {
  return !cell.empty() && cell.find_first_not_of("0123456789.+-e%xinfa ") == std::string::npos &&
         (std::isdigit(static_cast<unsigned char>(cell[0])) || cell[0] == '-');
}

constexpr double kBetweenSeconds = 30;  // of the lines of a long run

double ulps(const CaseResult& result) { return result.accuracy ? result.accuracy->maxUlp : 0; }

}  // namespace

std::string coloured(CaseStatus status, const std::string& text) {
  static const bool terminal = isatty(STDOUT_FILENO) != 0;
  if (!terminal) return text;
  const int colour = status == CaseStatus::Pass ? 32 : isFailure(status) ? 31 : 33;
  return fmt::format("\x1b[{}m{}\x1b[0m", colour, text);
}

Progress::Progress(size_t total, std::string what)
    : total_(total),
      what_(std::move(what)),
      visible_(isatty(STDERR_FILENO) != 0),
      nextSeconds_(nowNs() * 1e-9 + kBetweenSeconds) {}
Progress::~Progress() { clear(); }

void Progress::step(const std::string& label) {
  ++done_;
  if (const double now = nowNs() * 1e-9; !visible_ && !what_.empty() && now >= nextSeconds_) {
    nextSeconds_ = now + kBetweenSeconds;
    fmt::print("checked: {} of {} {}\n", done_, total_, what_);
    std::fflush(stdout);
  }
  if (!visible_) return;
  constexpr size_t kWidth = 24;
  const size_t filled = total_ == 0 ? kWidth : std::min(kWidth, done_ * kWidth / total_);
  // Not fmt::print, which throws if stderr cannot be written: a progress bar must not cause a failure.
  std::fputs(fmt::format("\r\x1b[K[{}{}] {}/{} {}", std::string(filled, '#'), std::string(kWidth - filled, '.'), done_,
                         total_, label.substr(0, 60))
                 .c_str(),
             stderr);
}

void Progress::clear() {
  if (!visible_) return;
  std::fputs("\r\x1b[K", stderr);
}

Announcement::Announcement(std::string what, double nowSeconds) : what_(std::move(what)) {
  constexpr double kFirstSeconds = 2;
  nextSeconds_ = nowSeconds + kFirstSeconds;
}

void Announcement::step(size_t done, size_t all) {
  if (isatty(STDERR_FILENO) != 0) {
    if (!bar_) bar_.emplace(all);
    bar_->step(what_);
  } else if (const auto line = lineAt(nowNs() * 1e-9, done, all)) {
    fmt::print("{}\n", *line);
    std::fflush(stdout);
  }
}

std::optional<std::string> Announcement::lineAt(double nowSeconds, size_t done, size_t all) {
  if (nowSeconds < nextSeconds_ || done == all) return std::nullopt;
  nextSeconds_ = nowSeconds + kBetweenSeconds;
  return fmt::format("{}: {} of {}", what_, done, all);
}

Table::Table(std::vector<std::string> heading) { rows_.push_back(std::move(heading)); }

void Table::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::toString() const {
  std::vector<size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string gap = i == 0 ? "" : "  ";
      line += isNumeric(row[i]) ? fmt::format("{}{:>{}}", gap, row[i], widths[i])
                                : fmt::format("{}{:<{}}", gap, row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string formatNumber(double value) { return fmt::format("{:.3g}", value); }

std::string failureBlock(const CaseResult& result, const std::string& repeatCommand) {
  const std::string kernel = result.kernel.empty() ? "" : fmt::format(" ({}/{})", result.provider, result.kernel);
  std::string text = fmt::format("{} {} on {}{}\n", coloured(result.status, nameOf(result.status)),
                                 printable(result.id), result.backend, kernel);
  if (!result.name.empty()) text += fmt::format("  case     {}\n", printable(result.name));
  const bool isFallback = result.status == CaseStatus::Fallback;
  text += fmt::format("  reason   {}{}\n",
                      isFallback ? "ran on another backend, and no \"fallback\" of the case says so: " : "",
                      printable(result.reason));
  if (result.accuracy && result.accuracy->failed > 0 && result.accuracy->worst >= 0) {
    const Comparison& c = *result.accuracy;
    text += fmt::format("  elements {} of {} wrong, {} never written\n", c.failed, c.elements, c.unwritten);
    text += fmt::format(
        "  worst    {} expected {:.9g} got {:.9g} |d| {:.3g} budget {:.3g}; worst ULP {:.3g}, NMSE {:.3g}\n",
        coordinates(result.worstShape, c.worst), c.expected, c.got, std::fabs(c.got - c.expected), c.bound,
        ulps(result), c.nmse);
  }
  if (!result.diagnosis.empty())
    text += fmt::format("  because  {} [{}]\n", printable(result.diagnosis), result.diagnosisKind);
  if (!result.map.empty()) {
    std::string map = "  map      " + result.map;
    for (size_t at = map.find('\n'); at != std::string::npos; at = map.find('\n', at + 1)) map.insert(at + 1, 11, ' ');
    text += map + "\n";
  }
  std::string checks;
  for (const SubCheck& sub : result.subChecks) {
    checks += fmt::format(" {}{}", sub.ok ? "" : "!", sub.name);
    const bool known = result.reason == sub.name + ": " + sub.message || sub.message.ends_with(result.reason);
    if (!sub.ok && !known) text += fmt::format("  also     {}: {}\n", sub.name, printable(sub.message));
  }
  if (!checks.empty()) text += fmt::format("  checks  {}\n", checks);
  if (!repeatCommand.empty()) text += fmt::format("  repeat   {}\n", repeatCommand);
  return text;
}

}  // namespace opkit::harness
