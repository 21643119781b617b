// Every request of memory, a thread, a file or an object of the device fails once: the error is one line, nothing is
// left over, and the next run on the same objects is right.
//
// By day a sample. OPKIT_ALLOCATIONS=all takes the first 2,000 requests of every small network, and of ten networks of
// the zoo every hundredth, offset by OPKIT_DAY, the number of the day. OPKIT_ALLOCATIONS="NETWORK BACKEND KIND NUMBER"
// takes one request, in this process, for a debugger: "loop cpu memory 1407".
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "engine/backend/device_test_support.h"
#include "engine/base/where.h"
#include "harness/allocations/library_subject.h"
#include "harness/allocations/small_networks.h"
#include "harness/allocations/sweep.h"
#include "harness/run/isolated_jobs.h"
#include "harness/zoo/zoo.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

constexpr uint64_t kSampleEvery = 15;
constexpr uint64_t kZooEvery = 100, kZooSampleEvery = 1000;
constexpr double kZooSeconds = 150;  // of each backend
constexpr uint64_t kPluginRequests = 7000, kPluginEvery = 20, kPluginSampleEvery = 60;
constexpr uint64_t kRuntimeRequests = 20'000;
constexpr uint64_t kRuntimeEvery = 16, kRuntimeSampleEvery = 400;  // each trial makes a device
constexpr uint64_t kZooRequests = 200'000;                         // more than any network makes

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text ? text : "";
}
uint64_t day() { return std::strtoull(variable("OPKIT_DAY").c_str(), nullptr, 10); }
std::string asked() { return variable("OPKIT_ALLOCATIONS"); }
bool all() { return asked() == "all"; }

/// A runtime that the trials of a worker share: they would take ten times as long if each compiled its shaders.
const std::shared_ptr<Runtime>& sharedVulkan() {
  static const std::shared_ptr<Runtime> runtime = [] {
    auto made = createRuntime("vulkan", {.cacheDir = "off"});
    return made ? *made : nullptr;
  }();
  return runtime;
}

Setting settingOf(const SmallNetwork& network, const std::string& backend) {
  Setting setting{network.name + " " + backend, testing::TempDir() + network.name, network.small, network.large};
  EXPECT_TRUE(writeFile(setting.file, network.file).isOk());
  setting.config = {.backend = backend, .cacheDir = "off", .threads = 2};
  setting.registry = &ops::builtinOps();
  setting.rules = &ops::builtinOnnxRules();
  return setting;
}

std::vector<Setting> smallSettings(const std::string& backend) {
  std::vector<Setting> settings;
  for (const SmallNetwork& network : smallNetworks()) settings.push_back(settingOf(network, backend));
  return settings;
}

std::vector<Setting> pluginSettings() {
  std::vector<Setting> settings;
  for (const std::string backend : {"cpu", "twin"}) {  // the plugin brings the last
    settings.push_back(settingOf(pluginNetwork(), backend));
    settings.back().registry = &pluginBase();
    settings.back().rules = &pluginBaseRules();
    settings.back().plugin = partOfBuild(OPKIT_SAMPLES) + "/libdevice_and_pass.so";
  }
  return settings;
}

Setting runtimeSetting() {
  SmallNetwork network = smallNetworks().front();
  network.name = "runtime";
  Setting setting = settingOf(network, "vulkan");
  setting.ownsRuntime = true;
  setting.config.cacheDir = testing::TempDir() + "caches";
  return setting;
}

/// Images are small: their size does not change what is allocated.
std::vector<Setting> zooSettings(const std::string& backend) {
  const std::map<std::string, Shape> image{{"input", {1, 3, 64, 64}}};
  const std::map<std::string, std::map<std::string, Shape>> networks{
      {"decoder", {}},         {"detector", image}, {"mobilenet_v1_fp16", image}, {"mobilenet_v2", image},
      {"resnet50_qdq", image}, {"speech", {}},      {"squeezenet", image},        {"transformer", {}},
      {"unet", image},         {"vit", {}}};
  std::vector<Setting> settings;
  for (const auto& [name, shapes] : networks) {
    if (!all() && name != "squeezenet") continue;
    const auto file = buildZoo(name);
    EXPECT_TRUE(file) << name;
    if (file) settings.push_back(settingOf({name, *file, shapes, {}}, backend));
  }
  return settings;
}

/// The settings must outlive the subjects.
std::vector<SweepSubject> subjectsOf(std::vector<Setting>& settings) {
  std::vector<SweepSubject> subjects;
  for (Setting& setting : settings) {
    subjects.push_back({setting.name, [&setting] {
                          if (setting.config.backend == "vulkan" && !setting.ownsRuntime)
                            setting.runtime = sharedVulkan();
                          return networkOf(setting);
                        }});
  }
  return subjects;
}

/// Why this machine has no Vulkan; empty if it has. Asked in a process of its own: workers are forks and open the
/// device themselves.
std::string whyNoVulkan() {
  std::string why;
  const Status status = runIsolated(
      1, 1, 60, [](size_t) { return createRuntime("vulkan").error().message(); },
      [&](size_t, const JobOutcome& outcome) { why = outcome.answer; });
  EXPECT_TRUE(status.isOk()) << status.message();
  return why;
}

