// `check --evidence FILE` and `check --verify FILE`.
#pragma once

#include "harness/commands/commands.h"
#include "harness/run/evidence.h"

namespace opkit::harness {

struct EvidenceOptions {
  std::string file;         // write evidence here
  std::string verify;       // repeat the run of this evidence, and compare
  bool isRepeated = false;  // this process is the repetition: the arguments are those of the evidence

  void add(CLI::App& command);
  bool wanted() const { return !file.empty() || !verify.empty(); }
};

/// The options of the run that repeat it anywhere, and the names of those that belong to this machine. InvalidArgument
/// for an option with which a run proves less than it seems. `day` is that of a run by budget.
Result<CheckEvidence> startEvidence(const CLI::App& command, std::optional<uint64_t> day);

/// Replaces this process by one that runs the arguments of the evidence, with the options of this machine that were
/// given beside --verify. Returns only an error: for a file that holds no evidence, for an argument that --verify does
/// not repeat, and for options that the evidence needs and that are missing.
Status repeatEvidence(const CLI::App& command, const EvidenceOptions& options);

/// Writes the file, or compares; the exit code of the run.
Result<int> concludeEvidence(const EvidenceOptions& options, const CheckEvidence& evidence, int code);

}  // namespace opkit::harness
