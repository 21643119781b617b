#include "harness/commands/bench_guest.h"
#include "harness/commands/check_guest.h"
#include "harness/commands/commands.h"
#include "harness/run/build_facts.h"

namespace opkit::harness {

void addFurtherCommands(CLI::App& app, CommandContext& context) {
  for (const char* name : {"describe", "export", "model", "cases", "conformance", "mutate", "backend", "costs",
                           "margins", "shaders", "traced"}) {
    CLI::App* command =
        app.add_subcommand(name, "Not in this partial build")->group("")->allow_extras()->fallthrough(false);
    command->callback([name, &context] {
      context.run = [name]() -> Result<int> {
        return Status::unsupported(
            "{}: not in this partial build for {}; `cmake --preset release && cmake --build --preset release --target "
            "op-harness` makes build/release/bin/op-harness, which has it",
            name, kBuildFacts.operators);
      };
    });
  }
}

/// GuestOptions::check() has said so before.
Result<int> checkGuest(const CheckArguments&, const std::string&) {
  return Status::unsupported("--ort: not in this partial build for {}", kBuildFacts.operators);
}
Result<int> benchGuest(const GuestBenchArguments&, const std::string&) {
  return Status::unsupported("--ort: not in this partial build for {}", kBuildFacts.operators);
}

}  // namespace opkit::harness
