#include "engine/backend/vulkan/shader_build/build_shader.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "engine/backend/vulkan/push_writer.h"
#include "engine/backend/vulkan/shader_build/compiler.h"
#include "engine/backend/vulkan/shader_build/generator.h"
#include "engine/base/where.h"

namespace opkit::shader_build {
namespace {

const std::string kIncludes = sourceTreeAround(OPKIT_SOURCE_DIR) + "/shaders/include";

/// A shader in a separate scratch folder.
class ShaderBuildTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << text;
    return path;
  }
  Result<Output> build(const std::string& text) {
    return buildShader({write("probe.comp", text), "group/probe_shader", {kIncludes}});
  }
  /// The error of building `text`, with the scratch folder cut off.
  std::string errorOf(const std::string& text) {
    const auto output = build(text);
    if (output) return "no error";
    std::string message = output.error().message();
    const std::string prefix = folder_.string() + "/";
    for (size_t at; (at = message.find(prefix)) != std::string::npos;) message.erase(at, prefix.size());
    return message;
  }

  std::filesystem::path folder_;
};

constexpr const char* kHead = "#version 450\n#include \"storage.glsl\"\nlayout(local_size_x = 8) in;\n";

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Variants, AreTheCartesianProductOfTheAxes) {
  const auto axes = parseAxes("a.comp", "//! variant STORAGE: f32 f16\n//! variant OP: and leaky_relu relu\n");
  ASSERT_TRUE(axes);
  const auto choices = allChoices(*axes);
  ASSERT_EQ(choices.size(), 6u);
  EXPECT_EQ(describe(*axes, choices[4]), "STORAGE=f16 OP=leaky_relu");
  const Defines expected{{"STORAGE_F16", "1"},
                         {"STORAGE_TYPE", "TYPE_F16"},
                         {"STORAGE_ARITH", "ARITH_F16"},
                         {"STORAGE_LOAD", "LOAD_F16"},
                         {"STORAGE_STORE", "STORE_F16"},
                         {"STORAGE_TYPE4", "TYPE4_F16"},
                         {"STORAGE_ARITH4", "ARITH4_F16"},
                         {"STORAGE_LOAD4", "LOAD4_F16"},
                         {"STORAGE_STORE4", "STORE4_F16"},
                         {"OP_LEAKY_RELU", "1"}};
  EXPECT_EQ(definesOf(*axes, choices[4]), expected);
}

TEST(Variants, NumbersDefineTheAxisItself) {
  const auto axes = parseAxes("a.comp", "//! variant TILE: 4 8\n");
  ASSERT_TRUE(axes);
  const Defines expected{{"TILE_8", "1"}, {"TILE", "8"}};
  EXPECT_EQ(definesOf(*axes, {1}), expected);
}

TEST(Variants, NamesBecomeCamelCase) {
  EXPECT_EQ(upperCamel("layer_norm"), "LayerNorm");
  EXPECT_EQ(upperCamel("STORAGE"), "Storage");
  EXPECT_EQ(upperCamel("u32x2"), "U32x2");
  EXPECT_EQ(upperCamel("8"), "V8");
  EXPECT_EQ(lowerCamel("FROM_TYPE"), "fromType");
}

TEST(Variants, BadLinesAreErrorsWithTheirPlace) {
  const auto message = [](const std::string& source) { return parseAxes("a.comp", source).error().message(); };
  EXPECT_EQ(message("#version 450\n//! variant STORAGE f32\n"),
            "a.comp:2: error: expected '//! variant AXIS: value ...', got 'STORAGE f32'");
  EXPECT_EQ(message("//! varaint STORAGE: f32\n"),
            "a.comp:1: error: expected '//! variant AXIS: value ...', got '//! varaint STORAGE: f32'");
  EXPECT_EQ(message("//! variant STORAGE:\n"), "a.comp:1: error: variant axis STORAGE has no values");
  EXPECT_EQ(message("//! variant S: f32 f32\n"), "a.comp:1: error: variant 'f32' of S is listed twice");
  EXPECT_EQ(message("//! variant S: f32\n//! variant S: f16\n"), "a.comp:2: error: variant axis S is declared twice");
}

