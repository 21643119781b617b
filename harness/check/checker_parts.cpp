#include "harness/check/checker_parts.h"

#include <algorithm>

#include "harness/check/sibling_check.h"
#include "harness/check/sub_checks.h"
#include "harness/compare/diagnose.h"
#include "harness/run/worker_note.h"

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
  if (!others.quick) needMoreTime(kSecondsOfDiagnosis);
  const Diagnosis found =
      diagnose({def, c.description, c.inputs, expected, output, got[output], tolerance, at(others.again),
                at(others.overOther), at(others.overZero), at(others.previous), others.quick, others.rerun});
  result.diagnosisKind = found.kind;
  result.diagnosis = found.text;
  std::vector<bool> wrong;
  compareTensor(expected[output], got[output], tolerance, &wrong);
  if (std::find(wrong.begin(), wrong.end(), true) != wrong.end()) result.map = errorMap(got[output].desc.shape, wrong);
}

/// False for a node among siblings that is wrong alone.
static bool isCauseOf(std::string_view subCheck, const CaseResult& result) {
  if (subCheck != "siblings") return true;
  const auto sub = std::ranges::find(result.subChecks, subCheck, &SubCheck::name);
  return sub->message.find(kBesideSiblings) != std::string::npos;
}

std::string causeOf(const CaseResult& result) {
  const bool repeats = !result.failed("repeat"), modes = result.failed("threads") || result.failed("recording");
  if (!repeats && modes)
    return "runs on the same data differ, in this Session and in others: a race between threads, or state that a run "
           "leaves behind";
  if (!repeats)
    return "the first run is right, the next on the same data is not: an input is overwritten, an output is not "
           "cleared, or a counter is not reset";
  struct Row {
    const char* subCheck;
    const char* cause;
  };
  constexpr Row kRows[] = {
      {"threads",
       "another number of threads gives other bits: threads share an element, or the way in which work is "
       "divided changes sums"},
      {"recording",
       "direct and indirect recording differ: a barrier between dispatches is missing, or a parameter was "
       "recorded that a resize changes"},
      {"clone", "a clone of the Session differs: it lacks a part of the kernel's state"},
      {"aliased", "wrong only if the output is in the input's memory: an element is read after its place was written"},
      {"offsets", "wrong only if tensors begin at odd addresses: the kernel assumes an alignment"},
      {"batch", "the first of a batch differs alone and among others: an index or a parameter depends on the batch"},
      {"shapes", "fixed and free extents differ: something is computed from the model's shapes, not from the tensors'"},
      {"siblings",
       "nodes that share constants get each other's: the name of a kept form (packed, uploaded) lacks a "
       "parameter or an input on which it depends"},
      {"caches", "a Runtime with empty caches differs: a cache's key lacks something on which its entry depends"},
      {"constants",
       "constants of several shapes differ from fresh ones: a kept constant's key lacks something on which "
       "it depends"},
  };
  for (const Row& row : kRows)
    if (result.failed(row.subCheck) && isCauseOf(row.subCheck, result)) return row.cause;
  return "";
}

}  // namespace opkit::harness
