// Every written case as a model of ONNX, read back: it is the same case, or it has no form for a reason of a known
// kind.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>

#include "harness/cases/rng.h"
#include "harness/export/exported_case.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

/// What became of the cases of an operator.
struct Fate {
  size_t cases = 0, equal = 0, values = 0;
  std::map<std::string, size_t> left;  // by kind of the reason
};

size_t variableOr(const char* name, size_t fallback) {
  const char* text = std::getenv(name);
  return text ? static_cast<size_t>(std::atoll(text)) : fallback;
}

TEST(WrittenCases, ReadBackAsTheyWereWritten) {
  const OpRegistry& registry = ops::builtinOps();
  const auto catalogue = builtinCatalogue(registry);
  ASSERT_TRUE(catalogue) << catalogue.error().toString();
  const size_t parts = variableOr("OPKIT_EXPORT_PARTS", 10), part = variableOr("OPKIT_EXPORT_PART", 0);
  const char* only = std::getenv("OPKIT_EXPORT_OP");
  std::map<std::string, Fate> fates;
  std::map<std::string, std::pair<size_t, std::string>> reasons;
  for (const CaseGroup& group : catalogue->groups) {
    if (hashText(group.cases[0].id()) % parts != part) continue;
    if (only && group.cases[0].op != only) continue;
    Fate& fate = fates[group.cases[0].op];
    const ExportedGroup exported = exportGroup(group, registry, ops::builtinOnnxRules(), {});
    fate.cases += group.cases.size();
    for (const ExportedModel& model : exported.models)
      (model.returnsAsCase ? fate.equal : fate.values) += model.sets.size();
    for (const auto& [c, reason] : exported.left) {
      ++fate.left[reason.substr(0, reason.find(": "))];
      auto& [count, example] = reasons[reason];
      ++count;
      example = c.id();
    }
  }
  Fate total;
  for (const auto& [op, fate] : fates) {
    total.cases += fate.cases;
    total.equal += fate.equal;
    total.values += fate.values;
    std::cout << op << "\t" << fate.cases << "\t" << fate.equal << "\t" << fate.values;
    for (const auto& [kind, count] : fate.left) {
      std::cout << "\t" << kind << " " << count;
      total.left[kind] += count;
    }
    std::cout << "\n";
  }
  std::cout << "all\t" << total.cases << "\t" << total.equal << "\t" << total.values;
  for (const auto& [kind, count] : total.left) std::cout << "\t" << kind << " " << count;
  std::cout << "\n";
  for (const auto& [reason, found] : reasons)
    std::cout << "reason\t" << found.first << "\t" << reason << "\t" << found.second << "\n";
  EXPECT_GT(total.equal, 0u);
}

}  // namespace
}  // namespace opkit::harness
