// Hunt: finds a failing case as fast as possible. A worker runs it for every mutant.
//
// Groups are prepared when they are first needed and kept. Used by one thread.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "harness/check/prepared.h"

namespace opkit::harness {

class Hunt {
 public:
  /// Both must outlive it.
  Hunt(const Catalogue& catalogue, const OpRegistry& registry) : catalogue_(catalogue), registry_(registry) {}

  const PreparedGroup& prepared(size_t group);

  /// Checks the groups of `order` in turn until a case fails; returns "sub-check: case id", or "" if all pass. The
  /// failed group comes first next time. Groups for which `concerned` is false are skipped.
  std::string firstFailure(std::vector<size_t>& order, const OpRegistry& broken, const std::string& backend,
                           const std::shared_ptr<Runtime>& runtime,
                           const std::function<bool(size_t)>& concerned = nullptr);

 private:
  const Catalogue& catalogue_;
  const OpRegistry& registry_;  // whole: the oracle's answers are right
  std::map<size_t, PreparedGroup> prepared_;
};

/// Facts about a group of cases with unbroken kernels.
struct GroupFacts {
  double seconds = 0;
  std::string failure;             // like Hunt::firstFailure; or the end of the worker
  std::set<std::string> variants;  // of shaders that are dispatched
};

/// One or several kernels and the groups that run them, fastest first.
struct Subject {
  std::string name;               // an operator, a shader, or a file that shaders include
  std::set<std::string> shaders;  // that contain the text
  std::vector<size_t> groups;
  double seconds = 0;  // of all groups
};

/// Puts the fastest groups first. InvalidArgument if one fails with unbroken kernels: such a case would kill every
/// mutant.
Status arrange(Subject& subject, const std::vector<GroupFacts>& facts);

}  // namespace opkit::harness
