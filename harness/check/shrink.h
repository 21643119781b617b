// shrink: the smallest case that still fails in the same way, and capsules (.opcase) that keep it.
//
// Plain functions. Trials run through a predicate, so that the caller decides how much a crash costs.
#pragma once

#include <functional>

#include "engine/backend/backend_registry.h"
#include "harness/cases/case_file.h"

namespace opkit::harness {

/// The name of the sub-check that fails for the group, "crash" or "hang", or nullopt if it passes.
using Fails = std::function<std::optional<std::string>(const CaseGroup&)>;

struct Shrunk {
  CaseGroup group;  // the failing case first, then the other stops of its walk if needed
  size_t trials = 0;
};

/// Drops stops of the walk, makes extents smaller, leaves out parameters and optional inputs, and simplifies values, as
/// long as `fails` returns `check`; at most `maxTrials` trials. The given group must fail in that way.
Shrunk shrinkGroup(const CaseGroup& group, const std::string& check, const OpRegistry& registry, const Fails& fails,
                   size_t maxTrials = 150);

/// A failure that can be replayed elsewhere.
struct Capsule {
  std::string backend;
  std::string check;   // the sub-check that failed
  std::string reason;  // its message
  std::string mask;    // of the device, see --mask
  std::string commit;
  CaseGroup group;
  std::string dataHash;  // of the inputs: another version might draw other data for the same id
};

std::string dataHashOf(const CaseGroup& group, const OpRegistry& registry);
Status writeCapsule(const std::string& path, const Capsule& capsule);
/// InvalidArgument or Corrupt names the path and the error.
Result<Capsule> readCapsule(const std::string& path, const OpRegistry& registry);

/// The sub-check that fails first for the group's first case on a backend, tried in a separate process; `reason`
/// becomes its message.
std::optional<std::string> failsIsolated(const CaseGroup& group, const std::string& backend,
                                         const RuntimeOptions& options, const OpRegistry& registry,
                                         std::string* reason);

/// The group of a case, with that case first; nothing if no group has it.
std::optional<CaseGroup> groupBeginningWith(const std::string& id, const std::vector<CaseGroup>& groups);
/// Of all inputs.
int64_t inputElements(const Case& c);

struct CapsuleFile {
  std::string path, id;
  int64_t elementsBefore = 0, elementsAfter = 0;
  size_t trials = 0;
  CaseGroup group;  // as saved
};
/// Finds the case in the catalogue, shrinks its failure and saves it in `folder`.
Result<CapsuleFile> shrinkToFile(const Catalogue& catalogue, const std::string& id, const std::string& backend,
                                 const RuntimeOptions& options, const OpRegistry& registry, const std::string& folder);

}  // namespace opkit::harness
