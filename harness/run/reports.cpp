#include "harness/run/reports.h"

#include <map>
#include <nlohmann/json.hpp>

#include "harness/run/results.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

CaseStatus statusOf(const Json& line) {
  return statusFromName(line.value("status", "fail")).value_or(CaseStatus::Fail);
}

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

std::string testCase(const Json& line, const std::string& block) {
  const CaseStatus status = statusOf(line);
  const std::string reason = escaped(line.value("reason", ""));
  std::string text =
      fmt::format("    <testcase classname=\"{}.{}\" name=\"{}\" time=\"{:.6f}\"", line.value("backend", ""),
                  escaped(line.value("op", "")), escaped(line.value("id", "")), line.value("durationNs", 0.0) * 1e-9);
  if (isFailure(status))
    return text + fmt::format(">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>\n",
                              nameOf(status), reason, escaped(block));
  if (status != CaseStatus::Pass)
    return text + fmt::format(">\n      <skipped message=\"{}: {}\"/>\n    </testcase>\n", nameOf(status), reason);
  return text + "/>\n";
}

/// Escapes newlines and percent signs for GitHub's workflow commands.
std::string oneLine(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '%' ? "%25" : c == '\n' ? "%0A" : c == '\r' ? "%0D" : std::string(1, c);
  return result;
}

}  // namespace

std::string junitXml(const std::vector<Json>& lines, const std::vector<std::string>& blocks,
                     const std::string& missing) {
  struct Suite {
    std::string cases;
    size_t tests = 0, failures = 0, skipped = 0;
  };
  std::map<std::string, Suite> suites;
  for (size_t i = 0; i < lines.size(); ++i) {
    Suite& suite = suites[lines[i].value("backend", "none")];
    const CaseStatus status = statusOf(lines[i]);
    ++suite.tests;
    suite.failures += isFailure(status);
    suite.skipped += !isFailure(status) && status != CaseStatus::Pass;
    suite.cases += testCase(lines[i], i < blocks.size() ? blocks[i] : "");
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

std::string githubAnnotation(const Json& line, const std::string& folder) {
  std::string title = oneLine(fmt::format("{} on {}", line.value("op", "?"), line.value("backend", "?")));
  std::replace(title.begin(), title.end(), ',', ';');
  const std::string text = fmt::format("{}: {}", line.value("id", ""), line.value("reason", ""));
  return fmt::format("::error file=ops/{0}/{0}.cases.json,title={1}::{2}\n", folder, title, oneLine(text));
}

}  // namespace opkit::harness
