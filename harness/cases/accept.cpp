#include "harness/cases/accept.h"

#include <cmath>
#include <limits>

#include "harness/cases/costs.h"
#include "harness/cases/data.h"
#include "harness/check/prepared.h"
#include "harness/check/trust.h"

namespace opkit::harness {
namespace {

/// Checks shapes and costs before anything is computed.
Status checkCost(const OpDef& def, const Case& c, const HostInputs& inputs, const DrawLimits& limits) {
  OPKIT_ASSIGN(const ParamBytes params, paramsFromJson(def.params, c.params));
  std::vector<const TensorDesc*> descs;
  std::vector<const Tensor*> contents;
  for (const auto& input : inputs) {
    descs.push_back(input ? &input->desc : nullptr);
    contents.push_back(input ? &*input : nullptr);
  }
  const ShapeArgs args{params, descs, contents, c.outputs ? c.outputs : requiredOutputs(def)};
  OPKIT_ASSIGN(const auto outputs, inferShapes(def, args));
  for (const TensorDesc& output : outputs)
    if (output.elements() > limits.elements) return Status::unsupported("too large");
  if (def.flops && def.flops(args, outputs) > limits.flops) return Status::unsupported("too slow");
  return Status::ok();
}

bool isTooLarge(const Case& c, const DrawLimits& limits) {
  int64_t elements = 0;
  for (const auto& input : c.inputs) elements += input ? std::min(input->elements(), limits.elements + 1) : 0;
  return elements > limits.elements;
}

/// Expected values below the normal range are rounded to few bits or none: bounds relative to them mean nothing.
Status checkNormal(const PreparedCase& c) {
  if (c.description.lane == Lane::Edges) return Status::ok();  // it is about them
  for (const OracleTensor& output : c.expected) {
    const double least = output.desc.dtype == DType::Float16   ? 0x1p-14
                         : output.desc.dtype == DType::Float32 ? 0x1p-126
                                                               : 0;
    for (const double y : output.real)
      if (y != 0 && std::fabs(y) < least) return Status::invalidArgument("an expected value is below the normal range");
  }
  return Status::ok();
}

/// Where the terms of a result exceed the type in which kernels compute, their order decides between the result,
/// infinity and NaN.
Status checkIntermediates(const PreparedCase& c) {
  constexpr double kScaled = 1024;  // what kernels may multiply terms by, and divide out later
  for (const OracleTensor& output : c.expected) {
    const double largest = output.desc.dtype == DType::Float64 ? std::numeric_limits<double>::max()
                                                               : double{std::numeric_limits<float>::max()};
    for (const double terms : output.magnitude)
      if (std::isfinite(terms) && terms > largest / kScaled)
        return Status::invalidArgument("the terms of an expected value exceed the type of the computation");
  }
  return Status::ok();
}

/// Sums of the exact lane are compared bit by bit. A mean or a logarithm rounds, even of whole numbers.
Status checkExactSums(const OpDef& def, const PreparedCase& c) {
  if (c.description.lane != Lane::Exact) return Status::ok();
  if (def.numeric != NumericClass::Sum && def.numeric != NumericClass::Products) return Status::ok();
  for (const OracleTensor& output : c.expected)
    for (const double y : output.real)
      if (std::isfinite(y) && y * 1024 != std::floor(y * 1024))
        return Status::invalidArgument("an expected value of the exact lane needs a rounding");
  return Status::ok();
}

}  // namespace

double estimatedSeconds(const Case& c, const OpDef& def) {
  if (isTooLarge(c, {})) return std::numeric_limits<double>::infinity();
  const CaseWork work = workOf(c, def);
  double most = 0;
  for (const char* backend : {"cpu", "vulkan"})
    most = std::max(most, CaseCosts::builtin().seconds(c.op, work, backend));
  return most;
}

Status acceptDrawn(const OpDef& def, const OpRegistry& registry, const Case& c, const DrawLimits& limits) {
  if (isTooLarge(c, limits)) return Status::unsupported("too large");
  if (estimatedSeconds(c, def) > limits.seconds) return Status::unsupported("too slow");
  OPKIT_ASSIGN(const HostInputs inputs, makeInputs(c, def));
  OPKIT_TRY(checkCost(def, c, inputs, limits));
  const PreparedCase prepared = prepareCase(c, registry);
  OPKIT_TRY(prepared.status);
  OPKIT_TRY(checkNormal(prepared));
  OPKIT_TRY(checkIntermediates(prepared));
  OPKIT_TRY(checkExactSums(def, prepared));
  OPKIT_TRY(checkZeros(def, prepared));
  OPKIT_TRY(checkSensitivity(def, prepared));
  return checkBounds(def, prepared);
}

void markDrawn(Case& c, const std::string& name) {
  c.anyFallback = true;
  c.fallback.clear();
  c.unproved.clear();
  c.kernel.clear();
  c.dropStored();
  c.departures.clear();
  c.loops = 0;
  c.bench = false;
  c.name = name;
}

Status addDrawn(std::vector<CaseGroup> groups, Catalogue& base) {
  OPKIT_TRY(applyDepartures(base.departures, false, groups));
  std::ranges::move(groups, std::back_inserter(base.groups));
  return Status::ok();
}

}  // namespace opkit::harness
