// checkAll: the results of a case file's text, for the harness's own tests.
#pragma once

#include <gtest/gtest.h>

#include "harness/check/check.h"

namespace opkit::harness {

/// Checks all cases of the text on a Runtime of its own, with cold caches for every group.
inline std::vector<CaseResult> checkAll(const OpRegistry& registry, const std::string& backend,
                                        const std::string& cases, const RuntimeOptions& options = {}) {
  std::vector<CaseResult> results;
  const auto runtime = createRuntime(backend, options);
  EXPECT_TRUE(runtime) << runtime.error().message();
  const auto catalogue = parseCaseFile("test", cases, registry);
  EXPECT_TRUE(catalogue) << catalogue.error().message();
  if (!runtime || !catalogue) return results;
  Checker checker(registry, backend, *runtime);
  checker.setRuntimeOptions(options);
  for (const CaseGroup& group : catalogue->groups) {
    PreparedGroup prepared = prepareGroup(group, registry);
    prepared.coldCaches = true;
    for (CaseResult& result : checker.checkGroup(prepared)) results.push_back(std::move(result));
  }
  for (const ErrorCase& error : catalogue->errors) results.push_back(checker.checkError(error));
  return results;
}

}  // namespace opkit::harness
