// `op-harness check --ort` with a provider that has one planted fault at a time (testing/planted_provider.cpp): each
// fault gives its state where it shows, and every other case passes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "engine/base/where.h"
#include "harness/cases/case.h"
#include "harness/testing/program.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;
using States = std::vector<std::string>;

/// Groups: rows of whole vectors in three shapes, rows with a tail and a value of which exp is infinite, rank 3,
/// others. The provider has no kernel for f64.
constexpr const char* kCases = R"({"cases": [
  {"op": "Softmax", "inputs": [["f32[3,8]"], ["f32[2,16]"], ["f32[5,24]"]]},
  {"op": "Softmax", "inputs": [["f32[3,5]"]], "data": [{"values": [200, -1, 0, 1, 2]}]},
  {"op": "Softmax", "inputs": [["f32[2,3,8]"]]},
  {"op": "Add", "inputs": [["f32[4,8]", "f32[8]"]]},
  {"op": "Relu", "inputs": [["f32[4,16]"]]},
  {"op": "Relu", "inputs": [["f64[4,16]"]]}
]})";
constexpr size_t kCaseCount = 8;

struct Record {
  std::string status, reason;
};

bool isClaimed(const Case& c) { return c.inputs[0]->dtype == DType::Float32; }
bool isUnclaimed(const Case& c) { return !isClaimed(c); }
bool hasRank3(const Case& c) { return c.inputs[0]->shape.size() == 3; }
bool hasLargeValue(const Case& c) { return c.lane == Lane::Designed; }
bool hasTail(const Case& c) { return isClaimed(c) && c.inputs[0]->shape.back() % 8 != 0; }
bool hasFurtherShapes(const Case& c) { return c.op == "Softmax" && c.lane == Lane::Normal && !hasRank3(c); }

struct PlantedFault {
  std::string fault;
  States expected;  // any of them
  std::string reason;
  std::function<bool(const Case&)> shows;
  bool inEach = true;  // false: in one of the cases, the others of which may pass
  bool walks = false;  // it shows at further shapes of any case

  friend void PrintTo(const PlantedFault& planted, std::ostream* out) { *out << planted.fault; }
};

const std::vector<PlantedFault>& plantedFaults() {
  static const std::vector<PlantedFault> faults = {
      {"maximum", {"fail"}, "", hasLargeValue},
      {"tail", {"fail"}, "written", hasTail, true, true},
      {"crash", {"crash"}, "signal", hasRank3},
      {"hang", {"hang"}, "no answer", hasRank3},
      {"refuse", {"refused"}, "no kernel for this Relu", isUnclaimed},
      {"remember", {"fail"}, "resize", hasFurtherShapes, false, true},
      {"unstable", {"unstable"}, "", isClaimed},
      {"leak", {"leak"}, "", isClaimed, false},
      {"writes-input", {"fail"}, "input", isClaimed},
      {"beyond", {"fail", "crash"}, "", isClaimed},
      {"prints", {"pass"}, "", isClaimed},
      {"abort-at-load", {"crash"}, "signal", isClaimed},
      {"refuse-at-load", {"refused"}, "OpKitPlanted compiles nothing", isClaimed},
  };
  return faults;
}

std::string ortLibrary() {
  if (const char* given = std::getenv("OPKIT_ORT_LIBRARY")) return given;
#ifdef __aarch64__
  const std::string processor = "arm64";
#else
  const std::string processor = "x64";
#endif
  return std::string(OPKIT_SOURCE_DIR) + "/build/ort-tools/node_modules/onnxruntime-node/bin/napi-v6/linux/" +
         processor + "/libonnxruntime.so.1";
}

/// The records of cases that a results file has, by their ids.
std::map<std::string, Record> recordsOf(const std::string& file) {
  std::map<std::string, Record> records;
  std::istringstream lines(textOf(file));
  for (std::string line; std::getline(lines, line);) {
    const Json record = Json::parse(line);
    if (record.value("record", "") != "case" || !parseCaseId(record.value("id", ""))) continue;
    records[record["id"]] = {record.value("status", ""), record.value("reason", "")};
  }
  return records;
}

