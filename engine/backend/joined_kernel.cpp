#include "engine/backend/joined_kernel.h"

#include "engine/base/check.h"

namespace opkit {
namespace {

/// The first kernel that takes the node, else the refusal of the last.
Result<const Creator*> firstOf(const std::vector<Creator>& parts, const CreateArgs& args) {
  Status refusal;
  for (const Creator& part : parts) {
    if (!part.dtypes.contains(keyDType(args))) {
      refusal = Status::unsupported("{}: the kernel takes {}, got {}", args.def.type, part.dtypes.toString(),
                                    nameOf(keyDType(args)));
      continue;
    }
    refusal = part.supports(args);
    if (refusal.isOk()) return &part;
  }
  return refusal;
}

/// What `add` adds to the operator on the backend, in a registry that has the cards alone.
std::vector<Creator> partsOf(const OpRegistry& registry, const std::string& backend, const std::string& type,
                             void (*add)(OpRegistry&)) {
  OpRegistry cards;
  for (const OpDef* def : registry.all()) cards.add(*def);
  add(cards);
  std::vector<Creator> parts;
  for (const Creator& creator : cards.creators(backend, type))
    if (creator.layout == Layout::NCHW) parts.push_back(creator);
  return parts;
}

}  // namespace

Creator joinedKernel(const OpRegistry& registry, const std::string& backend, const std::string& type,
                     void (*add)(OpRegistry&), const std::string& name,
                     std::function<Status(const CreateArgs&)> supports) {
  const auto parts = std::make_shared<const std::vector<Creator>>(partsOf(registry, backend, type, add));
  OPKIT_CHECK(!parts->empty());
  DTypeSet dtypes;
  for (const Creator& part : *parts) dtypes = dtypes | part.dtypes;
  return {.supports = [parts, supports = std::move(supports)](const CreateArgs& args) -> Status {
            OPKIT_TRY(supports(args));
            return firstOf(*parts, args).error();
          },
          .create = [parts](const CreateArgs& args, Backend& target) -> Result<std::unique_ptr<Execution>> {
            OPKIT_ASSIGN(const Creator* part, firstOf(*parts, args));
            return part->create(args, target);
          },
          .dtypes = dtypes,
          .kernel = name};
}

}  // namespace opkit
