// The options of `check`, with and without another engine.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "harness/commands/check_evidence.h"
#include "harness/commands/expectation_options.h"
#include "harness/guest/guest_options.h"

namespace opkit::harness {

/// The options of `check`.
struct CheckArguments {
  BackendOptions backend;
  CaseOptions cases;
  ExpectationOptions expectations;
  EvidenceOptions evidence;
  GuestOptions guest;
  int opset = 0;  // with a guest
  std::string json, junit, saveFolder, debugFolder, storeFile;
  Shard shard;
  size_t jobs = std::max(1u, std::thread::hardware_concurrency());
  double timeoutSeconds = 120;
  bool hasTimeout = false;  // --timeout was given: it holds for every group
  size_t memoryMiB = 8192;
  std::string budget;  // seconds, "none", or empty: the default
  std::optional<uint64_t> day;
  size_t slowest = 0;
  bool sample = false;
  bool brief = false;
  bool inTurns = false;
  bool verbose = false;
  bool annotations = false;
  bool subChecks = false;
  const CLI::App* command = nullptr;
};

/// Adds them to the command, with its examples. Returns --timeout.
CLI::Option* addCheckOptions(CLI::App& command, const std::shared_ptr<CheckArguments>& options);

}  // namespace opkit::harness
