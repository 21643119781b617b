#include "engine/backend/creator.h"

namespace opkit {

Choice chooseCreator(std::span<const Creator> table, const CreateArgs& args, const std::string& provider) {
  Choice choice;
  for (const Creator& creator : table) {
    if (!provider.empty() && creator.provider != provider) {
      choice.refusals.push_back({creator.provider, fmt::format("provider {} was asked for", provider)});
      continue;
    }
    const Status verdict = creator.supports(args);
    if (verdict.isOk()) {
      choice.creator = &creator;
      return choice;
    }
    choice.refusals.push_back({creator.provider, verdict.message()});
  }
  return choice;
}

}  // namespace opkit
