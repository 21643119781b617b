// Profiles of kernels whose memory accesses can be counted on paper. The arithmetic stands beside each expectation.
#include "harness/trace/access_profile.h"

#include <gtest/gtest.h>

#include "engine/backend/device_test_support.h"
#include "harness/trace/glsl_tracer.h"
#include "harness/trace/gpus.h"

namespace opkit::harness {
namespace {

constexpr size_t kFloat = sizeof(float);

/// Group size, two buffers of floats, and a body for one invocation.
std::string kernel(const std::string& local, const std::string& body, const std::string& shared = "") {
  return "#version 450\nlayout(" + local +
         ") in;\n"
         "layout(binding = 0) buffer X { float x[]; };\n"
         "layout(binding = 1) buffer Y { float y[]; };\n"
         "layout(binding = 2) buffer Z { float z[]; };\n" +
         shared + "void main() {\n" + body + "}\n";
}

class AccessProfileTest : public testing::Test {
 protected:
  void SetUp() override {
    auto runtime = createRuntime("vulkan", {.cacheDir = "off"});
    OPKIT_NEEDS_DEVICE(runtime);
    auto made = GlslTracer::create(std::dynamic_pointer_cast<vulkan::VulkanRuntime>(*runtime));
    ASSERT_TRUE(made.error().isOk()) << made.error().message();
    rig_ = *std::move(made);
  }

  DispatchProfile profile(const GlslDispatch& kernel, uint32_t width = 32, size_t records = size_t{1} << 20) {
    auto trace = rig_->run(kernel, records);
    EXPECT_TRUE(trace.error().isOk()) << trace.error().message();
    return trace ? profileOf(*trace, width) : DispatchProfile{};
  }