TEST_F(ShaderBuildTest, ReflectsBindingsPushConstantsAndSpecialisationConstants) {
  const auto output = build(std::string("//! variant STORAGE: f32 f16\n") + kHead + R"(
layout(constant_id = 0) const uint tile = 4;
layout(constant_id = 1) const float scale = 0.5;
layout(constant_id = 2) const bool wrap = true;
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };
layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 2) buffer Z { uint total[]; };
layout(push_constant) uniform Push { uint count; ivec2 pad; float sizes[3]; int64_t wide; } push;
void main() {
  const uint i = gl_GlobalInvocationID.x * tile;
  if (wrap) STORE(y, i, LOAD(x, i) * scale + push.sizes[1] + float(push.pad.y + int(push.wide)));
  total[0] = push.count;
})");
  ASSERT_TRUE(output) << output.error().message();
  for (const char* line :
       {"struct ProbeShader {", "enum class Storage : size_t { F32, F16 };",
        "static std::optional<Storage> storageOf(DType dtype)", "int64_t count{};", "std::array<int64_t, 2> pad{};",
        "std::array<float, 3> sizes{};", "int64_t wide{};", "writer.put<uint32_t>(0, \"count\", count);",
        "writer.put<int32_t>(8, \"pad\", pad);", "writer.put<int64_t>(32, \"wide\", wide);", "kPushConstantBytes = 40;",
        "std::array<const Tensor*, 3> list() const { return {x, y, total}; }", "uint32_t tile = 4u;",
        "float scale = std::bit_cast<float>(uint32_t{0x3f000000u});", "bool wrap = true;"})
    EXPECT_TRUE(contains(output->header, line)) << line << "\nis not in\n" << output->header;
  EXPECT_TRUE(
      contains(output->source, "kAccess0{vulkan::Access::Read, vulkan::Access::Write, vulkan::Access::ReadWrite"))
      << output->source.substr(output->source.find("kAccess"), 120);
  EXPECT_TRUE(
      contains(output->source, "\"group/probe_shader STORAGE=f16\", kSpirv1, kAccess1, 40, 3, {8, 1, 1}, {4294967295"));
}

TEST_F(ShaderBuildTest, LocalSizesSetByConstantsAreKnown) {
  const auto output = build(R"(#version 450
layout(local_size_x_id = 1, local_size_y = 2) in;
layout(constant_id = 0) const uint tile = 4;
layout(binding = 0) writeonly buffer Y { uint y[]; };
void main() { y[gl_GlobalInvocationID.x] = tile; })");
  ASSERT_TRUE(output) << output.error().message();
  EXPECT_TRUE(contains(output->source, "{1, 2, 1}, {1, 4294967295, 4294967295}")) << output->source.substr(0, 4000);
}

TEST(PushWriter, NarrowsWithinTheTypeAndRefusesBeyond) {
  std::array<std::byte, 12> bytes;
  vulkan::PushWriter writer("group/probe", bytes);
  writer.put<uint32_t>(0, "count", int64_t{4294967295});
  writer.put<int32_t>(8, "pad", std::array<int64_t, 1>{-7});
  EXPECT_TRUE(writer.status().isOk());
  std::array<uint32_t, 3> words;
  std::memcpy(words.data(), bytes.data(), sizeof(words));
  EXPECT_EQ(words, (std::array<uint32_t, 3>{4294967295u, 0u, 4294967289u}));
  writer.put<uint32_t>(0, "count", int64_t{4294967296});
  writer.put<uint32_t>(0, "later", int64_t{-1});
  EXPECT_EQ(writer.status().message(),
            "group/probe: push constant 'count' is 4294967296, the shader counts from 0 to 4294967295");
}

TEST_F(ShaderBuildTest, AShaderMayDeclareNothing) {
  const auto output = build("#version 450\nlayout(local_size_x = 1) in;\nvoid main() {}\n");
  ASSERT_TRUE(output) << output.error().message();
  EXPECT_TRUE(contains(output->header, "kPushConstantBytes = 0;"));
  EXPECT_TRUE(contains(output->header, "std::array<const Tensor*, 0> list() const { return {}; }"));
}

