// Counts on the page and in the last lines: each has a name, and they add up.
#include "reports/tally.h"

#include <numeric>
#include <regex>

#include "reports/testing/results_text.h"

namespace opkit::reports {
namespace {

std::vector<CaseStatus> allStatuses() {
  std::vector<CaseStatus> all;
  for (size_t i = 0; i < kStatusCount; ++i) all.push_back(static_cast<CaseStatus>(i));
  return all;
}

TEST(Tally, EachStatusIsInExactlyOneEnding) {
  for (const CaseStatus status : allStatuses()) {
    Tally tally;
    tally.add(status);
    size_t inEndings = 0;
    for (size_t i = 0; i < kEndingCount; ++i) inEndings += tally.count(static_cast<Ending>(i));
    EXPECT_EQ(inEndings, 1u) << nameOf(status);
    EXPECT_EQ(tally.total(), 1u) << nameOf(status);
    EXPECT_EQ(tally.sum(), std::string("1 ") + nameOf(endingOf(status)));
    EXPECT_EQ(endingOf(status) == Ending::Failed, isFailure(status)) << nameOf(status);
    EXPECT_EQ(endingOf(status) == Ending::Passed, status == CaseStatus::Pass) << nameOf(status);
    EXPECT_EQ(endingOf(status) >= Ending::Unsupported, !isExecuted(status)) << nameOf(status);
  }
}

class CountsTest : public OpReportTest {
 protected:
  /// Makes the page; `last` is the last line.
  void build(const std::string& text) {
    ASSERT_EQ(run("build " + file(text) + " --output " + page_, &said_), 0) << said_;
    html_ = contents(page_);
    ASSERT_TRUE(said_.ends_with('\n'));
    last_ = said_.substr(said_.rfind('\n', said_.size() - 2) + 1);
    EXPECT_NE(html_.find(last_.substr(0, last_.size() - 1)), std::string::npos) << "the page has the same line";
  }

