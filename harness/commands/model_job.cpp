#include "harness/commands/model_job.h"

#include <filesystem>

#include "engine/base/child_process.h"
#include "engine/base/printable.h"
#include "harness/check/check.h"
#include "harness/model/bisect.h"
#include "harness/run/terminal.h"
#include "harness/zoo/cut_onnx.h"
#include "harness/zoo/load_model.h"
#include "harness/zoo/zoo.h"
#include "reports/results/record_json.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

std::string layersText(const CaseResult& result, bool all) {
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
  std::string text;
  if (!all && result.layers.size() > kShown)
    text = fmt::format("{} tensors compared; the last {} and those that depart (--all for the rest):\n",
                       result.layers.size(), kShown);
  return text + table.toString();
}

/// How the error grows along the network: ten depths, and the largest jump between neighbours.
std::string growthText(const CaseResult& result) {
  const std::vector<LayerResult>& layers = result.layers;
  if (layers.size() < 2) return "";
  std::string depths;
  const size_t steps = std::min<size_t>(10, layers.size());
  for (size_t k = 0; k < steps; ++k) {
    const size_t i = k * (layers.size() - 1) / std::max<size_t>(steps - 1, 1);
    depths += fmt::format("{}{}", k ? " " : "", formatNumber(layers[i].comparison.nmse));
  }
  std::string text = fmt::format("NMSE along the depth: {}\n", depths);
  double jump = 0;
  size_t at = 0;
  for (size_t i = 1; i < layers.size(); ++i) {
    const double before = std::max(layers[i - 1].comparison.nmse, 1e-16), after = layers[i].comparison.nmse;
    if (after / before > jump) jump = after / before, at = i;
  }
  if (jump > 2)
    text += fmt::format("largest step: x{} at '{}' ({})\n", formatNumber(jump), printable(layers[at].tensor),
                        layers[at].op);
  return text;
}

}  // namespace

/// Cuts out the smallest part that departs and saves it: as ONNX if the network is ONNX, else as .opk.
Result<std::string> ModelJob::bisect(const CaseResult& result) const {
  const auto first =
      std::find_if(result.layers.begin(), result.layers.end(), [](const LayerResult& l) { return l.departs; });
  if (first == result.layers.end()) return std::string("bisect: nothing departs\n");
  OPKIT_ASSIGN(const Bisection found, bisectModel(model_, first->tensor, plugins().registry(), compareOptions_));
  std::string text = fmt::format("bisect: {} of {} nodes depart by themselves: {}: {}\n", found.nodes.size(),
                                 model_.nodes.size(), fmt::join(found.nodes, ", "), found.comparison.reason);
  std::vector<CutInput> inputs;
  for (size_t i = 0; i < found.inputs.size(); ++i)
    inputs.push_back({found.part.tensors[found.part.inputs[i]].name, found.inputs[i].desc});
  constexpr std::string_view kZooPrefix = "zoo:";
  auto bytes = options_.model.starts_with(kZooPrefix) ? buildZoo(options_.model.substr(kZooPrefix.size()))
                                                      : readFile(options_.model);
  if (!bytes) return bytes.error();
  auto part = cutOnnx(*bytes, inputs, {found.output});
  std::filesystem::path path = options_.bisect;
  if (!part) {  // the network came as .opk, or the importer made a name
    text += fmt::format("bisect: not as ONNX: {}\n", part.error().message());
    path.replace_extension(".opk");
    part = writeModel(found.part);
  }
  if (!part) return part.error();
  OPKIT_TRY(writeFile(path.string(), *part).withContext("--bisect"));
  return text + fmt::format("bisect: saved {}\n", path.string());
}

Status ModelJob::open() {
  if (comparison_) return Status::ok();
  OPKIT_ASSIGN(model_, loadModel(options_.model, plugins().registry(), plugins().onnxRules()));
  compareOptions_ = {.backend = backend_,
                     .referenceBackend = options_.reference,
                     .seed = options_.seed,
                     .allowFallback = options_.allowFallback,
                     .nmseGate = options_.gate};
  for (const std::string& text : options_.resize) {
    OPKIT_ASSIGN(const cli::NamedValue entry, cli::parseNamedValue("--resize", text));
    OPKIT_ASSIGN(Shape shape, cli::parseShape(entry.value));
    compareOptions_.shapes.emplace_back(entry.name, std::move(shape));
  }
  OPKIT_ASSIGN(compareOptions_.runtime, createRuntime(backend_, options_.backend.runtimeOptions(backend_)));
  OPKIT_ASSIGN(compareOptions_.referenceRuntime, createRuntime(options_.reference));
  shaders_ = ShaderLog::attach(*compareOptions_.runtime);
  comparison_.emplace(options_.model, model_, plugins().registry(), compareOptions_);
  return Status::ok();
}

Status ModelJob::compare(Part part, Json& answer) {
  OPKIT_TRY(open());
  const bool outputs = part == Part::Outputs;
  if (shaders_) shaders_->clear();
  OPKIT_ASSIGN(CaseResult result, outputs ? comparison_->compareOutputs() : comparison_->compareLayers());
  if (shaders_) result.shader = shaders_->hash(), result.shaderBytes = shaders_->bytes();
  result.repro = fmt::format("op-harness model {} --backend {}", shellQuoted(options_.model), backend_);
  answer["record"] = toJson(toRecord(result));
  std::string text = layersText(result, options_.all);
  if (!outputs) text += growthText(result);
  if (!result.fallbacks.empty()) text += fmt::format("{} nodes ran on another backend\n", result.fallbacks.size());
  answer["text"] = text;
  if (outputs || options_.bisect.empty()) return Status::ok();
  OPKIT_ASSIGN(const std::string found, bisect(result));
  answer["text"] = text + found;
  return Status::ok();
}

Json ModelJob::run(Part part) {
  const uint64_t before = validationMessages();
  Json answer = Json::object();
  if (const Status status = compare(part, answer); !status.isOk()) answer["error"] = status.message();
  answer["messages"] = validationMessages() - before;
  return answer;
}

}  // namespace opkit::harness
