#include "harness/guest/open_questions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/cases/case_file.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

TEST(OpenQuestions, EachLineNamesAWrittenCaseAndFewAreNamed) {
  const auto catalogue = builtinCatalogue(ops::builtinOps());
  ASSERT_TRUE(catalogue);
  std::vector<size_t> named(openQuestions().size(), 0);
  size_t cases = 0, open = 0;
  for (const CaseGroup& group : catalogue->groups)
    for (const Case& c : group.cases) {
      const std::string id = c.id();
      const Expectation* const line = openQuestion(id);
      ++cases;
      open += line != nullptr;
      for (size_t i = 0; i < named.size(); ++i) named[i] += openQuestions()[i].matches("check", id);
    }
  for (size_t i = 0; i < named.size(); ++i) EXPECT_GT(named[i], 0u) << openQuestions()[i].where();
  EXPECT_LT(open * 50, cases) << "over 2 % of the cases are not asked";
}

}  // namespace
}  // namespace opkit::harness
