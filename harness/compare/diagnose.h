// diagnose: proposes a cause for a wrong output.
//
// Cheap explanations are tried on the wrong output, and the first that explains every wrong element is returned. They
// are hypotheses about a kernel, not proofs; docs/harness.md lists them with their symptoms. Plain functions; may run
// the oracle again, on altered inputs or parameters, and the kernel, if the case is small.
#pragma once

#include <string>
#include <vector>

#include "harness/check/op_model.h"
#include "harness/compare/compare.h"

namespace opkit::harness {

/// One wrong output and what is known about it. Borrowed.
struct Evidence {
  const OpDef& def;
  const Case& description;
  const HostInputs& inputs;
  const std::vector<OracleTensor>& expected;  // of every output
  size_t output = 0;                          // the one that is wrong
  const Tensor& got;                          // on the host, with expected[output]'s description
  Tolerance tolerance;
  const Tensor* again = nullptr;      // output of a second run
  const Tensor* overOther = nullptr;  // output of a run over other poison, if the run repeats
  const Tensor* overZero = nullptr;   // output of a run over zeros
  const Tensor* previous = nullptr;   // if a fresh kernel is right here: this one's previous output, at another shape
  bool quick = false;                 // without imitations by the oracle and further runs, which may take seconds
  KernelRun rerun = nullptr;          // the same kernel on other values of the inputs; null: it cannot run again
};

struct Diagnosis {
  std::string kind;  // "race", "unwritten", "stale", "transposed", ...; "unknown" if nothing fits
  std::string text;  // one sentence
};

/// The most seconds of a diagnosis, but for the run of the kernel that has begun.
inline constexpr double kSecondsOfDiagnosis = 10;

Diagnosis diagnose(const Evidence& evidence);

/// A map of at most 16 rows and 64 columns over the tensor seen as rows of its last axis: '.' right, '#' wrong, '+'
/// some of each. Lines are separated by newlines; empty for an empty tensor.
std::string errorMap(const Shape& shape, const std::vector<bool>& wrong);

}  // namespace opkit::harness
