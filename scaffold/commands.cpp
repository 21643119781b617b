#include "scaffold/commands.h"

#include <filesystem>

#include "engine/base/child_process.h"
#include "engine/base/where.h"
#include "engine/model/model.h"
#include "scaffold/further_kernel.h"
#include "scaffold/kinds.h"
#include "scaffold/record.h"
#include "scaffold/remove.h"
#include "scaffold/transaction.h"
#include "scaffold/validate.h"
#include "scaffold/where.h"

namespace opkit::scaffold {

namespace {

/// The folder build/PRESET that this program lies in; else that of `release`.
std::filesystem::path buildFolder() {
  const std::filesystem::path folder = folderAround("CMakeCache.txt", "");
  return folder.parent_path().filename() == "build" ? folder : "build/release";
}

std::string preset() { return buildFolder().filename().string(); }

bool isPartialBuild() {
  const auto cache = readFile((buildFolder() / "CMakeCache.txt").string());
  const std::string_view entry = "\nOPKIT_OPS:STRING=";
  const std::string text = cache ? std::string(cache->begin(), cache->end()) : "";
  const size_t found = text.find(entry);
  return found != std::string::npos && text.substr(found + entry.size(), 1) != "\n";
}

}  // namespace

Result<Tree> CommandContext::tree() const {
  OPKIT_ASSIGN(const Tree found, Tree::find(root));
  return folder(found.root());
}

Result<Tree> CommandContext::folder(const std::string& path) const {
  OPKIT_ASSIGN(const std::string finished, finishKilledCommand(path));
  if (!finished.empty()) fmt::print(stderr, "op-scaffold: {}\n", finished);
  return Tree(path);
}

std::string buildSteps(const Tree& tree, const std::string& op) {
  std::error_code error;
  const bool there = std::filesystem::equivalent(tree.root(), ".", error);
  return (there ? "" : fmt::format("  cd {}\n", shellQuoted(tree.root()))) +
         fmt::format("  cmake --preset {}{}\n", preset(), isPartialBuild() && !op.empty() ? " -DOPKIT_OPS=" + op : "") +
         rebuildStep();
}

std::string rebuildStep() { return fmt::format("  cmake --build --preset {} --target op-harness\n", preset()); }

std::string harnessProgram() { return fmt::format("build/{}/bin/op-harness", preset()); }

Result<int> carryOut(const Tree& tree, const Plan& plan, bool dryRun, const std::string& next) {
  const Plan shown = visible(plan);
  if (dryRun) {
    fmt::print("{}", unifiedDiff(shown));
    return cli::kSuccess;
  }
  OPKIT_TRY(tree.apply(plan));
  size_t changed = 0;
  for (const FileChange& change : shown) {
    if (change.isNoOp()) continue;
    ++changed;
    fmt::print("{} {}\n", !change.before ? "wrote  " : !change.after ? "deleted" : "changed", change.path);
  }
  if (changed == 0) fmt::print("nothing to do: everything is there already\n");
  if (!next.empty()) fmt::print("\nNext:\n{}", next);
  return cli::kSuccess;
}

void addRemoveCommand(CLI::App& app, CommandContext& context) {
  struct Options {
    FurtherKernel kernel;
    bool force = false, dryRun = false;
  };
  auto options = std::make_shared<Options>();  // shared: the callback outlives this function
  CLI::App& command =
      *app.add_subcommand("remove", "Undo `new` or `new-kernel`: delete their files or the row of a family");
  command.add_option("NAME", options->kernel.type, "The operator's type, such as HardShrink")->required();
  auto* const kernel = command.add_option("--kernel", options->kernel.name, "Remove only this kernel of the operator");
  kernel->needs(command.add_option("--backend", options->kernel.backend, "The backend of --kernel, cpu or vulkan")
                    ->needs(kernel));
  command.add_flag("--force", options->force, "Also delete files that you edited, or that op-scaffold did not write");
  command.add_flag("--dry-run", options->dryRun, "Print the change as a diff and write nothing");
  command.footer(
      "Examples:\n"
      "  op-scaffold remove HardShrink\n"
      "  op-scaffold remove Softmax --kernel fused --backend vulkan");
  command.callback([&context, options] {
    context.run = [&context, options]() -> Result<int> {
      OPKIT_ASSIGN(const Tree tree, context.tree());
      OPKIT_ASSIGN(const Plan plan, options->kernel.name.empty()
                                        ? planRemove(tree, options->kernel.type, options->force)
                                        : planRemoveFurtherKernel(tree, options->kernel, options->force));
      return carryOut(tree, plan, options->dryRun, "");
    };
  });
}

/// "data:any, updates; attributes axis:int=0, reduction:string=none|add"
std::string portsAndAttributesOf(const Kind& kind) {
  const auto portOf = [](const PortSpec& port) {
    return port.name + (port.dtypes.empty() || port.dtypes == "same" ? "" : ":" + port.dtypes) +
           (port.optional ? "?" : "");
  };
  std::vector<std::string> inputs, attributes;
  for (const PortSpec& port : kind.inputs) inputs.push_back(portOf(port));
  for (const Attribute& attribute : kind.attributes) {
    const std::string initial =
        attribute.choices.empty() ? attribute.initial : fmt::format("{}", fmt::join(attribute.choices, "|"));
    attributes.push_back(attribute.name + ":" + attribute.type + (initial.empty() ? "" : "=" + initial));
  }
  return fmt::format("{}{}{}", fmt::join(inputs, ", "), attributes.empty() ? "" : "; attributes ",
                     fmt::join(attributes, ", "));
}

void addKindsCommand(CLI::App& app, CommandContext& context) {
  CLI::App& command = *app.add_subcommand("kinds", "List the kinds of `new --kind`, with an example of each");
  command.footer("Example: op-scaffold kinds");
  command.callback([&context] {
    context.run = []() -> Result<int> {
      for (const Kind& kind : kinds()) {
        std::string formula = kind.formula;
        formula.erase(std::remove(formula.begin(), formula.end(), '`'), formula.end());
        fmt::print("{:<12} {}\n{:<12} starts as: {}\n{:<12} brings inputs {}\n{:<12} op-scaffold new {}\n", kind.name,
                   kind.summary, "", formula, "", portsAndAttributesOf(kind), "", kind.example);
      }
      return cli::kSuccess;
    };
  });
}

void addListCommand(CLI::App& app, CommandContext& context) {
  CLI::App& command =
      *app.add_subcommand("list", "List the operators of the tree by folder; * marks those that op-scaffold made here");
  command.footer("Example: op-scaffold list");
  command.callback([&context] {
    context.run = [&context]() -> Result<int> {
      OPKIT_ASSIGN(const Tree tree, context.tree());
      std::string folder, text;
      const auto known = operatorsOf(tree);
      for (const KnownOperator& op : known) {
        if (op.folder != folder) text += fmt::format("{}{:<16}", folder.empty() ? "" : "\n", op.folder);
        folder = op.folder;
        text += fmt::format(" {}{}", op.type, readRecord(tree, op.type) ? "*" : "");
      }
      if (known.empty()) {
        fmt::print(stderr, "op-scaffold: nothing to list: the tree has no operator\n");
        return cli::kNothingRan;
      }
      fmt::print("{}\n", text);
      return cli::kSuccess;
    };
  });
}

void addWhereCommand(CLI::App& app, CommandContext& context) {
  auto name = std::make_shared<std::string>();  // shared: the callback outlives this function
  CLI::App& command = *app.add_subcommand(
      "where", "Print the files and lines of an operator, of a row in a family, or of an ONNX name");
  command.add_option("NAME", *name, "A name such as Softmax, Sigmoid or com.microsoft::FusedConv")->required();
  command.footer("Example: op-scaffold where Sigmoid");
  command.callback([&context, name] {
    context.run = [&context, name]() -> Result<int> {
      OPKIT_ASSIGN(const Tree tree, context.tree());
      OPKIT_ASSIGN(const std::vector<Place> places, placesOf(tree, *name));
      size_t width = 0;
      for (const Place& place : places) width = std::max(width, fmt::formatted_size("{}:{}", place.path, place.line));
      for (const Place& place : places)
        fmt::print("{:<14}  {:<{}}  {:.100}\n", place.part, fmt::format("{}:{}", place.path, place.line), width,
                   place.text);
      return cli::kSuccess;
    };
  });
}

void addEjectCommand(CLI::App& app, CommandContext& context) {
  struct Options {
    std::string folder;
    bool force = false;
  };
  auto options = std::make_shared<Options>();  // shared: the callback outlives this function
  CLI::App& command = *app.add_subcommand("eject", "Copy the templates to a folder; --templates DIR then uses them");
  command.add_option("DIR", options->folder, "The folder; created if it does not exist")
      ->required()
      ->check(cli::outputFolder());
  command.add_flag("--force", options->force, "Overwrite templates that differ");
  command.footer("Example: op-scaffold eject out/templates");
  command.callback([&context, options] {
    context.run = [&context, options]() -> Result<int> {
      OPKIT_ASSIGN(const Tree folder, context.folder(options->folder));
      const Plan plan = ejectPlan(folder);
      for (const FileChange& change : plan)
        if (change.before && !change.isNoOp() && !options->force)
          return Status::invalidArgument("{} exists and differs; --force overwrites it", folder.absolute(change.path));
      return carryOut(folder, plan, false,
                      fmt::format("  op-scaffold --templates {} new MyOperator --kind custom --dry-run\n",
                                  shellQuoted(options->folder)));
    };
  });
}

}  // namespace opkit::scaffold
