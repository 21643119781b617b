#include "harness/check/verdict.h"

#include <cmath>

namespace opkit::harness {

/// The expected values, where `wrong` with those of flushed inputs; a denormal one, where still wrong, with zero.
static OracleTensor flushedWhere(const std::vector<bool>& wrong, const OracleTensor& expected,
                                 const OracleTensor& flushed, bool results) {
  OracleTensor changed = expected;
  for (size_t i = 0; i < wrong.size(); ++i) {
    if (!wrong[i]) continue;
    if (!expected.isReal())
      changed.integer[i] = flushed.integer[i];
    else
      changed.real[i] = flushed.real[i];
    const bool isDenormal = expected.desc.dtype == DType::Float32 && std::fabs(changed.real[i]) < 0x1p-126;
    if (results && isDenormal) changed.real[i] = std::copysign(0.0, changed.real[i]);
  }
  return changed;
}

static Comparison compareOutput(const OpDef& def, const PreparedCase& c, size_t output, const Tensor& got,
                                bool onDevice) {
  OracleTensor expected = c.judge()[output];
  const auto compare = [&](std::vector<bool>* wrong) {
    return compareTensor(expected, got, toleranceOf(def, c.description.lane, expected, c.description.boundScale),
                         wrong);
  };
  std::vector<bool> wrong;
  const Comparison first = compare(&wrong);
  if (first.pass || !onDevice || c.flushed.empty() || first.failed == 0) return first;
  for (const bool results : {false, true}) {
    expected = flushedWhere(wrong, expected, c.flushed[output], results);
    if (const Comparison again = compare(&wrong); again.pass) return again;
  }
  return first;
}

Verdict compareAll(const OpDef& def, const PreparedCase& c, const std::vector<Tensor>& outputs, bool onDevice) {
  Verdict verdict;
  const std::vector<OracleTensor>& expected = c.judge();
  Comparison& total = verdict.total;
  total.pass = outputs.size() == expected.size();
  if (!total.pass) total.reason = fmt::format("expected {} outputs, got {}", expected.size(), outputs.size());
  for (size_t i = 0; total.pass && i < outputs.size(); ++i) {
    Comparison one = compareOutput(def, c, i, outputs[i], onDevice);
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
