#include "harness/check/rounding_check.h"

#include <cmath>

#include "harness/check/kernel_rig.h"
#include "harness/compare/compare.h"

namespace opkit::harness {
namespace {

Result<Tensor> widened(const Tensor& half) {
  OPKIT_ASSIGN(Tensor wide, Tensor::onHost({DType::Float32, half.desc.shape}));
  std::ranges::transform(half.data<Half>(), wide.data<float>().begin(), toFloat);
  return wide;
}

/// The case with every f16 as f32, and its inputs.
Result<Case> widenedCase(const PreparedCase& c, HostInputs& inputs) {
  Case wide = c.description;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] || inputs[i]->desc.dtype != DType::Float16) continue;
    OPKIT_ASSIGN(inputs[i], widened(*inputs[i]));
    wide.inputs[i]->dtype = DType::Float32;
  }
  return wide;
}

bool sameHalf(Half got, float wide) {
  const Half expected = toHalf(static_cast<double>(wide));
  return got.bits == expected.bits || (std::isnan(toFloat(got)) && std::isnan(wide));
}

Status compareRounded(const Tensor& got, const Tensor& wide, size_t output) {
  if (got.desc.shape != wide.desc.shape)
    return Status::internal("output {} is {} in f16 and {} in f32", output, got.desc.toString(), wide.desc.toString());
  const std::span<Half> halves = got.data<Half>();
  const std::span<float> floats = wide.data<float>();
  int64_t wrong = 0, first = -1;
  for (size_t i = 0; i < halves.size(); ++i) {
    if (sameHalf(halves[i], floats[i])) continue;
    if (++wrong == 1) first = static_cast<int64_t>(i);
  }
  if (wrong == 0) return Status::ok();
  const auto at = static_cast<size_t>(first);
  return Status::internal(
      "{} of {} elements of output {} are not the f32 kernel's, rounded once; first at {}: f32 {:.9g}, f16 {:.9g}",
      wrong, halves.size(), output, coordinates(got.desc.shape, first), floats[at], toFloat(halves[at]));
}

}  // namespace

bool roundsElementwise(const OpDef& def) {
  return !def.inPlace.empty() || def.numeric == NumericClass::OneRounding ||
         def.numeric == NumericClass::FewRoundings || def.numeric == NumericClass::Transcendental;
}

Status checkRounding(const PreparedCase& c, const std::vector<Tensor>& outputs, const OpRegistry& registry,
                     Runtime& runtime, const std::string& provider) {
  HostInputs inputs = c.inputs;
  OPKIT_ASSIGN(const Case wide, widenedCase(c, inputs));
  OPKIT_ASSIGN(const auto rig, KernelRig::create(wide, inputs, registry, runtime, {.provider = provider}));
  OPKIT_ASSIGN(const RigRun ran, rig->run(inputs));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].desc.dtype == DType::Float16) {
      if (ran.outputs.at(i).desc.dtype == DType::Float16)
        return Status::unsupported("a parameter makes output {} f16", i);
      OPKIT_TRY(compareRounded(outputs[i], ran.outputs[i], i));
    }
  return Status::ok();
}

}  // namespace opkit::harness
