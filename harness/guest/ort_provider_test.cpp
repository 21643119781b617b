// Providers of ONNX Runtime: models that they take and refuse, and their results.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/import/onnx/onnx_dtype.h"
#include "engine/import/onnx/onnx_form.h"
#include "engine/import/onnx/onnx_writer.h"
#include "harness/guest/guest.h"
#include "harness/guest/ort_test_support.h"

namespace opkit::harness {
namespace {

constexpr const char* kSwiftShader = "/usr/lib/chromium/libvk_swiftshader.so";

OnnxPort port(const char* name, const TensorDesc& desc) {
  OnnxPort made;
  made.name = name;
  made.desc = desc;
  return made;
}

/// A node of one input and one output, which have the same type and shape.
std::vector<uint8_t> unaryModel(const char* type, int opset, const TensorDesc& desc,
                                const std::vector<std::string>& freeExtents = {}) {
  OnnxForm form;
  form.type = type;
  form.opset = opset;
  form.inputs = {OnnxInput(size_t{0})};
  OnnxPort input = port("x", desc), output = port("y", desc);
  input.symbols = output.symbols = freeExtents;
  const auto bytes = writeOnnx(form, {input}, {output});
  return bytes ? *bytes : std::vector<uint8_t>{};
}

std::vector<uint8_t> castModel(const TensorDesc& from, const TensorDesc& to) {
  OnnxForm form;
  form.type = "Cast";
  form.opset = 25;  // the first with all packed types
  form.attributes["to"] = int64_t{onnxNumberOf(to.dtype)};
  form.inputs = {OnnxInput(size_t{0})};
  const auto bytes = writeOnnx(form, {port("x", from)}, {port("y", to)});
  return bytes ? *bytes : std::vector<uint8_t>{};
}

/// Opens a provider in a worker and asks it.
template <class Ask>
std::string asked(const GuestChoice& choice, Ask ask) {
  return inWorker([&]() -> std::string {
    auto guest = openOnnxRuntime(choice);
    return guest ? ask(**guest) : guest.error().toString();
  });
}

std::string refusalText(const GuestLoad& load) {
  if (load.session) return "loaded";
  const char* const kinds[] = {"not claimed: ", "not loaded: ", "refused: "};
  return kinds[static_cast<int>(load.refusal)] + load.reason;
}

/// Runs Softmax both ways and says what is wrong with the results.
std::string softmaxText(Guest& guest) {
  const TensorDesc desc{DType::Float32, {2, 3}};
  const GuestLoad load = guest.load(unaryModel("Softmax", 13, desc));
  if (!load.session) return refusalText(load);
  const auto input = Tensor::fromValues<float>(desc, {0, 0, 0, 0, std::log(2.0f), std::log(5.0f)});
  auto output = Tensor::onHost(desc);
  if (!input || !output) return "no memory";
  std::vector<Tensor> into = {*output};
  if (const Status status = load.session->runInto({*input}, into); !status.isOk()) return status.toString();
  const auto made = load.session->run({*input});
  if (!made) return made.error().toString();
  if (made->size() != 1 || made->front().desc != desc) return "another output";
  const std::array<float, 6> expected = {1.0f / 3, 1.0f / 3, 1.0f / 3, 0.125f, 0.25f, 0.625f};
  for (size_t i = 0; i < expected.size(); ++i) {
    const float first = into[0].data<float>()[i], second = made->front().data<float>()[i];
    if (!(std::abs(first - expected[i]) < 1e-5f) || !(std::abs(second - expected[i]) < 1e-5f))
      return fmt::format("element {}: expected {}, got {} and {}", i, expected[i], first, second);
  }
  return "right";
}

TEST(OrtProvider, TheCpuComputes) {
  OPKIT_SKIP_WITHOUT_ORT();
  EXPECT_EQ(asked(guestForTests("cpu"), softmaxText), "right");
  EXPECT_EQ(asked(guestForTests("CPUExecutionProvider"),
                  [](Guest& guest) {
                    const GuestInfo& info = guest.info();
                    return fmt::format("{} {} {}", info.engine, info.provider, info.newestOpset >= 23);
                  }),
            "ONNX Runtime CPUExecutionProvider true");
}

TEST(OrtProvider, RefusalsOfTheCpuAreTold) {
  OPKIT_SKIP_WITHOUT_ORT();
  const auto answer = [](const std::vector<uint8_t>& model) {
    return asked(guestForTests("cpu"), [&](Guest& guest) { return refusalText(guest.load(model)); });
  };
  // ONNX allows bf16, Int32 is none of the operator's types.
  EXPECT_TRUE(answer(unaryModel("Softmax", 13, {DType::BFloat16, {2}})).starts_with("not claimed: Could not find an "))
      << answer(unaryModel("Softmax", 13, {DType::BFloat16, {2}}));
  EXPECT_TRUE(answer(unaryModel("Softmax", 13, {DType::Int32, {2}})).starts_with("not loaded: "));
  EXPECT_TRUE(answer(unaryModel("Softmax", 99, {DType::Float32, {2}})).starts_with("not loaded: "));
  EXPECT_TRUE(answer({1, 2, 3}).starts_with("not loaded: "));
  EXPECT_EQ(answer(unaryModel("Softmax", 99, {DType::Float32, {2}})).find(".h:"), std::string::npos);
}

TEST(OrtProvider, OutputsOfAnotherShapeAreTold) {
  OPKIT_SKIP_WITHOUT_ORT();
  const TensorDesc desc{DType::Float32, {2, 3}};
  const auto codeFor = [&](const TensorDesc& expected, const std::vector<std::string>& freeExtents) {
    return asked(guestForTests("cpu"), [&](Guest& guest) -> std::string {
      const GuestLoad load = guest.load(unaryModel("Relu", 14, desc, freeExtents));
      auto input = Tensor::onHost(desc), output = Tensor::onHost(expected);
      if (!load.session || !input || !output) return refusalText(load);
      std::vector<Tensor> into = {*output};
      return nameOf(load.session->runInto({*input}, into).code());
    });
  };
  EXPECT_EQ(codeFor(desc, {"rows", "columns"}), "OK");
  EXPECT_EQ(codeFor({DType::Float32, {3, 2}}, {}), "InvalidArgument");
  EXPECT_EQ(codeFor({DType::Float32, {3, 2}}, {"rows", "columns"}), "InvalidArgument");
  EXPECT_EQ(codeFor({DType::Int32, {2, 3}}, {}), "InvalidArgument");
}

/// Copies tensors of every type of whole bytes and says which were refused or changed. No kernel takes f8e8m0.
std::string copiedText(Guest& guest) {
  std::string failed;
  for (int number = 1; isValidDType(number); ++number) {
    const auto dtype = static_cast<DType>(number);
    if (isObject(dtype) || isPacked(dtype) || dtype == DType::Float8E8M0) continue;
    const TensorDesc desc{dtype, {7}};
    const GuestLoad load = guest.load(unaryModel("Identity", 25, desc));
    auto input = Tensor::onHost(desc);
    if (!load.session || !input) {
      failed += fmt::format("{}: {}. ", nameOf(dtype), refusalText(load));
      continue;
    }
    for (size_t i = 0; i < input->bytes().size(); ++i) input->bytes()[i] = static_cast<std::byte>(i % 2);
    const auto made = load.session->run({*input});
    const bool isSame = made && made->front().desc == desc && std::ranges::equal(made->front().bytes(), input->bytes());
    if (!isSame) failed += fmt::format("{}: {}. ", nameOf(dtype), made ? "differs" : made.error().message());
  }
  return failed;
}

/// Packs 0, 1, 0, 1, 1, 0, 1 and returns the bytes, if the values come back.
std::string packedText(Guest& guest, DType dtype) {
  const TensorDesc plain{DType::Float32, {7}}, packed{dtype, {7}};
  const GuestLoad pack = guest.load(castModel(plain, packed)), unpack = guest.load(castModel(packed, plain));
  if (!pack.session) return refusalText(pack);
  if (!unpack.session) return refusalText(unpack);
  const auto input = Tensor::fromValues<float>(plain, {0, 1, 0, 1, 1, 0, 1});
  if (!input) return "no memory";
  const auto there = pack.session->run({*input});
  if (!there) return there.error().toString();
  const auto back = unpack.session->run(*there);
  if (!back) return back.error().toString();
  if (!std::ranges::equal(back->front().bytes(), input->bytes())) return "values differ";
  std::string text;
  for (const std::byte byte : there->front().bytes()) text += fmt::format("{:02x}", static_cast<int>(byte));
  return text;
}

TEST(OrtProvider, EveryTypePassesUnchanged) {
  OPKIT_SKIP_WITHOUT_ORT();
  EXPECT_EQ(asked(guestForTests("cpu"), copiedText), "");
  const auto packed = [](DType dtype) {
    return asked(guestForTests("cpu"), [&](Guest& guest) { return packedText(guest, dtype); });
  };
  EXPECT_EQ(packed(DType::Int4), "10100101");
  EXPECT_EQ(packed(DType::UInt4), "10100101");
  EXPECT_EQ(packed(DType::Int2), "4411");
  EXPECT_EQ(packed(DType::UInt2), "4411");
}

TEST(OrtProvider, UnknownOnesAndSettingsAreRefused) {
  OPKIT_SKIP_WITHOUT_ORT();
  const auto errorOf = [](const GuestChoice& choice) { return asked(choice, [](Guest&) { return "opened"; }); };
  const std::string unknown = errorOf(guestForTests("Warp"));
  EXPECT_TRUE(unknown.starts_with("InvalidArgument: ") && unknown.ends_with(", got Warp")) << unknown;
  EXPECT_NE(unknown.find("CPUExecutionProvider"), std::string::npos) << unknown;
  GuestChoice choice = guestForTests("cpu");
  choice.settings = {{"threads", "2"}};
  EXPECT_TRUE(errorOf(choice).ends_with("CPUExecutionProvider has no settings, got threads")) << errorOf(choice);
  choice = guestForTests("Warp");
  choice.providerLibrary = choice.library;  // a library, but of no provider
  EXPECT_TRUE(errorOf(choice).starts_with("InvalidArgument: ")) << errorOf(choice);
}

TEST(OrtProvider, WebGpuComputesOnASoftwareDevice) {
  OPKIT_SKIP_WITHOUT_ORT();
  if (!std::filesystem::exists(kSwiftShader)) GTEST_SKIP() << "no " << kSwiftShader;
  const std::string manifest = testing::TempDir() + "swiftshader.json";
  std::ofstream(manifest) << R"({"file_format_version": "1.0.0", "ICD": {"library_path": ")" << kSwiftShader
                          << R"(", "api_version": "1.3.0"}})";
  ::setenv("VK_ICD_FILENAMES", manifest.c_str(), 1);
  ::setenv("VK_DRIVER_FILES", manifest.c_str(), 1);
  EXPECT_EQ(asked(guestForTests("webgpu"), softmaxText), "right");
  const auto refusal = [](const TensorDesc& desc) {
    return asked(guestForTests("WebGpuExecutionProvider"),
                 [&](Guest& guest) { return refusalText(guest.load(unaryModel("Softmax", 13, desc))); });
  };
  EXPECT_TRUE(refusal({DType::Float64, {2}}).starts_with("not claimed: ")) << refusal({DType::Float64, {2}});
  EXPECT_TRUE(refusal({DType::Int32, {2}}).starts_with("not loaded: ")) << refusal({DType::Int32, {2}});
}

}  // namespace
}  // namespace opkit::harness
