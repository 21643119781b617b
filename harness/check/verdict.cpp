#include "harness/check/verdict.h"

namespace opkit::harness {

Verdict compareAll(const OpDef& def, const PreparedCase& c, const std::vector<Tensor>& outputs) {
  Verdict verdict;
  const std::vector<OracleTensor>& expected = c.judge();
  Comparison& total = verdict.total;
  total.pass = outputs.size() == expected.size();
  if (!total.pass) total.reason = fmt::format("expected {} outputs, got {}", expected.size(), outputs.size());
  for (size_t i = 0; total.pass && i < outputs.size(); ++i) {
    const Tolerance tolerance = toleranceOf(def, c.description.lane, expected[i], c.description.boundScale);
    Comparison one = compareTensor(expected[i], outputs[i], tolerance);
    if (i == 0 || one.margin > total.margin) verdict.worstShape = outputs[i].desc.shape;
    if (!one.pass) verdict.failed = i;
    if (!one.pass && outputs.size() > 1) one.reason = fmt::format("output {}: {}", i, one.reason);
    if (i == 0)
      total = one;
    else
      merge(total, one);
  }
  return verdict;
}

Status sameResult(const OpDef& def, const PreparedCase& c, const std::vector<Tensor>& first,
                  const std::vector<Tensor>& got) {
  // Operators that only move data keep the bits of a NaN too.
  if (!def.unordered) return sameBits(first, got, def.numeric != NumericClass::Exact);
  for (const std::vector<Tensor>* outputs : {&first, &got}) {
    const Verdict verdict = compareAll(def, c, *outputs);
    if (!verdict.total.pass) return Status::internal("{}", verdict.total.reason);
  }
  return Status::ok();
}

}  // namespace opkit::harness
