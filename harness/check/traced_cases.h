// TracedCases: the cases whose accesses `check` traces in other device classes too, each day and briefly.
//
// A few cases that together dispatch every variant of every shader in every class of devices, dtypes aside: a race, an
// access outside a tensor or a read of what nothing wrote may leave the values right on the device that runs them.
// traced.tsv keeps the choice of `op-harness traced`.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/cases/case_file.h"

namespace opkit::harness {

/// Of the core of a device, in seconds on lavapipe: instrumenting, compiling and running a case.
inline constexpr double kTraceSeconds = 0.2;

class TracedCases {
 public:
  /// Lines of a hash of 16 hexadecimal digits, the name of a variant (DeviceVariants::Variant), the operator of the
  /// case and the shaders that it dispatches there, separated by tabs; lines that begin with '#' are ignored.
  /// InvalidArgument names the first wrong line.
  static Result<TracedCases> parse(const std::string& text);
  /// Of traced.tsv.
  static const TracedCases& builtin();

  /// The variants in which the case is traced.
  const std::vector<std::string>& of(const Case& c) const;
  /// The number of traces of a group.
  size_t tracesOf(const CaseGroup& group) const;
  const std::map<uint64_t, std::vector<std::string>>& all() const { return variants_; }
  /// The operators of the cases that dispatch "gemm/gemm_thin"; none if no traced case does.
  std::set<std::string> operatorsOf(const std::string& shader) const;

 private:
  std::map<uint64_t, std::vector<std::string>> variants_;           // by caseHash
  std::map<std::string, std::set<std::string>> operatorsByShader_;  // without the shader's variant
};

/// Of the case's id, whatever the seed of its data.
uint64_t caseHash(const Case& c);

}  // namespace opkit::harness
