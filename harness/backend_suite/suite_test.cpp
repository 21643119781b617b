#include "harness/backend_suite/suite.h"
#include "engine/backend/host/host_recorder.h"

#include <gtest/gtest.h>

#include "engine/backend/device_test_support.h"
#include "ops/builtin_ops.h"

namespace opkit::harness::backend_suite {
namespace {

Context contextOf(const BackendKind& kind) { return {kind, *kind.createRuntime({}), ops::builtinOps()}; }

BackendKind kindNamed(const std::string& name) {
  for (const BackendKind& kind : backendKinds())
    if (kind.name == name) return kind;
  std::abort();
}

class EveryBackend : public testing::TestWithParam<std::string> {};

TEST_P(EveryBackend, Conforms) {
  const BackendKind kind = kindNamed(GetParam());
  OPKIT_NEEDS_DEVICE(kind.createRuntime({}));
  size_t passed = 0;
  for (const Verdict& verdict : judge(testsNamed(""), contextOf(kind), {})) {
    EXPECT_TRUE(verdict.outcome == Outcome::Pass || verdict.outcome == Outcome::Unsupported)
        << verdict.name << ": " << verdict.reason;
    passed += verdict.outcome == Outcome::Pass;
  }
  EXPECT_GT(passed, 25u);
}

INSTANTIATE_TEST_SUITE_P(Backends, EveryBackend, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const BackendKind& kind : backendKinds()) names.push_back(kind.name);
                           return names;
                         }()),
                         [](const auto& name) { return name.param; });

enum class Defect { Alignment, NeverRefuses, DropsLastByte, IgnoresOffset, IgnoresLayout, CountsNothing, ZeroSize };

/// A host backend with one fault.
class FaultyBackend final : public Backend {
 public:
  explicit FaultyBackend(Defect defect) : defect_(defect) {}
  const std::string& name() const override { return name_; }
  std::span<const Creator> creators(const OpDef&) const override { return {}; }
  size_t alignment() const override { return defect_ == Defect::Alignment ? 48 : 64; }
  Result<std::shared_ptr<Buffer>> allocate(size_t sizeBytes) override {
    if (defect_ != Defect::CountsNothing) ++counters().allocations;
    if (defect_ == Defect::ZeroSize && sizeBytes == 0) return Status::invalidArgument("faulty: no bytes");
    if (defect_ == Defect::NeverRefuses && sizeBytes > size_t{1} << 40) sizeBytes = 64;
    OPKIT_ASSIGN(auto buffer, HostBuffer::create(sizeBytes));
    return std::shared_ptr<Buffer>(std::move(buffer));
  }
  Status upload(const Tensor& host, const Tensor& device) override { return copy(host, device, device); }
  Status download(const Tensor& device, const Tensor& host) override { return copy(device, host, device); }
  Result<std::unique_ptr<Recorder>> record() override { return std::unique_ptr<Recorder>(new HostRecorder); }

 private:
  Status copy(Tensor from, Tensor to, const Tensor& device) {
    if (defect_ != Defect::CountsNothing) {
      counters().bytesUploaded += device.sizeBytes();
      counters().bytesDownloaded += device.sizeBytes();
    }
    if (defect_ == Defect::IgnoresOffset) from.offsetBytes = to.offsetBytes = 0;
    if (defect_ == Defect::IgnoresLayout && device.layout != Layout::NCHW) return Status::ok();
    const std::byte last = to.sizeBytes() ? to.bytes().back() : std::byte{};
    convertElements(from, to);
    if (defect_ == Defect::DropsLastByte && to.sizeBytes()) to.bytes().back() = last;
    return Status::ok();
  }

  Defect defect_;
  std::string name_ = "null";
};

class FaultyRuntime final : public Runtime {
 public:
  explicit FaultyRuntime(Defect defect) : defect_(defect) {}
  const DeviceInfo& device() const override { return device_; }
  Result<std::unique_ptr<Backend>> createBackend(const OpRegistry&, const BackendConfig&) override {
    return std::unique_ptr<Backend>(std::make_unique<FaultyBackend>(defect_));
  }

 private:
  Defect defect_;
  DeviceInfo device_{.backend = "null", .name = "faulty"};
};

TEST(Suite, FindsWhatIsWrong) {
  for (const auto& [defect, test] : {std::pair{Defect::Alignment, "buffers.alignment"},
                                     {Defect::NeverRefuses, "buffers.out_of_memory"},
                                     {Defect::DropsLastByte, "copies.u8"},
                                     {Defect::IgnoresOffset, "buffers.alignment"},
                                     {Defect::IgnoresLayout, "copies.NC4HW4.f32"},
                                     {Defect::CountsNothing, "copies.counted"},
                                     {Defect::ZeroSize, "buffers.zero_bytes"}}) {
    const Context context{kindNamed("null"), std::make_shared<FaultyRuntime>(defect), ops::builtinOps()};
    const auto verdicts = judge(testsNamed(test), context, {});
    ASSERT_FALSE(verdicts.empty()) << test;
    EXPECT_EQ(verdicts.front().outcome, Outcome::Fail) << test;
    EXPECT_NE(verdicts.front().reason, "") << test;
  }
}

TEST(Suite, TellsUnsupportedFromExpectedFailure) {
  const std::vector<backend_suite::Test> tests = {
      {"t", "passes", "", [](const Context&) { return Status::ok(); }},
      {"t", "cannot", "", [](const Context&) { return Status::unsupported("never"); }},
      {"t", "fails", "", [](const Context&) { return Status::internal("wrong"); }}};
  const Context context = contextOf(kindNamed("null"));
  const auto outcomes = [&](const KnownFailures& known) {
    std::vector<Outcome> result;
    for (const Verdict& verdict : judge(tests, context, known)) result.push_back(verdict.outcome);
    return result;
  };
  using enum Outcome;
  EXPECT_EQ(outcomes({}), (std::vector{Pass, Unsupported, Fail}));
  EXPECT_EQ(outcomes({{"fails", "driver bug"}}), (std::vector{Pass, Unsupported, ExpectedFailure}));
  EXPECT_EQ(outcomes({{"passes", "x"}, {"cannot", "x"}}), (std::vector{UnexpectedPass, UnexpectedPass, Fail}));
}

TEST(Suite, RefusesBadLists) {
  EXPECT_EQ(parseKnownFailures("[]").error().message(), "known failures: expected {\"test\": \"reason\"}");
  EXPECT_EQ(parseKnownFailures(R"({"no.such": "x"})").error().message(), "known failures: there is no test 'no.such'");
  EXPECT_EQ(parseKnownFailures(R"({"copies.f32": ""})").error().message(),
            "known failures: 'copies.f32' needs a reason, got \"\"");
  EXPECT_TRUE(testsNamed("no such test").empty()) << "the command calls that nothing";
}

}  // namespace
}  // namespace opkit::harness::backend_suite
