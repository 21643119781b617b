// Commands that change or check an existing tree: rename, new-kernel, add-backend, backend, doctor.
#include <dlfcn.h>

#include <filesystem>

#include "engine/base/child_process.h"
#include "scaffold/add_backend.h"
#include "scaffold/backend.h"
#include "scaffold/commands.h"
#include "scaffold/doctor.h"
#include "scaffold/further_kernel.h"
#include "scaffold/names.h"
#include "scaffold/plugin.h"
#include "scaffold/record.h"
#include "scaffold/rename.h"

namespace opkit::scaffold {
namespace {

struct Options {
  std::string first, second, kind, folder, domain = "com.example", language = "c";
  bool force = false, dryRun = false, marks = false;
};

/// A subcommand whose options share one record.
std::shared_ptr<Options> addCommand(CLI::App& app, const char* name, const char* summary, CLI::App*& command,
                                    const char* example) {
  command = app.add_subcommand(name, summary);
  command->footer(fmt::format("Example: op-scaffold {} {}", name, example));
  return std::make_shared<Options>();  // shared: the callback outlives the function that adds it
}

void addFlags(CLI::App& command, Options& options, const char* force) {
  command.add_flag("--force", options.force, force);
  command.add_flag("--dry-run", options.dryRun, "Print the change as a diff and write nothing");
}

std::string checkSteps(const Tree& tree, const std::string& op, const std::string& backend) {
  return buildSteps(tree, op) + fmt::format("  {} check --op {} --backend {}\n", harnessProgram(), op, backend);
}

/// One command of the compiler, and the same as a CMake project. An installed program names its prefix; one in a build,
/// the tree that it was built in.
std::string pluginSteps(const std::string& folder, const std::string& name, const Options& options) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path bin = fs::read_symlink("/proc/self/exe", error).parent_path();
  std::string include = "/where/opkit/is/installed/include/opkit", where;
  if (fs::exists(bin / "../include/opkit/opkit_plugin.h", error)) {
    include = shellQuoted((bin.parent_path() / "include/opkit").string());
    where = " -DCMAKE_PREFIX_PATH=" + shellQuoted(bin.parent_path().string());
  } else if (const auto tree = Tree::find(bin.string())) {
    include = shellQuoted(tree->root() + "/engine/plugin");
    where = " -DOPKIT_PLUGIN_INCLUDE=" + include;
  }
  const bool isCpp = options.language == "cpp", hasVulkan = dlopen("libvulkan.so.1", RTLD_LAZY) != nullptr;
  return fmt::format(
      "  {0} -O2 -fPIC -shared -I{1} {3}/{4}.{2} -o {3}/lib{4}.so -lm\n"
      "  {5} check --plugin {3}/lib{4}.so --op {6}{8}\n"
      "  # as a CMake project: cmake -S {3} -B {3}/build{7} && cmake --build {3}/build\n",
      isCpp ? "c++" : "cc", include, options.language, folder, name, shellQuoted((bin / "op-harness").string()),
      options.domain + "::" + upperCamel(name), where, hasVulkan ? "" : " --backend cpu");
}

Result<int> runDoctor(const CommandContext& context, const Options& options) {
  OPKIT_ASSIGN(const Tree tree, context.tree());
  OPKIT_ASSIGN(const auto findings, examine(tree, options.first, options.marks));
  for (const Finding& finding : findings) fmt::print("{}: {}\n", finding.where, finding.message);
  fmt::print("{} finding{}\n", findings.size(), findings.size() == 1 ? "" : "s");
  return findings.empty() ? cli::kSuccess : cli::kCheckFailed;
}

}  // namespace

void addRenameCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = nullptr;
  auto options = addCommand(app, "rename", "Give an operator another type, folder and namespace", command,
                            "HardShrink SoftShrink --dry-run");
  command->add_option("OLD", options->first, "The operator's type")->required();
  command->add_option("NEW", options->second, "Its new type, UpperCamel")->required();
  addFlags(*command, *options, "Also change files that you edited, or that op-scaffold did not write");
  command->callback([&context, options] {
    context.run = [&context, options]() -> Result<int> {
      OPKIT_ASSIGN(const Tree tree, context.tree());
      OPKIT_ASSIGN(const Plan plan, planRename(tree, options->first, options->second, options->force));
      return carryOut(tree, plan, options->dryRun, checkSteps(tree, options->second, "cpu"));
    };
  });
}

void addFurtherKernelCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = nullptr;
  auto options = addCommand(app, "new-kernel", "Add a kernel to an operator, as a copy of its first one", command,
                            "Softmax --backend vulkan --name fused");
  auto kernel = std::make_shared<FurtherKernel>();  // shared: the callback outlives this function
  command->add_option("OP", kernel->type, "The operator's type")->required();
  command->add_option("--backend", kernel->backend, "cpu or vulkan")->required();
  command->add_option("--name", kernel->name, "The kernel's name, a lower-case word such as fused")->required();
  command->add_flag("--dry-run", options->dryRun, "Print the change as a diff and write nothing");
  command->callback([&context, options, kernel] {
    context.run = [&context, options, kernel]() -> Result<int> {
      OPKIT_ASSIGN(const Tree tree, context.tree());
      OPKIT_ASSIGN(const Plan plan, planFurtherKernel(tree, context.templates(), *kernel));
      return carryOut(
          tree, plan, options->dryRun,
          checkSteps(tree, kernel->type, kernel->backend) +
              fmt::format("  {4} check --op {0} --backend {1} --filter 'the kernel {2} on {1}'\n"
                          "  grep -n SCAFFOLD: {3}\n",
                          kernel->type, kernel->backend, kernel->name, plan.front().path, harnessProgram()));
    };
  });
}

void addBackendToOperatorCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = nullptr;
  auto options = addCommand(app, "add-backend", "Add a kernel to an operator on a backend that has none", command,
                            "HardShrink vulkan");
  command->add_option("OP", options->first, "The operator's type")->required();
  command->add_option("BACKEND", options->second, "cpu or vulkan")->required();
  command->add_option("--kind", options->kind,
                      "Start from the kernel of this kind if op-scaffold did not write the operator (default custom)");
  command->add_flag("--dry-run", options->dryRun, "Print the change as a diff and write nothing");
  command->callback([&context, options] {
    context.run = [&context, options]() -> Result<int> {
      OPKIT_ASSIGN(const Tree tree, context.tree());
      OPKIT_ASSIGN(const Plan plan,
                   planAddBackend(tree, context.templates(), options->first, options->second, options->kind));
      std::string next = checkSteps(tree, options->first, options->second);
      if (!readRecord(tree, options->first)) next.insert(next.size() - 1, "   # fails until the kernel is written");
      return carryOut(tree, plan, options->dryRun, next);
    };
  });
}

void addBackendCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = nullptr;
  auto options = addCommand(app, "backend", "Write a backend that runs nothing yet: everything falls back to the CPU",
                            command, "my_npu --dry-run");
  command->add_option("NAME", options->first, "A lower-case word, such as my_npu")->required();
  addFlags(*command, *options, "Overwrite files that exist and differ");
  command->callback([&context, options] {
    context.run = [&context, options]() -> Result<int> {
      OPKIT_ASSIGN(const Tree tree, context.tree());
      OPKIT_ASSIGN(Plan plan, planBackend(tree, options->first, options->force));
      plan.push_back(recordChange(tree, "backend-" + options->first, recordOf(plan, nullptr)));
      return carryOut(
          tree, plan, options->dryRun,
          buildSteps(tree, "") + fmt::format("  {0} devices\n  {0} backend {1}\n", harnessProgram(), options->first));
    };
  });
}

void addPluginCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = nullptr;
  auto options = addCommand(app, "plugin", "Write a project outside this tree: an operator in a shared library",
                            command, "hard_shrink --domain com.acme");
  command->add_option("NAME", options->first, "A lower-case word, such as hard_shrink")->required();
  command->add_option("--dir", options->folder, "Write the project to this folder (default: NAME)")
      ->check(cli::outputFolder());
  command->add_option("--domain", options->domain, "Qualify the operator: com.acme gives com.acme::HardShrink");
  command->add_option("--language", options->language, "Write the project in this language (default c)")
      ->type_name("{c,cpp}");
  addFlags(*command, *options, "Overwrite files that exist and differ");
  command->callback([&context, options] {
    context.run = [&context, options]() -> Result<int> {
      const std::string& name = options->first;
      OPKIT_ASSIGN(const Tree folder, context.folder(options->folder.empty() ? name : options->folder));
      OPKIT_ASSIGN(const Plan plan,
                   planPlugin(folder, context.templates(), name, options->domain, options->language, options->force));
      return carryOut(folder, plan, options->dryRun, pluginSteps(shellQuoted(folder.root()), name, *options));
    };
  });
}

void addDoctorCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = nullptr;
  auto options = addCommand(app, "doctor", "List missing and leftover parts of operators; exit 1 if there are any",
                            command, "HardShrink");
  command->add_option("OP", options->first, "The operator's type or folder (default: all operators)");
  command->add_flag("--marks", options->marks, "List only marks that op-scaffold left");
  command->callback(
      [&context, options] { context.run = [&context, options] { return runDoctor(context, *options); }; });
}

}  // namespace opkit::scaffold
