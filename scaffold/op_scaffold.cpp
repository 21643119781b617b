// op-scaffold: writes the boilerplate of operators, backends and plugins. See scaffold/commands.h for the commands.
#include <cstdlib>

#include "engine/base/guard.h"
#include "scaffold/commands.h"

namespace opkit::scaffold {
namespace {

/// The folder of the option or of the environment; a missing folder is an error and does not select the built-in ones.
Status findTemplates(CommandContext& context) {
  const char* const asked = std::getenv("OPKIT_TEMPLATES");
  if (!context.overrides.empty() || !asked || !*asked) return Status::ok();
  context.overrides = asked;
  std::string folder = asked;
  const std::string wrong = cli::existingFolder()(folder);
  return wrong.empty() ? Status::ok() : Status::invalidArgument("OPKIT_TEMPLATES: {}", wrong);
}

int run(int argc, char** argv) {
  CLI::App app("Writes new operators, backends and plugins that build and pass their checks at once.", "op-scaffold");
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  op-scaffold kinds\n"
      "  op-scaffold new HardShrink --kind elementwise --attr lambd:float=0.5 --dry-run\n"
      "  op-scaffold remove HardShrink\n"
      "  op-scaffold new-kernel Softmax --backend vulkan --name fused");
  CommandContext context;
  app.add_option("--root", context.root, "Work in the source tree of this folder (default: the current folder)");
  app.add_option(
         "--templates", context.overrides,
         "Use the templates of this folder before the built-in ones; eject writes them (default: OPKIT_TEMPLATES)")
      ->check(cli::existingFolder());
  addNewCommand(app, context);
  addRemoveCommand(app, context);
  addRenameCommand(app, context);
  addFurtherKernelCommand(app, context);
  addBackendToOperatorCommand(app, context);
  addBackendCommand(app, context);
  addPluginCommand(app, context);
  addDoctorCommand(app, context);
  addKindsCommand(app, context);
  addListCommand(app, context);
  addWhereCommand(app, context);
  addEjectCommand(app, context);
  return cli::runProgram(app, argc, argv, [&context]() -> Result<int> {
    OPKIT_TRY(findTemplates(context));
    try {
      return context.run();
    } catch (const TreeError& error) {
      return Status::invalidArgument("{}", error.what());
    }
  });
}

}  // namespace
}  // namespace opkit::scaffold

int main(int argc, char** argv) {
  return opkit::guardedMain("op-scaffold", [=] { return opkit::scaffold::run(argc, argv); });
}