  const std::string page_ = folder_ + "/index.html";
  std::string said_, html_, last_;
};

std::string beginOf(const std::string& id, size_t planned) {
  return fmt::format(R"({{"record":"run","schema":3,"run":"{}","command":"check","planned":{{"cpu":{}}}}})"
                     "\n",
                     id, planned);
}

std::string casesOf(const std::string& run, const std::string& kind, CaseStatus status, size_t number) {
  std::string lines;
  for (size_t i = 0; i < number; ++i)
    lines += fmt::format(
        R"({{"record":"case","kind":"{0}","run":"{1}","id":"{2}/{3}","op":"Relu","backend":"cpu","dtype":"f32","status":"{2}","reason":"why {2}"}})"
        "\n",
        kind, run, nameOf(status), i);
  return lines;
}

std::string mutantOf(const std::string& run, const std::string& fate) {
  return fmt::format(R"({{"record":"mutant","run":"{}","subject":"Relu","backend":"cpu","fate":"{}"}})"
                     "\n",
                     run, fate);
}

std::string endOf(const std::string& run) {
  return fmt::format(R"({{"record":"summary","run":"{}","outcome":"complete"}})"
                     "\n",
                     run);
}

/// The sum of "30 planned + 2 unplanned - 5 missing".
int64_t sumOf(const std::string& side) {
  static const std::regex kTerm(R"((^|\+ |- )(\d+))");
  int64_t sum = 0;
  for (std::sregex_iterator term(side.begin(), side.end(), kTerm), end; term != end; ++term)
    sum += (term->str(1) == "- " ? -1 : 1) * std::stoll(term->str(2));
  return sum;
}

/// The sums of the sides of all equations in the text, one list for each chain.
std::vector<std::vector<int64_t>> equationsIn(const std::string& text) {
  static const std::regex kChain(R"(\d+( [a-z]+)+( [-+=] \d+( [a-z]+)+)+)");
  std::vector<std::vector<int64_t>> chains;
  for (std::sregex_iterator chain(text.begin(), text.end(), kChain), end; chain != end; ++chain) {
    std::string rest = chain->str();
    if (rest.find(" = ") == std::string::npos) continue;
    std::vector<int64_t>& sides = chains.emplace_back();
    for (size_t equals; (equals = rest.find(" = ")) != std::string::npos; rest = rest.substr(equals + 3))
      sides.push_back(sumOf(rest.substr(0, equals)));
    sides.push_back(sumOf(rest));
  }
  return chains;
}

/// Each chain of the text has equal sides; the first chain has this value.
void expectEquations(const std::string& text, int64_t value) {
  const auto chains = equationsIn(text);
  ASSERT_FALSE(chains.empty()) << text;
  EXPECT_EQ(chains.front().front(), value) << text;
  for (const auto& sides : chains)
    for (const int64_t side : sides) EXPECT_EQ(side, sides.front()) << text;
}

/// The numbers of the first table row in which this text stands, without HTML.
std::vector<int64_t> numbersOfRow(const std::string& html, const std::string& text) {
  const size_t at = html.find(text);
  if (at == std::string::npos) return {};
  const std::string row = html.substr(at + text.size(), html.find("</tr>", at) - at - text.size());
  const std::string plain = std::regex_replace(row, std::regex("<[^>]*>"), " ");
  static const std::regex kNumber(R"(\d+)");
  std::vector<int64_t> numbers;
  for (std::sregex_iterator one(plain.begin(), plain.end(), kNumber), end; one != end; ++one)
    numbers.push_back(std::stoll(one->str()));
  return numbers;
}

TEST_F(CountsTest, ResultsOfEveryStatusAddUp) {
  std::string text;
  size_t number = 0;
  for (const CaseStatus status : allStatuses()) {
    ++number;  // another one for each status
    text += casesOf("a", "conformance", status, number) + casesOf("a", "check", status, number);
  }
  constexpr int64_t kOfEach = kStatusCount * (kStatusCount + 1) / 2;
  build(beginOf("a", 2 * kOfEach) + text + endOf("a"));
  expectEquations(last_, 2 * kOfEach);
  EXPECT_NE(last_.find("240 planned = 240 recorded = 2 passed + "), std::string::npos) << last_;
  for (size_t i = 0; i < kEndingCount; ++i)
    EXPECT_NE(last_.find(nameOf(static_cast<Ending>(i))), std::string::npos) << last_;

  const std::vector<int64_t> models =
      numbersOfRow(html_.substr(html_.find("<h2>ONNX conformance</h2>")), "<td>cpu</td>");
  ASSERT_EQ(models.size(), kEndingCount + 2) << "models, each ending, fallbacks";
  EXPECT_EQ(models.front(), kOfEach);
  EXPECT_EQ(std::accumulate(models.begin() + 1, models.end() - 1, int64_t{0}), kOfEach);

  const std::vector<int64_t> cell =
      numbersOfRow(html_.substr(html_.find("<h2 id=\"matrix\">")), "Relu</a></th>");  // the last number is the margin
  ASSERT_EQ(cell.size(), kEndingCount + 1);
  EXPECT_EQ(std::accumulate(cell.begin(), cell.end() - 1, int64_t{0}), kOfEach);
}

TEST_F(CountsTest, UnprovedModelsAreShown) {
  build(beginOf("a", 268) + casesOf("a", "conformance", CaseStatus::Pass, 263) +
        casesOf("a", "conformance", CaseStatus::Unsupported, 2) + casesOf("a", "conformance", CaseStatus::Unproved, 3) +
        endOf("a"));
  EXPECT_NE(last_.find("268 planned = 268 recorded = 263 passed + 2 unsupported + 3 unproved."), std::string::npos);
  const std::string section = html_.substr(html_.find("<h2>ONNX conformance</h2>"));
  EXPECT_EQ(numbersOfRow(section, "<td>cpu</td>"), (std::vector<int64_t>{268, 263, 0, 2, 3, 0}));
  EXPECT_NE(section.find("<td class=\"n\">3</td><td>unproved</td><td>why unproved</td>"), std::string::npos);
}

TEST_F(CountsTest, ThePlanAddsUpToWhatWasRecorded) {
  // "a" did not reach its end; "b" found a failure that no case is planned for; "c" had no plan.
  const std::string text = beginOf("a", 4) + casesOf("a", "check", CaseStatus::Pass, 2) + beginOf("b", 1) +
                           casesOf("b", "check", CaseStatus::Fail, 2) + endOf("b") +
                           R"({"record":"run","schema":3,"run":"c","command":"times"})"
                           "\n" +
                           casesOf("c", "bench", CaseStatus::Pass, 1) + endOf("c");
  build(text);
  expectEquations(last_, 5);
  EXPECT_NE(last_.find("5 planned + 2 unplanned - 2 missing = 5 recorded = 3 passed + 2 failed."), std::string::npos)
      << last_;
  for (const char* part :
       {"Unplanned: failures of a whole run", "2 of 4, no end was written", "2, 1 of them unplanned, reached its end"})
    EXPECT_NE(html_.find(part), std::string::npos) << part;
}

TEST_F(CountsTest, MutantsAreNoCases) {
  build(beginOf("a", 5) + casesOf("a", "check", CaseStatus::Pass, 2) + mutantOf("a", "killed") +
        mutantOf("a", "killed") + mutantOf("a", "survived") + endOf("a"));
  expectEquations(last_, 5);
  EXPECT_NE(last_.find("5 planned = 5 recorded = 2 cases + 3 mutants; 2 cases = 2 passed; "
                       "3 mutants = 2 killed + 1 survived."),
            std::string::npos)
      << last_;
}

TEST_F(CountsTest, TheHistoryCountsWhatWasRecorded) {
  // A drawn case may have the id of a written one.
  const std::string twice = casesOf("a", "check", CaseStatus::Pass, 1);
  const std::string text = beginOf("a", 4) + twice + twice + casesOf("a", "check", CaseStatus::Unsupported, 1) +
                           mutantOf("a", "killed") + endOf("a");
  const std::string history = folder_ + "/history.sqlite";
  ASSERT_EQ(run("add --history " + history + " " + file(text), &said_), 0) << said_;
  ASSERT_EQ(run("build --history " + history + " --output " + page_, &said_), 0) << said_;
  EXPECT_NE(said_.find("4 planned = 4 recorded = 3 cases + 1 mutants;"), std::string::npos) << said_;
  html_ = contents(page_);
  EXPECT_EQ(numbersOfRow(html_.substr(html_.find("<summary>Nights")), "<code></code></td>"),
            (std::vector<int64_t>{1, 4, 0}));
}

TEST_F(CountsTest, ARedNightIsNotPraised) {
  build(beginOf("a", 2) + casesOf("a", "check", CaseStatus::Fail, 2) + endOf("a") + beginOf("b", 1) +
        casesOf("b", "check", CaseStatus::Pass, 1) + endOf("b"));
  EXPECT_NE(said_.find("RED: 2 of 3 cases failed"), std::string::npos) << said_;
  EXPECT_NE(last_.find("All 2 runs reached their end: 3 planned = 3 recorded = 1 passed + 2 failed."),
            std::string::npos)
      << last_;
  static const std::regex kComplete("complete", std::regex::icase);
  EXPECT_FALSE(std::regex_search(said_, kComplete)) << said_;
  EXPECT_FALSE(std::regex_search(html_, kComplete));
}

}  // namespace
}  // namespace opkit::reports
