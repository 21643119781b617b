#include "harness/guest/show_program.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "engine/import/onnx/onnx_writer.h"
#include "engine/op/oracle.h"
#include "harness/export/case_folder.h"
#include "harness/export/export_test_support.h"

namespace opkit::harness::show_program {
namespace {

namespace fs = std::filesystem;
using exporting::modelByHand;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kBeyondDoubles = (int64_t{1} << 53) + 1;

/// The folder node_modules with onnxruntime-node, or "".
std::string nodeModules() {
  const char* named = std::getenv("OPKIT_ORT_MODULES");
  const std::string folder = named ? named : OPKIT_SOURCE_DIR "/build/ort-tools/node_modules";
  return fs::exists(fs::path(folder) / "onnxruntime-node") ? folder : "";
}

std::string fromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string libraryFolder() { return nodeModules() + "/onnxruntime-node/bin/napi-v6/linux/x64"; }

GuestChoice choiceOf(const std::string& provider) {
  GuestChoice choice;
  choice.library = "libonnxruntime.so.1";
  choice.provider = provider;
  return choice;
}

GuestInfo infoOf(const std::string& provider) {
  GuestInfo info;
  info.engine = "ONNX Runtime";
  info.version = "1.30.0";
  info.provider = provider == "cpu"      ? "CPUExecutionProvider"
                  : provider == "WebGPU" ? "WebGpuExecutionProvider"
                                         : provider;
  return info;
}

OracleTensor values(DType dtype, const std::vector<double>& real, const std::vector<int64_t>& integer = {}) {
  OracleTensor tensor({dtype, {static_cast<int64_t>(real.size() + integer.size())}});
  tensor.real = real;
  tensor.integer = integer;
  return tensor;
}

/// A model of one node that gives its input, once for each of the lists.
ExportedModel copyModel(const std::vector<OracleTensor>& lists) {
  ExportedModel model;
  model.form = {"Identity", 14, {}, {}};
  model.form.inputs.emplace_back().emplace<size_t>(0);
  model.inputs = {"x"};
  model.outputs = {"y"};
  for (const OracleTensor& list : lists) {
    ExportedSet& set = model.sets.emplace_back();
    set.description = *parseCaseId(exporting::kRelu);
    set.inputs.push_back(*roundedOutput(list));
    set.expected.push_back(OracleTensor::fromTensor(set.inputs[0]));
    set.tolerances.emplace_back();
  }
  const OnnxPort input{"x", lists[0].desc, {"n"}, nullptr}, output{"y", lists[0].desc, {"n"}, nullptr};
  model.bytes = *writeOnnx(model.form, {input}, {output});
  return model;
}

struct Named {
  std::string name;
  ExportedModel model;
};

const std::vector<double> kSpecials = {1.5, -0.0, 0, kNan, kInfinity, -kInfinity, 0.1, -65504, 6e-8};

std::vector<Named> namedModels() {
  std::vector<Named> models;
  models.push_back({"f32", modelByHand({exporting::kSoftmax}, "Softmax", 13)});
  models.push_back({"files", modelByHand({"Relu/f32[8,64]/normal/seed=7"}, "Relu", 14)});
  models.push_back({"two_shapes", modelByHand({exporting::kSoftmax, exporting::kSoftmaxLarger}, "Softmax", 13)});
  for (ExportedSet& set : models.back().model.sets) set.tolerances[0].signOfZero = true;
  models.push_back({"by_class", modelByHand({exporting::kSoftmaxSpecials}, "Softmax", 13)});
  models.push_back({"two_inputs", modelByHand({"Add/f32[3,4],f32[4]/normal/seed=7"}, "Add", 14)});
  models.push_back({"f32_specials", copyModel({values(DType::Float32, kSpecials), values(DType::Float32, {2})})});
  models.push_back({"f16_specials", copyModel({values(DType::Float16, kSpecials)})});
  models.push_back({"f64", copyModel({values(DType::Float64, {0.1, 1e300, -5e-324, kNan})})});
  models.push_back({"i64", copyModel({values(DType::Int64, {},
                                             {0, kBeyondDoubles, std::numeric_limits<int64_t>::min(),
                                              std::numeric_limits<int64_t>::max()})})});
  models.push_back({"u64", copyModel({values(DType::UInt64, {}, {7, -1, kBeyondDoubles})})});
  models.push_back({"bool", copyModel({values(DType::Bool, {}, {1, 0, 1})})});
  models.push_back({"u8", copyModel({values(DType::UInt8, {}, {0, 200, 255})})});
  models.push_back({"i8", copyModel({values(DType::Int8, {}, {-128, 0, 127})})});
  models.push_back({"empty", copyModel({values(DType::Float32, {})})});
  std::vector<int64_t> many(100, kBeyondDoubles);
  models.push_back({"i64_files", copyModel({values(DType::Int64, {}, many), values(DType::Int64, {}, {5})})});
  std::vector<double> specials;
  for (int i = 0; i < 9; ++i) specials.insert(specials.end(), kSpecials.begin(), kSpecials.end());
  models.push_back({"f16_files", copyModel({values(DType::Float16, specials)})});
  models.back().model.sets[0].tolerances[0].signOfZero = true;
  return models;
}

/// Adds what no bound allows to the last element of the last set that has any.
void alter(ExportedModel& model) {
  OracleTensor& expected = model.sets.back().expected[0];
  Tolerance& tolerance = model.sets.back().tolerances[0];
  if (tolerance.byClass) {
    expected.real.back() = kNan;
  } else if (expected.isReal()) {
    expected.real.back() = std::isfinite(expected.real.back()) ? expected.real.back() + 1 : 0;
  } else {
    expected.integer.back() ^= 1;
  }
}

struct Ended {
  int code = -1;
  std::string text;
};

Ended runIn(const fs::path& folder, const std::string& command) {
  Ended ended;
  std::FILE* pipe = ::popen(fmt::format("cd '{}' && ({}) 2>&1", folder.string(), command).c_str(), "r");
  if (!pipe) return ended;
  char part[4096];
  while (const size_t size = std::fread(part, 1, sizeof part, pipe)) ended.text.append(part, size);
  const int status = ::pclose(pipe);
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

std::string textOf(const ShowFile& file) { return {file.bytes.begin(), file.bytes.end()}; }

/// Writes the case and its program.
fs::path write(const Named& named, const std::string& folder, const GuestChoice& choice) {
  const fs::path root = exporting::emptyFolder();
  EXPECT_TRUE(writeCaseFolder(root.string(), folder, named.model));
  const auto files = showProgram(named.model, choice, infoOf(choice.provider), "Operator: what fails");
  EXPECT_TRUE(files) << named.name << ": " << files.error().message();
  if (!files) return root;
  for (const ShowFile& file : *files) EXPECT_TRUE(writeFile((root / folder / file.name).string(), file.bytes).isOk());
  return root / folder;
}

/// Of a program with a line for each thing that it must have.
void expectShort(const Named& named, const std::string& text) {
  EXPECT_LE(std::ranges::count(text, '\n'), 30) << named.name << ":\n" << text;
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != text.npos; begin = end + 1, end = text.find('\n', begin)) {
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    const bool hasValues = line.find("tensor<") != line.npos || line.find("ort.Tensor(") != line.npos ||
                           line.find(".of(") != line.npos || line.find("Array(") != line.npos ||
                           line.find("settings.Add") != line.npos;
    EXPECT_TRUE(hasValues || line.size() <= 140) << named.name << ": " << line;
  }
}

void expectRight(const Ended& ended, const Named& named) {
  EXPECT_EQ(ended.code, 0) << named.name << ":\n" << ended.text;
  const bool isEmpty = named.model.sets[0].expected[0].elements() == 0;
  EXPECT_EQ(ended.text.find("got") != ended.text.npos, !isEmpty) << named.name << ":\n" << ended.text;
}

void expectWrong(const Ended& ended, const Named& named) {
  EXPECT_EQ(ended.code, 1) << named.name << ":\n" << ended.text;
  EXPECT_NE(ended.text.find("expected"), std::string::npos) << named.name << ":\n" << ended.text;
}

void runNode(const std::string& provider, std::vector<Named> models) {
  for (Named& named : models) {
    for (const bool isAltered : {false, true}) {
      if (isAltered && named.model.sets[0].expected[0].elements() == 0) continue;
      if (isAltered) alter(named.model);
      const fs::path folder = write(named, named.name, choiceOf(provider));
      ASSERT_TRUE(fs::exists(folder / "show.mjs")) << named.name;
      fs::create_directory_symlink(nodeModules(), folder / "node_modules");
      const Ended ended = runIn(folder, "node show.mjs");
      isAltered ? expectWrong(ended, named) : expectRight(ended, named);
    }
  }
}

/// A choice whose program is in C++: settings are not for Node.
GuestChoice cppChoiceOf(const std::string& provider) {
  GuestChoice choice = choiceOf(provider);
  choice.settings = {{"unused", "by the CPU"}};
  return choice;
}

std::string compileCommand() {
  return fmt::format("g++ -std=c++17 -Wall -Werror show.cpp -I '{0}' '{1}/libonnxruntime.so.1' '-Wl,-rpath,{1}'",
                     fromEnvironment("OPKIT_ORT_INCLUDE"), libraryFolder());
}

void runCpp(const std::string& provider, const GuestChoice& choice, std::vector<Named> models) {
  for (Named& named : models) {
    for (const bool isAltered : {false, true}) {
      if (isAltered && named.model.sets[0].expected[0].elements() == 0) continue;
      if (isAltered) alter(named.model);
      const fs::path folder = write(named, named.name, choice);
      const Ended compiled = runIn(folder, compileCommand());
      ASSERT_EQ(compiled.code, 0) << provider << " " << named.name << ":\n" << compiled.text;
      const Ended ended = runIn(folder, "./a.out");
      isAltered ? expectWrong(ended, named) : expectRight(ended, named);
    }
  }
}

#define OPKIT_SKIP_WITHOUT_NODE()                                                \
  if (nodeModules().empty())                                                     \
  GTEST_SKIP() << "no npm package onnxruntime-node: set OPKIT_ORT_MODULES to a " \
                  "node_modules"
#define OPKIT_SKIP_WITHOUT_HEADERS()                \
  if (fromEnvironment("OPKIT_ORT_INCLUDE").empty()) \
  GTEST_SKIP() << "no headers of ONNX Runtime: set OPKIT_ORT_INCLUDE to the folder of onnxruntime_cxx_api.h"
#define OPKIT_SKIP_WITHOUT_WEBGPU() \
  if (fromEnvironment("OPKIT_ORT_WEBGPU").empty()) GTEST_SKIP() << "set OPKIT_ORT_WEBGPU=1 where WebGPU has a device"

TEST(ShowProgram, HasAtMostThirtyLines) {
  GuestChoice plugin = choiceOf("AcmeExecutionProvider");
  plugin.providerLibrary = "libacme.so";
  GuestChoice withSettings = plugin;
  withSettings.settings = {{"precision", "high"}, {"path", "a\\b\"c"}};
  for (const Named& named : namedModels())
    for (const GuestChoice& choice :
         {choiceOf("cpu"), choiceOf("WebGPU"), cppChoiceOf("cpu"), cppChoiceOf("WebGPU"), plugin, withSettings}) {
      const auto files = showProgram(named.model, choice, infoOf(choice.provider), "Operator: what fails");
      ASSERT_TRUE(files) << named.name << ": " << files.error().message();
      expectShort(named, textOf(files->front()));
    }
}

TEST(ShowProgram, RunsWithNodeOnTheCpu) {
  OPKIT_SKIP_WITHOUT_NODE();
  runNode("cpu", namedModels());
}

TEST(ShowProgram, RunsWithTheHeadersOnTheCpu) {
  OPKIT_SKIP_WITHOUT_NODE();
  OPKIT_SKIP_WITHOUT_HEADERS();
  runCpp("cpu", cppChoiceOf("cpu"), namedModels());
}

/// A zero where another one is expected, which a bound does not forgive if signs count.
std::vector<Named> zeroModels(bool signOfZero) {
  std::vector<Named> models;
  for (const double bound : {0.0, 1.0}) {
    models.push_back({fmt::format("zeros_{}", bound), copyModel({values(DType::Float32, {0, 1})})});
    ExportedSet& set = models.back().model.sets[0];
    set.expected[0].real[0] = -0.0;
    set.tolerances[0].signOfZero = signOfZero;
    set.tolerances[0].bound = {bound, bound};
  }
  return models;
}

int codeOf(const Named& named, const GuestChoice& choice, const std::string& command) {
  const fs::path folder = write(named, named.name, choice);
  fs::create_directory_symlink(nodeModules(), folder / "node_modules");
  return runIn(folder, command).code;
}

TEST(ShowProgram, KnowsTheSignsOfZerosWithNode) {
  OPKIT_SKIP_WITHOUT_NODE();
  for (const bool signOfZero : {false, true})
    for (const Named& named : zeroModels(signOfZero))
      EXPECT_EQ(codeOf(named, choiceOf("cpu"), "node show.mjs"), signOfZero ? 1 : 0) << named.name;
}

TEST(ShowProgram, KnowsTheSignsOfZerosWithTheHeaders) {
  OPKIT_SKIP_WITHOUT_NODE();
  OPKIT_SKIP_WITHOUT_HEADERS();
  for (const bool signOfZero : {false, true})
    for (const Named& named : zeroModels(signOfZero))
      EXPECT_EQ(codeOf(named, cppChoiceOf("cpu"), compileCommand() + " && ./a.out"), signOfZero ? 1 : 0) << named.name;
}

TEST(ShowProgram, LoadsAPlugin) {
  OPKIT_SKIP_WITHOUT_NODE();
  OPKIT_SKIP_WITHOUT_HEADERS();
  GuestChoice choice = choiceOf("AcmeExecutionProvider");
  choice.providerLibrary = "libacme.so";
  choice.settings = {{"path", "a\\b\"c"}};
  for (const Named& named : namedModels()) {
    if (named.name != "f32" && named.name != "two_shapes") continue;
    const fs::path folder = write(named, named.name, choice);
    const Ended ended = runIn(folder, compileCommand() + " && ./a.out /nowhere/libacme.so");
    EXPECT_EQ(ended.code, 1) << ended.text;
    EXPECT_NE(ended.text.find("/nowhere/libacme.so"), std::string::npos) << ended.text;
  }
}

TEST(ShowProgram, RefusesTypesThatItCannotCompare) {
  ExportedModel model = copyModel({values(DType::Float32, {1})});
  model.sets[0].expected[0] = values(DType::Int4, {}, {1});
  const auto files = showProgram(model, choiceOf("cpu"), infoOf("cpu"), "title");
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code(), StatusCode::Unsupported);
  EXPECT_EQ(files.error().message(), "no program shows outputs of type i4");
}

TEST(ShowProgram, HasItsTitleInOneLine) {
  const ExportedModel model = copyModel({values(DType::Float32, {1})});
  const auto files =
      showProgram(model, choiceOf("cpu"), infoOf("cpu"), "Relu:\nfails \\ " + std::string(200, 'x') + "\\");
  ASSERT_TRUE(files);
  const std::string text = textOf(files->front());
  const std::string line = text.substr(0, text.find('\n'));
  EXPECT_TRUE(line.starts_with("// Relu: fails \\ xxx")) << line;
  EXPECT_TRUE(line.ends_with("xxx...")) << line;
  EXPECT_LE(line.size(), 140u);
  EXPECT_TRUE(text.substr(line.size()).starts_with("\n// npm install onnxruntime-node@1.30.0 && node show.mjs\n"))
      << text;
}

std::vector<Named> webGpuModels() {
  std::vector<Named> models;
  for (Named& named : namedModels())
    for (const char* name : {"f32", "files", "two_shapes", "two_inputs"})  // WGSL leaves NaN open
      if (named.name == name) models.push_back(std::move(named));
  return models;
}

TEST(ShowProgram, RunsWithNodeOnWebGpu) {
  OPKIT_SKIP_WITHOUT_NODE();
  OPKIT_SKIP_WITHOUT_WEBGPU();
  runNode("WebGPU", webGpuModels());
}

TEST(ShowProgram, RunsWithTheHeadersOnWebGpu) {
  OPKIT_SKIP_WITHOUT_NODE();
  OPKIT_SKIP_WITHOUT_HEADERS();
  OPKIT_SKIP_WITHOUT_WEBGPU();
  GuestChoice choice = choiceOf("WebGPU");
  choice.settings = {{"preferredLayout", "NCHW"}};
  runCpp("WebGPU", choice, webGpuModels());
}

}  // namespace
}  // namespace opkit::harness::show_program
