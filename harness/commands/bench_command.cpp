#include <set>

#include "engine/base/interrupt.h"
#include "harness/bench/baseline.h"
#include "harness/bench/bench.h"
#include "harness/bench/forced_kernel.h"
#include "harness/bench/statistics.h"
#include "harness/commands/bench_guest.h"
#include "harness/commands/bench_roof.h"
#include "harness/commands/bench_run.h"
#include "harness/guest/guest_options.h"
#include "harness/run/terminal.h"

namespace opkit::harness {
namespace {

struct BenchArguments {
  BackendOptions backend;
  CaseOptions cases;
  BenchOptions bench;
  std::string kernel;   // empty: the first that takes the case
  std::string against;  // compare `kernel` with this one
  std::string json;
  Shard shard;
  std::string baseline;
  size_t rounds = 7;               // fewer than 6 prove nothing
  double threshold = 2;            // percent
  double timeoutSeconds = 1800;    // of a case
  std::vector<std::string> given;  // options for both programs of a comparison
  RoofArguments roof;
  GuestOptions guest;
};

size_t bytesOf(const ChosenCase& chosen) {
  size_t bytes = 0;
  for (const auto& input : chosen.group->cases[chosen.index].inputs) bytes += input ? input->sizeBytes() : 0;
  return bytes;
}

/// One case per shape of a group.
std::vector<ChosenCase> shapesOf(const CaseGroup& group) {
  std::set<std::string> seen;
  std::vector<ChosenCase> shapes;
  for (size_t i = 0; i < group.cases.size(); ++i)
    if (seen.insert(group.cases[i].inputText()).second) shapes.push_back({&group, i});
  return shapes;
}

/// All shapes of the entries marked "bench"; for operators without one, the largest fp32 case (else the largest of
/// all). A case that a backend must refuse is never chosen.
std::vector<ChosenCase> chooseCases(const Catalogue& catalogue, bool one) {
  std::map<std::string, std::vector<ChosenCase>> marked;
  std::map<std::string, ChosenCase> largest;
  for (const CaseGroup& group : catalogue.groups) {
    const Case& first = group.cases.front();
    const ChosenCase chosen{&group, one ? 0 : largestCase(group)};
    if (one)
      marked[first.op].push_back(chosen);
    else if (first.bench)
      std::ranges::copy(shapesOf(group), std::back_inserter(marked[first.op]));
    if (!first.fallback.empty() || first.lane == Lane::Specials) continue;
    const auto isF32 = [](const ChosenCase& c) {
      const auto& input = c.group->cases[c.index].inputs;
      return !input.empty() && input[0] && input[0]->dtype == DType::Float32;
    };
    const auto [best, isNew] = largest.try_emplace(first.op, chosen);
    if (isNew) continue;
    const auto rank = [&](const ChosenCase& c) { return std::pair(isF32(c), bytesOf(c)); };
    if (rank(chosen) > rank(best->second)) best->second = chosen;
  }
  std::vector<ChosenCase> result;
  for (const auto& [op, chosen] : largest) {
    if (marked.contains(op)) continue;
    result.push_back(chosen);
  }
  for (const auto& [op, list] : marked) result.insert(result.end(), list.begin(), list.end());
  return result;
}

/// One kernel of a comparison: the operators and cases that must run it.
struct Contender {
  OpRegistry registry;
  Catalogue catalogue;
  BenchFigures figures;

