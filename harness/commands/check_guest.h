// check --ort: OpKit's cases, asked of a provider of another engine. docs/foreign.md.
#pragma once

#include "harness/commands/expectation_options.h"
#include "harness/guest/guest.h"

namespace opkit::harness {

struct GuestCheckArguments {
  GuestChoice guest;
  CaseOptions cases;  // `reach`: also draws, with --sample and --budget
  std::string budget;
  std::optional<uint64_t> day;
  bool sample = false;
  Shard shard;
  int opset = 0;  // see ExportOptions
  ExpectationOptions expectations;
  std::string json, junit, saveFolder;
  size_t jobs = 1;
  double timeoutSeconds = 60;
  size_t memoryMiB = 0;
  bool annotations = false;
  bool verbose = false;
};

/// Exit codes as of `check`. Unsupported in a partial build.
Result<int> checkGuest(const GuestCheckArguments& options, const std::string& commandLine);

}  // namespace opkit::harness
