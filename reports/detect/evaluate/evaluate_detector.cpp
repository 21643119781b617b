// evaluate_detector: measures the detector's errors on recorded noise. docs/decisions/0038-detector.md has its figures.
#include "engine/base/guard.h"
#include "engine/model/model.h"
#include "engine/tools/cli.h"
#include "reports/detect/evaluate/trials.h"

namespace opkit::reports::detect {
namespace {

constexpr double kMostFalsePerNight = 1;

struct Injection {
  double change, spread;  // 0.1: 10 % slower; in series of this variation at most
  double target;          // least share found within 3 nights; 0: printed only
};
constexpr Injection kInjections[] = {{0.10, 0.02, 0.95}, {0.05, 0.015, 0.80}, {0.03, 0.015, 0}, {0.03, 0.01, 0}};

const char* markOf(bool met) { return met ? "" : "  MISSED"; }

bool reportFalseFindings(const std::vector<Residuals>& residuals, const TrialSettings& settings) {
  const FalseFindings found = countFalseFindings(residuals, settings);
  const bool met = found.perNight() <= kMostFalsePerNight;
  fmt::print("{} unchanged series, {} nights: {:.2f} false series a night in {:.2f} findings, target at most {}{}\n",
             settings.series, found.nights, found.perNight(),
             static_cast<double>(found.findings) / static_cast<double>(found.nights), kMostFalsePerNight, markOf(met));
  fmt::print("judge: {:.2f} s a night on one core\n", found.secondsPerNight);
  return met;
}

Result<bool> reportInjection(const Injection& injection, const std::vector<Residuals>& residuals,
                             const TrialSettings& settings) {
  const FoundShare found = injectSlowDowns(residuals, injection.change, injection.spread, settings);
  if (found.trials == 0)
    return Status::invalidArgument("no recorded series has a variation of {:.1f} % or less", 100 * injection.spread);
  const bool met = found.within[2] >= injection.target;
  const size_t nights = joinedNights(settings);
  fmt::print(
      "{:.0f} % slower, variation {:.1f} %, {} trials: found after {}, {}, {} nights {:.1f}, {:.1f}, {:.1f} %{}{}\n",
      100 * injection.change, 100 * injection.spread, found.trials, nights, 2 * nights, 3 * nights,
      100 * found.within[0], 100 * found.within[1], 100 * found.within[2],
      injection.target > 0 ? fmt::format(", target at least {:.0f} %", 100 * injection.target) : "", markOf(met));
  return met;
}

Result<int> evaluate(const std::vector<Recorded>& recorded, const TrialSettings& settings) {
  const std::vector<Residuals> residuals = residualsOf(recorded, settings.noise);
  if (residuals.empty())
    return Status::invalidArgument("no series has {} process runs, which one block of {} nights takes",
                                   settings.noise.runs * settings.noise.block, settings.noise.block);
  fmt::print("{} recorded series, {} process runs a night\n", residuals.size(), settings.noise.runs);
  bool met = reportFalseFindings(residuals, settings);
  for (const Injection& injection : kInjections) {
    OPKIT_ASSIGN(const bool reached, reportInjection(injection, residuals, settings));
    met &= reached;
  }
  const double jumps = injectJumps(4, settings);
  fmt::print("margins and ULPs times 4, {} trials: found the next morning {:.1f} %, target 100 %{}\n",
             settings.injected, 100 * jumps, markOf(jumps >= 1));
  return met && jumps >= 1 ? cli::kSuccess : cli::kCheckFailed;
}

int run(int argc, char** argv) {
  CLI::App app("Measures false alarms and found changes of the change detector on recorded noise.",
               "evaluate_detector");
  app.footer(
      "Prints each figure beside its target; ends with 1 if one is missed.\n"
      "Example: evaluate_detector reports/detect/evaluate/recorded.csv --quick");
  std::vector<std::string> files;
  std::string csv;
  bool quick = false;
  TrialSettings settings;
  app.add_option("results", files, "Files of `op-harness bench --json`, one process run per invocation, or .csv files")
      ->required();
  app.add_option("--csv", csv, "Write the recorded series to this file and stop")->check(cli::outputFile());
  app.add_flag("--quick", quick, "A fifth of the series, fewer nights and injections");
  app.add_option("--runs", settings.noise.runs, "Process runs per night")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--block", settings.noise.block, "Successive nights drawn together from a record")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--outliers", settings.noise.outlierNights, "Share of nights added on which all runs are slow")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--before", settings.before, "Nights, or joined ones, before the first judged one")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  app.add_option("--nights", settings.nights, "Judged nights")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--seed", settings.seed, "Seed of the trials")->capture_default_str();
  return cli::runProgram(app, argc, argv, [&]() -> Result<int> {
    std::vector<Recorded> recorded;
    for (const std::string& file : files) OPKIT_TRY(readRecorded(file, recorded));
    if (!csv.empty()) {
      const std::string text = toCsv(recorded);
      OPKIT_TRY(writeFile(csv, {reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
      fmt::print("{}: {} series\n", csv, recorded.size());
      return cli::kSuccess;
    }
    if (quick) settings.series /= 5, settings.nights = std::min<size_t>(settings.nights, 5), settings.injected /= 5;
    return evaluate(recorded, settings);
  });
}

}  // namespace
}  // namespace opkit::reports::detect

int main(int argc, char** argv) {
  return opkit::guardedMain("evaluate_detector", [=] { return opkit::reports::detect::run(argc, argv); });
}
