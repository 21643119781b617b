#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <thread>
#include <tuple>

#include "engine/base/interrupt.h"
#include "harness/cases/costs.h"
#include "harness/check/sample.h"
#include "harness/check/traced_cases.h"
#include "harness/check/variants.h"
#include "harness/commands/commands.h"
#include "harness/run/isolated_jobs.h"
#include "harness/run/terminal.h"

namespace opkit::harness {
namespace {

constexpr int64_t kMostElements = 16'384;  // of an input of a traced case
constexpr double kBestElements = 2048;     // has several groups and a rest behind the last vector or tile

/// "gemm/gemm_thin ALONG=depth" of "gemm/gemm_thin ALONG=depth STORAGE=f16": kernels of other dtypes have the same
/// loops, barriers and bounds.
std::string withoutDTypes(const std::string& variant) {
  static const std::set<std::string> types = {"f16", "bf16", "f32", "f64", "i8", "u8", "i16",  "u16",
                                              "i32", "u32",  "i64", "u64", "i4", "u4", "bool", "float",
                                              "int", "uint", "f8",  "vec", "i2", "u2", "f4"};
  std::istringstream words(variant);
  std::string text;
  for (std::string word; words >> word;)
    if (const size_t at = word.find('='); at == std::string::npos || !types.contains(word.substr(at + 1)))
      text += (text.empty() ? "" : " ") + word;
  return text;
}

/// A case in a variant of the device, with the shaders that it dispatches there.
struct Trace {
  uint64_t hash = 0;
  std::string variant, op;
  double price = 0;
  std::vector<std::string> shaders;
};

bool isSmall(const Case& c) {
  return std::ranges::all_of(c.inputs, [](const auto& input) { return !input || input->elements() <= kMostElements; });
}

/// A case of another size than the best counts as dearer: the smallest cases make no second pass of a loop.
double priceOf(const Case& c) {
  double elements = 1;
  for (const auto& input : c.inputs) elements = std::max(elements, input ? static_cast<double>(input->elements()) : 0);
  return 1 + 0.1 * std::abs(std::log2(elements / kBestElements));
}

/// The work of one process: a line "HASH PRICE\tVARIANT\tOP\tSHADER\tSHADER..." per case of an operator and variant.
class PlanJob {
 public:
  PlanJob(const Catalogue& catalogue, const OpRegistry& registry) : catalogue_(catalogue), registry_(registry) {}

  std::string run(const std::string& op) {
    if (all_.empty() && !open().isOk()) return "failed";
    std::string text;
    for (const CaseGroup& group : catalogue_.groups)
      for (const Case& c : group.cases)
        if (c.op == op && isSmall(c) && c.fallback.empty()) text += linesOf(c);
    return text;
  }

 private:
  Status open() {
    OPKIT_ASSIGN(runtime_, createRuntime("vulkan", RuntimeOptions()));
    all_ = variants_.allOf(runtime_);
    log_ = ShaderLog::attach(*runtime_);
    return Status::ok();
  }

  std::string linesOf(const Case& c) {
    std::string text;
    for (const DeviceVariants::Variant& variant : all_) {
      std::set<std::string> shaders;
      for (const std::string& shader : plannedVariants(c, registry_, variant.config, variant.runtime, *log_))
        shaders.insert(withoutDTypes(shader));
      if (!shaders.empty())
        text += fmt::format("{:016x} {}\t{}\t{}\t{}\n", caseHash(c), priceOf(c), variant.name, c.op,
                            fmt::join(shaders, "\t"));
    }
    return text;
  }

  const Catalogue& catalogue_;
  const OpRegistry& registry_;
  std::shared_ptr<Runtime> runtime_;  // shared with Sessions
  DeviceVariants variants_;
  std::vector<DeviceVariants::Variant> all_;
  std::shared_ptr<ShaderLog> log_;  // shared with the Runtimes, which share their pipelines
};

void addTraces(const std::string& text, std::vector<Trace>& traces) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Trace trace;
    words >> std::hex >> trace.hash >> std::dec >> trace.price;
    words.ignore(1);
    std::getline(words, trace.variant, '\t');
    std::getline(words, trace.op, '\t');
    for (std::string shader; std::getline(words, shader, '\t');) trace.shaders.push_back(shader);
    traces.push_back(std::move(trace));
  }
}

/// A class runs a shader alike from buffers and from images, if it is the same variant of the shader.
std::string classOf(const std::string& variant) { return variant.substr(0, variant.find(" with ")); }

void print(std::vector<Trace> traces) {
  std::ranges::sort(traces, {}, [](const Trace& trace) { return std::tie(trace.hash, trace.variant); });
  std::map<std::string, size_t> numbers;  // of "class: shader"
  std::vector<Offer> offers;
  for (const Trace& trace : traces) {
    Offer offer{trace.price, {}};
    for (const std::string& shader : trace.shaders)
      offer.brings.push_back(numbers.emplace(classOf(trace.variant) + ": " + shader, numbers.size()).first->second);
    offers.push_back(std::move(offer));
  }
  fmt::print(
      "# Cases that together dispatch every variant of every shader in every device class, dtypes aside; see "
      "traced_cases.h.\n# Written by `op-harness traced`.\n");
  std::vector<size_t> chosen = cheapestCover(offers);
  std::ranges::sort(chosen);
  for (const size_t i : chosen)
    fmt::print("{:016x}\t{}\t{}\t{}\n", traces[i].hash, traces[i].variant, traces[i].op,
               fmt::join(traces[i].shaders, "\t"));
  fmt::print(stderr, "{} traces for {} shaders of device classes\n", chosen.size(), numbers.size());
}

Result<int> choose(std::vector<std::string> ops) {
  const OpRegistry& registry = plugins().registry();
  OPKIT_TRY(checkOperators(ops, registry));
  if (ops.empty())
    for (const OpDef* def : registry.all()) ops.push_back(def->type);
  OPKIT_ASSIGN(const Catalogue catalogue, builtinCatalogue(registry));
  PlanJob job(catalogue, registry);
  std::vector<Trace> traces;
  Status planned;
  OPKIT_TRY(runIsolated(
      ops.size(), {.workers = std::max(1u, std::thread::hardware_concurrency())},
      [&](size_t i) { return job.run(ops[i]); },
      [&](size_t i, const JobOutcome& outcome) {
        if (outcome.kind == JobOutcome::Kind::Answered && outcome.answer != "failed")
          addTraces(outcome.answer, traces);
        else if (planned.isOk())
          planned = Status::internal("{}: its cases could not be planned; the list would lack them", ops[i]);
      }));
  if (interrupted()) return cli::kSuccess;  // the program says so
  OPKIT_TRY(planned);
  if (traces.empty()) return nothingRan("no case dispatches a shader");
  print(std::move(traces));
  return cli::kSuccess;
}

}  // namespace

void addTracedCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("traced", "Choose the cases that check traces in each device class");
  command->footer(
      "Prints the new harness/check/traced.tsv, in about half a minute. Run it after a shader or a kernel's choice of "
      "shaders has changed.");
  auto ops = std::make_shared<std::vector<std::string>>();
  command->add_option("--op", *ops, "Only among the cases of these operators, to look at")->delimiter(',');
  command->callback([ops, &context] { context.run = [ops] { return choose(*ops); }; });
}

}  // namespace opkit::harness
