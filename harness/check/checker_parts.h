// Parts that the files of Checker share: check.cpp (a case in a fresh Session), checker_modes.cpp (the same work in
// other modes), checker_walks.cpp (walks through shapes).
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "harness/check/check.h"

namespace opkit::harness {

/// The results of a fresh Session at one shape.
struct Checker::Fresh {
  bool ran = false;
  bool isOracle = false;  // the kernel is the oracle
  size_t alternatives = 0;
  std::vector<Tensor> outputs;
};

inline constexpr const char* kFolded = "it is computed at resize, no kernel runs";

/// Notes why sub-checks cannot run, as far as they concern the backend.
void skipAll(CaseResult& result, std::initializer_list<const char*> names, const std::string& why);

/// A sub-check that is Unsupported could not run for the case.
void checkOrSkip(CaseResult& result, const char* name, const Status& status);

/// Outputs of other runs; null if there was none.
struct OtherRuns {
  const std::vector<Tensor>* again = nullptr;      // a second run
  const std::vector<Tensor>* overOther = nullptr;  // over other poison, if the second run gave the same
  const std::vector<Tensor>* overZero = nullptr;   // over zeros, likewise
  const std::vector<Tensor>* previous = nullptr;   // of the shape before this one
  bool quick = false;                              // see Evidence
  KernelRun rerun = nullptr;                       // likewise
};

/// A sentence about a failed sub-check that has no wrong values to look at; empty if its message says it.
std::string causeOf(const CaseResult& result);

/// Records why and where `output` is wrong.
void explain(const OpDef& def, const PreparedCase& c, size_t output, const std::vector<Tensor>& got,
             const OtherRuns& others, CaseResult& result);

}  // namespace opkit::harness
