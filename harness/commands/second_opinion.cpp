#include "harness/commands/second_opinion.h"

#include <fmt/format.h>

#include <filesystem>

#include "engine/base/child_process.h"
#include "engine/tools/driver.h"

namespace opkit::harness {
namespace {

/// "op-harness check ..." as a shell command in an environment without the two options.
std::string plainCommand(std::string command, const std::string& options) {
  if (const size_t at = command.find(" " + options); at != std::string::npos) command.erase(at, options.size() + 1);
  std::error_code error;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error || !command.starts_with("op-harness ")) return "";
  return fmt::format("exec env {} {}{}", cli::undoDriverOptions(), shellQuoted(program), command.substr(10));
}

}  // namespace

bool hasSecondOpinion() { return !cli::driverOptions().empty(); }

std::string secondOpinion(const CaseRecord& record, const std::string& repeatCommand) {
  const std::string options = cli::driverOptions();
  if (options.empty() || record.backend != "vulkan") return "";
  const std::string command = plainCommand(repeatCommand, options);
  if (command.empty()) return "";
  const auto ran = runChild({"sh", "-c", command});
  if (ran && ran->exitCode == 1) return fmt::format("fails without {} too", options);
  if (!ran || ran->exitCode != 0) return fmt::format("could not be checked without {}", options);
  if (options.starts_with("--vector-width"))
    return fmt::format("passes without {}: a race, or an assumption on the size of a subgroup", options);
  return fmt::format("passes without {}: the drivers differ", options);
}

}  // namespace opkit::harness