  std::unique_ptr<GlslTracer> rig_;
};

/// y[i] = x[stride * i] for 1,024 invocations in groups of 64: 32 subgroups of 32.
GlslDispatch strided(size_t stride) {
  return {
      "kernel.comp",
      kernel("local_size_x = 64", "uint i = gl_GlobalInvocationID.x; y[i] = x[i * " + std::to_string(stride) + "u];\n"),
      {1024 * stride * kFloat, 1024 * kFloat, 16},
      {16, 1, 1}};
}

TEST_F(AccessProfileTest, StrideOne) {
  const DispatchProfile p = profile(strided(1));
  EXPECT_TRUE(p.isExact);
  EXPECT_EQ(p.reads.accesses, 32);
  EXPECT_EQ(p.reads.sectors, 32 * 4);  // 32 floats are 128 bytes, 4 sectors
  EXPECT_EQ(p.writes.sectors, 32 * 4);
  EXPECT_EQ(p.all.efficiency(), 1);
  EXPECT_EQ(p.all.requestBytes(), 2 * 4096);
  EXPECT_EQ(p.footprintBytes, 2 * 4096);
  EXPECT_EQ(p.laneShare, 1);
  EXPECT_EQ(p.subgroups(), 32u);
}

TEST_F(AccessProfileTest, StrideTwo) {
  const DispatchProfile p = profile(strided(2));
  EXPECT_EQ(p.reads.sectors, 32 * 8);  // 256 bytes apart from end to end, all 8 sectors touched
  EXPECT_EQ(p.reads.efficiency(), 0.5);
  EXPECT_EQ(p.writes.efficiency(), 1);
  EXPECT_EQ(p.all.efficiency(), 8192.0 / (32 * 12 * 32));
}

TEST_F(AccessProfileTest, StrideThirtyThree) {
  const DispatchProfile p = profile(strided(33));
  EXPECT_EQ(p.reads.sectors, 32 * 32);  // each lane in a sector of its own
  EXPECT_EQ(p.reads.efficiency(), 0.125);
  EXPECT_EQ(p.footprintBytes, (1024 + 128) * 32);
}

TEST_F(AccessProfileTest, TheModelledWidthDecides) {
  const DispatchProfile p = profile(strided(2), 64);
  EXPECT_EQ(p.reads.accesses, 16);
  EXPECT_EQ(p.reads.sectors, 16 * 16);
  EXPECT_EQ(p.subgroups(), 16u);
}

/// 64 x 64 floats; an invocation moves one element, neighbours read neighbours.
TEST_F(AccessProfileTest, NaiveTranspose) {
  const DispatchProfile p = profile({"kernel.comp",
                                     kernel("local_size_x = 64",
                                            "uint i = gl_GlobalInvocationID.x, r = i / 64u, c = i % 64u;\n"
                                            "y[c * 64u + r] = x[i];\n"),
                                     {4096 * kFloat, 4096 * kFloat, 16},
                                     {64, 1, 1}});
  EXPECT_EQ(p.reads.sectors, 128 * 4);    // 4,096 / 32 subgroups
  EXPECT_EQ(p.writes.sectors, 128 * 32);  // a column: each lane in another row
  EXPECT_EQ(p.writes.efficiency(), 0.125);
  EXPECT_EQ(p.all.requestBytes() / p.tensorBytes, (128 * 36 * 32) / (2 * 16384.0 + 16));
}

/// 32 x 32 tiles through shared memory whose rows are `pitch` floats apart; 32 x 8 invocations, four rows each.
GlslDispatch tiledTranspose(int pitch) {
  return {
      "kernel.comp",
      kernel("local_size_x = 32, local_size_y = 8",
             "uvec2 t = gl_LocalInvocationID.xy, from = gl_WorkGroupID.xy * 32u, to = from.yx;\n"
             "for (uint k = 0u; k < 32u; k += 8u) tile[t.y + k][t.x] = x[(from.y + t.y + k) * 64u + from.x + t.x];\n"
             "barrier();\n"
             "for (uint k = 0u; k < 32u; k += 8u) y[(to.y + t.y + k) * 64u + to.x + t.x] = tile[t.x][t.y + k];\n",
             "shared float tile[32][" + std::to_string(pitch) + "];\n"),
      {4096 * kFloat, 4096 * kFloat, 16},
      {2, 2, 1}};
}

TEST_F(AccessProfileTest, TracesThatTakeTooMuchMemoryAreRefused) {
  const auto refused = rig_->run(tiledTranspose(33), size_t{1} << 26);  // records of 16 bytes
  EXPECT_EQ(refused.error().code(), StatusCode::Unsupported);
  EXPECT_EQ(refused.error().message(), "the traces of 1 dispatches take more than 640 MiB");
}

TEST_F(AccessProfileTest, TiledTranspose) {
  const DispatchProfile p = profile(tiledTranspose(33));
  EXPECT_EQ(p.reads.sectors, 128 * 4);
  EXPECT_EQ(p.writes.sectors, 128 * 4);
  EXPECT_EQ(p.all.efficiency(), 1);
  EXPECT_EQ(p.shared.accesses, 2 * 128);
  EXPECT_EQ(p.shared.bankPasses(), 1);  // rows of 33 words: a column lies in 32 banks
  EXPECT_EQ(p.barriers, 1);
}

TEST_F(AccessProfileTest, BankConflictsWithoutPadding) {
  const DispatchProfile p = profile(tiledTranspose(32));
  EXPECT_EQ(p.all.efficiency(), 1);
  EXPECT_EQ(p.shared.bankPasses(), (1 + 32) / 2.0);  // rows are stored in 1 pass, columns are read in 32
}

/// z = x * y of 64 x 64 matrices, one element per invocation.
TEST_F(AccessProfileTest, NaiveProduct) {
  const DispatchProfile p = profile({"kernel.comp",
                                     kernel("local_size_x = 64",
                                            "uint i = gl_GlobalInvocationID.x, r = i / 64u, c = i % 64u;\n"
                                            "float sum = 0.0;\n"
                                            "for (uint k = 0u; k < 64u; ++k) sum += x[r * 64u + k] * y[k * 64u + c];\n"
                                            "z[i] = sum;\n"),
                                     {4096 * kFloat, 4096 * kFloat, 4096 * kFloat},
                                     {64, 1, 1}});
  // 128 subgroups; for each k one sector of x for all lanes, and 4 of y; 4 of z.
  EXPECT_EQ(p.reads.sectors, 128 * 64 * (1 + 4));
  EXPECT_EQ(p.writes.sectors, 128 * 4);
  EXPECT_EQ(p.footprintBytes, 3 * 16384);
  // x: 4 bytes of a sector are used.
  EXPECT_EQ(p.reads.usedBytes, 128 * 64 * (4 + 128));
}

/// The same through 16 x 16 tiles.
TEST_F(AccessProfileTest, TiledProduct) {
  const DispatchProfile p = profile({"kernel.comp",
                                     kernel("local_size_x = 16, local_size_y = 16",
                                            "uvec2 t = gl_LocalInvocationID.xy, at = gl_GlobalInvocationID.xy;\n"
                                            "float sum = 0.0;\n"
                                            "for (uint k = 0u; k < 64u; k += 16u) {\n"
                                            "  a[t.y][t.x] = x[at.y * 64u + k + t.x];\n"
                                            "  b[t.y][t.x] = y[(k + t.y) * 64u + at.x];\n"
                                            "  barrier();\n"
                                            "  for (uint i = 0u; i < 16u; ++i) sum += a[t.y][i] * b[i][t.x];\n"
                                            "  barrier();\n"
                                            "}\n"
                                            "z[at.y * 64u + at.x] = sum;\n",
                                            "shared float a[16][16], b[16][16];\n"),
                                     {4096 * kFloat, 4096 * kFloat, 4096 * kFloat},
                                     {4, 4, 1}});
  // 16 groups of 8 subgroups of two rows of 16 floats, 2 sectors each; x and y in 4 turns, z once.
  EXPECT_EQ(p.reads.sectors, 128 * 4 * (4 + 4));
  EXPECT_EQ(p.writes.sectors, 128 * 4);
  EXPECT_EQ(p.all.efficiency(), 1);
  EXPECT_EQ(p.shared.bankPasses(), 1);  // a: two words, 16 banks apart; b: one row of 16 words
  EXPECT_EQ(p.shared.accesses, 128 * 4 * (2 + 2 * 16));
  EXPECT_EQ(p.barriers, 8);
}

TEST_F(AccessProfileTest, LanesThatDoNotTakePartAreCounted) {
  const DispatchProfile p = profile({"kernel.comp",
                                     kernel("local_size_x = 64",
                                            "uint i = gl_GlobalInvocationID.x;\n"
                                            "if (i < 40u) y[i] = 1.0;\n"),
                                     {16, 64 * kFloat, 16},
                                     {1, 1, 1}});
  EXPECT_EQ(p.writes.accesses, 2);
  EXPECT_EQ(p.laneShare, 40.0 / 64);
  EXPECT_EQ(p.writes.sectors, 5);
}

TEST_F(AccessProfileTest, VectorsAndSmallTypes) {
  const std::string text =
      "#version 450\n#extension GL_EXT_shader_8bit_storage : require\n"
      "layout(local_size_x = 32) in;\n"
      "layout(binding = 0) buffer X { vec4 x[]; };\n"
      "layout(binding = 1) buffer Y { uint8_t y[]; };\n"
      "void main() { uint i = gl_GlobalInvocationID.x; y[i] = uint8_t(uint(x[i].z)); }\n";
  const DispatchProfile p = profile({"kernel.comp", text, {512, 32}, {1, 1, 1}});
  EXPECT_EQ(p.reads.sectors, 16);  // the shader loads the vec4 or one of its floats
  EXPECT_EQ(p.writes.sectors, 1);
  EXPECT_EQ(p.writes.efficiency(), 1);
}

TEST_F(AccessProfileTest, GroupsThatWereNotTracedAreInferred) {
  auto trace = rig_->run(strided(2));
  ASSERT_TRUE(trace.error().isOk()) << trace.error().message();
  trace->groupsTraced = 4;
  std::vector<TraceRecord> some;
  for (const TraceRecord& record : trace->records)
    if (record.group % 4 == 1) some.push_back(record);
  trace->records = some;
  trace->wanted = some.size();
  const DispatchProfile p = profileOf(*trace, 32);
  EXPECT_FALSE(p.isExact);
  EXPECT_EQ(p.reads.sectors, 32 * 8);
  EXPECT_EQ(p.tracedShare, 0.25);
}

TEST_F(AccessProfileTest, ATraceThatIsFullIsNotExact) {
  const DispatchProfile p = profile(strided(1), 32, 100);
  EXPECT_FALSE(p.isExact);
  EXPECT_FALSE(profile(strided(1), 32, 2047 + 1024).isExact) << "1,024 loads, stores and returns each";
  EXPECT_TRUE(profile(strided(1), 32, 3072).isExact);
}

// ---- estimates

TEST_F(AccessProfileTest, TheTermThatBindsFollowsTheDevice) {
  const DispatchProfile p = profile(strided(33));  // 36,864 bytes in 16 groups
  Gpu gpu{"test", 1e9, 1e11, 1e12, 1e6, 4, 32, "discrete", 1e-6, "made up"};
  const double bytes = 36864;
  EXPECT_EQ(estimateOf(p, 1e6, gpu).limit(), Limit::Memory);
  EXPECT_DOUBLE_EQ(estimateOf(p, 1e6, gpu).seconds, bytes / 1e9);
  gpu.bandwidth *= 10;
  EXPECT_EQ(estimateOf(p, 1e7, gpu).limit(), Limit::Arithmetic) << "3.7 us of memory, 10 us of arithmetic";
  gpu.flops *= 10;
  EXPECT_EQ(estimateOf(p, 1e7, gpu).limit(), Limit::Memory) << "3.7 us of memory, 1 us of arithmetic";
  gpu.launchSeconds *= 10;
  EXPECT_EQ(estimateOf(p, 1e7, gpu).limit(), Limit::Launch);
  EXPECT_DOUBLE_EQ(estimateOf(p, 1e7, gpu).seconds, 1e-5);
  gpu.units = 160;  // ten times as many as there are groups
  EXPECT_EQ(estimateOf(p, 1e7, gpu).limit(), Limit::Groups);
  EXPECT_DOUBLE_EQ(estimateOf(p, 1e7, gpu).seconds, 10 * bytes / 1e10);
}

TEST_F(AccessProfileTest, ACacheSparesWhatItHolds) {
  DispatchProfile p;
  p.groups = 1000;
  p.footprintBytes = p.tensorBytes = 1e6;
  p.all.sectors = 4e6 / kSectorBytes;  // everything is requested four times
  const Gpu large{"large", 1e9, 1e10, 1e12, 1e7, 4, 32, "discrete", 0, ""},
      half{"half", 1e9, 1e10, 1e12, 5e5, 4, 32, "discrete", 0, ""};
  EXPECT_DOUBLE_EQ(estimateOf(p, 0, large).seconds, 1e-3);
  EXPECT_DOUBLE_EQ(estimateOf(p, 0, large).roofShare(), 1);
  EXPECT_DOUBLE_EQ(estimateOf(p, 0, half).seconds, 2.5e-3);
  EXPECT_DOUBLE_EQ(estimateOf(p, 0, half).roofShare(), 0.4);
  const Gpu slow{"slow cache", 1e9, 2e9, 1e12, 1e7, 4, 32, "discrete", 0, ""};
  EXPECT_DOUBLE_EQ(estimateOf(p, 0, slow).seconds, 2e-3) << "4 MB of requests pass the cache";
}

TEST(Gpus, AreFoundByName) {
  EXPECT_EQ(gpus().size(), 8u);
  for (const Gpu& gpu : gpus()) {
    ASSERT_TRUE(gpuNamed(gpu.name).error().isOk()) << gpuNamed(gpu.name).error().message();
    EXPECT_GT(gpu.bandwidth, 1e9);
    EXPECT_GT(gpu.flops, gpu.bandwidth) << gpu.name;
  }
  EXPECT_NE(gpuNamed("H1000").error().message().find("H100, H200"), std::string::npos);
}

}  // namespace
}  // namespace opkit::harness
