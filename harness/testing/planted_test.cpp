// The share of planted kernels (harness/testing/planted_kernels.h) that the cases drawn for every `check` kill.
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/backend/device_test_support.h"
#include "harness/cases/reach_catalogue.h"
#include "harness/check/check.h"
#include "harness/mutate/hunt.h"
#include "harness/testing/planted_kernels.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

constexpr size_t kSampleEvery = 12;
constexpr double kRequiredShare = 0.8;

/// Only what reach draws for one operator, without the written cases.
const std::vector<PreparedGroup>& drawnFor(const std::string& op) {
  static std::map<std::string, std::vector<PreparedGroup>> known;
  if (const auto found = known.find(op); found != known.end()) return found->second;
  std::vector<PreparedGroup>& groups = known[op];
  auto catalogue = builtinCatalogue(ops::builtinOps());
  EXPECT_TRUE(catalogue) << catalogue.error().message();
  const size_t written = catalogue->groups.size();
  catalogue = reachCatalogue(*std::move(catalogue), ops::builtinOps(), {op}, kDefaultSeed);
  EXPECT_TRUE(catalogue) << catalogue.error().message();
  for (size_t g = written; g < catalogue->groups.size(); ++g)
    groups.push_back(prepareGroup(catalogue->groups[g], ops::builtinOps()));
  return groups;
}

/// The first case that the registry's kernels fail; empty if there is none.
std::string firstFailure(const OpRegistry& registry, const Planted& planted, const std::shared_ptr<Runtime>& runtime) {
  Checker checker(registry, planted.backend, runtime);
  checker.setHunting();
  for (const PreparedGroup& group : drawnFor(planted.op))
    for (const CaseResult& result : checker.checkGroup(group))
      if (isFailure(result.status)) return result.id + ": " + result.reason;
  return "";
}

/// Every twelfth, or all with OPKIT_PLANTED=all.
std::vector<Planted> chosen() {
  std::vector<Planted> all = plantedKernels(), sample;
  const char* const asked = std::getenv("OPKIT_PLANTED");
  if (asked && std::string(asked) == "all") return all;
  for (size_t i = 0; i < all.size(); i += kSampleEvery) sample.push_back(all[i]);
  return sample;
}

TEST(Planted, TheSetIsLargeEnough) { EXPECT_GE(plantedKernels().size(), 40u); }

TEST(Planted, DrawnCasesKillThem) {
  std::map<std::string, std::shared_ptr<Runtime>> runtimes;
  size_t tried = 0, killed = 0;
  for (const Planted& planted : chosen()) {
    std::shared_ptr<Runtime>& runtime = runtimes[planted.backend];
    if (!runtime) {
      const auto made = createRuntime(planted.backend);
      if (planted.backend != "cpu" && !made) continue;  // a build or machine without the device
      ASSERT_TRUE(made) << made.error().message();
      runtime = *made;
    }
    OpRegistry broken = ops::builtinOps();
    const Status status = plant(broken, planted);
    EXPECT_TRUE(status.isOk()) << planted.name() << ": " << status.message();
    if (!status.isOk()) continue;
    const std::string failure = firstFailure(broken, planted, runtime);
    ++tried;
    killed += !failure.empty();
    fmt::print("{} {}{}\n", failure.empty() ? "SURVIVED" : "killed", planted.name(),
               failure.empty() ? "" : " by " + failure);
  }
  const double share = static_cast<double>(killed) / static_cast<double>(tried);
  fmt::print("{} of {} planted kernels were killed: {:.0f} %\n", killed, tried, 100 * share);
  EXPECT_GE(share, kRequiredShare);
}

/// What is not broken must not fail: else the share proves nothing.
TEST(Planted, KernelsWithoutAFaultSurvive) {
  const auto runtime = createRuntime("cpu");
  ASSERT_TRUE(runtime);
  for (const char* op : {"Softmax", "MatMul", "Transpose"}) {
    const Planted harmless{"cpu", op, {"nowhere", [](const PlantedNode&) { return Spoiled{}; }}};
    OpRegistry registry = ops::builtinOps();
    ASSERT_TRUE(plant(registry, harmless).isOk());
    EXPECT_EQ(firstFailure(registry, harmless, *runtime), "");
  }
}

}  // namespace
}  // namespace opkit::harness
