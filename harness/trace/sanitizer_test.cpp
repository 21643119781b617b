// The sanitizer finds faults that were planted in kernels of eight kinds, and nothing in the same kernels without them.
#include "harness/trace/sanitizer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "engine/backend/device_test_support.h"
#include "harness/trace/glsl_tracer.h"

namespace opkit::harness {
namespace {

/// A kernel of harness/trace/testing/faults: FAULT n has a fault of the kind and place at index n - 1.
struct FaultyKernel {
  const char* name;
  std::vector<size_t> words;  // of its buffers; the first two hold values
  vulkan::Groups groups;
  struct Planted {
    const char* kind;
    const char* place;  // part of the report
  };
  std::vector<Planted> faults;
};

const FaultyKernel kKernels[] = {
    {"elementwise",
     {1000, 1000, 1000},
     {16, 1, 1},
     {{"bounds", "binding 0"},
      {"bounds", "load of binding 0"},
      {"race", "store of binding 1"},
      {"race", "groups"},
      {"init", "binding 2"},
      {"race", "load of binding 0"},
      {"bounds", "store of binding 1"}}},
    {"reduction",
     {16 * 150, 32, 32},
     {16, 1, 1},
     {{"race", "shared part"},
      {"init", "shared part"},
      {"race", "shared part"},
      {"race", "shared part"},
      {"race", "shared part"},
      {"bounds", "shared part"},
      {"race", "shared part"},
      {"race", "shared part"},
      {"race", "50 of 64 invocations"},
      {"race", "store of binding 1"}}},
    {"scan",
     {512, 512, 512},
     {8, 1, 1},
     {{"race", "shared part"},
      {"bounds", "shared part"},
      {"race", "shared part"},
      {"race", "63 of 64 invocations"},
      {"race", "shared part"},
      {"race", "groups"}}},
    {"transpose",
     {2500, 2500, 4},
     {4, 4, 1},
     {{"bounds", "load of binding 0"},
      {"race", "of 256 invocations"},
      {"init", "shared tile"},
      {"race", "shared tile"},
      {"bounds", "store of binding 1"},
      {"race", "groups"},
      {"bounds", "shared tile"}}},
    {"product",
     {640, 640, 1024},
     {4, 4, 1},
     {{"bounds", "load of binding 0"},
      {"init", "shared a"},
      {"bounds", "load of binding 1"},
      {"race", "shared"},
      {"bounds", "shared b"},
      {"race", "shared"},
      {"race", "shared"},
      {"race", "groups"}}},
    {"window",
     {200, 200, 200},
     {4, 1, 1},
     {{"bounds", "load of binding 0"},
      {"race", "of 64 invocations"},
      {"init", "shared row"},
      {"race", "shared row"},
      {"bounds", "shared row"},
      {"bounds", "store of binding 1"}}},
    {"scatter",
     {512, 32, 32},
     {8, 1, 1},
     {{"init", "shared bins"},
      {"race", "shared bins"},
      {"race", "shared bins"},
      {"bounds", "shared bins"},
      {"race", "shared bins"},
      {"race", "groups"},
      {"init", "binding 2"},
      {"bounds", "binding 1"}}},
    {"stages",
     {256, 256, 256},
     {4, 1, 1},
     {{"init", "binding 2"},
      {"race", "binding 2"},
      {"race", "binding 2"},
      {"race", "32 of 64 invocations"},
      {"race", "groups"}}},
};

class SanitizerTest : public testing::TestWithParam<FaultyKernel> {
 protected:
  void SetUp() override {
    auto runtime = createRuntime("vulkan", {.cacheDir = "off"});
    OPKIT_NEEDS_DEVICE(runtime);
    auto made = GlslTracer::create(std::dynamic_pointer_cast<vulkan::VulkanRuntime>(*runtime));
    ASSERT_TRUE(made.error().isOk()) << made.error().message();
    rig_ = *std::move(made);
  }

