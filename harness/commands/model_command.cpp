#include <filesystem>

#include "engine/base/interrupt.h"
#include "harness/check/check.h"
#include "harness/commands/commands.h"
#include "harness/model/bisect.h"
#include "harness/model/model_compare.h"
#include "harness/run/terminal.h"
#include "harness/zoo/cut_onnx.h"
#include "harness/zoo/load_model.h"
#include "harness/zoo/zoo.h"

namespace opkit::harness {
namespace {

struct Options {
  std::string model;
  BackendOptions backend;
  std::string reference = "cpu";
  std::vector<std::string> resize;
  uint64_t seed = kDefaultSeed;
  bool allowFallback = false;
  bool all = false;
  double gate = ModelCompareOptions().nmseGate;
  std::string bisect;  // where to save the smallest part that departs
  std::string json;
};

void printLayers(const CaseResult& result, bool all) {
  constexpr size_t kShown = 12;
  Table table({"tensor", "operator", "elements", "max abs", "max ULP", "NMSE", "margin", ""});
  for (size_t i = 0; i < result.layers.size(); ++i) {
    const LayerResult& layer = result.layers[i];
    const bool shown = all || layer.departs || i + kShown >= result.layers.size();
    if (!shown) continue;
    const Comparison& c = layer.comparison;
    table.add({layer.tensor, layer.op, std::to_string(c.elements), formatNumber(c.maxAbs), formatNumber(c.maxUlp),
               formatNumber(c.nmse), formatNumber(c.margin), layer.departs ? "departs" : ""});
  }
  if (!all && result.layers.size() > kShown)
    fmt::print("{} tensors compared; the last {} and those that depart (--all for the rest):\n", result.layers.size(),
               kShown);
  fmt::print("{}", table.toString());
}

/// How the error grows along the network: ten depths, and the largest jump between neighbours.
void printGrowth(const CaseResult& result) {
  const std::vector<LayerResult>& layers = result.layers;
  if (layers.size() < 2) return;
  std::string text;
  const size_t steps = std::min<size_t>(10, layers.size());
  for (size_t k = 0; k < steps; ++k) {
    const size_t i = k * (layers.size() - 1) / std::max<size_t>(steps - 1, 1);
    text += fmt::format("{}{}", k ? " " : "", formatNumber(layers[i].comparison.nmse));
  }
  fmt::print("NMSE along the depth: {}\n", text);
  double jump = 0;
  size_t at = 0;
  for (size_t i = 1; i < layers.size(); ++i) {
    const double before = std::max(layers[i - 1].comparison.nmse, 1e-16), after = layers[i].comparison.nmse;
    if (after / before > jump) jump = after / before, at = i;
  }
  if (jump > 2) fmt::print("largest step: x{} at '{}' ({})\n", formatNumber(jump), layers[at].tensor, layers[at].op);
}

/// Cuts out the smallest part that departs and saves it: ONNX where the network came as ONNX, else .opk.
Status bisect(const Options& options, const Model& model, const CaseResult& result,
              const ModelCompareOptions& compare) {
  const auto first =
      std::find_if(result.layers.begin(), result.layers.end(), [](const LayerResult& l) { return l.departs; });
  if (first == result.layers.end()) {
    fmt::print("bisect: nothing departs\n");
    return Status::ok();
  }
  OPKIT_ASSIGN(const Bisection found, bisectModel(model, first->tensor, plugins().registry(), compare));
  fmt::print("bisect: {} of {} nodes depart by themselves: {}: {}\n", found.nodes.size(), model.nodes.size(),
             fmt::join(found.nodes, ", "), found.comparison.reason);
  std::vector<CutInput> inputs;
  for (size_t i = 0; i < found.inputs.size(); ++i)
    inputs.push_back({found.part.tensors[static_cast<size_t>(found.part.inputs[i])].name, found.inputs[i].desc});
  constexpr std::string_view kZooPrefix = "zoo:";
  auto bytes = options.model.starts_with(kZooPrefix) ? buildZoo(options.model.substr(kZooPrefix.size()))
                                                     : readFile(options.model);
  if (!bytes) return bytes.error();
  auto part = cutOnnx(*bytes, inputs, {found.output});
  std::filesystem::path path = options.bisect;
  if (!part) {  // the network came as .opk, or the importer made a name
    fmt::print("bisect: not as ONNX: {}\n", part.error().message());
    path.replace_extension(".opk");
    part = writeModel(found.part);
  }
  if (!part) return part.error();
  OPKIT_TRY(writeFile(path.string(), *part).withContext("--bisect"));
  fmt::print("bisect: saved {}\n", path.string());
  return Status::ok();
}

Result<CaseResult> compareOn(const Options& options, const std::string& backend, ResultFile& file) {
  OPKIT_ASSIGN(Model model, loadModel(options.model, plugins().registry(), plugins().onnxRules()));
  ModelCompareOptions compare;
  compare.backend = backend;
  compare.referenceBackend = options.reference;
  compare.seed = options.seed;
  compare.allowFallback = options.allowFallback;
  compare.nmseGate = options.gate;
  for (const std::string& text : options.resize) {
    OPKIT_ASSIGN(const cli::NamedValue entry, cli::parseNamedValue("--resize", text));
    OPKIT_ASSIGN(Shape shape, cli::parseShape(entry.value));
    compare.shapes.emplace_back(entry.name, std::move(shape));
  }
  OPKIT_ASSIGN(compare.runtime, createRuntime(backend, options.backend.runtimeOptions(backend)));
  OPKIT_ASSIGN(compare.referenceRuntime, createRuntime(options.reference));
  const Model whole = model;
  OPKIT_ASSIGN(CaseResult result, compareModel(options.model, std::move(model), plugins().registry(), compare));
  const DeviceInfo& device = compare.runtime->device();
  fmt::print("{}: {}{}, against {}\n", backend, device.name, device.software ? " (software device)" : "",
             options.reference);
  file.write(device);
  if (!options.bisect.empty()) OPKIT_TRY(bisect(options, whole, result, compare));
  return result;
}

Result<int> compareModels(const Options& options, const std::string& commandLine) {
  OPKIT_TRY(options.backend.check());
  const GracefulInterrupt graceful;
  RunPlan planned;
  for (const std::string& backend : options.backend.backends) planned[backend] = 1;
  ResultFile file;
  OPKIT_TRY(file.open(options.json, commandLine, options.seed, planned));
  size_t done = 0;
  bool failed = false, executed = false;
  for (const std::string& backend : options.backend.backends) {
    if (interrupted()) break;
    auto compared = compareOn(options, backend, file);
    if (interrupted()) break;  // it may be half a comparison
    OPKIT_ASSIGN(const CaseResult result, std::move(compared));
    file.write(result);
    OPKIT_TRY(file.status());
    ++done;
    printLayers(result, options.all);
    printGrowth(result);
    if (!result.fallbacks.empty()) fmt::print("{} nodes ran on another backend\n", result.fallbacks.size());
    fmt::print("{} {} on {}: {} tensors{}{}\n", coloured(result.status, nameOf(result.status)), result.id, backend,
               result.layers.size(), result.reason.empty() ? "" : ": ", result.reason);
    failed = failed || isFailure(result.status);
    executed = executed || isExecuted(result.status);
  }
  if (const uint64_t messages = validationMessages(); messages > 0) {
    fmt::print("fail: {} messages of the Vulkan validation layers\n", messages);
    failed = true;
  }
  OPKIT_TRY(file.close());
  if (done < planned.size()) {
    printInterrupted(done, planned, "comparisons", options.json);
    return cli::kCheckFailed;
  }
  if (!executed) return cli::kNothingRan;
  return failed ? cli::kCheckFailed : cli::kSuccess;
}

}  // namespace

void addModelCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("model", "Run a network on two backends and compare tensor by tensor");
  auto options = std::make_shared<Options>();
  options->backend.backends = {"vulkan"};
  command->add_option("MODEL", options->model, "zoo:NAME, or a file ending in .onnx or .opk")->required();
  options->backend.add(*command, "vulkan");
  command->add_option("--reference", options->reference, "The backend that is believed")->capture_default_str();
  command->add_option("--resize", options->resize, "NAME=1x3x224x224: the shape of an input (repeatable)");
  command->add_option("--seed", options->seed, "Seed of the random inputs")->capture_default_str();
  command->add_flag("--allow-fallback", options->allowFallback,
                    "Nodes that ran on another backend do not fail the run");
  command->add_option("--bisect", options->bisect, "Cut out the smallest part that departs and save it in this file")
      ->check(cli::outputFile());
  command->add_option("--gate", options->gate, "Normalised mean square error above which a tensor departs")
      ->capture_default_str()
      ->check(cli::finiteNumber(DBL_MIN));
  command->add_flag("--all", options->all, "Print every tensor");
  command->add_option("--json", options->json, "Append results as JSON lines (reports/schema.md)")
      ->check(cli::appendedFile());
  command->footer(
      "Examples:\n"
      "  op-harness model zoo:resnet50 --backend vulkan\n"
      "  op-harness model net.onnx --backend vulkan --reference reference --resize x=1x3x64x64");
  command->callback([options, &context] {
    context.run = [options, &context] { return compareModels(*options, context.commandLine); };
  });
}

}  // namespace opkit::harness
