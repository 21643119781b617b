// Lines of real runs hold only fields that reports/schema.md documents, and all but the rare ones.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "engine/base/where.h"
#include "reports/testing/schema_page.h"

namespace opkit::reports {
namespace {

using Json = nlohmann::json;
using Fields = std::map<std::string, std::set<std::string>>;

/// Fields whose members are not described one by one.
const std::set<std::string> kFree = {"planned", "profile", "ulps", "notRun"};
/// Dictionaries of described members, by free names.
const std::set<std::string> kByName = {"times", "subChecks", "mutation"};

void collect(const Json& object, const std::string& prefix, std::set<std::string>& names) {
  for (const auto& [name, value] : object.items()) {
    names.insert(prefix + name);
    if (kFree.contains(name)) continue;
    if (kByName.contains(name) && prefix.empty())
      for (const Json& each : value) collect(each, name + ".", names);
    else if (value.is_object())
      collect(value, prefix + name + ".", names);
    else if (value.is_array())
      for (const Json& each : value)
        if (each.is_object()) collect(each, prefix + name + ".", names);
  }
}

TEST(Written, FieldsOfRealRunsAreDocumented) {
  const std::string path = testing::TempDir() + "written_results.jsonl", log = path + ".log";
  std::filesystem::remove(path);
  for (const std::string command :
       {"check --op Relu --backend cpu --written --jobs 2", "check --op Relu --backend vulkan --written --jobs 2",
        "bench --case 'Relu/f32[3,5,7]/normal/seed=7' --backend cpu --samples 3",
        "bench --roof --op Relu --threads 1 --backend cpu", "conformance --filter node/test_relu --workers 1",
        "model zoo:squeezenet --backend cpu --reference cpu", "mutate --op Relu --backend cpu --jobs 2"}) {
    if (command.find("vulkan") != std::string::npos && !OPKIT_TESTS_VULKAN) continue;
    const std::string line =
        fmt::format("OPKIT_CACHE_DIR=off {} {} --json {} >{} 2>&1", partOfBuild(OPKIT_OP_HARNESS), command, path, log);
    const int status = std::system(line.c_str());
    std::ifstream said(log);
    EXPECT_LE(WEXITSTATUS(status), 1) << command << "\n" << std::string(std::istreambuf_iterator<char>(said), {});
  }
  const Fields documented = documentedFields(OPKIT_SOURCE_DIR);
  Fields written;
  std::ifstream lines(path);
  for (std::string text; std::getline(lines, text);) {
    const Json line = Json::parse(text);
    collect(line, "", written[line["record"].get<std::string>()]);
  }
  for (const auto& [kind, names] : written)
    for (const std::string& name : names) EXPECT_TRUE(documented.at(kind).contains(name)) << kind << ": " << name;
  for (const char* name : {"common", "digest", "arenaBytes", "allocations", "accuracy.margin", "times.samples"})
    EXPECT_TRUE(written["case"].contains(name)) << name;
  for (const char* name : {"common", "device", "provider", "checks", "notRun", "repro"})
    EXPECT_TRUE(written["common"].contains(name)) << name;
  for (const char* name : {"calibration.loopNs", "calibration.copyBytesPerNs"})
    EXPECT_TRUE(written["device"].contains(name)) << name;
  EXPECT_TRUE(written["summary"].contains("mutation.score"));
  EXPECT_EQ(written["case"].contains("shader"), bool(OPKIT_TESTS_VULKAN));
}

}  // namespace
}  // namespace opkit::reports
