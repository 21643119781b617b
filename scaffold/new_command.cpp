#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>

#include "engine/base/child_process.h"
#include "engine/model/model.h"
#include "scaffold/commands.h"
#include "scaffold/generate.h"
#include "scaffold/kinds.h"
#include "scaffold/names.h"
#include "scaffold/record.h"

namespace opkit::scaffold {
namespace {

struct NewOptions {
  Spec spec;
  std::vector<std::string> attributes, inputs, outputs;
  std::string specFile, oracleFrom;
  bool printSpec = false, dryRun = false, force = false;
};

/// Asks for what is missing, on a terminal only.
Status ask(const char* question, std::string& answer) {
  if (!answer.empty()) return Status::ok();
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
    return Status::invalidArgument("{} is missing; see op-scaffold new --help", question);
  fmt::print("{}: ", question);
  std::fflush(stdout);
  std::getline(std::cin, answer);
  return answer.empty() ? Status::invalidArgument("{} is missing", question) : Status::ok();
}

Result<Spec> specOf(NewOptions& options) {
  Spec& spec = options.spec;
  if (!options.specFile.empty()) {
    if (spec != Spec() || !options.attributes.empty() || !options.inputs.empty() || !options.outputs.empty())
      return Status::invalidArgument(
          "--spec excludes NAME, --kind and the other options of the operator: the file holds them");
    OPKIT_ASSIGN(const auto bytes, readFile(options.specFile));
    return specFromJson({bytes.begin(), bytes.end()});
  }
  OPKIT_TRY(ask("NAME (UpperCamel, such as HardShrink)", spec.name));
  OPKIT_TRY(ask("--kind (op-scaffold kinds lists them)", spec.kind));
  for (const std::string& text : options.attributes) {
    OPKIT_ASSIGN(Attribute attribute, parseAttribute(text));
    spec.attributes.push_back(std::move(attribute));
  }
  for (const std::string& text : options.inputs) {
    OPKIT_ASSIGN(PortSpec port, parsePort(text));
    spec.inputs.push_back(std::move(port));
  }
  for (const std::string& text : options.outputs) {
    OPKIT_ASSIGN(PortSpec port, parseOutput(text));
    spec.outputs.push_back(std::move(port));
  }
  return spec;
}

/// The command that stores the values of the script in the operator's case file, and the build that reads them.
std::string storeSteps(const Tree& tree, const Spec& spec, const Plan& plan, const std::string& script) {
  const auto cases =
      std::ranges::find_if(plan, [](const FileChange& one) { return one.path.ends_with(".cases.json"); });
  if (script.empty() || cases == plan.end()) return "";
  std::error_code error;
  const bool isHere = std::filesystem::equivalent(tree.root(), ".", error);
  const std::string path = isHere ? script : std::filesystem::absolute(script).lexically_normal().string();
  return fmt::format("  {} check --op {} --oracle {} --store {}\n{}", harnessProgram(), spec.name, shellQuoted(path),
                     cases->path, rebuildStep());
}

std::string nextSteps(const Tree& tree, const Spec& spec, const Plan& plan, const std::string& script) {
  std::string text = buildSteps(tree, spec.name) + storeSteps(tree, spec, plan, script);
  // On a backend without a kernel nothing would be proved.
  const std::vector<std::string> both{"cpu", "vulkan"};
  text += fmt::format("  {} check --op {} --backend {}\n", harnessProgram(), spec.name,
                      fmt::join(findKind(spec.kind)->kernels ? spec.backends : both, ","));
  std::set<std::string> folders;
  for (const FileChange& change : visible(plan))
    if (change.after) folders.insert(change.path.substr(0, change.path.rfind('/')));
  return text + fmt::format("  grep -rn SCAFFOLD: {}\n", fmt::join(folders, " "));
}

Result<int> runNew(const CommandContext& context, NewOptions& options) {
  OPKIT_ASSIGN(const Spec spec, specOf(options));
  if (options.printSpec) {
    OPKIT_ASSIGN(const Spec whole, completed(spec));
    fmt::print("{}\n", specToJson(whole).dump(2));
    return cli::kSuccess;
  }
  OPKIT_ASSIGN(const Tree tree, context.tree());
  OPKIT_ASSIGN(Plan plan, planNew(tree, context.templates(), spec, options.force));
  plan.push_back(recordChange(tree, spec.name, recordOf(plan, specToJson(spec))));
  return carryOut(tree, plan, options.dryRun, nextSteps(tree, spec, plan, options.oracleFrom));
}

/// The options that say which operator it is: name, kind, parameters, inputs and outputs.
void addContractOptions(CLI::App& command, NewOptions& options) {
  command.add_option("NAME", options.spec.name, "The operator's type, UpperCamel");
  command.add_option("--kind", options.spec.kind, "Choose a template; `op-scaffold kinds` describes each")
      ->type_name(kindChoices());
  command.add_option("--summary", options.spec.summary,
                     "Describe the operator in one sentence without a full stop, for lists and its page");
  command
      .add_option("--attr,--attribute", options.attributes,
                  "Add a parameter, NAME:TYPE=DEFAULT. Types: bool, int, float, string, ints, floats. "
                  "mode:string=nearest|linear makes an enum; its first choice is the default")
      ->allow_extra_args(false);
  command
      .add_option("--input", options.inputs,
                  "Add an input, NAME[:TYPES][?][:contents]. TYPES: f32|f16, a set (floats, integers, numbers, index, "
                  "bool, any), T=SET to name the type, T or =NAME for the type of an earlier input. '?': it may be "
                  "absent. contents: the shape rule needs its values")
      ->allow_extra_args(false);
  command.add_option("--output", options.outputs, "Name an output")->allow_extra_args(false);
  command
      .add_option("--rows", options.spec.rows,
                  "With --kind rowwise: a row runs along one axis, from `axis` to the last one, or over a group of "
                  "channels (default axis)")
      ->type_name("{axis,from-axis,groups}");
}

}  // namespace

void addNewCommand(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<NewOptions>();  // shared: the callback outlives this function
  CLI::App& command = *app.add_subcommand("new", "Write an operator that builds and passes its checks at once");
  addContractOptions(command, *options);
  command.add_option("--onnx", options->spec.onnx, "Import this ONNX operator as the new one (default NAME)");
  command
      .add_option("--backend", options->spec.backends,
                  "Write kernels for these backends, separated by commas (default cpu,vulkan)")
      ->delimiter(',');
  command
      .add_option(
          "--oracle-from", options->oracleFrom,
          "A Python script with a function oracle(inputs, attributes): print the command that stores its values "
          "in the case file")
      ->check(cli::existingFile());
  command.add_option("--spec", options->specFile, "Read all of the above from a JSON file");
  command.add_flag("--print-spec", options->printSpec, "Print the JSON of this command line and stop");
  command.add_flag("--tdd", options->spec.tdd, "Write kernels that fail their checks until you implement them");
  command.add_flag("--dry-run", options->dryRun, "Print the change as a diff and write nothing");
  command.add_flag("--force", options->force, "Overwrite files that exist and differ");
  command.footer(
      "Examples:\n"
      "  op-scaffold new HardShrink --kind elementwise --attr lambd:float=0.5\n"
      "  op-scaffold new HardShrink --kind elementwise --attr lambd:float=0.5 --oracle-from hard_shrink.py\n"
      "  op-scaffold new RowNorm --kind rowwise --dry-run | git apply --check\n"
      "  op-scaffold new MyNorm --kind rowwise --rows from-axis --input x:T=floats --input scale:T --input 'bias:T?'\n"
      "  op-scaffold new MyResize --kind custom --attr 'mode:string=nearest|linear' --input x --input "
      "sizes:i64:contents");
  command.callback([&context, options] { context.run = [&context, options] { return runNew(context, *options); }; });
}

}  // namespace opkit::scaffold