class PlantedGuest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(ortLibrary()))
      GTEST_SKIP() << "no ONNX Runtime at " << ortLibrary() << " (./setup --ort)";
    std::filesystem::remove(json_);  // runs append to it
  }

  /// An empty fault is none.
  Ran check(const std::string& fault) const {
    return run("check --ort " + ortLibrary() + " --ep OpKitPlanted --ep-library " +
               partOfBuild(OPKIT_PLANTED_PROVIDER) + (fault.empty() ? "" : " --ep-option fault=" + fault) +
               " --cases " + cases_ + " --written --timeout 5 --json " + json_);
  }

  const std::string cases_ = fileWith("planted_guest.cases.json", kCases);
  const std::string json_ = testing::TempDir() + "planted_guest.jsonl";
};

class PlantedGuestFault : public PlantedGuest, public testing::WithParamInterface<PlantedFault> {};

/// A case of one shape that is right there: its session also runs further shapes, where the fault may show.
bool failsAtFurtherShape(const Record& record) {
  return record.status == "fail" && record.reason.find(": at ") != std::string::npos;
}

bool isExpected(const PlantedFault& planted, const Record& record) {
  return std::ranges::count(planted.expected, record.status) > 0 &&
         record.reason.find(planted.reason) != std::string::npos;
}

void expectStates(const PlantedFault& planted, const std::map<std::string, Record>& records) {
  size_t found = 0;
  for (const auto& [id, record] : records) {
    const Case c = *parseCaseId(id);
    const std::string sound = isClaimed(c) ? "pass" : "unsupported";
    const bool isFound = planted.shows(c) && isExpected(planted, record);
    found += isFound;
    if (isFound || (planted.walks && failsAtFurtherShape(record)) ||
        (planted.shows(c) && !planted.inEach && record.status == sound))
      continue;
    EXPECT_FALSE(planted.shows(c)) << id << ": " << record.status << ": " << record.reason;
    EXPECT_EQ(record.status, sound) << id << ": " << record.reason;
  }
  EXPECT_GT(found, 0u);
}

TEST_P(PlantedGuestFault, GivesItsState) {
  const PlantedFault& planted = GetParam();
  const Ran ran = check(planted.fault);
  EXPECT_EQ(ran.code, planted.expected[0] == "pass" ? 0 : 1) << ran.text;
  const auto records = recordsOf(json_);
  EXPECT_EQ(records.size(), kCaseCount) << ran.text;
  expectStates(planted, records);
}

INSTANTIATE_TEST_SUITE_P(Each, PlantedGuestFault, testing::ValuesIn(plantedFaults()), [](const auto& one) {
  std::string name = one.param.fault;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST_F(PlantedGuest, PassesWithoutAFault) {
  const Ran ran = check("");
  EXPECT_EQ(ran.code, 0) << ran.text;
  const auto records = recordsOf(json_);
  EXPECT_EQ(records.size(), kCaseCount) << ran.text;
  for (const auto& [id, record] : records)
    EXPECT_EQ(record.status, isClaimed(*parseCaseId(id)) ? "pass" : "unsupported") << id << ": " << record.reason;
}

/// The released library's own provider: most operators run, and nothing ends a worker.
TEST_F(PlantedGuest, TheCpuProviderIsAskedFewCasesOfEachOperator) {
  const Ran ran = run("check --ort " + ortLibrary() + " --ep cpu --json " + json_);
  EXPECT_LE(ran.code, 1) << ran.text;
  const auto records = recordsOf(json_);
  EXPECT_GT(records.size(), 1500u);
  std::map<std::string, size_t> passed, states;
  for (const auto& [id, record] : records) {
    ++states[record.status];
    if (record.status == "pass") ++passed[parseCaseId(id)->op];
  }
  EXPECT_GE(passed.size(), 150u) << ran.text;
  EXPECT_EQ(states.count("crash") + states.count("hang"), 0u) << ran.text;
  EXPECT_GT(states["pass"], 10 * states["fail"]);
}

TEST_F(PlantedGuest, AnUnknownFaultIsAWrongOption) {
  expectOneLine(check("nosuch"), "fault: expected one of maximum, tail, ");
}

}  // namespace
}  // namespace opkit::harness
