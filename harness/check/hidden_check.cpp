#include "harness/check/hidden_check.h"

#include <cmath>
#include <cstring>

#include "engine/tensor/float_format.h"
#include "harness/check/verdict.h"

namespace opkit::harness {
namespace {

/// The case with `value` in its hidden elements. It expects the outputs of the case.
Result<PreparedCase> filled(const PreparedCase& c, const HiddenElements& hidden, double value) {
  PreparedCase result{c.description, c.inputs, c.expected, Status::ok()};
  for (size_t i = 0; i < hidden.size(); ++i) {
    if (hidden[i].empty()) continue;
    OPKIT_ASSIGN(result.inputs[i], withHidden(*c.inputs[i], hidden[i], value));
  }
  return result;
}

bool agree(const OracleTensor& a, const OracleTensor& b) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return std::ranges::equal(a.real, b.real, same) && a.integer == b.integer;
}

/// The oracle does not read what the card calls hidden.
Status checkOracle(const OpDef& def, const PreparedCase& c) {
  OPKIT_ASSIGN(const ParamBytes params, paramsFromJson(def.params, c.description.params));
  OPKIT_ASSIGN(const auto outputs, expectedOutputs(def, params, c.inputs, c.description.outputs));
  if (std::ranges::equal(outputs, c.expected, agree)) return Status::ok();
  return Status::internal("the oracle reads elements that the card calls hidden");
}

/// A kernel that sums may leave out hidden terms in another order than it adds finite ones.
Status judgeFilled(const OpDef& def, const PreparedCase& c, const std::vector<Tensor>& fresh,
                   const std::vector<Tensor>& outputs) {
  if (!sums(def)) return sameResult(def, c, fresh, outputs);
  const Verdict verdict = compareAll(def, c, outputs);
  return verdict.total.pass ? Status::ok() : Status::internal("{}", verdict.total.reason);
}

}  // namespace

Result<Tensor> withHidden(const Tensor& tensor, const std::vector<bool>& hidden, double value) {
  OPKIT_ASSIGN(Tensor filled, copyOf(tensor));
  OracleTensor one({tensor.desc.dtype, {1}});
  one.real = {value};
  OPKIT_ASSIGN(const Tensor stored, Tensor::onHost(one.desc));
  one.toTensor(stored);
  const bool coded = isCoded(tensor.desc.dtype);
  const size_t size = coded ? 0 : sizeOf(tensor.desc.dtype);
  for (size_t i = 0; i < hidden.size(); ++i) {
    if (!hidden[i]) continue;
    if (coded)
      writeCode(filled, i, readCode(stored, 0));
    else
      std::memcpy(filled.bytes().data() + i * size, stored.bytes().data(), size);
  }
  return filled;
}

Result<HiddenElements> hiddenElements(const OpDef& def, const PreparedCase& c) {
  const HiddenFn* const names = hiddenOf(def.oracle);
  if (!names) return Status::unsupported("the operator hides no element of an input");
  if (!c.description.size.empty()) return Status::unsupported("a case for timing: smaller ones have it");
  OPKIT_ASSIGN(const ParamBytes params, paramsFromJson(def.params, c.description.params));
  std::vector<OracleTensor> inputs(c.inputs.size());
  std::vector<const OracleTensor*> pointers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (c.inputs[i]) inputs[i] = OracleTensor::fromTensor(*c.inputs[i]);
    pointers.push_back(c.inputs[i] ? &inputs[i] : nullptr);
  }
  std::vector<OracleTensor> outputs;
  for (const OracleTensor& output : c.expected) outputs.emplace_back(output.desc);
  HiddenElements hidden = (*names)({params, pointers, outputs});
  bool any = false;
  for (size_t i = 0; i < hidden.size(); ++i) {
    if (!c.inputs[i] || !inputs[i].isReal() || std::ranges::find(hidden[i], true) == hidden[i].end()) hidden[i].clear();
    any = any || !hidden[i].empty();
  }
  return any ? Result<HiddenElements>(std::move(hidden))
             : Status::unsupported("the case hides no element of a floating input");
}

Status checkHidden(const VariantContext& context, DeviceVariants* devices,
                   const std::function<Status(const PreparedCase&)>& judgeKernels) {
  const PreparedCase& at = context.at;
  const OpDef& def = *context.registry.find(at.description.op);
  OPKIT_ASSIGN(const HiddenElements hidden, hiddenElements(def, at));
  for (const double value : {HUGE_VAL, std::nan("")}) {
    const char* name = std::isnan(value) ? "NaN in hidden elements" : "infinity in hidden elements";
    OPKIT_ASSIGN(const PreparedCase c, filled(at, hidden, value));
    OPKIT_TRY(checkOracle(def, c).withContext(name));
    OPKIT_ASSIGN(const auto interpreter, makeOpInterpreter(c.description, context.registry, c.inputs));
    OPKIT_ASSIGN(const auto outputs, runSession(*interpreter, {.backend = context.backend}, context.runtime, c));
    if (outputs.empty()) continue;  // refused by the device
    OPKIT_TRY(judgeFilled(def, c, context.outputs, outputs).withContext(name));
    if (!std::isnan(value)) continue;
    const VariantContext nan{context.registry, context.backend, context.runtime, c, outputs, context.alternatives};
    if (devices) OPKIT_TRY(devices->check(*interpreter, nan).withContext(name));
    OPKIT_TRY(judgeKernels(c).withContext(name));
  }
  return Status::ok();
}

}  // namespace opkit::harness
