// Mutation testing: every mutant of a kernel is checked with the operator's ordinary cases until one of them fails.
//
// A mutant that crashes or hangs its worker process is killed too. What the cases let live names a missing case. Cases
// must pass before anything is broken; else they would kill everything, and the run ends with InvalidArgument.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "engine/backend/backend.h"
#include "harness/check/prepared.h"
#include "harness/mutate/marks.h"
#include "harness/run/build_facts.h"

namespace opkit::harness {

struct MutationOptions {
  size_t limit = 30;  // per shader; 0 is all
  size_t jobs = std::max(1u, std::thread::hardware_concurrency());
  // Of one mutant; never less than five times what its cases take where nothing is broken.
  double timeoutSeconds = 20;
  std::string source = sourceFolder();
};

struct MutantResult {
  enum class Fate {
    Killed,
    Survived,
    Equivalent,  // the same SPIR-V, or marked beside the operator with a reason
    Invalid,     // does not compile, or spoils nothing
  };
  std::string subject;  // an operator, or a shader "softmax/softmax"
  std::string backend;
  std::string where;          // "line 12 (bound)", or the fault's name
  std::string before, after;  // of a line of GLSL
  Fate fate = Fate::Survived;
  std::string by;          // the sub-check and case that killed it, or why it does not count
  bool wrongMark = false;  // killed, though marked as equivalent
};

const char* nameOf(MutantResult::Fate fate);

/// Applies a mark to a verdict: a marked survivor is equivalent, a marked mutant that was killed is a wrong mark.
void applyMark(const EquivalentMarks& marks, const std::string& change, MutantResult& result);

/// The table of cpu_faults.h on every operator of the catalogue.
Status mutateCpu(const Catalogue& catalogue, const OpRegistry& registry, const MutationOptions& options,
                 const std::function<void(const MutantResult&)>& done);

/// Mutants of every shader that the catalogue's cases dispatch. Unsupported without a Vulkan device.
Status mutateShaders(const Catalogue& catalogue, const OpRegistry& registry, const MutationOptions& options,
                     const std::function<void(const MutantResult&)>& done);

}  // namespace opkit::harness