  static Result<Contender> of(const std::string& kernel, const BenchArguments& options, const OpRegistry& registry,
                              const Catalogue& catalogue) {
    Contender made{registry, catalogue, {}};
    OPKIT_ASSIGN(made.registry, forceKernel(kernel, options.backend.backends, registry, made.catalogue));
    return made;
  }
};

/// One turn of a kernel; false if it failed, which is printed.
bool takeTurn(Contender& one, const ChosenCase& chosen, size_t group, const BackendLane& lane,
              const BenchOptions& options) {
  const PreparedGroup prepared = prepareGroup(one.catalogue.groups[group], one.registry);
  const CaseResult result = benchCase(prepared, chosen.index, one.registry, lane.name, lane.runtime, options);
  if (isFailure(result.status)) {
    fmt::print("{}", failureBlock(result, ""));
    return false;
  }
  for (const auto& [figure, timing] : result.times)
    if (timing.min() > 0)
      one.figures.add(result.id, result.backend, figure, timing.min(),
                      timing.cpuSamples.empty() ? 0 : *std::ranges::min_element(timing.cpuSamples));
  return true;
}

/// Two kernels of this program in turns, case by case, in one process.
Result<int> compareKernels(const BenchArguments& options, const OpRegistry& registry, const Catalogue& catalogue) {
  OPKIT_ASSIGN(Contender kernel, Contender::of(options.kernel, options, registry, catalogue));
  OPKIT_ASSIGN(Contender against, Contender::of(options.against, options, registry, catalogue));
  std::vector<ChosenCase> chosen = chooseCases(catalogue, !options.cases.id.empty());
  options.shard.keepMine(chosen);
  if (chosen.empty()) return nothingRan("no case was timed; see `op-harness list`");
  OPKIT_ASSIGN(const std::vector<BackendLane> lanes, openBackends(options.backend));
  noteOldBuild();
  const GracefulInterrupt graceful;
  const BusyMachine busy;
  Progress progress(chosen.size() * lanes.size() * options.rounds);
  for (const BackendLane& lane : lanes) {
    if (lane.runtime->device().software) kernel.figures.software.insert(lane.name);
    for (const ChosenCase& c : chosen)
      for (size_t round = 0; round < options.rounds && !interrupted(); ++round) {
        progress.step(c.group->cases[c.index].op);
        const auto group = static_cast<size_t>(c.group - catalogue.groups.data());
        Contender& first = round % 2 == 0 ? against : kernel;
        Contender& second = round % 2 == 0 ? kernel : against;
        for (Contender* one : {&first, &second})
          if (!takeTurn(*one, c, group, lane, options.bench)) return cli::kCheckFailed;
      }
  }
  progress.clear();
  if (const std::string note = busy.note(); !note.empty()) fmt::print("note: {}\n", note);
  return reportRatios(against.figures, kernel.figures, options.threshold / 100, options.against, options.kernel);
}

/// The cases of --size, each a group of its own; none without it.
std::vector<CaseGroup> sizedGroups(const BenchArguments& options, const Catalogue& catalogue) {
  std::vector<CaseGroup> groups;
  if (options.roof.size.empty()) return groups;
  for (const Case& c : sizedCases(catalogue, options.roof.size, options.cases)) groups.push_back({{c}});
  return groups;
}

Result<int> bench(const BenchArguments& options, const std::string& commandLine) {
  OpRegistry registry = plugins().registry();
  OPKIT_ASSIGN(Catalogue catalogue, loadCases(options.cases, registry));
  if (!options.kernel.empty()) {
    if (options.cases.ops.empty() && options.cases.id.empty() && options.cases.casesFile.empty())
      return Status::invalidArgument("--kernel {}: name operators with --op, --case or --cases", options.kernel);
    if (!options.against.empty()) return compareKernels(options, registry, catalogue);
    OPKIT_ASSIGN(registry, forceKernel(options.kernel, options.backend.backends, registry, catalogue));
  }
  const std::vector<CaseGroup> sized = sizedGroups(options, catalogue);
  std::vector<ChosenCase> chosen =
      options.roof.size.empty() ? chooseCases(catalogue, !options.cases.id.empty()) : std::vector<ChosenCase>();
  for (const CaseGroup& group : sized) chosen.push_back({&group, 0});
  options.shard.keepMine(chosen);
  if (!options.baseline.empty()) {
    if (!options.json.empty())
      return Status::invalidArgument("--json {}: a comparison with --baseline records nothing", options.json);
    std::vector<std::string> ids;
    for (const ChosenCase& c : chosen) ids.push_back(c.group->cases[c.index].id());
    return compareWithBaseline(ids, {options.baseline, options.given, options.rounds, options.threshold / 100});
  }
  constexpr const char* kNoneTimed = "no case was timed; see `op-harness list`";
  if (chosen.empty() && options.json.empty()) return nothingRan(kNoneTimed);  // else the file says so
  const uint64_t seed = options.cases.seed.value_or(kDefaultSeed);
  if (options.guest.choice.isGiven())
    return benchGuest({options.guest.choice, options.backend, options.bench, options.timeoutSeconds, options.json, seed,
                       options.shard.toString(), registry, chosen},
                      commandLine);
  const GracefulInterrupt graceful;
  RunPlan planned;
  for (const std::string& backend : options.backend.backends) planned[backend] = chosen.size();
  ResultFile file;
  const BenchPlan plan{
      registry, options.backend, options.bench, chosen, !options.roof.size.empty(), options.timeoutSeconds};
  BenchRun run(plan, file, [&]() -> Status {
    OPKIT_TRY(file.open(options.json, commandLine, seed, planned));
    file.summary().part = options.shard.toString();
    noteOldBuild();
    return Status::ok();
  });
  OPKIT_TRY(run.run());
  run.print();
  OPKIT_TRY(file.close());
  if (interrupted()) {
    printInterrupted(run.done(), planned, "cases", options.json);
    return cli::kCheckFailed;
  }
  if (run.executed() == 0 && !run.failed()) return nothingRan(kNoneTimed);
  return run.failed() ? cli::kCheckFailed : cli::kSuccess;
}

/// The options that the user gave, as words of a command line, without those that choose cases or compare.
std::vector<std::string> optionsForBoth(const CLI::App& command) {
  static const std::set<std::string> own = {"--op",     "--filter",    "--case",  "--json", "--baseline",
                                            "--rounds", "--threshold", "--shard", "--size"};
  std::vector<std::string> words;
  for (const GivenOption& option : givenOptions(command))
    if (!own.contains(option.name)) option.appendTo(words);
  return words;
}

}  // namespace

void addBenchCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      app.add_subcommand("bench", "Check operators, then time how long they take to create, resize and run");
  auto options = std::make_shared<BenchArguments>();
  options->backend.backends = {"cpu", "vulkan"};
  options->backend.add(*command, "cpu,vulkan");
  options->cases.add(*command);
  command->add_option("--samples", options->bench.samples, "Take this many samples per figure, each of 1 ms or more")
      ->capture_default_str()
      ->check(cli::wholeNumber(3, 10000));
  command->add_option("--json", options->json, "Append results as JSON lines (reports/schema.md)")
      ->check(cli::appendedFile());
  CLI::Option* kernel = command->add_option(
      "--kernel", options->kernel,
      "Time this kernel (PROVIDER/KERNEL, as the table prints it) also where others come before it");
  CLI::Option* against = command->add_option(
      "--against", options->against, "Compare --kernel with this one, in turns in one process; the ratio is theirs");
  against->needs(kernel)->excludes("--json");
  command->add_flag("--cold-cache", options->bench.coldCache, "Overwrite the processor's caches before every run");
  CLI::Option* baseline = command->add_option(
      "--baseline", options->baseline,
      "Compare with another op-harness program, run in turns with this one, or with a results file");
  command->add_option("--rounds", options->rounds, "Run this many turns with --baseline or --against")
      ->capture_default_str()
      ->check(cli::wholeNumber(1, 1000));
  command->add_option("--threshold", options->threshold, "Ignore changes below this percentage")
      ->check(cli::finiteNumber(0, 1000))
      ->capture_default_str();
  command
      ->add_option("--timeout", options->timeoutSeconds,
                   "Fail a case that takes more than this many seconds, without waiting for busy cores")
      ->capture_default_str()
      ->check(cli::seconds());
  addShard(*command, options->shard, "the cases that are timed");
  options->roof.add(*command, baseline);
  options->guest.add(*command);
  for (const char* other : {"--baseline", "--against", "--roof", "--cold-cache"})
    command->get_option("--ort")->excludes(command->get_option(other));
  kernel->excludes(command->get_option("--roof"));
  baseline->excludes(against);
  command->footer(
      "Times are medians; the spread is the median deviation of \"execute\"; the JSON lines hold every sample.\n"
      "Without --case and --size, bench times all shapes of the entries marked \"bench\" in the case files, or the\n"
      "largest case of an operator without such entries. On Vulkan it first measures what plain shaders reach, and "
      "fails\n"
      "if the device's clock differs from the host's. --baseline passes all other options to both programs.\n"
      "--ort times a provider of ONNX Runtime beside the CPU, or --backend, in turns, on the same models: loading "
      "one,\n"
      "a session's first run with a new shape less a further one (resize), and a run between tensors of the host. The\n"
      "ratio is the guest's median by OpKit's. What the provider does not claim or answers wrongly is not timed.\n"
      "Examples:\n"
      "  op-harness bench --op Conv,MatMul --backend cpu\n"
      "  op-harness bench --op Softmax --baseline ../main/build/release/bin/op-harness\n"
      "  op-harness bench --op MaxPool --backend cpu --kernel opkit/scalar\n"
      "  op-harness bench --op MaxPool --backend cpu --kernel opkit/scalar --against opkit/rows\n"
      "  op-harness bench --op Softmax --ort libonnxruntime.so.1 --ep webgpu --backend vulkan\n"
      "  op-harness bench --roof --floor 0.05 --threads 1\n"
      "  op-harness bench --case 'Softmax{\"axis\":-1}/f32[256,1024]/normal/seed=7'");
  command->callback([options, command, &context] {
    options->given = optionsForBoth(*command);
    if (options->guest.choice.isGiven() && command->count("--backend") == 0) options->backend.backends = {"cpu"};
    context.run = [options, &context]() -> Result<int> {
      OPKIT_TRY(options->guest.check());
      return options->roof.wanted
                 ? benchRoof(options->roof, options->cases, options->shard, options->json, context.commandLine)
                 : bench(*options, context.commandLine);
    };
  });
}

}  // namespace opkit::harness