TEST_F(ShaderBuildTest, EveryElementTypeLoadsAndStores) {
  const auto output = build(std::string("//! variant FROM: f32 f16 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool\n"
                                        "//! variant TO: f32 f16 i8 u8 i16 u16 i32 u32 i64 u64 bool\n") +
                            kHead + R"(
layout(binding = 0) readonly buffer X { FROM_TYPE x[]; };
layout(binding = 1) writeonly buffer Y { TO_TYPE y[]; };
void main() {
  const uint i = gl_GlobalInvocationID.x;
  TO_STORE(y, i, TO_ARITH(FROM_LOAD(x, i)));
})");
  ASSERT_TRUE(output) << output.error().message();
  EXPECT_TRUE(contains(output->header, "static std::optional<From> fromOf(DType dtype)"));
  EXPECT_TRUE(contains(output->header, "case DType::Bool: return To::Bool;"));
}

TEST_F(ShaderBuildTest, WordsOfEverySizeMove) {
  const auto output = build(std::string("//! variant WORD: u8 u16 u32 u32x2 u64x2\n") + kHead + R"(
layout(binding = 0) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 1) writeonly buffer Y { WORD_TYPE y[]; };
void main() { WORD_STORE(y, gl_GlobalInvocationID.x, WORD_LOAD(x, gl_GlobalInvocationID.x)); })");
  ASSERT_TRUE(output) << output.error().message();
  EXPECT_TRUE(contains(output->header, "case 8: return Word::U32x2;"));
}

TEST_F(ShaderBuildTest, TwoViewsOfOneBindingShareItsName) {
  const auto output = build(std::string(kHead) + R"(
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 0) readonly buffer X4 { vec4 x4[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
void main() { y[0] = x[0] + x4[1].x; })");
  ASSERT_TRUE(output) << output.error().message();
  EXPECT_TRUE(contains(output->header, "return {x, y}; }")) << output->header;
}

TEST_F(ShaderBuildTest, IncludedFilesAreDependencies) {
  const std::string inner = write("inner.glsl", "#define ANSWER 42u\n");
  const auto output = build(std::string(kHead) + R"(#include "inner.glsl"
layout(binding = 0) writeonly buffer Y { uint y[]; };
void main() { y[0] = ANSWER; })");
  ASSERT_TRUE(output) << output.error().message();
  EXPECT_EQ(output->dependencies.count(inner), 1u);
  EXPECT_EQ(output->dependencies.count(kIncludes + "/extensions.glsl"), 1u);
}

TEST_F(ShaderBuildTest, CompilerErrorsNameFileAndLine) {
  const std::string message = errorOf("#version 450\nlayout(local_size_x = 1) in;\nvoid main() { undeclared = 1; }\n");
  EXPECT_TRUE(contains(message, "probe.comp:3: error: 'undeclared' : undeclared identifier")) << message;
}

TEST_F(ShaderBuildTest, ErrorsInIncludesNameTheInclude) {
  write("broken.glsl", "\nfloat broken( { }\n");
  const std::string message = errorOf(std::string(kHead) + "#include \"broken.glsl\"\nvoid main() {}\n");
  EXPECT_TRUE(contains(message, "broken.glsl:2: error:")) << message;
}

TEST_F(ShaderBuildTest, AMissingIncludeIsAnError) {
  const std::string message = errorOf("#version 450\n#include \"absent.glsl\"\nvoid main() {}\n");
  EXPECT_TRUE(contains(message, "probe.comp:2: error:") && contains(message, "absent.glsl")) << message;
}

TEST_F(ShaderBuildTest, AnErrorInOneVariantNamesIt) {
  const std::string message = errorOf(std::string("//! variant MODE: fine broken\n") + kHead +
                                      "#ifdef MODE_BROKEN\nnonsense\n#endif\nvoid main() {}\n");
  EXPECT_TRUE(contains(message, "(variant MODE=broken)")) << message;
}

TEST_F(ShaderBuildTest, VariantsMayLeaveViewsAndBindingsUnused) {
  const auto output = build(std::string("//! variant WIDE: yes no\n") + kHead + R"(
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 0) readonly buffer X4 { vec4 x4[]; };
layout(binding = 1) readonly buffer B { float bias[]; };
layout(binding = 2) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push { uint count; } push;
void main() {
#ifdef WIDE_YES
  y[0] = x4[1].x;
#else
  y[0] = x[0] + bias[push.count];
#endif
})");
  ASSERT_TRUE(output) << output.error().message();
  EXPECT_TRUE(contains(output->header, "return {x, bias, y}; }")) << output->header;
  EXPECT_TRUE(contains(output->header, "kPushConstantBytes = 4;")) << output->header;
}

