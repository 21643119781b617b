#include "engine/backend/vulkan/tuner.h"

#include <algorithm>

#include "engine/backend/class_variations.h"
#include "engine/backend/tuning_cache.h"
#include "engine/backend/vulkan/testing/vulkan_fixture.h"
#include "engine/backend/vulkan/vulkan_backend.h"

namespace opkit::vulkan {
namespace {

/// Records one group of AffineExecution's shader per team that its class wants; notes each figure that it saw.
class TeamReader final : public VulkanExecution {
 public:
  using VulkanExecution::VulkanExecution;

  Status onEncode(TensorList inputs, TensorList outputs, Encoder& encoder) override {
    using Shader = shaders::Affine;
    last = encoder.caps().deviceClass->largestTeam;
    const int64_t count = outputs[0]->desc.elements(), items = reads ? count + last : count;
    return encoder.dispatch<Shader>({*Shader::storageOf(outputs[0]->desc.dtype)}, {.x = inputs[0], .y = outputs[0]},
                                    {.count = static_cast<uint32_t>(count), .amount = 1}, Items{items}, {.factor = 2});
  }

  bool reads = true;  // the class's figures
  uint32_t last = 0;
};

/// Alternative `c` takes c + 1 words of scratch memory.
class Chooser final : public VulkanExecution {
 public:
  using VulkanExecution::VulkanExecution;

