// Mutation testing: every mutant of a kernel is checked with the operator's ordinary cases until one of them fails.
//
// A mutant that crashes or hangs its worker process is killed too. A surviving mutant shows a missing case. Cases must
// pass with unbroken kernels, else they would kill every mutant; the run then ends with InvalidArgument.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/backend/backend.h"
#include "harness/check/prepared.h"
#include "harness/mutate/marks.h"
#include "harness/run/build_facts.h"

namespace opkit::harness {

struct MutationOptions {
  size_t limit = 30;    // per shader; 0 is all
  bool shared = false;  // also break files that many operators include: shaders/include, shaders/loop
  // Also run the built-in cases of each shader's own folder: those of another operator may use a branch of it only.
  bool ownersCases = false;
  size_t jobs = std::max(1u, std::thread::hardware_concurrency());
  // Limit for one mutant; at least five times the time of its cases with unbroken kernels.
  double timeoutSeconds = 20;
  std::string source = sourceFolder();
};

struct MutantResult {
  enum class Fate {
    Killed,
    Survived,
    Equivalent,  // the same SPIR-V, or marked beside the operator with a reason
    Invalid,     // does not compile, or changes nothing
  };
  std::string subject;  // an operator, or a shader "softmax/softmax"
  std::string backend;
  std::string where;          // "line 12 (bound)", or the fault's name
  std::string before, after;  // of a line of GLSL
  Fate fate = Fate::Survived;
  std::string by;          // the sub-check and case that killed it, or the reason why it does not count
  bool wrongMark = false;  // killed, though marked as equivalent
};

const char* nameOf(MutantResult::Fate fate);

/// Callbacks for the progress of a hunt. Both are called in this process.
struct MutationEvents {
  std::function<void(size_t)> planned;                // once: how many mutants there are
  std::function<void(const MutantResult&)> done;      // as they finish, in the order of the mutants
  std::function<bool()> stop = [] { return false; };  // true ends the hunt early, as an interrupt does
};

/// After an early end: mutants that finished after `next`, the first unfinished one.
void reportRest(const std::vector<std::optional<MutantResult>>& finished, size_t next, const MutationEvents& events);

/// Applies a mark to a verdict: a marked survivor is equivalent, a marked mutant that was killed is a wrong mark.
void applyMark(const EquivalentMarks& marks, const std::string& change, MutantResult& result);

/// The table of cpu_faults.h on every operator of the catalogue. An interrupt ends it early: the Status is OK, and
/// finished mutants are reported.
Status mutateCpu(const Catalogue& catalogue, const OpRegistry& registry, const MutationOptions& options,
                 const MutationEvents& events);

/// Mutants of every shader that the catalogue's cases dispatch. Unsupported without a Vulkan device.
Status mutateShaders(const Catalogue& catalogue, const OpRegistry& registry, const MutationOptions& options,
                     const MutationEvents& events);

}  // namespace opkit::harness