TEST_F(ShaderBuildTest, VariantsMustShareTheirPushConstants) {
  const std::string axis = "//! variant MODE: a b\n";
  const std::string push = errorOf(axis + kHead + R"(
layout(push_constant) uniform Push {
#ifdef MODE_A
  uint a;
#else
  float a;
#endif
} push;
layout(binding = 0) writeonly buffer Y { float y[]; };
void main() { y[0] = float(push.a); })");
  EXPECT_TRUE(contains(push, "MODE=b: push constants differ")) << push;
}

TEST_F(ShaderBuildTest, OneVariantMayReadThroughTexelsWhatAnotherReadsFromABuffer) {
  const auto output = build(std::string("//! variant READ: ssbo texel\n") + kHead + R"(#include "read4.glsl"
READ4_BUFFER(0, X, x, vec4)
layout(binding = 1) writeonly buffer Y { float y[]; };
void main() { y[0] = READ4(x, 3).y; })");
  ASSERT_TRUE(output) << output.error().message();
  EXPECT_TRUE(contains(output->source, "kAccess0{vulkan::Access::Read, vulkan::Access::Write"));
  EXPECT_TRUE(contains(output->source, "kAccess1{vulkan::Access::Texel, vulkan::Access::Write"));
}

TEST_F(ShaderBuildTest, ImagesAreReadBySamplersAndWrittenWhole) {
  const auto output = build(std::string("//! variant STORAGE: f32 f16\n") + kHead + R"(#include "image4.glsl"
IMAGE_IN(0, x)
IMAGE_OUT(1, y)
void main() { IMAGE_STORE(y, 0, 1, IMAGE_LOAD(x, 2, 3)); })");
  ASSERT_TRUE(output) << output.error().message();
  EXPECT_TRUE(contains(output->source, "kAccess1{vulkan::Access::Image, vulkan::Access::ImageWrite"));
  const std::string readable = errorOf(std::string(kHead) +
                                       "layout(binding = 0, rgba32f) uniform image2D x;\n"
                                       "void main() { imageStore(x, ivec2(0), imageLoad(x, ivec2(1))); }\n");
  EXPECT_TRUE(contains(readable, "'x' is an image: only samplerBuffers, sampler2Ds and writeonly")) << readable;
  const std::string cube = errorOf(std::string(kHead) +
                                   "layout(binding = 0) uniform sampler3D x;\n"
                                   "layout(binding = 1) writeonly buffer Y { float y[]; };\n"
                                   "void main() { y[0] = texelFetch(x, ivec3(0), 0).x; }\n");
  EXPECT_TRUE(contains(cube, "'x' is an image: only samplerBuffers")) << cube;
}

TEST_F(ShaderBuildTest, WhatTheEncoderCannotBindIsRefused) {
  const std::string uniform = errorOf(std::string(kHead) +
                                      "layout(binding = 0) uniform U { float u[4]; };\n"
                                      "layout(binding = 1) writeonly buffer Y { float y[]; };\n"
                                      "void main() { y[0] = u[1]; }\n");
  EXPECT_TRUE(contains(uniform, "is a uniform buffer: only storage buffers, samplerBuffers")) << uniform;
  const std::string gap = errorOf(
      std::string(kHead) + "layout(binding = 1) writeonly buffer Y { float y[]; };\nvoid main() { y[0] = 1; }\n");
  EXPECT_TRUE(contains(gap, "'y' has 1, expected 0")) << gap;
  const std::string push = errorOf(std::string(kHead) +
                                   "layout(push_constant) uniform P { uint many[40]; } push;\n"
                                   "layout(binding = 0) writeonly buffer Y { uint y[]; };\n"
                                   "void main() { y[0] = push.many[3]; }\n");
  EXPECT_TRUE(contains(push, "160 bytes of push constants")) << push;
}

}  // namespace
}  // namespace opkit::shader_build
