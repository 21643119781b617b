#include "harness/mutate/hunt.h"

#include <algorithm>

#include "harness/check/check.h"

namespace opkit::harness {

const PreparedGroup& Hunt::prepared(size_t group) {
  const auto found = prepared_.find(group);
  if (found != prepared_.end()) return found->second;
  return prepared_.emplace(group, prepareGroup(catalogue_.groups[group], registry_)).first->second;
}

std::string Hunt::firstFailure(std::vector<size_t>& order, const OpRegistry& broken, const std::string& backend,
                               const std::shared_ptr<Runtime>& runtime, const std::function<bool(size_t)>& concerned) {
  Checker checker(broken, backend, runtime);
  checker.setHunting();
  for (size_t i = 0; i < order.size(); ++i) {
    if (concerned && !concerned(order[i])) continue;
    for (const CaseResult& result : checker.checkGroup(prepared(order[i]))) {
      if (!isFailure(result.status)) continue;
      std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(i),
                  order.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      for (const SubCheck& sub : result.subChecks)
        if (!sub.ok) return sub.name + ": " + result.id;
      return std::string(nameOf(result.status)) + ": " + result.id;
    }
  }
  return "";
}

Status arrange(Subject& subject, const std::vector<GroupFacts>& facts) {
  for (const size_t group : subject.groups) {
    if (!facts[group].failure.empty())
      return Status::invalidArgument("{}: a case fails although nothing is broken yet: {}", subject.name,
                                     facts[group].failure);
    subject.seconds += facts[group].seconds;
  }
  std::stable_sort(subject.groups.begin(), subject.groups.end(),
                   [&](size_t a, size_t b) { return facts[a].seconds < facts[b].seconds; });
  return Status::ok();
}

}  // namespace opkit::harness
