// op-harness: proves operators on every backend and measures them. See harness/commands/commands.h for the commands.
#include "engine/base/guard.h"
#include "harness/commands/commands.h"

namespace opkit::harness {
namespace {

int runProgram(int argc, char** argv) {
  CLI::App app("Cross-checks and times operators on every backend of OpKit.", "op-harness");
  app.require_subcommand(1);
  app.fallthrough();  // options of the program may follow the command
  plugins().add(app);
  app.footer(
      "Examples:\n"
      "  op-harness check --backend cpu,vulkan\n"
      "  op-harness watch --op Softmax\n"
      "  op-harness bench --op Softmax --backend vulkan\n"
      "  op-harness check --plugin build/libacme.so --op com.acme::Foo");
  CommandContext context;
  for (int i = 1; i < argc; ++i) context.commandLine += (i > 1 ? " " : "") + std::string(argv[i]);
  addListCommand(app, context);
  addDevicesCommand(app, context);
  addCheckCommand(app, context);
  addReplayCommand(app, context);
#ifdef OPKIT_HAS_VULKAN
  addWatchCommand(app, context);
#endif
  addBenchCommand(app, context);
  addFurtherCommands(app, context);
  return cli::runProgram(app, argc, argv, [&context]() -> Result<int> {
    notePartialBuild();
    OPKIT_TRY(plugins().load());
    return context.run();
  });
}

}  // namespace
}  // namespace opkit::harness

int main(int argc, char** argv) {
  return opkit::guardedMain("op-harness", [=] { return opkit::harness::runProgram(argc, argv); });
}