#define OPKIT_NEEDS_VULKAN()                                 \
  if (const std::string why = whyNoVulkan(); !why.empty()) { \
    if (devicesArePromised()) FAIL() << why;                 \
    GTEST_SKIP() << why;                                     \
  }

void expectNoFault(const Result<SweepResult>& result) {
  ASSERT_TRUE(result) << result.error().message();
  for (const SweepFault& fault : result->faults)
    ADD_FAILURE() << fault.subject << " " << nameOf(fault.refused.kind) << " " << fault.refused.grants
                  << ", refused in " << fault.place << ": " << fault.what;
  const SweepCount sum = result->all();
  fmt::print("{} requests of {} failed, one in each trial; {} of them were tolerated{}\n", sum.refused, sum.requests,
             sum.tolerated, result->cut ? "; the time was over before the rest" : "");
  EXPECT_GT(sum.refused, 0u);
}

void tryNetworks(std::vector<Setting> settings, uint64_t sampleEvery = kSampleEvery) {
  expectNoFault(sweep(subjectsOf(settings), {.every = all() ? 1 : sampleEvery}));
}

TEST(Allocations, OfSmallNetworksOnTheCpu) { tryNetworks(smallSettings("cpu")); }

TEST(Allocations, OfSmallNetworksOnVulkan) {
  OPKIT_NEEDS_VULKAN();
  tryNetworks(smallSettings("vulkan"));
}

TEST(Allocations, OfTheLibrary) {
  std::vector<LibraryUse> uses;
  for (const SmallNetwork& network : smallNetworks()) {
    if (network.name == "strings" || network.name == "if") continue;  // no input of f32, or two
    const auto& [input, shape] = *network.small.begin();
    uses.push_back({network.name + " by the library", settingOf(network, "cpu").file, input, shape.toVector()});
  }
  std::vector<SweepSubject> subjects;
  for (const LibraryUse& use : uses) subjects.push_back({use.name, [&use] { return networkOf(use); }});
  expectNoFault(sweep(subjects, {.every = all() ? 1 : kSampleEvery}));
}

/// Loading the plugin makes most of its requests, so more than 2,000 are looked at.
TEST(Allocations, OfAPlugin) {
  std::vector<Setting> settings = pluginSettings();
  tryNetworks(settings, kPluginSampleEvery);
  const uint64_t every = all() ? kPluginEvery : kPluginSampleEvery;
  expectNoFault(sweep(subjectsOf(settings), {kPluginRequests, every, day() % every}));
}

/// Instance, device, caches on disk: each trial makes its own.
TEST(Allocations, OfAVulkanRuntime) {
  OPKIT_NEEDS_VULKAN();
  std::vector<Setting> settings{runtimeSetting()};
  const uint64_t every = all() ? kRuntimeEvery : kRuntimeSampleEvery;
  expectNoFault(sweep(subjectsOf(settings), {kRuntimeRequests, every, day() % every}));
}

void tryZoo(const std::string& backend) {
  std::vector<Setting> settings = zooSettings(backend);
  const uint64_t every = all() ? kZooEvery : kZooSampleEvery;
  expectNoFault(sweep(subjectsOf(settings), {kZooRequests, every, day() % every}, kZooSeconds));
}

TEST(Allocations, OfTheZooOnTheCpu) { tryZoo("cpu"); }

TEST(Allocations, OfTheZooOnVulkan) {
  OPKIT_NEEDS_VULKAN();
  tryZoo("vulkan");
}

TEST(Allocations, OneOfThem) {
  std::istringstream words(asked());
  std::string network, backend, kind;
  Refused refused;
  if (!(words >> network >> backend >> kind >> refused.grants)) GTEST_SKIP() << "OPKIT_ALLOCATIONS names none";
  const auto named = refusedKindNamed(kind);
  ASSERT_TRUE(named) << "expected memory, thread, file or device, got '" << kind << "'";
  refused.kind = *named;
  std::vector<Setting> settings = smallSettings(backend);
  for (auto& more : {pluginSettings(), std::vector{runtimeSetting()}, zooSettings(backend)})
    settings.insert(settings.end(), more.begin(), more.end());
  for (const SweepSubject& subject : subjectsOf(settings)) {
    if (subject.name != network + " " + backend) continue;
    const Network made = subject.network();
    for (int i = 0; i < 2; ++i) runUndisturbed(made);  // tables that fill at first use
    const TrialResult undisturbed = runUndisturbed(made);
    RefusedPlace place;
    keepPlaceIn(&place);
    const TrialResult result = runTrial(made, refused, &undisturbed.values);
    keepPlaceIn(nullptr);
    EXPECT_EQ(result.fault, "");
    fmt::print("of {} requests of memory; {}; {}\n{}\n", undisturbed.requests[0],
               !result.reached    ? "not reached"
               : result.tolerated ? "tolerated"
                                  : result.status,
               result.fault, describe(place));
    return;
  }
  FAIL() << "there is no network '" << network << "' on backend '" << backend << "'";
}

}  // namespace
}  // namespace opkit::harness
