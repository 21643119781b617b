// op-harness: proves operators on every backend and measures them. See harness/commands.h for the commands.
#include "harness/build_facts.h"
#include "harness/commands.h"

namespace {

int parseAndRun(CLI::App& app, opkit::harness::CommandContext& context, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? opkit::harness::kSuccess : opkit::harness::kBadInput;
  }
  return context.exitCode;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace opkit::harness;
  CLI::App app("Cross-checks and times operators on every backend of OpKit.", "op-harness");
  app.set_version_flag("--version", std::string("op-harness ") + OPKIT_VERSION);
  app.require_subcommand(1);
  CommandContext context;
  for (int i = 1; i < argc; ++i) context.commandLine += (i > 1 ? " " : "") + std::string(argv[i]);
  addListCommand(app, context);
  addDevicesCommand(app, context);
  addCheckCommand(app, context);
  addConformanceCommand(app, context);
  return parseAndRun(app, context, argc, argv);
}
