#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/base/json_text.h"
#include "harness/bench/turns.h"
#include "harness/export/exported_case.h"
#include "harness/guest/guest_bench.h"
#include "harness/guest/guest_bench_run.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

constexpr const char* kRelu = "Relu/f32[3,4]/normal/seed=7";
constexpr const char* kLarger = "Relu/f32[5,6]/normal/seed=7";

enum class Manner { Right, Wrong, WrongWithLarger, NotClaimed, Refused, Failing, EndsWithLarger };

/// Relu of the first input, whatever the model is.
class FakeSession final : public GuestSession {
 public:
  explicit FakeSession(Manner manner) : manner_(manner) {}

  Status runInto(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) override {
    if (manner_ == Manner::Failing) return Status::unsupported("no kernel after all");
    const auto from = inputs.at(0).data<float>();
    const auto to = outputs.at(0).data<float>();
    const bool isLarger = from.size() == 30;
    if (manner_ == Manner::EndsWithLarger && isLarger) raise(SIGKILL);
    if (from.size() != to.size()) return Status::invalidArgument("{} elements", from.size());
    std::ranges::transform(from, to.begin(), [](float x) { return std::max(x, 0.0f); });
    if (manner_ == Manner::Wrong || (manner_ == Manner::WrongWithLarger && isLarger)) to[1] += 1;
    return Status::ok();
  }
  Result<std::vector<Tensor>> run(const std::vector<Tensor>& inputs) override {
    std::vector<Tensor> outputs = {*Tensor::onHost(inputs.at(0).desc)};
    OPKIT_TRY(runInto(inputs, outputs));
    return outputs;
  }

 private:
  Manner manner_;
};

class FakeGuest final : public Guest {
 public:
  explicit FakeGuest(Manner manner) : manner_(manner) {}
  const GuestInfo& info() const override { return info_; }
  GuestLoad load(const std::vector<uint8_t>&) override {
    if (manner_ == Manner::NotClaimed) return {nullptr, GuestRefusal::NotClaimed, "left to another"};
    if (manner_ == Manner::Refused) return {nullptr, GuestRefusal::Refused, "no memory"};
    return {std::make_unique<FakeSession>(manner_), {}, ""};
  }

 private:
  Manner manner_;
  GuestInfo info_{"Fake", "1.2.3", "FakeExecutionProvider", "", 21};
};

CaseGroup groupOf(const std::vector<std::string>& ids) {
  CaseGroup group;
  for (const std::string& id : ids) group.cases.push_back(*parseCaseId(id));
  return group;
}

std::vector<BenchBackend> cpu() { return {{"cpu", *createRuntime("cpu", {})}}; }

const MeasureOptions kFew{.samples = 3, .minSampleNs = 1e4, .maxSubjectNs = 1e8};

std::vector<CaseResult> bench(Manner manner, const std::vector<std::string>& ids = {kRelu, kLarger}) {
  FakeGuest guest(manner);
  const std::vector<BenchBackend> backends = cpu();
  return benchGuestCase(groupOf(ids), 0, {guest, "fake", backends, ops::builtinOps(), ops::builtinOnnxRules(), kFew});
}

std::vector<std::string> namesOf(const CaseResult& result) {
  std::vector<std::string> names;
  for (const auto& [name, timing] : result.times) names.push_back(name);
  return names;
}

TEST(GuestBench, ARightAnswerIsTimedOnBothSides) {
  const auto results = bench(Manner::Right);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].backend, "fake");
  EXPECT_EQ(results[1].backend, "cpu");
  for (const CaseResult& result : results) {
    EXPECT_EQ(result.status, CaseStatus::Pass) << result.reason;
    EXPECT_EQ(result.id, kRelu);
    EXPECT_EQ(namesOf(result), (std::vector<std::string>{"load", "resizeFirst", "executeWall"}));
    for (const auto& [name, timing] : result.times) EXPECT_EQ(timing.samples.size(), 3u) << name;
    EXPECT_TRUE(result.accuracy && result.accuracy->pass);
  }
  EXPECT_EQ(results[0].provider, "1.2.3");
  EXPECT_NE(results[1].provider, "");
}

TEST(GuestBench, OneShapeHasNoResize) {
  for (const CaseResult& result : bench(Manner::Right, {kRelu}))
    EXPECT_EQ(namesOf(result), (std::vector<std::string>{"load", "executeWall"}));
}

TEST(GuestBench, AWrongAnswerIsNotTimed) {
  const auto results = bench(Manner::Wrong);
  EXPECT_EQ(results[0].status, CaseStatus::Fail);
  EXPECT_EQ(results[0].accuracy->failed, 1);
  EXPECT_EQ(results[1].status, CaseStatus::Pass);
  for (const CaseResult& result : results) EXPECT_EQ(namesOf(result), std::vector<std::string>());
}

TEST(GuestBench, AWrongAnswerWithTheOtherShapeLeavesTheResizeOut) {
  for (const CaseResult& result : bench(Manner::WrongWithLarger)) {
    EXPECT_EQ(result.status, CaseStatus::Pass) << result.reason;
    EXPECT_EQ(namesOf(result), (std::vector<std::string>{"load", "executeWall"}));
  }
}

TEST(GuestBench, WhatIsNotClaimedIsUnsupportedWithTheReason) {
  const auto results = bench(Manner::NotClaimed);
  EXPECT_EQ(results[0].status, CaseStatus::Unsupported);
  EXPECT_EQ(results[0].reason, "not claimed: left to another");
  for (const CaseResult& result : results) EXPECT_TRUE(result.times.empty());
}

