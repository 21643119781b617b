#include "harness/commands/check_evidence.h"

#include <unistd.h>

#include <set>

#include "engine/model/model.h"

namespace opkit::harness {
namespace {

// Choose cases and devices; none of them reads or writes a file, so a stranger's evidence may name them.
const std::set<std::string> kRepeated = {"--op",       "--filter",       "--case",        "--seed",    "--backend",
                                         "--mask",     "--simd",         "--validation",  "--written", "--sample",
                                         "--brief",    "--budget",       "--day",         "--fuzz",    "--shard",
                                         "--sanitize", "--device-class", "--vector-width"};
// Whoever repeats the run has files and devices of their own.
const std::set<std::string> kLocal = {"--plugin", "--cases", "--oracle", "--device", "--driver"};
// Change neither cases nor verdicts.
const std::set<std::string> kNeutral = {"--json",     "--junit",   "--save",     "--jobs",       "--timeout",
                                        "--memory",   "--verbose", "--slowest",  "--subchecks",  "--annotations",
                                        "--evidence", "--verify",  "--in-turns", "--as-recorded"};

std::string optionOf(const std::string& word) { return word.substr(0, word.find('=')); }

}  // namespace

void EvidenceOptions::add(CLI::App& command) {
  CLI::Option* const evidence =
      command
          .add_option("--evidence", file,
                      "Write twenty lines of Markdown for a pull request: what was checked on what, and what not")
          ->check(cli::outputFile());
  command.add_option("--verify", verify, "Repeat the run of this evidence, and compare; exit 1 if anything differs")
      ->check(cli::existingFile())
      ->excludes(evidence);
  command.add_flag("--as-recorded", isRepeated)->group("");
}

Result<CheckEvidence> startEvidence(const CLI::App& command, std::optional<uint64_t> day) {
  std::vector<std::string> arguments, local;
  bool hasDay = false;
  for (const GivenOption& option : givenOptions(command)) {
    hasDay = hasDay || option.name == "--day";
    if (kRepeated.contains(option.name))
      option.appendTo(arguments);
    else if (kLocal.contains(option.name))
      local.push_back(option.name);
    else if (!kNeutral.contains(option.name))
      return Status::invalidArgument("--evidence: leave out {}; nobody else's run would have the same verdicts",
                                     option.name);
  }
  if (day && !hasDay) arguments.push_back(fmt::format("--day={}", *day));
  return CheckEvidence(std::move(arguments), std::move(local));
}

Status repeatEvidence(const CLI::App& command, const EvidenceOptions& options) {
  OPKIT_ASSIGN(const nlohmann::json evidence, readEvidence(options.verify));
  std::vector<std::string> words = {"op-harness", "check"};
  for (const auto& word : evidence["arguments"].get<std::vector<std::string>>()) {
    if (!kRepeated.contains(optionOf(word)))
      return Status::invalidArgument("--verify: {} asks for '{}', which is not repeated from a file", options.verify,
                                     word);
    words.push_back(word);
  }
  std::set<std::string> given;
  for (const GivenOption& option : givenOptions(command)) {
    given.insert(option.name);
    if (kRepeated.contains(option.name))
      return Status::invalidArgument("--verify repeats the options of the evidence: leave out {}", option.name);
    option.appendTo(words);
  }
  for (const auto& name : evidence["local"].get<std::vector<std::string>>())
    if (!given.contains(name) && name != "--device" && name != "--driver")
      return Status::invalidArgument("--verify: the evidence was made with {}: give it here too", name);
  words.emplace_back("--as-recorded");
  fmt::print("repeats");
  for (size_t i = 0; i + 1 < words.size(); ++i) fmt::print(" {}", words[i]);
  fmt::print("\n");
  std::fflush(stdout);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv("/proc/self/exe", arguments.data());
  return Status::internal("--verify: this program cannot be started again");
}

Result<int> concludeEvidence(const EvidenceOptions& options, const CheckEvidence& evidence, int code) {
  if (options.verify.empty()) {
    const std::string text = evidence.markdown(options.file);
    OPKIT_TRY(writeFile(options.file, {reinterpret_cast<const uint8_t*>(text.data()), text.size()})
                  .withContext("--evidence"));
    return code;
  }
  OPKIT_ASSIGN(const nlohmann::json recorded, readEvidence(options.verify));
  const EvidenceComparison found = compareEvidence(recorded, evidence.json());
  for (const std::string& note : found.notes) fmt::print("note: {}\n", note);
  for (const std::string& difference : found.differences) fmt::print("differs: {}\n", difference);
  const bool same = found.differences.empty();
  fmt::print("{}: {}\n", options.verify,
             same ? code == cli::kSuccess ? "verified" : "verified: the same failures" : "NOT verified");
  return same ? code : cli::kCheckFailed;
}

}  // namespace opkit::harness
