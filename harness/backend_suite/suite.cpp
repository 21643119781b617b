#include "harness/backend_suite/suite.h"
#include "engine/base/json_text.h"

#include <nlohmann/json.hpp>

namespace opkit::harness::backend_suite {

const char* nameOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::Pass: return "pass";
    case Outcome::Fail: return "fail";
    case Outcome::Unsupported: return "unsupported";
    case Outcome::ExpectedFailure: return "xfail";
    case Outcome::UnexpectedPass: return "unexpected pass";
  }
  return "?";
}

std::vector<Test> testsNamed(const std::string& filter) {
  std::vector<Test> tests;
  addBufferTests(tests);
  addCopyTests(tests);
  addRasterTests(tests);
  addSessionTests(tests);
  std::erase_if(tests, [&](const Test& test) { return test.name.find(filter) == std::string::npos; });
  return tests;
}

Result<KnownFailures> parseKnownFailures(const std::string& json) {
  OPKIT_TRY(checkJsonDepth(json).withContext("known failures"));
  const auto document = parseJson(json);
  if (!document.is_object()) return Status::invalidArgument("known failures: expected {{\"test\": \"reason\"}}");
  const std::vector<Test> tests = testsNamed("");
  KnownFailures known;
  for (const auto& item : document.items()) {
    const bool exists =
        std::any_of(tests.begin(), tests.end(), [&](const Test& test) { return test.name == item.key(); });
    if (!exists) return Status::invalidArgument("known failures: there is no test '{}'", item.key());
    if (!item.value().is_string() || item.value().get<std::string>().empty())
      return Status::invalidArgument("known failures: '{}' needs a reason, got {}", item.key(), item.value().dump());
    known[item.key()] = item.value().get<std::string>();
  }
  return known;
}

Verdict verdictOf(const Test& test, const Status& status, const KnownFailures& known) {
  Verdict verdict{test.name, test.summary, Outcome::Pass, status.message()};
  const auto listed = known.find(test.name);
  if (status.code() == StatusCode::Unsupported)
    verdict.outcome = Outcome::Unsupported;
  else if (!status.isOk())
    verdict.outcome = listed == known.end() ? Outcome::Fail : Outcome::ExpectedFailure;
  if (listed == known.end()) return verdict;
  if (verdict.outcome == Outcome::ExpectedFailure) {
    verdict.reason += " (known: " + listed->second + ")";
  } else {
    verdict.reason = fmt::format("listed as a known failure ({}), but it is {}; take it off the list", listed->second,
                                 verdict.outcome == Outcome::Pass ? "passing" : "unsupported");
    verdict.outcome = Outcome::UnexpectedPass;
  }
  return verdict;
}

std::vector<Verdict> judge(const std::vector<Test>& tests, const Context& context, const KnownFailures& known) {
  std::vector<Verdict> verdicts;
  for (const Test& test : tests) verdicts.push_back(verdictOf(test, test.run(context), known));
  return verdicts;
}

}  // namespace opkit::harness::backend_suite
