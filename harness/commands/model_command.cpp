#include "harness/commands/commands.h"
#include "harness/model/model_compare.h"
#include "harness/run/terminal.h"
#include "harness/zoo/load_model.h"
#include "ops/builtin_ops.h"

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

Result<CaseResult> compareOn(const Options& options, const std::string& backend, ResultFile& file) {
  OPKIT_ASSIGN(Model model, loadModel(options.model));
  ModelCompareOptions compare;
  compare.backend = backend;
  compare.referenceBackend = options.reference;
  compare.seed = options.seed;
  compare.allowFallback = options.allowFallback;
  for (const std::string& text : options.resize) {
    OPKIT_ASSIGN(const cli::NamedValue entry, cli::parseNamedValue("--resize", text));
    OPKIT_ASSIGN(Shape shape, cli::parseShape(entry.value));
    compare.shapes.emplace_back(entry.name, std::move(shape));
  }
  OPKIT_ASSIGN(compare.runtime, createRuntime(backend, {options.backend.device, options.backend.validation}));
  OPKIT_ASSIGN(compare.referenceRuntime, createRuntime(options.reference));
  OPKIT_ASSIGN(CaseResult result, compareModel(options.model, std::move(model), ops::builtinOps(), compare));
  const DeviceInfo& device = compare.runtime->device();
  fmt::print("{}: {}{}, against {}\n", backend, device.name, device.software ? " (software device)" : "",
             options.reference);
  file.write(device);
  return result;
}

Result<int> compareModels(const Options& options, const std::string& commandLine) {
  ResultFile file;
  OPKIT_TRY(file.open(options.json, commandLine, options.seed));
  bool failed = false, executed = false;
  for (const std::string& backend : options.backend.backends) {
    OPKIT_ASSIGN(const CaseResult result, compareOn(options, backend, file));
    file.write(result);
    printLayers(result, options.all);
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
  file.writeSummary();
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
  command->add_flag("--all", options->all, "Print every tensor");
  command->add_option("--json", options->json, "Append results as JSON lines (reports/schema.md)");
  command->footer(
      "Examples:\n"
      "  op-harness model zoo:resnet50 --backend vulkan\n"
      "  op-harness model net.onnx --backend vulkan --reference reference --resize x=1x3x64x64");
  command->callback([options, &context] {
    context.run = [options, &context] { return compareModels(*options, context.commandLine); };
  });
}

}  // namespace opkit::harness
