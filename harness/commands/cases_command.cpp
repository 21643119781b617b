#include <filesystem>

#include "engine/base/printable.h"
#include "harness/cases/case_writer.h"
#include "harness/commands/commands.h"
#include "harness/network/network_cases.h"
#include "harness/run/terminal.h"
#include "harness/zoo/load_model.h"

namespace opkit::harness {
namespace {

constexpr size_t kShownCases = 20;

struct CasesArguments {
  BackendOptions backend;
  std::string model;
  std::vector<std::string> inputs;
  std::string output;
  bool all = false;  // rows of the table
};

/// "zoo:decoder:layers=2" -> "decoder", "nets/a.onnx" -> "a"
std::string shortNameOf(const std::string& model) {
  constexpr std::string_view kZooPrefix = "zoo:";
  if (!model.starts_with(kZooPrefix)) return std::filesystem::path(model).stem().string();
  const std::string name = model.substr(kZooPrefix.size());
  return name.substr(0, name.find(':'));
}

Result<NetworkInputs> readInputs(const std::vector<std::string>& texts) {
  NetworkInputs inputs;
  for (const std::string& text : texts) {
    OPKIT_ASSIGN(const cli::NamedValue entry, cli::parseNamedValue("--input", text));
    const auto isSame = [&](const auto& given) { return given.first == entry.name; };
    if (std::ranges::any_of(inputs.shapes, isSame))
      return Status::invalidArgument("--input gives the shape of '{}' twice", entry.name);
    auto shape = cli::parseShape(entry.value);
    if (!shape) return shape.error().withContext("--input " + text);
    inputs.shapes.emplace_back(entry.name, *std::move(shape));
  }
  return inputs;
}

class CasesRun {
 public:
  explicit CasesRun(const CasesArguments& options) : options_(options) {}

  Result<int> run() {
    const std::string file = options_.output.empty() ? shortNameOf(options_.model) + ".cases.json" : options_.output;
    OPKIT_TRY(cli::checkOutputFile(file).withContext("--output"));
    OPKIT_ASSIGN(const NetworkInputs inputs, readInputs(options_.inputs));
    const OpRegistry& registry = plugins().registry();
    OPKIT_ASSIGN(const Model model, loadModel(options_.model, registry, plugins().onnxRules()));
    OPKIT_ASSIGN(const std::vector<BackendLane> lanes, openBackends(options_.backend));
    std::vector<NamedRuntime> backends;
    for (const BackendLane& lane : lanes) backends.push_back({lane.name, lane.runtime});
    nodes_ = model.nodes.size();
    auto found = networkCases(model, registry, backends, inputs);
    if (!found) return found.error().withContext(options_.model);
    if (found->cases.empty()) return none(*found);
    noteOldBuild();
    for (const BackendLane& lane : lanes) printDevice(lane.runtime->device());
    print(*found);
    return write(*found, file);
  }

 private:
  Status none(const NetworkCases& found) const {
    if (found.leftOut.empty()) return Status::invalidArgument("{}: it has no nodes", options_.model);
    const LeftOut& first = found.leftOut.front();
    return Status::invalidArgument("{}: none of its {} nodes can be a case; the first, '{}' ({}): {}", options_.model,
                                   nodes_, first.name, first.type, first.reason);
  }

  /// "12.3 % of the time on cpu, 4.5 % on vulkan"
  std::string sharesText(const std::vector<double>& shares) const {
    std::string text;
    for (size_t b = 0; b < shares.size(); ++b)
      text += fmt::format("{}{:.1f} %{} on {}", b == 0 ? "" : ", ", 100 * shares[b], b == 0 ? " of the time" : "",
                          options_.backend.backends[b]);
    return text;
  }

  void print(const NetworkCases& found) const {
    std::vector<std::string> heading = {"case", "operator", "shapes", "nodes"};
    for (const std::string& backend : options_.backend.backends) heading.push_back(backend);
    heading.insert(heading.end(), {"first node", "note"});
    Table table(heading);
    const size_t shown = options_.all ? found.cases.size() : std::min(found.cases.size(), kShownCases);
    for (size_t i = 0; i < shown; ++i) {
      const NetworkCase& one = found.cases[i];
      std::vector<std::string> cells = {std::to_string(i + 1), one.description.op, one.description.inputText(),
                                        std::to_string(one.nodes.size())};
      for (const double share : one.shares) cells.push_back(fmt::format("{:.1f} %", 100 * share));
      cells.push_back(one.nodes.front());
      cells.push_back(noteOf(one.description));
      table.add(cells);
    }
    fmt::print("{}", table.toString());
    if (shown < found.cases.size()) fmt::print("and {} more; --all prints them\n", found.cases.size() - shown);
    if (found.leftOut.empty()) return;
    fmt::print("no case: {} of {} nodes\n", found.leftOut.size(), nodes_);
    for (const LeftOut& node : found.leftOut)
      fmt::print("  '{}' ({}{}), {}: {}\n", printable(node.name), printable(node.type),
                 node.inside ? fmt::format(" with {} nodes inside", node.inside) : "", sharesText(node.shares),
                 printable(node.reason));
  }

  static std::string noteOf(const Case& c) {
    std::string note;
    for (const auto& [backend, reason] : c.fallback)
      note += fmt::format("{}{} refuses it: {}", note.empty() ? "" : "; ", backend, reason);
    for (const auto& [backend, reason] : c.unproved)
      note += fmt::format("{}{} {}", note.empty() ? "" : "; ", backend, reason);
    return note;
  }

  Result<int> write(const NetworkCases& found, const std::string& file) const {
    std::vector<Case> cases;
    size_t nodes = 0;
    for (const NetworkCase& one : found.cases) {
      cases.push_back(one.description);
      cases.back().name = fmt::format("{} of {} nodes of {}, {}; the first is '{}'", one.nodes.size(), nodes_,
                                      options_.model, sharesText(one.shares), one.nodes.front());
      cases.back().bench = true;
      nodes += one.nodes.size();
    }
    const std::string text = caseFileText(cases);
    OPKIT_TRY(writeFile(file, {reinterpret_cast<const uint8_t*>(text.data()), text.size()}).withContext("--output"));
    fmt::print("{} cases for {} of {} nodes: op-harness check --cases {}\n", cases.size(), nodes, nodes_, file);
    return cli::kSuccess;
  }

  const CasesArguments& options_;
  size_t nodes_ = 0;  // of the network
};

}  // namespace

void addCasesCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      app.add_subcommand("cases", "Write the nodes of a network as a case file, each with its share of the time");
  auto options = std::make_shared<CasesArguments>();
  options->backend.backends = {"cpu"};
  command->add_option("--from", options->model, "zoo:NAME, or a file ending in .onnx or .opk")->required();
  command->add_option("--input", options->inputs, "Set the shape of an input: NAME=1x3x224x224 (repeatable)")
      ->type_name("NAME=SHAPE");
  options->backend.add(*command, "cpu");
  command->add_option("--output", options->output, "Write this case file (default: NAME.cases.json)")
      ->check(cli::outputFile());
  command->add_flag("--all", options->all, "Print every case");
  command->footer(
      "Nodes that differ only in the values of weights become one case. A case says which --backend refuses it.\n"
      "Examples:\n"
      "  op-harness cases --from zoo:resnet50\n"
      "  op-harness cases --from net.onnx --input x=1x3x224x224 --backend cpu,vulkan --output net.cases.json\n"
      "  op-harness check --cases net.cases.json");
  command->callback([options, &context] { context.run = [options] { return CasesRun(*options).run(); }; });
}

}  // namespace opkit::harness
