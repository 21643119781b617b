#include <nlohmann/json.hpp>

#include "harness/commands/commands.h"
#include "harness/compare/tolerance.h"
#include "ops/builtin_ops.h"
#include "reports/results/kernel_names.h"
#ifdef OPKIT_HAS_VULKAN
#include "engine/plugin/builtin_includes.h"
#endif

namespace opkit::harness {
namespace {

using Card = nlohmann::ordered_json;

Card portCards(const std::vector<Port>& ports) {
  Card list = Card::array();
  for (const Port& port : ports) {
    const char* kind = port.kind == Port::Kind::Required   ? "required"
                       : port.kind == Port::Kind::Optional ? "optional"
                                                           : "variadic";
    list.push_back({{"name", port.name}, {"kind", kind}});
    if (port.dtypes != kAnyDType) list.back()["dtypes"] = port.dtypes.toString();  // else those of the shape rule
    if (port.contents) list.back()["shape rule reads values"] = true;
  }
  return list;
}

/// How the engine computes the operator where it has no kernel of its own.
std::string computedBy(const OpDef& def) {
  return def.lower       ? "moves data by regions"
         : def.control   ? "runs its subgraphs on the host"
         : def.decompose ? "parts of other operators"
         : def.shapeOnly ? "known from shapes"
         : def.loop      ? "kernels, or a loop of small commands"
                         : "kernels";
}

Card caseCards(const Catalogue& catalogue, const std::string& op) {
  size_t written = 0;
  Card timed = Card::array();
  for (const CaseGroup& group : catalogue.groups)
    if (group.cases.front().op == op) written += group.cases.size();
  for (const CaseGroup& group : catalogue.sized)
    for (const Case& c : group.cases)
      if (c.op == op) timed.push_back({{"size", c.size}, {"id", c.id()}});
  return {{"count", written}, {"timed", std::move(timed)}};
}

Card cardOf(const OpRegistry& registry, const OpDef& def, const Catalogue& catalogue) {
  const ErrorBound bound = errorBoundOf(def.numeric);
  Card document = {{"type", def.type},
                   {"summary", def.summary},
                   {"folder", ops::builtinOps().find(def.type) ? "ops/" + def.folder : ""},
                   {"form", computedBy(def)},
                   {"inputs", portCards(def.inputs)},
                   {"outputs", portCards(def.outputs)},
                   {"parameters", def.params.text},
                   {"error bound", {{"class", bound.name}, {"per element", bound.formula}}}};
  if (def.errorFloor > 0) document["error bound"]["floor"] = def.errorFloor;
  document["domain"] = {def.domain.low, def.domain.high};
  if (!def.inPlace.empty()) document["may overwrite inputs"] = def.inPlace;
  if (def.unordered) document["any order of threads"] = true;
  for (const char* backend : {"cpu", "vulkan"}) document["kernels"][backend] = kernelNames(registry, backend, def);
  document["cases"] = caseCards(catalogue, def.type);
  Card& glsl = document["shader may use"];
#ifdef OPKIT_HAS_VULKAN
  for (const auto& include : plugin::builtinIncludes()) glsl["includes"].push_back(include.first);
#endif
  glsl["language"] = "GLSL 4.50 for Vulkan 1.2; docs/vulkan.md";
  return document;
}

void printCard(const Card& value, const std::string& name) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) printCard(inner, name.empty() ? key : name + ", " + key);
    return;
  }
  if (value.is_array() && !value.empty() && value.front().is_object()) {
    for (const Card& inner : value) {
      std::string line;
      for (const auto& [key, field] : inner.items())
        line += (line.empty() ? "" : "  ") + (field.is_string() ? field.get<std::string>() : key);
      fmt::print("{:<20} {}\n", name, line);
    }
    return;
  }
  fmt::print("{:<20} {}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
}

Result<int> describeOperator(const std::string& op, bool asJson) {
  const OpRegistry& registry = plugins().registry();
  OPKIT_TRY(checkOperators({op}, registry));
  CaseOptions options;
  options.ops = {op};
  OPKIT_ASSIGN(const Catalogue catalogue, loadCases(options, registry));
  const Card document = cardOf(registry, *registry.find(op), catalogue);
  if (asJson)
    fmt::print("{}\n", document.dump(2));
  else
    printCard(document, "");
  return cli::kSuccess;
}

}  // namespace

void addDescribeCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      app.add_subcommand("describe", "Print what an operator is: ports, parameters, bound, kernels, cases");
  auto op = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command->add_option("OP", *op, "The operator's type")->required();
  command->add_flag("--json", *json, "Print it as JSON");
  command->footer("Examples:\n  op-harness describe Softmax\n  op-harness describe Softmax --json");
  command->callback([op, json, &context] { context.run = [op, json] { return describeOperator(*op, *json); }; });
}

}  // namespace opkit::harness
