// Mutants that cannot be distinguished from the original, marked with the reason in ops/<op>/<op>.mutants.json, or in
// shaders/<folder>/<folder>.mutants.json if the shaders belong to no operator:
//
//   {"equivalent": [{"shader": "softmax/softmax", "change": "a => b", "reason": "why nobody can tell"},
//                   {"op": "Softmax", "change": "half", "reason": "..."}]}
//
// "shader" marks a change of GLSL, "op" a fault of cpu_faults.h, "ops" (a list) that of several operators.
#pragma once

#include <map>
#include <string>

#include "engine/base/status.h"

namespace opkit::harness {

class EquivalentMarks {
 public:
  /// Every file of the source tree. InvalidArgument names the file and the missing part of an entry.
  static Result<EquivalentMarks> read(const std::string& source);

  /// The reason, or null if nothing is marked.
  const std::string* reasonOf(const std::string& subject, const std::string& change) const;

 private:
  Status add(const std::string& path);

  std::map<std::pair<std::string, std::string>, std::string> reasons_;  // by (shader or operator, change)
};

}  // namespace opkit::harness
