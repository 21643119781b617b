#include <cstdlib>
#include <fstream>
#include <thread>

#include "engine/backend/cache_file.h"
#include "engine/backend/tuning_cache.h"
#include "engine/backend/vulkan/loop_limit.h"
#include "engine/backend/vulkan/pipeline_cache.h"
#include "engine/backend/vulkan/testing/vulkan_fixture.h"

namespace opkit::vulkan {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> bytesOf(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// A folder that is removed with the test.
class CachesTest : public VulkanTest {
 protected:
  void SetUp() override {
    VulkanTest::SetUp();
    std::string pattern = (fs::temp_directory_path() / "opkit_cache_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    VulkanTest::TearDown();
    fs::remove_all(folder_);
  }
  /// The only file of the folder with this ending.
  fs::path file(const std::string& suffix) const {
    fs::path found;
    for (const auto& entry : fs::directory_iterator(folder_))
      if (entry.path().string().ends_with(suffix)) {
        EXPECT_TRUE(found.empty());
        found = entry.path();
      }
    return found;
  }
  std::shared_ptr<Runtime> newRuntime() { return *createRuntime({.device = "", .cacheDir = folder_.string()}); }
  void runOn(Runtime& runtime) {
    const auto backend = *runtime.createBackend(registry_, {});
    const TensorDesc desc{DType::Float32, {8}};
    const Tensor x = upload(*backend, desc, std::vector<float>(8, 1.0f));
    const Tensor y = makeTensor(*backend, desc);
    AffineExecution affine(*backend, 1, 5);
    EXPECT_OK(resizeAndRun(*backend, {{&affine, {&x}, {&y}}}));
    EXPECT_EQ(download<float>(*backend, y, DType::Float32)[7], 6.0f);
  }

  fs::path folder_;
};

TEST_F(CachesTest, AFileThatCannotBeReadIsIgnored) {
  const CacheRead read = readCacheFile(folder_, "key");
  EXPECT_FALSE(read.payload);
  EXPECT_NE(read.warning.find(folder_.string() + ": the cache file cannot be read; it is ignored"), std::string::npos)
      << read.warning;
}

TEST_F(CachesTest, AFileReadsBackOnlyWholeAndUnderItsKey) {
  const fs::path path = folder_ / "deeper" / "file";
  EXPECT_FALSE(readCacheFile(path, "key").payload);
  EXPECT_EQ(readCacheFile(path, "key").warning, "");
  const auto payload = bytesOf("payload");
  EXPECT_OK(writeCacheFile(path, "key", payload));
  EXPECT_EQ(*readCacheFile(path, "key").payload, payload);
  EXPECT_FALSE(readCacheFile(path, "another").payload);
  EXPECT_EQ(readCacheFile(path, "another").warning, "");

  std::ifstream in(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto expectIgnored = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    const CacheRead read = readCacheFile(path, "key");
    EXPECT_FALSE(read.payload) << bytes.size();
    EXPECT_NE(read.warning, "");
  };
  for (size_t length = 0; length < whole.size(); ++length) expectIgnored(whole.substr(0, length));
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
    expectIgnored(flipped);
  }
  expectIgnored(whole + "x");
}

TEST_F(CachesTest, AFolderThatCannotBeWrittenIsAStatus) {
  std::ofstream(folder_ / "file") << "x";
  EXPECT_EQ(writeCacheFile(folder_ / "file" / "below", "key", {}).code(), StatusCode::Unsupported);
  auto runtime = *createRuntime({.device = "", .cacheDir = (folder_ / "file").string()});
  runOn(*runtime);  // caching fails with a warning, nothing else does
}

TEST_F(CachesTest, TheFolderFollowsOptionThenVariables) {
  EXPECT_EQ(cacheFolder("off"), std::nullopt);
  EXPECT_EQ(cacheFolder("/a"), fs::path("/a"));
  EXPECT_EQ(cacheFolder(""), std::nullopt);  // this test program sets OPKIT_CACHE_DIR=off
  setenv("OPKIT_CACHE_DIR", "/b", 1);
  EXPECT_EQ(cacheFolder(""), fs::path("/b"));
  EXPECT_EQ(cacheFolder("/a"), fs::path("/a"));
  unsetenv("OPKIT_CACHE_DIR");
  setenv("XDG_CACHE_HOME", "/c", 1);
  EXPECT_EQ(cacheFolder(""), fs::path("/c/opkit"));
  unsetenv("XDG_CACHE_HOME");
  setenv("OPKIT_CACHE_DIR", "off", 1);
}

TEST_F(CachesTest, TheLoopLimitIsMeasuredOncePerKey) {
  auto& runtime = static_cast<VulkanRuntime&>(*runtime_);
  const fs::path path = folder_ / "limits";
  const auto limit = [&](const fs::path& file, const std::string& key) {
    const Result<uint64_t> found = loopIterations(runtime.vulkanDevice(), runtime.pipelines(), file, key);
    EXPECT_TRUE(found) << found.error().message();
    return found ? *found : 0;
  };
  const uint64_t measured = limit(path, "key");
  EXPECT_GE(measured, 65535u) << "a device that does less runs hardly any of our kernels";
  EXPECT_EQ(measured, limit({}, "another key"));
  EXPECT_EQ(measured, makeBackend()->caps().loopIterations);

  const std::string text = "7";
  EXPECT_OK(writeCacheFile(path, "key", std::as_bytes(std::span(text))));
  EXPECT_EQ(limit(path, "key"), 7u) << "what the file says";
  EXPECT_EQ(limit(path, "a third"), measured) << "of another driver";
  EXPECT_EQ(*readCacheFile(path, "a third").payload, bytesOf(std::to_string(measured)));
  std::ofstream(path, std::ios::binary | std::ios::trunc) << "damaged";
  EXPECT_EQ(limit(path, "key"), measured);
  EXPECT_EQ(limit(folder_ / "limits" / "below", "key"), measured) << "a file that cannot be written";
}

TEST_F(CachesTest, AMaskLowersTheLoopLimit) {
  const auto runtime = createRuntime({.device = "", .mask = "loops=100"});
  ASSERT_TRUE(runtime) << runtime.error().message();
  EXPECT_EQ((*(*runtime)->createBackend(registry_, {}))->caps().loopIterations, 100u);
}

TEST_F(CachesTest, AReplacedShaderIsKnownByItsWordsNotByWhereTheyAre) {
  auto& runtime = static_cast<VulkanRuntime&>(*runtime_);
  std::vector<uint32_t> words;  // one address, whose contents change
  bool mixes = false;
  runtime.setShaderSource([&](const ShaderCode& code) {
    constexpr uint32_t kOpExtInst = 12, kFma = 50, kFMix = 46;  // of GLSL.std.450
    words.assign(code.spirv.begin(), code.spirv.end());
    for (size_t at = 5; at < words.size(); at += words[at] >> 16)
      if (mixes && (words[at] & 0xFFFFu) == kOpExtInst && words[at + 4] == kFma) words[at + 4] = kFMix;
    return std::span<const uint32_t>(words);
  });
  const auto backend = makeBackend();
  const TensorDesc desc{DType::Float32, {8}};
  const Tensor x = upload(*backend, desc, std::vector<float>(8, 1.0f));
  const Tensor y = makeTensor(*backend, desc);
  const auto result = [&] {
    AffineExecution affine(*backend, 1, 5);
    EXPECT_OK(resizeAndRun(*backend, {{&affine, {&x}, {&y}}}));
    return download<float>(*backend, y, DType::Float32)[7];
  };
  EXPECT_EQ(result(), 6.0f);
  mixes = true;
  EXPECT_EQ(result(), 5.0f) << "the pipeline of the words that were there before";
  const uint64_t made = backend->counters().pipelinesCreated;
  mixes = false;
  EXPECT_EQ(result(), 6.0f);
  EXPECT_EQ(backend->counters().pipelinesCreated, made) << "known words make no new pipeline";
  runtime.setShaderSource(nullptr);
}

TEST_F(CachesTest, PipelinesAreLoadedByTheNextRuntimeAndADamagedFileIsReplaced) {
  const auto loaded = [](Runtime& runtime) { return static_cast<VulkanRuntime&>(runtime).pipelines().loadedBytes(); };
  {
    auto runtime = newRuntime();
    EXPECT_EQ(loaded(*runtime), 0u);
    runOn(*runtime);
  }
  const fs::path path = file(".pipelines");
  ASSERT_FALSE(path.empty());
  {
    auto runtime = newRuntime();
    EXPECT_GT(loaded(*runtime), 0u);
  }
  fs::resize_file(path, fs::file_size(path) - 1);
  {
    auto runtime = newRuntime();
    EXPECT_EQ(loaded(*runtime), 0u);
    runOn(*runtime);
  }
  EXPECT_GT(loaded(*newRuntime()), 0u);
  EXPECT_FALSE(fs::exists(folder_ / "other"));
  auto off = *createRuntime({.device = "", .cacheDir = "off"});
  EXPECT_EQ(loaded(*off), 0u);
}

TEST_F(CachesTest, TuningOutlivesTheProcessUnderItsKeyOnly) {
  const fs::path path = folder_ / "tuning";
  {
    TuningCache first(path, "driver 1 shaders 1");
    TuningCache second(path, "driver 1 shaders 1");
    first.put("conv", {1, {3.0, 2.0}});
    second.put("matmul", {0, {1.0, 2.0}});
    EXPECT_OK(first.save());
    EXPECT_OK(second.save());  // adds to what the other wrote
  }
  const TuningCache again(path, "driver 1 shaders 1");
  EXPECT_EQ(again.size(), 2u);
  ASSERT_TRUE(again.find("conv"));
  EXPECT_EQ(again.find("conv")->choice, 1u);
  EXPECT_EQ(again.find("conv")->ns, (std::vector<double>{3.0, 2.0}));
  EXPECT_EQ(TuningCache(path, "driver 2 shaders 1").size(), 0u);
  EXPECT_EQ(TuningCache(path, "driver 1 shaders 2").size(), 0u);
  TuningCache replaced(path, "driver 2 shaders 1");
  replaced.put("conv", {0, {1.0}});
  EXPECT_OK(replaced.save());
  EXPECT_EQ(TuningCache(path, "driver 1 shaders 1").size(), 0u);
}

TEST_F(CachesTest, EntriesThatMakeNoSenseAreIgnored) {
  const fs::path path = folder_ / "tuning";
  const std::string text =
      R"({"a":{"choice":2,"ns":[1,2]},"b":{"choice":-1,"ns":[1]},"c":7,"d":{"choice":0,"ns":[1]}})";
  EXPECT_OK(writeCacheFile(path, "key", std::as_bytes(std::span(text))));
  const TuningCache cache(path, "key");
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_TRUE(cache.find("d"));
  const std::string broken = "{\"a\":";
  EXPECT_OK(writeCacheFile(path, "key", std::as_bytes(std::span(broken))));
  EXPECT_EQ(TuningCache(path, "key").size(), 0u);
}

}  // namespace
}  // namespace opkit::vulkan
