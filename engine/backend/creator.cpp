#include "engine/backend/creator.h"

namespace opkit {
namespace {

/// The reason why the Creator cannot run the node under any policy; OK if it can.
Status verdictOf(const Creator& creator, const CreateArgs& args, const FitsDevice& fits) {
  const DType dtype = keyDType(args);
  if (!creator.dtypes.contains(dtype))
    return Status::unsupported("{}: the {} kernel takes {}, got {}", args.def.type, creator.provider,
                               creator.dtypes.toString(), nameOf(dtype));
  const Status supported = creator.supports(args);
  return supported.isOk() && fits ? fits(creator) : supported;
}

/// See Refusal::loopLimit; called for a Creator that refused.
uint64_t loopLimitOf(const Creator& creator, const CreateArgs& args) {
  DeviceCaps unlimited = args.device;
  unlimited.loopIterations = UINT64_MAX;
  if (args.device.loopIterations == unlimited.loopIterations || verdictOf(creator, args, {}).isOk()) return 0;
  const CreateArgs other{args.def,       args.paramBytes, args.inputs,  args.outputs,
                         args.constants, unlimited,       args.layouts, args.regions};
  return verdictOf(creator, other, {}).isOk() ? args.device.loopIterations : 0;
}

std::string textOf(DTypeSet dtypes) { return dtypes == kAnyDType ? "any dtype" : dtypes.toString(); }

/// The table in the order in which the policy tries it.
std::vector<const Creator*> orderOf(std::span<const Creator> table, std::string_view type,
                                    const ProviderPolicy& policy) {
  std::vector<const Creator*> order;
  for (const Creator& creator : table) order.push_back(&creator);
  if (!policy.rules.empty())
    std::stable_sort(order.begin(), order.end(), [&](const Creator* a, const Creator* b) {
      return policy.preference(type, a->provider) < policy.preference(type, b->provider);
    });
  return order;
}

}  // namespace

DType keyDType(const CreateArgs& args) {
  const TensorDesc* first = nullptr;
  for (const TensorDesc* input : args.inputs) {
    if (!input) continue;
    if (input->dtype != DType::Bool) return input->dtype;
    if (!first) first = input;
  }
  if (!first && !args.outputs.empty()) first = &args.outputs[0];
  return first ? first->dtype : DType::Float32;
}

Status checkNewCreator(std::span<const Creator> table, const Creator& creator, std::string_view backend,
                       std::string_view type) {
  for (const Creator& other : table)
    if (other.provider == creator.provider && other.kernel == creator.kernel && other.dtypes.intersects(creator.dtypes))
      return Status::invalidArgument("duplicate kernel ({}, {}{}{}, {}, {}): the key is taken by one for {}", backend,
                                     creator.provider, creator.kernel.empty() ? "" : ":", creator.kernel,
                                     textOf(creator.dtypes), type, textOf(other.dtypes));
  return Status::ok();
}

Choice chooseCreator(std::span<const Creator> table, const CreateArgs& args, const ProviderPolicy& policy,
                     const FitsDevice& fits) {
  Choice choice;
  for (const Creator* creator : orderOf(table, args.def.type, policy)) {
    if (std::string reason = policy.refusal(args.def.type, creator->provider); !reason.empty()) {
      choice.refusals.push_back({creator->provider, std::move(reason)});
    } else if (!choice.creator) {
      const Status verdict = verdictOf(*creator, args, fits);
      if (verdict.isOk())
        choice.creator = creator;
      else
        choice.refusals.push_back(
            {creator->provider, verdict.message(), verdict.isByDevice(), loopLimitOf(*creator, args)});
    }
  }
  return choice;
}

}  // namespace opkit
