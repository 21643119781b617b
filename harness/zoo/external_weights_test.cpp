// The memory that a model with external weights takes while it is loaded, planned and run on the CPU.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/import/onnx/onnx_importer.h"
#include "engine/import/onnx/onnx_proto.h"
#include "engine/runtime/session.h"
#include "ops/builtin_ops.h"

namespace opkit {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kWeights = 24;
constexpr int64_t kInner = 1024;

/// 16 MiB a weight; OPKIT_WEIGHT_MIB=128 measures what a large network takes.
int64_t weightMib() {
  const char* text = std::getenv("OPKIT_WEIGHT_MIB");
  return text ? std::atoll(text) : 16;
}

/// A chain of products, [8, 1024] by [1024, n] and by [n, 1024] in turns, with weights beside the model.
std::string writeChain(const fs::path& folder, int64_t outer) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::TypeProto::Tensor& input = *graph.add_input()->mutable_type()->mutable_tensor_type();
  graph.mutable_input(0)->set_name("v0");
  input.set_elem_type(onnx::TensorProto::FLOAT);
  for (const int64_t extent : {int64_t{8}, kInner}) input.mutable_shape()->add_dim()->set_dim_value(extent);
  const int64_t bytes = kInner * outer * 4;
  for (int64_t i = 0; i < kWeights; ++i) {
    onnx::TensorProto& weight = *graph.add_initializer();
    weight.set_name(fmt::format("w{}", i));
    weight.set_data_type(onnx::TensorProto::FLOAT);
    weight.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const int64_t extent : {i % 2 == 0 ? kInner : outer, i % 2 == 0 ? outer : kInner}) weight.add_dims(extent);
    for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", "weights.bin"},
                                     {"offset", std::to_string(i * bytes)},
                                     {"length", std::to_string(bytes)}}) {
      onnx::StringStringEntryProto& entry = *weight.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type("MatMul");
    node.add_input(fmt::format("v{}", i));
    node.add_input(weight.name());
    node.add_output(fmt::format("v{}", i + 1));
  }
  graph.add_output()->set_name(fmt::format("v{}", kWeights));
  std::ofstream data(folder / "weights.bin", std::ios::binary);
  data.seekp(16);
  data.write("\x00\x00\x80\x3f", 4);  // one weight of 1, the rest is a hole
  data.close();
  fs::resize_file(folder / "weights.bin", static_cast<uintmax_t>(kWeights * bytes));
  const std::string path = (folder / "model.onnx").string();
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  return path;
}

/// A line of /proc/self/status in bytes; mapped pages of files count in both.
size_t memory(const std::string& line) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == line) {
      size_t kilobytes = 0;
      status >> kilobytes;
      return kilobytes * 1024;
    }
  return 0;
}

void runChain(const std::string& path) {
  auto model = readModelFile(path, ops::builtinOnnxRules(), ops::builtinOps());
  ASSERT_TRUE(model) << model.error().toString();
  auto interpreter = Interpreter::create(*std::move(model), ops::builtinOps());
  ASSERT_TRUE(interpreter) << interpreter.error().toString();
  auto session = (*interpreter)->createSession({.backend = "cpu", .cacheDir = "off", .threads = 2});
  ASSERT_TRUE(session) << session.error().toString();
  const std::span<float> x = (*session)->fillInput("v0")->data<float>();
  std::ranges::fill(x, 0.5f);
  const Status status = (*session)->run();
  ASSERT_TRUE(status.isOk()) << status.toString();
  EXPECT_EQ((*session)->output((*session)->outputNames()[0])->data<float>()[0], 0.0f);
}

TEST(ExternalWeights, ThePeakIsWithinAFifthOfTheirSize) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  const fs::path folder = fs::path(testing::TempDir()) / "external_weights";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const int64_t outer = weightMib() * 256;
  const std::string onnx = writeChain(folder, outer);
  const std::string opk = (folder / "model.opk").string();
  {
    auto model = readModelFile(onnx, ops::builtinOnnxRules(), ops::builtinOps());
    ASSERT_TRUE(model) << model.error().toString();
    ASSERT_TRUE(writeModel(*model, opk));
  }
  const auto weights = static_cast<double>(kWeights * kInner * outer * 4);
  for (const std::string& path : {onnx, opk}) {
    std::ofstream("/proc/self/clear_refs") << 5;  // VmHWM begins anew
    const size_t before = memory("VmRSS:");
    runChain(path);
    const auto peak = static_cast<double>(memory("VmHWM:") - before);
    fmt::print("{}: {:.0f} MiB at the peak, {:.3f} of the weights\n", fs::path(path).filename().string(), peak / 0x1p20,
               peak / weights);
    EXPECT_GT(peak, 0.5 * weights) << "the weights were not used";
    EXPECT_LE(peak, 1.2 * weights);
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace opkit
