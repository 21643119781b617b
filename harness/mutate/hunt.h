// Hunt: looks for a case that fails, as fast as it can. What a worker does for every mutant.
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

  /// Checks the groups of `order` in turn until a case fails; answers "sub-check: case id", or "" when all pass. The
  /// group that failed comes first next time. Groups that `concerned` does not ask for are left out.
  std::string firstFailure(std::vector<size_t>& order, const OpRegistry& broken, const std::string& backend,
                           const std::shared_ptr<Runtime>& runtime,
                           const std::function<bool(size_t)>& concerned = nullptr);

 private:
  const Catalogue& catalogue_;
  const OpRegistry& registry_;  // whole: the oracle's answers are right
  std::map<size_t, PreparedGroup> prepared_;
};

/// What a group of cases does where nothing is broken.
struct GroupFacts {
  double seconds = 0;
  std::string failure;             // like Hunt::firstFailure; or what ended the worker
  std::set<std::string> variants;  // of shaders that are dispatched
};

/// A kernel, or several, and the groups that run it, the quickest first.
struct Subject {
  std::string name;  // an operator, or a shader
  std::vector<size_t> groups;
  double seconds = 0;  // of all groups
};

/// Puts the quickest groups first. InvalidArgument when one fails although nothing is broken: mutants would be killed
/// by cases that kill everything.
Status arrange(Subject& subject, const std::vector<GroupFacts>& facts);

}  // namespace opkit::harness
