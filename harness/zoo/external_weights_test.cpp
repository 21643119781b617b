// The memory that a model with large weights takes while it is loaded, planned and run on the CPU.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

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

/// A chain of products, [8, 1024] by [1024, n] and by [n, 1024] in turns, without the values of its weights.
onnx::ModelProto chainOf(int64_t outer) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::TypeProto::Tensor& input = *graph.add_input()->mutable_type()->mutable_tensor_type();
  graph.mutable_input(0)->set_name("v0");
  input.set_elem_type(onnx::TensorProto::FLOAT);
  for (const int64_t extent : {int64_t{8}, kInner}) input.mutable_shape()->add_dim()->set_dim_value(extent);
  for (int64_t i = 0; i < kWeights; ++i) {
    onnx::TensorProto& weight = *graph.add_initializer();
    weight.set_name(fmt::format("w{}", i));
    weight.set_data_type(onnx::TensorProto::FLOAT);
    for (const int64_t extent : {i % 2 == 0 ? kInner : outer, i % 2 == 0 ? outer : kInner}) weight.add_dims(extent);
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type("MatMul");
    node.add_input(fmt::format("v{}", i));
    node.add_input(weight.name());
    node.add_output(fmt::format("v{}", i + 1));
  }
  graph.add_output()->set_name(fmt::format("v{}", kWeights));
  return model;
}

constexpr std::string_view kOne("\x00\x00\x80\x3f", 4);  // of the first weight; the rest is a hole

/// With weights beside the model.
std::string writeExternal(const fs::path& folder, int64_t outer) {
  onnx::ModelProto model = chainOf(outer);
  const int64_t bytes = kInner * outer * 4;
  for (int64_t i = 0; i < kWeights; ++i) {
    onnx::TensorProto& weight = *model.mutable_graph()->mutable_initializer(static_cast<int>(i));
    weight.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", "weights.bin"},
                                     {"offset", std::to_string(i * bytes)},
                                     {"length", std::to_string(bytes)}}) {
      onnx::StringStringEntryProto& entry = *weight.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
  }
  std::ofstream data(folder / "weights.bin", std::ios::binary);
  data.seekp(16);
  data << kOne;
  data.close();
  fs::resize_file(folder / "weights.bin", static_cast<uintmax_t>(kWeights * bytes));
  const std::string path = (folder / "external.onnx").string();
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  return path;
}

/// The tag and the length of a field of bytes.
std::string fieldOf(uint32_t number, int64_t length) {
  std::string bytes;
  google::protobuf::io::StringOutputStream text(&bytes);
  google::protobuf::io::CodedOutputStream stream(&text);
  stream.WriteTag(number << 3 | 2);
  stream.WriteVarint64(static_cast<uint64_t>(length));
  stream.Trim();
  return bytes;
}

/// With weights as raw data inside the model, at places of all kinds.
std::string writeInline(const fs::path& folder, int64_t outer) {
  onnx::ModelProto model = chainOf(outer);
  const int64_t bytes = kInner * outer * 4;
  google::protobuf::RepeatedPtrField<onnx::TensorProto> weights;
  weights.Swap(model.mutable_graph()->mutable_initializer());
  std::vector<std::string> heads;  // of the weights: all but their bytes
  int64_t graphBytes = static_cast<int64_t>(model.graph().ByteSizeLong());
  for (onnx::TensorProto& weight : weights) {
    const std::string inner = weight.SerializeAsString() + fieldOf(onnx::TensorProto::kRawDataFieldNumber, bytes);
    heads.push_back(fieldOf(onnx::GraphProto::kInitializerFieldNumber, static_cast<int64_t>(inner.size()) + bytes) +
                    inner);
    graphBytes += static_cast<int64_t>(heads.back().size()) + bytes;
  }
  const std::string graph = model.graph().SerializeAsString();
  model.clear_graph();
  const std::string path = (folder / "inline.onnx").string();
  std::ofstream file(path, std::ios::binary);
  file << model.SerializeAsString() << fieldOf(onnx::ModelProto::kGraphFieldNumber, graphBytes) << graph;
  for (const std::string& head : heads) {
    file << head;
    const auto begin = file.tellp();
    if (&head == heads.data()) file.seekp(16, std::ios::cur) << kOne;
    file.seekp(begin + std::streamoff{bytes});
  }
  const auto end = static_cast<uintmax_t>(file.tellp());
  file.close();
  fs::resize_file(path, end);
  return path;
}

/// A line of /proc/self/status in bytes; mapped pages of files count in VmRSS and VmHWM.
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

/// Looks at the anonymous memory of the process every millisecond.
class AnonymousPeak {
 public:
  AnonymousPeak()
      : before_(memory("RssAnon:")), thread_([this] {
          while (!isOver_) {
            most_ = std::max(most_, memory("RssAnon:"));
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        }) {}
  ~AnonymousPeak() { stop(); }
  /// The growth in bytes until now.
  size_t stop() {
    isOver_ = true;
    if (thread_.joinable()) thread_.join();
    return most_ - std::min(before_, most_);
  }

 private:
  size_t before_, most_ = 0;
  std::atomic<bool> isOver_ = false;
  std::thread thread_;
};

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

TEST(ExternalWeights, ThePeakIsWithinATenthOfTheirSize) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  const fs::path folder = fs::path(testing::TempDir()) / "external_weights";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const int64_t outer = weightMib() * 256;
  const std::string external = writeExternal(folder, outer), within = writeInline(folder, outer);
  const std::string opk = (folder / "model.opk").string();
  {
    auto model = readModelFile(external, ops::builtinOnnxRules(), ops::builtinOps());
    ASSERT_TRUE(model) << model.error().toString();
    ASSERT_TRUE(writeModel(*model, opk));
  }
  const auto weights = static_cast<double>(kWeights * kInner * outer * 4);
  for (const std::string& path : {external, opk, within}) {
    ::malloc_trim(0);                             // what the run before gave back would hide what this one takes
    std::ofstream("/proc/self/clear_refs") << 5;  // VmHWM begins anew
    const size_t before = memory("VmRSS:");
    AnonymousPeak watch;
    runChain(path);
    const auto anonymous = static_cast<double>(watch.stop());
    const auto peak = static_cast<double>(memory("VmHWM:") - before);
    fmt::print("{}: {:.0f} MiB at the peak, {:.3f} of the weights; {:.3f} without pages of files\n",
               fs::path(path).filename().string(), peak / 0x1p20, peak / weights, anonymous / weights);
    EXPECT_GT(anonymous, 0.5 * weights) << "the weights were not used";
    EXPECT_LE(anonymous, 1.1 * weights);
    EXPECT_LE(peak, 1.2 * weights);
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace opkit