TEST(GuestBench, WhatIsClaimedAndThenRefusedIsNotTimed) {
  for (const Manner manner : {Manner::Refused, Manner::Failing}) {
    const auto results = bench(manner);
    EXPECT_EQ(results[0].status, CaseStatus::Refused) << results[0].reason;
    for (const CaseResult& result : results) EXPECT_TRUE(result.times.empty());
  }
}

TEST(GuestBench, ACaseWithoutAFormIsUnsupportedOnAllSides) {
  FakeGuest guest(Manner::Right);
  const std::vector<BenchBackend> backends = cpu();
  const OnnxRules none;
  const auto results = benchGuestCase(groupOf({kRelu}), 0, {guest, "fake", backends, ops::builtinOps(), none, kFew});
  ASSERT_EQ(results.size(), 2u);
  for (const CaseResult& result : results) {
    EXPECT_EQ(result.status, CaseStatus::Unsupported);
    EXPECT_NE(result.reason, "");
  }
}

/// The lines of a results file of a run with this guest, by "id on backend: status", and what was printed.
struct Ran {
  std::vector<std::string> lines;
  std::string printed;
  bool failed = false;
  size_t timed = 0;
};

Ran runOf(const std::vector<CaseGroup>& groups, const std::function<std::unique_ptr<Guest>()>& open) {
  const std::string path = testing::TempDir() + "guest_bench.jsonl";
  std::filesystem::remove(path);
  std::vector<ChosenCase> chosen;
  for (const CaseGroup& group : groups) chosen.push_back({&group, 0});
  const GuestBenchPlan plan{.registry = ops::builtinOps(),
                            .rules = ops::builtinOnnxRules(),
                            .sides = {"fake", "cpu"},
                            .chosen = chosen,
                            .options = kFew,
                            .timeoutSeconds = 60,
                            .repeat = [](const std::string& side, const std::string& id) { return side + " " + id; },
                            .openGuest = [&]() -> Result<std::unique_ptr<Guest>> { return open(); },
                            .openBackends = []() -> Result<std::vector<BenchBackend>> { return cpu(); }};
  ResultFile file;
  EXPECT_TRUE(file.open(path, "bench", 7, {{"fake", groups.size()}, {"cpu", groups.size()}}).isOk());
  GuestBenchRun run(plan, file);
  testing::internal::CaptureStdout();
  const Status status = run.run();
  run.print();
  Ran ran{{}, testing::internal::GetCapturedStdout(), run.failed(), run.timed()};
  EXPECT_TRUE(status.isOk()) << status.message();
  EXPECT_TRUE(file.close().isOk());
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    const nlohmann::json record = parseJson(line);
    if (record.value("record", "") == "case")
      ran.lines.push_back(
          fmt::format("{} on {}: {}", record.value("id", ""), record.value("backend", ""), record.value("status", "")));
  }
  return ran;
}

Ran runOf(Manner manner, const std::vector<std::string>& ids) {
  std::vector<CaseGroup> groups;
  for (const std::string& id : ids) groups.push_back(groupOf({id}));
  return runOf(groups, [manner] { return std::make_unique<FakeGuest>(manner); });
}

TEST(GuestBenchRun, ACrashCostsItsCase) {
  const Ran ran = runOf(Manner::EndsWithLarger, {kRelu, kLarger, "Relu/f32[2]/normal/seed=7"});
  EXPECT_TRUE(ran.failed);
  EXPECT_EQ(ran.timed, 2u);
  ASSERT_EQ(ran.lines.size(), 6u);
  EXPECT_EQ(ran.lines[0], std::string(kRelu) + " on fake: pass");
  EXPECT_EQ(ran.lines[2], std::string(kLarger) + " on fake: crash");
  EXPECT_EQ(ran.lines[3], std::string(kLarger) + " on cpu: skip");
  EXPECT_EQ(ran.lines[4], "Relu/f32[2]/normal/seed=7 on fake: pass");
  EXPECT_NE(ran.printed.find(std::string(kLarger) + " (values)"), std::string::npos) << ran.printed;
  EXPECT_NE(ran.printed.find("run: fake takes "), std::string::npos) << ran.printed;
}

TEST(GuestBenchRun, WhatIsNotClaimedIsListedWithTheReason) {
  const Ran ran = runOf(Manner::NotClaimed, {kRelu});
  EXPECT_FALSE(ran.failed);
  EXPECT_EQ(ran.timed, 0u);
  EXPECT_NE(ran.printed.find(std::string(kRelu) + " on fake: not claimed: left to another\n"), std::string::npos)
      << ran.printed;
}

// Samples of both alternate, and the order with them.
TEST(MeasureInTurns, SubjectsTakeTurns) {
  std::string order;
  const auto subject = [&order](char name, double ns) {
    return [&order, name, ns]() -> Result<double> {
      order += name;
      return ns;
    };
  };
  const auto timings =
      measureInTurns({.samples = 3, .minSampleNs = 1, .maxSubjectNs = 1e9}, {subject('a', 5), subject('b', 7)});
  ASSERT_TRUE(timings);
  EXPECT_EQ(order,
            "aabb"
            "abbaab");
  EXPECT_EQ((*timings)[0].samples, (std::vector<double>{5, 5, 5}));
  EXPECT_EQ((*timings)[1].median(), 7);
}

TEST(MeasureInTurns, TheFirstFailureEnds) {
  const auto timings = measureInTurns({}, {[]() -> Result<double> { return Status::internal("gone"); }});
  EXPECT_EQ(timings.error().message(), "gone");
}

}  // namespace
}  // namespace opkit::harness
