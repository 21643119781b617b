#include "engine/backend/extra_creators.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "engine/backend/backend_registry.h"
#include "engine/op/op_registry.h"

namespace opkit {
namespace {

using Order = ExtraCreators::Order;

OpRegistry registryOf(const std::vector<std::string>& providers) {
  OpRegistry registry;
  registry.add({.type = "Any",
                .outputs = {{"y"}},
                .inferShapes = [](const ShapeArgs&) -> Result<std::vector<TensorDesc>> {
                  return std::vector{TensorDesc{DType::Float32, {1}}};
                },
                .oracle = [](const OracleArgs&) { return Status::ok(); }});
  for (const std::string& provider : providers) registry.addCreator("cpu", "Any", {.provider = provider});
  return registry;
}

CreatorSource offering(const std::string& provider) {
  return [provider](std::string_view backend, const OpDef& def) {
    std::vector<Creator> found;
    if (backend == "cpu" && def.type == "Any") found.push_back({.provider = provider});
    return found;
  };
}

/// The providers of a new Backend's table, in order.
std::vector<std::string> tableOf(const OpRegistry& registry) {
  const auto backend = std::move(*(*createRuntime("cpu"))->createBackend(registry, {.threads = 1}));
  std::vector<std::string> names;
  for (const Creator& creator : backend->creators(*registry.find("Any"))) names.push_back(creator.provider);
  return names;
}

TEST(ExtraCreators, StandFirstOrFillAnEmptyTable) {
  const ExtraCreators first = ExtraCreators::add(Order::First, offering("eager"));
  const ExtraCreators rest = ExtraCreators::add(Order::WhenEmpty, offering("patient"));
  EXPECT_EQ(tableOf(registryOf({"own"})), (std::vector<std::string>{"eager", "own", "reference"}));
  EXPECT_EQ(tableOf(registryOf({})), (std::vector<std::string>{"eager", "patient", "reference"}));
  EXPECT_TRUE(registryOf({}).providers("Any").contains("patient"));
}

TEST(ExtraCreators, BackendsKeepWhatTheyWereGiven) {
  const OpRegistry registry = registryOf({"own"});
  const auto backend = std::move(*(*createRuntime("cpu"))->createBackend(registry, {.threads = 1}));
  {
    const ExtraCreators first = ExtraCreators::add(Order::First, offering("eager"));
    EXPECT_EQ(backend->creators(*registry.find("Any"))[0].provider, "eager");
  }
  EXPECT_EQ(backend->creators(*registry.find("Any"))[0].provider, "eager");
  EXPECT_EQ(tableOf(registry)[0], "own");
}

TEST(ExtraCreators, OwnedSourcesServeTheRegistriesOfTheirOwner) {
  const std::shared_ptr<const void> owner = std::make_shared<int>(), stranger = std::make_shared<int>();
  const ExtraCreators owned = ExtraCreators::add(Order::First, offering("owned"), owner);
  OpRegistry registry = registryOf({"own"});
  registry.addOwner(stranger);
  EXPECT_EQ(tableOf(registry), (std::vector<std::string>{"own", "reference"}));
  registry.addOwner(owner);
  EXPECT_EQ(tableOf(OpRegistry(registry)), (std::vector<std::string>{"owned", "own", "reference"}));
}

TEST(ExtraCreators, TakenKeysRefuseAndSayWhy) {
  const ExtraCreators first = ExtraCreators::add(Order::First, offering("own"));
  const OpRegistry registry = registryOf({"own"});
  const std::vector<Creator> table = creatorTable(registry, "cpu", *registry.find("Any"));
  ASSERT_EQ(table.size(), 2u);
  const DeviceCaps caps;
  const Status refusal = table[0].supports({*registry.find("Any"), {}, {}, {}, {}, caps});
  EXPECT_NE(refusal.message().find("duplicate kernel (cpu, own"), std::string::npos) << refusal.message();
}

TEST(ExtraCreators, ComeAndGoWhileOthersSearch) {
  const OpRegistry registry = registryOf({"own"});
  std::atomic<bool> stop = false;
  std::atomic<size_t> seen = 0;
  std::thread searcher([&] {
    while (!stop) seen += creatorTable(registry, "cpu", *registry.find("Any")).size();
  });
  for (int i = 0; i < 200; ++i) {
    ExtraCreators one = ExtraCreators::add(Order::First, offering(std::to_string(i)));
    const ExtraCreators moved = std::move(one);
  }
  stop = true;
  searcher.join();
  EXPECT_GT(seen + 1, 0u);
  EXPECT_EQ(tableOf(registry).size(), 2u);
}

}  // namespace
}  // namespace opkit
