// op-scaffold: writes the boilerplate of operators, backends and plugins. See scaffold/commands.h for the commands.
#include "scaffold/commands.h"

int main(int argc, char** argv) {
  using namespace opkit::scaffold;
  CLI::App app("Writes new operators, backends and plugins that build and pass their checks at once.", "op-scaffold");
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  op-scaffold kinds\n"
      "  op-scaffold new HardShrink --kind elementwise --attr lambd:float=0.5 --dry-run\n"
      "  op-scaffold remove HardShrink");
  CommandContext context;
  app.add_option("--root", context.root, "A folder of the source tree (default: the current one)");
  app.add_option("--templates", context.overrides, "Templates that replace the built-in ones; see eject")
      ->envname("OPKIT_TEMPLATES")
      ->check(CLI::ExistingDirectory);
  addNewCommand(app, context);
  addRemoveCommand(app, context);
  addRenameCommand(app, context);
  addBackendToOperatorCommand(app, context);
  addBackendCommand(app, context);
  addPluginCommand(app, context);
  addDoctorCommand(app, context);
  addKindsCommand(app, context);
  addListCommand(app, context);
  addEjectCommand(app, context);
  return opkit::cli::runProgram(app, argc, argv, [&context] { return context.run(); });
}
