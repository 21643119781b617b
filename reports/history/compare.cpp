#include "reports/history/compare.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "reports/detect/false_discovery.h"
#include "reports/detect/student.h"
#include "reports/report_data.h"
#include "reports/results/runs.h"

namespace opkit::reports {
namespace {

constexpr size_t kLeastRuns = 2;
constexpr double kErrorFactor = 2;     // growth of an NMSE that counts
constexpr double kLeastError = 1e-14;  // an NMSE of rounding

/// The worst of a case's runs, and its times by process run.
struct Figures {
  const CaseRecord* worst = nullptr;
  std::map<std::string, std::vector<double>> times;  // least samples, by figure
};
using Key = std::tuple<std::string, std::string, std::string, std::string>;  // kind, id, backend, options
using All = std::map<Key, Figures>;

All figuresOf(const Results& results) {
  All all;
  for (const RunRecords& run : byRun(results))
    for (const CaseRecord* record : run.cases) {
      const std::string options = deviceOptions(run.run->facts.command);
      Figures& figures = all[{record->kind, record->id, record->backend,
                              options + (record->threads ? fmt::format(" --threads {}", record->threads) : "")}];
      const auto rank = [](const CaseRecord& c) { return rankOf(c.status).value_or(-1); };
      if (!figures.worst || rank(*record) > rank(*figures.worst)) figures.worst = record;
      for (const auto& [name, time] : record->times)
        if (time.min > 0 && std::isfinite(time.min)) figures.times[name].push_back(time.min);
    }
  return all;
}

struct Moments {
  double mean = 0, variance = 0;  // of the logarithms; of the mean
};

Moments momentsOf(std::span<const double> values) {
  Moments m;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) m.mean += std::log(value) / n;
  for (const double value : values) m.variance += (std::log(value) - m.mean) * (std::log(value) - m.mean) / (n - 1) / n;
  return m;
}

class Comparer {
 public:
  Comparer(const CompareOptions& options, Comparison& result) : options_(options), result_(result) {}

  void compare(const Key& key, const Figures& before, const Figures& after) {
    ++result_.cases;
    const CaseRecord &a = *before.worst, &b = *after.worst;
    const size_t found = result_.findings.size();
    compareStatus(key, a, b);
    compareErrors(key, a, b);
    if (found == result_.findings.size() && !a.digest.empty() && !b.digest.empty() && a.digest != b.digest)
      ++result_.otherBits;
    compareTimes(key, before, after);
  }

  /// Those up to the cutoff of Benjamini and Hochberg are findings, the surest first.
  void judgeTimes() {
    std::sort(times_.begin(), times_.end(), [](const Tested& a, const Tested& b) { return a.p < b.p; });
    std::vector<double> probabilities;
    for (const Tested& tested : times_) probabilities.push_back(tested.p);
    const double cutoff =
        detect::falseDiscoveryCutoff(std::move(probabilities), times_.size(), options_.falseDiscovery);
    for (const Tested& tested : times_)
      if (tested.p <= cutoff && std::fabs(tested.ratio - 1) > options_.threshold)
        result_.findings.push_back(tested.finding);
  }

 private:
  struct Tested {
    double p = 1, ratio = 1;
    Finding finding;
  };

  void add(Finding::Kind kind, bool worse, const Key& key, std::string what) {
    result_.findings.push_back({kind, worse, std::get<1>(key), std::get<2>(key), std::move(what)});
  }

  /// A case that no longer runs is worse than one that passes.
  void compareStatus(const Key& key, const CaseRecord& a, const CaseRecord& b) {
    if (!isNews(a.status, b.status)) return;
    const auto before = rankOf(a.status), after = rankOf(b.status);
    if (!before && !after) return;
    const bool worse = !after ? a.status == CaseStatus::Pass : before ? *after > *before : *after > 0;
    add(Finding::Kind::Status, worse, key,
        fmt::format("{} -> {}{}{}", nameOf(a.status), nameOf(b.status), b.reason.empty() ? "" : ": ", b.reason));
  }

  void compareErrors(const Key& key, const CaseRecord& a, const CaseRecord& b) {
    if (!a.accuracy || !b.accuracy) return;
    const double before = a.accuracy->margin, after = b.accuracy->margin;
    const bool grew = !(after <= before + options_.marginStep) && !(std::isnan(before) && std::isnan(after));
    const bool fell = after < before - options_.marginStep;
    if (grew || fell)
      return add(Finding::Kind::Error, grew, key, fmt::format("margin {:.3g} -> {:.3g} of the bound", before, after));
    const double errorBefore = std::max(a.accuracy->nmse, kLeastError), error = std::max(b.accuracy->nmse, kLeastError);
    if (error > kErrorFactor * errorBefore || errorBefore > kErrorFactor * error)
      add(Finding::Kind::Error, error > errorBefore, key,
          fmt::format("NMSE {:.3g} -> {:.3g}", a.accuracy->nmse, b.accuracy->nmse));
  }

  void compareTimes(const Key& key, const Figures& before, const Figures& after) {
    for (const auto& [name, a] : before.times) {
      const auto found = after.times.find(name);
      if (found == after.times.end()) continue;
      const std::vector<double>& b = found->second;
      if (std::min(a.size(), b.size()) < kLeastRuns) {
        ++result_.insufficient;
        continue;
      }
      ++result_.times;
      const double p = welchOnLogarithms(a, b), ratio = geometricMean(b) / geometricMean(a);
      times_.push_back(
          {p,
           ratio,
           {Finding::Kind::Time, ratio > 1, std::get<1>(key), std::get<2>(key),
            fmt::format("{} {} -> {} ({:+.1f} %, p = {:.2g}, {} and {} process runs)", name, formatNs(geometricMean(a)),
                        formatNs(geometricMean(b)), 100 * (ratio - 1), p, a.size(), b.size())}});
    }
  }

  const CompareOptions& options_;
  Comparison& result_;
  std::vector<Tested> times_;
};

}  // namespace

double geometricMean(std::span<const double> values) { return std::exp(momentsOf(values).mean); }

double welchOnLogarithms(std::span<const double> before, std::span<const double> after) {
  if (std::min(before.size(), after.size()) < 2) return 1;
  const Moments a = momentsOf(before), b = momentsOf(after);
  const double variance = a.variance + b.variance, difference = b.mean - a.mean;
  if (variance <= 0) return difference == 0 ? 1 : 0;
  const double degrees = variance * variance /
                         (a.variance * a.variance / static_cast<double>(before.size() - 1) +
                          b.variance * b.variance / static_cast<double>(after.size() - 1));
  return detect::studentTail(difference / std::sqrt(variance), degrees);
}

size_t Comparison::worse() const {
  return static_cast<size_t>(
      std::count_if(findings.begin(), findings.end(), [](const Finding& finding) { return finding.worse; }));
}

Comparison compareResults(const Results& before, const Results& after, const CompareOptions& options) {
  const All a = figuresOf(before), b = figuresOf(after);
  Comparison result;
  Comparer comparer(options, result);
  for (const auto& [key, figures] : a) {
    const auto found = b.find(key);
    if (found != b.end())
      comparer.compare(key, figures, found->second);
    else
      ++result.onlyBefore;
  }
  result.onlyAfter = b.size() - result.cases;
  comparer.judgeTimes();
  std::stable_sort(result.findings.begin(), result.findings.end(),
                   [](const Finding& x, const Finding& y) { return x.worse > y.worse; });
  return result;
}

}  // namespace opkit::reports
