#include "harness/commands/oracle_option.h"

namespace opkit::harness {

CLI::Option* addOracleOptions(CLI::App& command, ScriptOptions& options) {
  CLI::Option* const oracle =
      command
          .add_option("--oracle", options.path,
                      "Compute the expected values of one operator by oracle(inputs, attributes) of this Python script")
          ->check(CLI::ExistingFile);
  command
      .add_option("--oracle-timeout", options.seconds,
                  "Stop the script of --oracle if one case takes more than this many seconds")
      ->capture_default_str()
      ->check(cli::seconds())
      ->needs(oracle);
  return oracle;
}

Status checkOracle(const ScriptOptions& options, const CaseOptions& cases) {
  if (options.path.empty()) return Status::ok();
  if (cases.ops.size() != 1 && cases.id.empty())
    return Status::invalidArgument("--oracle: a script is for one operator, name it with --op");
  return ScriptOracle::start(options).error().withContext("--oracle");
}

}  // namespace opkit::harness
