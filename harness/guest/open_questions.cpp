#include "harness/guest/open_questions.h"

#include <algorithm>

#include "engine/base/check.h"

namespace opkit::harness {

extern const char* const kOpenQuestions;

const std::vector<Expectation>& openQuestions() {
  static const std::vector<Expectation> lines = [] {
    auto parsed = parseExpectations("harness/guest/open.skips", kOpenQuestions);
    OPKIT_CHECK(parsed);
    return *std::move(parsed);
  }();
  return lines;
}

const Expectation* openQuestion(const std::string& id) {
  const auto found =
      std::ranges::find_if(openQuestions(), [&](const Expectation& line) { return line.matches("check", id); });
  return found == openQuestions().end() ? nullptr : &*found;
}

}  // namespace opkit::harness