  /// The faults found in variant `fault` of the kernel, one a line: "kind: text".
  std::string found(const FaultyKernel& kernel, size_t fault) {
    std::ifstream file(std::string(OPKIT_SOURCE_DIR "/harness/trace/testing/faults/") + kernel.name + ".comp");
    std::ostringstream source;
    source << "#version 450\n#define FAULT " << fault << "\n" << file.rdbuf();
    std::vector<size_t> bytes;
    for (const size_t words : kernel.words) bytes.push_back(4 * words);
    const auto trace = rig_->run({"kernel.comp", source.str(), bytes, kernel.groups});
    if (!trace) return "error: " + trace.error().message();
    std::vector<TracedWrite> written;
    for (size_t i = 0; i < 2; ++i)
      written.push_back({trace->bindings[i].buffer, trace->bindings[i].offsetBytes, trace->bindings[i].sizeBytes});
    const auto faults = sanitize({*trace}, written, {true, true, true});
    if (!faults) return "error: " + faults.error().message();
    std::string lines;
    for (const ShaderFault& one : *faults) lines += fmt::format("{}: {}\n", one.kind, one.text);
    return lines;
  }

  std::unique_ptr<GlslTracer> rig_;
};

TEST_P(SanitizerTest, IsSilentWithoutAFault) { EXPECT_EQ(found(GetParam(), 0), ""); }

TEST_P(SanitizerTest, FindsEachFaultAndNamesItsLine) {
  const FaultyKernel& kernel = GetParam();
  for (size_t fault = 1; fault <= kernel.faults.size(); ++fault) {
    const std::string report = found(kernel, fault);
    const auto& [kind, place] = kernel.faults[fault - 1];
    bool named = false;
    std::istringstream lines(report);
    for (std::string line; std::getline(lines, line);)
      named = named || (line.starts_with(std::string(kind) + ": ") && line.find(place) != std::string::npos &&
                        line.find("(kernel.comp:") != std::string::npos);
    EXPECT_TRUE(named) << kernel.name << ", fault " << fault << ": expected " << kind << " with '" << place
                       << "', got:\n"
                       << report;
  }
}

TEST_P(SanitizerTest, ATraceWithGapsIsRefused) {
  const FaultyKernel& kernel = GetParam();
  std::ifstream file(std::string(OPKIT_SOURCE_DIR "/harness/trace/testing/faults/") + kernel.name + ".comp");
  std::ostringstream source;
  source << "#version 450\n#define FAULT 0\n" << file.rdbuf();
  const auto trace = rig_->run({"kernel.comp", source.str(), {16384, 16384, 16384}, kernel.groups}, 10);
  ASSERT_TRUE(trace.error().isOk()) << trace.error().message();
  const auto faults = sanitize({*trace}, {}, {true, true, true});
  EXPECT_EQ(faults.error().code(), StatusCode::Unsupported);
  EXPECT_NE(faults.error().message().find("too large"), std::string::npos) << faults.error().message();
}

INSTANTIATE_TEST_SUITE_P(Kernels, SanitizerTest, testing::ValuesIn(kKernels),
                         [](const auto& one) { return one.param.name; });

TEST(Sanitizer, ThereAreAtLeastFortyPlantedFaults) {
  size_t count = 0;
  for (const FaultyKernel& kernel : kKernels) count += kernel.faults.size();
  EXPECT_GE(count, 40u);
}

using SanitizerRefusal = SanitizerTest;

TEST(Sanitizer, PartsAreParsed) {
  const auto parts = SanitizerParts::parse("race,init");
  ASSERT_TRUE(parts.error().isOk());
  EXPECT_TRUE(parts->race && parts->init && !parts->bounds);
  for (const char* wrong : {"", "races", "race,,init", "race;init"})
    EXPECT_NE(SanitizerParts::parse(wrong).error().message().find("expected race, bounds, init and loops"),
              std::string::npos)
        << wrong;
}

}  // namespace
}  // namespace opkit::harness
