#include "harness/commands/commands.h"

namespace opkit::harness {

void addFurtherCommands(CLI::App& app, CommandContext& context) {
  addDescribeCommand(app, context);
  addExportCommand(app, context);
  addModelCommand(app, context);
  addCasesCommand(app, context);
  addConformanceCommand(app, context);
  addMutateCommand(app, context);
  addBackendSuiteCommand(app, context);
  addCostsCommand(app, context);
  addMarginsCommand(app, context);
#ifdef OPKIT_HAS_VULKAN
  addShadersCommand(app, context);
  addTracedCommand(app, context);
#endif
}

}  // namespace opkit::harness
