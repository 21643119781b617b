// Placement by cost, on a device with invented costs beside the real CPU.
#include "engine/runtime/cost_placement.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "engine/backend/cost.h"
#include "engine/backend/host/host_backend.h"
#include "engine/backend/host/host_recorder.h"
#include "engine/backend/reference/oracle_execution.h"
#include "engine/testing/test_ops.h"

namespace opkit {
namespace {

using std::chrono::milliseconds;

constexpr auto kSlow = milliseconds(20);  // longer than any delay of the CPU or a copy
constexpr double kAges = 1e15;

/// The claimed costs of the fake device.
struct Claims {
  std::map<std::string, double> runNs;  // per operator type
  milliseconds copy{0};
};

class ClaimedExecution final : public Execution {
 public:
  ClaimedExecution(std::unique_ptr<Execution> inner, double ns) : runNs(ns), inner_(std::move(inner)) {}
  Status onResize(TensorList inputs, TensorList outputs) override { return inner_->onResize(inputs, outputs); }
  Status onExecute(TensorList inputs, TensorList outputs) override { return inner_->onExecute(inputs, outputs); }
  const double runNs;

 private:
  std::unique_ptr<Execution> inner_;
};

/// The clock of the fake device shows the claims.
class ClaimingRecorder final : public Recorder {
 public:
  class Timed final : public Recording {
   public:
    Timed(std::unique_ptr<Recording> calls, std::vector<double> ns) : calls_(std::move(calls)), ns_(std::move(ns)) {}
    Status run() override { return calls_->run(); }
    Status appendTimesNs(std::vector<double>& times) const override {
      times.insert(times.end(), ns_.begin(), ns_.end());
      return Status::ok();
    }

   private:
    std::unique_ptr<Recording> calls_;
    std::vector<double> ns_;
  };
  Status add(Execution& execution, TensorList inputs, TensorList outputs) override {
    ns_.push_back(dynamic_cast<ClaimedExecution&>(execution).runNs);
    return calls_.add(execution, inputs, outputs);
  }
  Result<std::unique_ptr<Recording>> finish() override {
    OPKIT_ASSIGN(auto calls, calls_.finish());
    return std::unique_ptr<Recording>(std::make_unique<Timed>(std::move(calls), std::exchange(ns_, {})));
  }

 private:
  HostRecorder calls_;
  std::vector<double> ns_;
};

class ClaimingBackend final : public HostBackend {
 public:
  explicit ClaimingBackend(Claims& claims) : HostBackend("claiming"), claims_(claims), creator_(makeCreator(claims)) {}
  std::span<const Creator> creators(const OpDef&) const override { return {&creator_, 1}; }
  bool sharesHostMemory() const override { return false; }
  Status upload(const Tensor& host, const Tensor& device) override {
    std::this_thread::sleep_for(claims_.copy);
    return HostBackend::upload(host, device);
  }
  Result<std::unique_ptr<Recorder>> record() override { return std::unique_ptr<Recorder>(new ClaimingRecorder); }

 private:
  /// Accepts the operators that it has a claimed cost for.
  static Creator makeCreator(const Claims& claims) {
    Creator creator = reference::oracleCreator();
    creator.provider = "claims";
    creator.supports = [&claims](const CreateArgs& args) {
      return claims.runNs.contains(args.def.type) ? Status::ok() : Status::unsupported("no claim");
    };
    creator.create = [&claims, inner = creator.create](const CreateArgs& args,
                                                       Backend& backend) -> Result<std::unique_ptr<Execution>> {
      OPKIT_ASSIGN(auto execution, inner(args, backend));
      return std::unique_ptr<Execution>(
          std::make_unique<ClaimedExecution>(std::move(execution), claims.runNs.at(args.def.type)));
    };
    return creator;
  }

  Claims& claims_;
  Creator creator_;
};

class ClaimingRuntime final : public Runtime {
 public:
  explicit ClaimingRuntime(Claims& claims) : claims_(claims) { info_.backend = "claiming"; }
  const DeviceInfo& device() const override { return info_; }
  Result<std::unique_ptr<Backend>> createBackend(const OpRegistry&, const BackendConfig&) override {
    return std::unique_ptr<Backend>(std::make_unique<ClaimingBackend>(claims_));
  }

 private:
  Claims& claims_;
  DeviceInfo info_;
};

/// The oracle after a sleep: an operator that is slow on any CPU.
class Sleeper final : public Execution {
 public:
  explicit Sleeper(std::unique_ptr<Execution> inner) : inner_(std::move(inner)) {}
  Status onResize(TensorList inputs, TensorList outputs) override { return inner_->onResize(inputs, outputs); }
  Status onExecute(TensorList inputs, TensorList outputs) override {
    std::this_thread::sleep_for(kSlow);
    return inner_->onExecute(inputs, outputs);
  }

