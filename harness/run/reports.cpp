#include "harness/run/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace opkit::harness {
namespace {

using reports::CaseRecord;
using reports::CaseStatus;

/// XML 1.0 allows no control characters but tab and newline.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else if (c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20)
      result += c;
    else
      result += '?';
  }
  return result;
}

std::string testCase(const CaseRecord& one, const std::string& block) {
  const std::string reason = escaped(one.reason);
  std::string text = fmt::format("    <testcase classname=\"{}.{}\" name=\"{}\" time=\"{:.6f}\"", one.backend,
                                 escaped(one.op), escaped(one.id), one.durationNs * 1e-9);
  if (isFailure(one.status))
    return text + fmt::format(">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>\n",
                              nameOf(one.status), reason, escaped(block));
  if (one.status != CaseStatus::Pass)
    return text + fmt::format(">\n      <skipped message=\"{}: {}\"/>\n    </testcase>\n", nameOf(one.status), reason);
  return text + "/>\n";
}

/// Escapes newlines and percent signs for GitHub's workflow commands.
std::string oneLine(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '%' ? "%25" : c == '\n' ? "%0A" : c == '\r' ? "%0D" : std::string(1, c);
  return result;
}

}  // namespace

std::string junitXml(const std::vector<CaseRecord>& cases, const std::vector<std::string>& blocks,
                     const std::string& missing) {
  struct Suite {
    std::string cases;
    size_t tests = 0, failures = 0, skipped = 0;
  };
  std::map<std::string, Suite> suites;
  for (size_t i = 0; i < cases.size(); ++i) {
    Suite& suite = suites[cases[i].backend.empty() ? "none" : cases[i].backend];
    const CaseStatus status = cases[i].status;
    ++suite.tests;
    suite.failures += isFailure(status);
    suite.skipped += !isFailure(status) && status != CaseStatus::Pass;
    suite.cases += testCase(cases[i], i < blocks.size() ? blocks[i] : "");
  }
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const auto& [backend, suite] : suites)
    text += fmt::format(
        "  <testsuite name=\"op-harness.{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n{}  </testsuite>\n",
        escaped(backend), suite.tests, suite.failures, suite.skipped, suite.cases);
  if (!missing.empty())
    text += fmt::format(
        "  <testsuite name=\"op-harness\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n"
        "    <testcase classname=\"op-harness\" name=\"the run is complete\" time=\"0\">\n"
        "      <error type=\"incomplete\" message=\"{}\"/>\n    </testcase>\n  </testsuite>\n",
        escaped(missing));
  return text + "</testsuites>\n";
}

std::string githubAnnotation(const CaseRecord& one, const std::string& folder) {
  std::string title = oneLine(fmt::format("{} on {}", one.op, one.backend));
  std::replace(title.begin(), title.end(), ',', ';');
  const std::string text = fmt::format("{}: {}", one.id, one.reason);
  return fmt::format("::error file=ops/{0}/{0}.cases.json,title={1}::{2}\n", folder, title, oneLine(text));
}

}  // namespace opkit::harness
