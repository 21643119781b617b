// The schema page, the structs and files of schema 1 agree.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "engine/base/child_process.h"
#include "engine/base/where.h"
#include "reports/results/common.h"
#include "reports/results/reader.h"
#include "reports/results/record_json.h"
#include "reports/results/writer.h"
#include "reports/testing/schema_page.h"

namespace opkit::reports {
namespace {

TEST(Records, TheSchemaPageNamesEveryField) {
  const auto documented = documentedFields(OPKIT_SOURCE_DIR);
  for (const auto& [kind, fields] : fieldsOfRecords()) {
    const std::set<std::string> known(fields.begin(), fields.end());
    ASSERT_TRUE(documented.contains(kind)) << kind;
    EXPECT_EQ(documented.at(kind), known) << kind;
  }
  EXPECT_EQ(documented.size(), fieldsOfRecords().size());
}

/// The line without errors that are 0, which later schemas leave out.
nlohmann::json withoutZeros(nlohmann::json line) {
  if (!line.contains("accuracy")) return line;
  auto& errors = line["accuracy"];
  for (auto field = errors.begin(); field != errors.end();) {
    const bool stays = field.key() == "elements" || field.key() == "margin" || field.key() == "worstIndex" ||
                       field.key() == "expected" || field.key() == "got";
    field = !stays && (*field == 0 || field->empty()) ? errors.erase(field) : std::next(field);
  }
  return line;
}

TEST(Records, ALineReadBackIsTheSameLine) {
  std::ifstream stream(std::string(OPKIT_SOURCE_DIR) + "/reports/testing/schema1.jsonl");
  size_t cases = 0;
  for (std::string text; std::getline(stream, text);) {
    const nlohmann::json line = nlohmann::json::parse(text);
    const auto record = recordFromJson(line);
    ASSERT_TRUE(record) << record.error().message();
    if (const CaseRecord* one = std::get_if<CaseRecord>(&*record)) {
      EXPECT_EQ(nlohmann::json::parse(toLine(*one)), withoutZeros(line));
      EXPECT_EQ(toLine(caseFromJson(toJson(*one))), toLine(*one)) << "between processes";
      ++cases;
    }
  }
  EXPECT_GE(cases, 7u);
}

TEST(Records, Schema1IsRead) {
  Results results;
  const Status status = readResults(std::string(OPKIT_SOURCE_DIR) + "/reports/testing/schema1.jsonl", results);
  ASSERT_TRUE(status.isOk()) << status.message();
  EXPECT_EQ(results.runs.size(), 6u);
  for (const auto& one : results.runs) EXPECT_EQ(one.facts.schema, 1);
  std::set<std::string> kinds;
  for (const CaseRecord& record : results.cases) kinds.insert(record.kind);
  EXPECT_EQ(kinds, (std::set<std::string>{"bench", "check", "conformance", "model", "roof"}));
  EXPECT_EQ(results.mutants.size(), 2u);
  EXPECT_FALSE(results.cases.front().accuracy->ulps.empty());
}

TEST(Records, NumbersThatJsonCannotHold) {
  CaseRecord record;
  record.kind = "check", record.id = "a", record.backend = "cpu";
  record.accuracy.emplace().margin = std::numeric_limits<double>::quiet_NaN();
  record.accuracy->maxAbs = -std::numeric_limits<double>::infinity();
  const auto line = nlohmann::json::parse(toLine(record));
  EXPECT_EQ(line["accuracy"]["margin"], "nan");
  EXPECT_EQ(line["accuracy"]["maxAbs"], "-inf");
  const auto read = recordFromJson(line);
  ASSERT_TRUE(read);
  EXPECT_TRUE(std::isnan(std::get<CaseRecord>(*read).accuracy->margin));
  EXPECT_EQ(std::get<CaseRecord>(*read).accuracy->maxAbs, -std::numeric_limits<double>::infinity());
}

TEST(Records, AnExpectedFailureKeepsItsStatus) {
  CaseRecord record;
  record.kind = "check", record.id = "a", record.backend = "cpu";
  record.status = CaseStatus::Expected;
  record.rerun = CaseStatus::Hang;
  record.expectation = {"cpu.fails:3", "why", CaseStatus::Crash};
  const auto line = nlohmann::json::parse(toLine(record));
  EXPECT_EQ(line["rerun"], "hang");
  EXPECT_EQ(line["expectation"], (nlohmann::json{{"line", "cpu.fails:3"}, {"reason", "why"}, {"status", "crash"}}));
  const auto read = recordFromJson(line);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(toLine(std::get<CaseRecord>(*read)), toLine(record));
  EXPECT_EQ(std::get<CaseRecord>(*read).expectation->status, CaseStatus::Crash);
  for (const CaseStatus status : {CaseStatus::Expected, CaseStatus::Flake, CaseStatus::Unexpected}) {
    EXPECT_TRUE(isExecuted(status));
    EXPECT_EQ(isFailure(status), status == CaseStatus::Unexpected);
    EXPECT_EQ(statusFromName(nameOf(status)), status);
  }
}

/// Writes the cases as a run, and reads the file back.
Results writtenAndRead(const std::vector<CaseRecord>& cases, const std::string& path) {
  std::filesystem::remove(path);
  ResultWriter writer;
  EXPECT_TRUE(writer.open(path, {}).isOk());
  for (const CaseRecord& one : cases) writer.write(one);
  EXPECT_TRUE(writer.close("complete").isOk());
  Results results;
  const Status status = readResults(path, results, {.keepLines = true});
  EXPECT_TRUE(status.isOk()) << status.message();
  return results;
}

TEST(Records, PassesShareALineAndFailuresAreWhole) {
  CaseRecord one;
  one.kind = "check", one.op = "Relu", one.backend = "cpu", one.device = "a processor", one.provider = "opkit";
  one.checks = {"accuracy", "canary"};
  one.notRun = {{"batch", std::string(1000, 'w')}};
  one.digest = "0123456789abcdef", one.durationNs = 12.75;
  one.accuracy.emplace() = {.elements = 4, .maxAbs = 0.5, .maxUlp = 2, .margin = 0.25, .tolerance = 1, .nan = 1};
  one.accuracy->ulps = {{"2", 4}};
  std::vector<CaseRecord> cases(40, one);
  for (size_t i = 0; i < cases.size(); ++i) {
    cases[i].id = fmt::format("Relu{{\"it's\":{}}}/f32[4]/normal", i);
    cases[i].repro = fmt::format("op-harness check --mask 'no fp16' --case {}", shellQuoted(cases[i].id));
  }
  cases[7].status = CaseStatus::Fail;
  cases[8].status = CaseStatus::Unsupported;
  cases[9].checks.pop_back();
  const std::string path = testing::TempDir() + "shared.jsonl";
  const Results results = writtenAndRead(cases, path);
  ASSERT_EQ(results.cases.size(), cases.size());
  EXPECT_LT(std::filesystem::file_size(path), 16000u) << "three lines of cases hold the reason of 1000 characters";
  for (size_t i = 0; i < cases.size(); ++i) {
    CaseRecord expected = cases[i];
    expected.run = results.cases[i].run;
    if (i != 7) expected.durationNs = 13;
    if (i != 7 && i != 8) expected.accuracy->tolerance = 0, expected.accuracy->nan = 0, expected.accuracy->ulps = {};
    EXPECT_EQ(toLine(results.cases[i]), toLine(expected)) << i;
    EXPECT_EQ(isPlainPass(results.cases[i]), i != 7 && i != 8) << i;
  }
  EXPECT_EQ(std::ranges::count(results.runs.at(0).plain, true), 38);
}

TEST(Records, ACaseWithoutItsCommonLineIsRefused) {
  std::istringstream file(
      "{\"record\":\"run\",\"schema\":3,\"run\":\"ab\"}\n"
      "{\"record\":\"common\",\"run\":\"ab\",\"common\":1,\"device\":\"cpu\"}\n"
      "{\"record\":\"case\",\"run\":\"ab\",\"common\":2,\"kind\":\"check\",\"id\":\"a\",\"backend\":\"cpu\",\"status\":"
      "\"pass\"}\n");
  Results results;
  const Status status = readResults(file, "f", results);
  EXPECT_EQ(status.message(), "f:3: a case record: field 'common': no line above has number 2 in run ab");
}

TEST(Records, AFieldOfAnotherTypeIsNamed) {
  const std::pair<const char*, const char*> kBad[] = {
      {R"({"record":"case","kind":"check","id":"a","backend":"cpu","status":"passed"})",
       "a case record: field 'status': expected a status, found \"passed\""},
      {R"({"record":"case","kind":"check","id":"a","backend":"cpu","status":"pass","stops":-1})",
       "field 'stops': expected a whole number, found -1"},
      {R"({"record":"case","kind":"check","id":"a","backend":"cpu","status":"pass","accuracy":{"margin":"low"}})",
       "field 'accuracy': field 'margin': expected a number, found \"low\""},
      {R"({"record":"case","kind":"check","id":["a"],"backend":"cpu","status":"pass"})", "field 'id': expected a text"},
      {R"({"record":"case","kind":"check","id":"a","backend":"","status":"pass"})", "lacks the field 'backend'"},
      {R"({"record":"run","schema":4})", "expected schema 1 to 3, found 4"},
      {R"({"record":"run","schema":"2"})", "expected schema 1 to 3, found 0"},
      {R"(["case"])", "expected an object with a field 'record', found [\"case\"]"},
  };
  for (const auto& [text, message] : kBad) {
    const auto record = recordFromJson(nlohmann::json::parse(text));
    ASSERT_FALSE(record) << text;
    EXPECT_NE(record.error().message().find(message), std::string::npos) << record.error().message();
  }
  EXPECT_TRUE(recordFromJson(nlohmann::json::parse(R"({"record":"weather"})"))) << "for readers of later schemas";
}

}  // namespace
}  // namespace opkit::reports