 private:
  std::unique_ptr<Execution> inner_;
};

/// AddOne sleeps on the CPU; Negate does not.
const OpRegistry& registryOf() {
  static const OpRegistry registry = [] {
    OpRegistry ops = test::makeTestOps();
    Creator sleepy = reference::oracleCreator();
    sleepy.provider = "sleepy";
    const auto inner = sleepy.create;
    sleepy.create = [inner](const CreateArgs& args, Backend& backend) -> Result<std::unique_ptr<Execution>> {
      OPKIT_ASSIGN(auto execution, inner(args, backend));
      return std::unique_ptr<Execution>(std::make_unique<Sleeper>(std::move(execution)));
    };
    ops.addCreator("cpu", "AddOne", sleepy);
    return ops;
  }();
  return registry;
}

Model chain(const std::vector<std::string>& types) {
  Model model;
  TensorId tensor = model.addInput("x", {DType::Float32, {4}});
  for (size_t i = 0; i < types.size(); ++i)
    tensor = model.addNode(types[i], fmt::format("{}{}", types[i], i), {tensor})[0];
  model.outputs = {tensor};
  return model;
}

class CostPlacement : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "opkit_costs_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Plans and runs; "claiming cpu claiming", without copies.
  std::string place(const std::vector<std::string>& types, float expected) {
    auto interpreter = *Interpreter::create(chain(types), registryOf());
    auto session =
        *interpreter->createSession({.backend = "claiming", .cacheDir = folder_, .threads = 1, .placeByCost = true},
                                    std::make_shared<ClaimingRuntime>(claims_));
    session->fillInput("x");  // zeros suffice
    const Status status = session->run();
    EXPECT_TRUE(status.isOk()) << status.toString();
    EXPECT_EQ(session->outputs()[0].data<float>()[3], expected);
    rows_ = session->placement();
    estimate_ = session->statistics().estimate;
    measurements_ = session->counters().measurements;
    std::string backends;
    for (const Placement& row : rows_)
      if (row.type != "Copy") backends += (backends.empty() ? "" : " ") + row.backend;
    return backends;
  }

  std::string folder_;
  Claims claims_;
  std::vector<Placement> rows_;
  CostEstimate estimate_;
  size_t measurements_ = 0;
};

TEST_F(CostPlacement, EachCommandGoesWhereItCostsLess) {
  claims_.runNs = {{"AddOne", 0}, {"Negate", kAges}};
  EXPECT_EQ(place({"AddOne", "Negate", "AddOne"}, 0), "claiming cpu claiming");
  EXPECT_LE(estimate_.chosenNs, estimate_.allMainNs);
  EXPECT_LT(estimate_.chosenNs, estimate_.allOtherNs);
  EXPECT_GE(estimate_.allMainNs, kAges);
  for (const Placement& row : rows_) {
    EXPECT_FALSE(row.fellBack) << row.node;
    if (row.type == "Copy") continue;
    EXPECT_TRUE(row.cost.starts_with("claiming ")) << row.cost;
    EXPECT_NE(row.cost.find(", cpu "), std::string::npos) << row.cost;
    const bool refused = row.type == "Negate";
    ASSERT_EQ(row.refusals.size(), refused ? 1u : 0u);
    if (refused) {
      EXPECT_TRUE(row.refusals[0].reason.starts_with("by cost: claiming ")) << row.refusals[0].reason;
    }
  }
}

TEST_F(CostPlacement, ACopyThatCostsMoreThanItGainsIsNotMade) {
  claims_.runNs = {{"AddOne", 0}, {"Negate", 0}};
  claims_.copy = 2 * kSlow;
  EXPECT_EQ(place({"AddOne", "Negate"}, -1), "cpu cpu");
  claims_.copy = milliseconds(0);
  std::filesystem::remove_all(folder_);
  EXPECT_EQ(place({"AddOne", "Negate"}, -1), "claiming claiming");
  // Three slow commands justify one slow copy.
  claims_.copy = 2 * kSlow;
  EXPECT_EQ(place({"AddOne", "AddOne", "AddOne"}, 3), "claiming claiming claiming");
}

TEST_F(CostPlacement, WhatOnlyOneSideRunsHasNoChoice) {
  claims_.runNs = {{"AddOne", 0}};
  EXPECT_EQ(place({"AddOne", "Negate"}, -1), "claiming cpu");
  EXPECT_EQ(rows_.back().cost, "");
  EXPECT_TRUE(rows_.back().fellBack);
}

TEST_F(CostPlacement, MeasurementsOutliveTheirSession) {
  claims_.runNs = {{"AddOne", 0}, {"Negate", kAges}};
  place({"AddOne", "Negate"}, -1);
  EXPECT_EQ(measurements_, 4u);
  EXPECT_EQ(place({"AddOne", "Negate"}, -1), "claiming cpu");
  EXPECT_EQ(measurements_, 2u);  // those of the CPU are in the folder, the device keeps nothing
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) std::filesystem::resize_file(entry.path(), 9);
  EXPECT_EQ(place({"AddOne", "Negate"}, -1), "claiming cpu");
  EXPECT_EQ(measurements_, 4u);  // the damaged file was ignored
}

TEST_F(CostPlacement, FailuresOfKernelsAreNotHidden) {
  claims_.runNs = {{"AddOne", 0}};
  OpRegistry ops = test::makeTestOps();
  Creator broken = reference::oracleCreator();
  broken.provider = "broken";
  broken.create = [](const CreateArgs&, Backend&) -> Result<std::unique_ptr<Execution>> {
    return Status::internal("broken on purpose");
  };
  ops.addCreator("cpu", "AddOne", broken);
  auto interpreter = *Interpreter::create(chain({"AddOne"}), ops);
  auto session = *interpreter->createSession({.backend = "claiming", .cacheDir = "off", .placeByCost = true},
                                             std::make_shared<ClaimingRuntime>(claims_));
  session->fillInput("x");
  const Status status = session->run();
  EXPECT_EQ(status.code(), StatusCode::Internal);
  EXPECT_EQ(status.message(), "cost of node 'AddOne0': broken on purpose");
}

}  // namespace
}  // namespace opkit
