#include "harness/check/checker_parts.h"

#include <algorithm>

#include "harness/check/sub_checks.h"
#include "harness/compare/diagnose.h"

namespace opkit::harness {

void skipAll(CaseResult& result, std::initializer_list<const char*> names, const std::string& why) {
  const std::vector<std::string>& known = subChecksOf(result.backend);
  for (const char* name : names)
    if (std::find(known.begin(), known.end(), name) != known.end()) result.skip(name, why);
}

void checkOrSkip(CaseResult& result, const char* name, const Status& status) {
  if (status.code() == StatusCode::Unsupported)
    result.skip(name, status.message());
  else
    result.check(name, status);
}

void explain(const OpDef& def, const PreparedCase& c, size_t output, const std::vector<Tensor>& got,
             const OtherRuns& others, CaseResult& result) {
  const std::vector<OracleTensor>& expected = c.judge();
  if (!result.diagnosis.empty() || output >= got.size() || got[output].desc != expected[output].desc) return;
  const Tolerance tolerance = toleranceOf(def, c.description.lane, expected[output], c.description.boundScale);
  const auto at = [&](const std::vector<Tensor>* list) {
    return list && output < list->size() ? &(*list)[output] : nullptr;
  };
  const Diagnosis found = diagnose({def, c.description, c.inputs, expected, output, got[output], tolerance,
                                    at(others.again), at(others.overOther), at(others.previous)});
  result.diagnosisKind = found.kind;
  result.diagnosis = found.text;
  std::vector<bool> wrong;
  compareTensor(expected[output], got[output], tolerance, &wrong);
  if (std::find(wrong.begin(), wrong.end(), true) != wrong.end()) result.map = errorMap(got[output].desc.shape, wrong);
}

}  // namespace opkit::harness
