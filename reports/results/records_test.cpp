// The schema page, the structs and files of schema 1 agree.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "engine/base/where.h"
#include "reports/results/reader.h"
#include "reports/results/record_json.h"
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

TEST(Records, ALineReadBackIsTheSameLine) {
  std::ifstream stream(std::string(OPKIT_SOURCE_DIR) + "/reports/testing/schema1.jsonl");
  size_t cases = 0;
  for (std::string text; std::getline(stream, text);) {
    const nlohmann::json line = nlohmann::json::parse(text);
    const auto record = recordFromJson(line);
    ASSERT_TRUE(record) << record.error().message();
    if (const CaseRecord* one = std::get_if<CaseRecord>(&*record)) {
      EXPECT_EQ(nlohmann::json::parse(toLine(*one)), line);
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
      {R"({"record":"run","schema":3})", "expected schema 1 to 2, found 3"},
      {R"({"record":"run","schema":"2"})", "expected schema 1 to 2, found 0"},
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