  Status onEncode(TensorList inputs, TensorList outputs, Encoder& encoder) override {
    const auto encode = [](size_t choice, TensorList in, TensorList out, Encoder& trial) {
      using Shader = shaders::Affine;
      OPKIT_TRY(trial.scratch({DType::Float32, {static_cast<int64_t>(choice + 1) * 64}}).error());
      const auto count = static_cast<uint32_t>(out[0]->desc.elements());
      return trial.dispatch<Shader>({*Shader::storageOf(out[0]->desc.dtype)}, {.x = in[0], .y = out[0]},
                                    {.count = count, .amount = static_cast<float>(choice)}, Items{count},
                                    {.factor = 1});
    };
    OPKIT_ASSIGN(const size_t choice, encoder.choose({"chooser", 3, 0, encode}, inputs, outputs));
    return encode(choice, inputs, outputs, encoder);
  }
};

class TunerTest : public VulkanTest {
 protected:
  void open(const std::string& deviceClass, const std::string& guesses = "") {
    runtime_.reset();
    runtime_ = *createRuntime({.device = "", .cacheDir = "off", .deviceClass = deviceClass, .guesses = guesses});
  }
  /// The variation of the class discrete with teams of 128.
  static size_t smallTeams() {
    const auto all = variationsOf(**deviceClassNamed("discrete"));
    const auto small = std::ranges::find_if(all, [](const auto& one) { return one.figures.largestTeam == 128; });
    EXPECT_NE(small, all.end());
    return static_cast<size_t>(small - all.begin());
  }
  /// The team that is recorded after scratchBytes chose.
  uint32_t encode(Backend& backend, TeamReader& reader, int64_t elements = 8) {
    const TensorDesc desc{DType::Float32, {elements}};
    const Tensor x = upload(backend, desc, std::vector<float>(static_cast<size_t>(elements), 1.0f));
    const Tensor y = makeTensor(backend, desc);
    EXPECT_OK(resizeAndRun(backend, {{&reader, {&x}, {&y}}}));
    EXPECT_EQ(download<float>(backend, y, DType::Float32)[0], 3.0f);
    return reader.last;
  }
  TuningCache& cache() { return static_cast<VulkanRuntime&>(*runtime_).tuning(); }
};

TEST_F(TunerTest, WithoutMeasurementsTheClassDecides) {
  open("discrete");
  const auto backend = makeBackend();
  TeamReader reader(*backend);
  EXPECT_EQ(encode(*backend, reader), (*deviceClassNamed("discrete"))->largestTeam);
  EXPECT_EQ(backend->counters().measurements, 0u);
  EXPECT_EQ(cache().size(), 0u);
}

TEST_F(TunerTest, ARuntimeOfAnotherClassSharesPipelines) {
  open("software");
  const auto own = makeBackend();
  TeamReader first(*own);
  encode(*own, first);
  EXPECT_GT(own->counters().pipelinesCreated, 0u);
  const std::string name = runtime_->device().name;
  runtime_ = static_cast<VulkanRuntime&>(*runtime_).inClass(**deviceClassNamed("discrete"));
  EXPECT_EQ(runtime_->device().name, name + " as discrete");
  const auto other = makeBackend();
  TeamReader second(*other);
  EXPECT_EQ(encode(*other, second), (*deviceClassNamed("discrete"))->largestTeam);
  EXPECT_EQ(other->counters().pipelinesCreated, 0u);
}

TEST_F(TunerTest, ASoftwareDeviceIsNotTuned) {
  open("software");
  const auto backend = makeBackend({.tune = true});
  TeamReader reader(*backend);
  EXPECT_EQ(encode(*backend, reader), (*deviceClassNamed("software"))->largestTeam);
  EXPECT_EQ(backend->counters().measurements, 0u);
}

TEST_F(TunerTest, AForcedAlternativeCountsDifferentVariationsOnly) {
  open("discrete");
  std::set<uint32_t> seen;
  for (size_t i = 0; i < 3; ++i) {
    const auto backend = makeBackend({.alternative = i});
    TeamReader reader(*backend);
    seen.insert(encode(*backend, reader));
    EXPECT_EQ(backend->counters().alternatives, 3u) << "the class, small and large teams";
    EXPECT_EQ(backend->counters().measurements, 0u);
  }
  EXPECT_EQ(seen.size(), 3u);
  const auto beyond = makeBackend({.alternative = 3});
  TeamReader reader(*beyond);
  EXPECT_EQ(encode(*beyond, reader), (*deviceClassNamed("discrete"))->largestTeam) << "as the class";
}

TEST_F(TunerTest, DifferentVariationsAreTimedOnceAndEqualOnesNever) {
  open("discrete");
  const auto backend = makeBackend({.tune = true});
  TeamReader reader(*backend), equal(*backend);
  encode(*backend, reader);
  EXPECT_EQ(backend->counters().measurements, 3u);
  EXPECT_EQ(cache().size(), 1u);
  encode(*backend, reader);
  EXPECT_EQ(backend->counters().measurements, 3u) << "known";
  equal.reads = false;
  encode(*backend, equal, 9000);
  EXPECT_EQ(backend->counters().measurements, 3u) << "all variations record the same";
}

TEST_F(TunerTest, TheCacheDecidesForEveryShapeOfTheClass) {
  open("discrete");
  const auto tuning = makeBackend({.tune = true});
  TeamReader reader(*tuning);
  encode(*tuning, reader, 1000);
  std::string name;
  for (const std::string& known : cache().names()) name = known;
  EXPECT_EQ(name.rfind("discrete: testing/affine", 0), 0u) << name;
  TuningCache::Entry entry = *cache().find(name);
  ASSERT_EQ(entry.ns.size(), variationsOf(**deviceClassNamed("discrete")).size());
  entry.choice = smallTeams();
  cache().put(name, entry);

  const auto backend = makeBackend();
  TeamReader later(*backend);
  EXPECT_EQ(encode(*backend, later, 1000), 128u);
  EXPECT_EQ(encode(*backend, later, 999), 128u) << "of the same magnitude";
  EXPECT_EQ(encode(*backend, later, 5000), 256u) << "another shape class";
  EXPECT_EQ(backend->counters().measurements, 0u);
  entry.ns.pop_back();  // of another build's table
  cache().put(name, entry);
  EXPECT_EQ(encode(*backend, later, 1000), 256u);
}

// Another session of the Runtime may measure between the plan of this one and its recording, and before it is bound
// again.
TEST_F(TunerTest, AnEntryThatComesAfterThePlanDoesNotChangeIt) {
  open("discrete");
  for (const bool alone : {false, true}) {
    const auto backend = makeBackend();
    Chooser chooser(*backend);
    const Tensor x = upload(*backend, {DType::Float32, {4}}, std::vector<float>(4, 1.0f));
    const Tensor y = makeTensor(*backend, {DType::Float32, {4}});
    const std::vector<const Tensor*> in = {&x}, out = {&y};
    cache().put("chooser", {1, {3.0, 1.0, 2.0}});
    const Result<size_t> bytes = chooser.scratchBytes(in, out);
    ASSERT_TRUE(bytes) << bytes.error().message();
    Tensor scratch{{DType::UInt8, {static_cast<int64_t>(*bytes)}}, *backend->allocate(*bytes)};
    chooser.setScratch(scratch);
    for (const size_t later : {0u, 2u}) {
      cache().put("chooser", {later, {3.0, 1.0, 2.0}});
      EXPECT_OK(runRecorded(*backend, {{&chooser, in, out}}, alone));
      EXPECT_EQ(download<float>(*backend, y, DType::Float32)[0], 2.0f) << "the alternative that was measured";
    }
    EXPECT_EQ(*chooser.scratchBytes(in, out), *bytes + 64 * sizeof(float)) << "the next plan takes the new one";
  }
}

TEST_F(TunerTest, GuessesDecideUntilSomethingIsMeasured) {
  open("discrete");
  auto& runtime = static_cast<VulkanRuntime&>(*runtime_);
  std::vector<OfferedChoice> offered;
  runtime.setChoiceListener([&](const OfferedChoice& choice) { offered.push_back(choice); });
  {
    const auto forced = makeBackend({.alternative = 1});
    TeamReader reader(*forced);
    encode(*forced, reader, 1000);
  }
  ASSERT_FALSE(offered.empty());
  EXPECT_EQ(offered[0].alternatives.size(), variationsOf(**deviceClassNamed("discrete")).size());
  EXPECT_EQ(offered[0].alternatives[0], 0u);

  const std::string file = testing::TempDir() + "guesses.bin";
  std::filesystem::remove(file);
  TuningCache guesses(file, guessKey(**deviceClassNamed("discrete")));
  TuningCache::Entry entry{smallTeams(), std::vector<double>(offered[0].alternatives.size(), 1.0)};
  guesses.put(offered[0].name, entry);
  ASSERT_TRUE(guesses.save().isOk());

  open("discrete", file);
  const auto backend = makeBackend();
  TeamReader reader(*backend);
  EXPECT_EQ(encode(*backend, reader, 1000), 128u);
  EXPECT_EQ(encode(*backend, reader, 5000), 256u) << "another shape class";
  EXPECT_EQ(backend->counters().measurements, 0u);
  const auto tuning = makeBackend({.tune = true});
  TeamReader tuned(*tuning);
  encode(*tuning, tuned, 1000);
  EXPECT_EQ(tuning->counters().measurements, 3u) << "a guess does not replace a measurement";
}

TEST_F(TunerTest, GuessesOfAnotherClassAreRefused) {
  open("discrete");
  const std::string file = testing::TempDir() + "integrated.bin";
  TuningCache guesses(file, guessKey(**deviceClassNamed("integrated")));
  guesses.put("integrated: x", {0, {1.0}});
  ASSERT_TRUE(guesses.save().isOk());
  for (const std::string& bad : {file, file + ".missing", testing::TempDir()}) {
    const auto refused = createRuntime({.cacheDir = "off", .deviceClass = "discrete", .guesses = bad});
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().code(), StatusCode::InvalidArgument);
    EXPECT_NE(refused.error().message().find(bad), std::string::npos) << refused.error().message();
  }
}

}  // namespace
}  // namespace opkit::vulkan
