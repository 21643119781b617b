#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "engine/model/model.h"
#include "engine/model/model_generated.h"
#include "engine/model/model_structure.h"

namespace opkit {
namespace {

namespace fs = std::filesystem;

Model sample() {
  Model model;
  model.producer = "test";
  const int x = model.addInput("x", {DType::Float32, {kDynamic, 3}});
  const int k = model.addConstant("k", *Tensor::fromValues<float>({DType::Float32, {3}}, {1.5f, -2.0f, 3.0f}));
  const int flags = model.addConstant("flags", *Tensor::fromValues<uint8_t>({DType::Bool, {2}}, {1, 0}));
  const int none = model.addConstant("none", *Tensor::onHost({DType::Int64, {0, 7}}));
  const std::vector<int> split = model.addNode("Split", "s", {x, -1, k}, {1, 2, 3, 4}, 2);
  model.nodes.back().outputs[1] = -1;
  model.outputs = model.addNode("com.acme::Foo", "f", {split[0], flags, none});
  return model;
}

void expectEqual(const Model& a, const Model& b) {
  EXPECT_EQ(a.producer, b.producer);
  EXPECT_EQ(a.inputs, b.inputs);
  EXPECT_EQ(a.outputs, b.outputs);
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    EXPECT_EQ(a.tensors[i].name, b.tensors[i].name);
    EXPECT_EQ(a.tensors[i].desc, b.tensors[i].desc);
    ASSERT_EQ(a.tensors[i].constant.has_value(), b.tensors[i].constant.has_value());
    if (!a.tensors[i].constant) continue;
    const auto left = a.tensors[i].constant->bytes(), right = b.tensors[i].constant->bytes();
    EXPECT_TRUE(std::equal(left.begin(), left.end(), right.begin(), right.end()));
  }
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (size_t i = 0; i < a.nodes.size(); ++i) {
    EXPECT_EQ(a.nodes[i].name, b.nodes[i].name);
    EXPECT_EQ(a.nodes[i].type, b.nodes[i].type);
    EXPECT_EQ(a.nodes[i].version, b.nodes[i].version);
    EXPECT_EQ(a.nodes[i].inputs, b.nodes[i].inputs);
    EXPECT_EQ(a.nodes[i].outputs, b.nodes[i].outputs);
    EXPECT_EQ(a.nodes[i].params, b.nodes[i].params);
  }
}

TEST(ModelFile, RoundTrip) {
  const Model model = sample();
  const auto bytes = writeModel(model);
  ASSERT_TRUE(bytes.has_value());
  const auto read = readModel(*bytes);
  ASSERT_TRUE(read.has_value()) << read.error().toString();
  expectEqual(model, *read);
}

TEST(ModelFile, ReadsFromAnyAddress) {
  const auto bytes = writeModel(sample());
  std::vector<uint8_t> shifted(bytes->size() + 1);
  std::copy(bytes->begin(), bytes->end(), shifted.begin() + 1);
  EXPECT_TRUE(readModel(std::span(shifted).subspan(1)).has_value());
}

TEST(ModelFile, EveryTruncationIsCorrupt) {
  const auto bytes = writeModel(sample());
  for (size_t length = 0; length < bytes->size(); ++length) {
    const std::vector<uint8_t> part(bytes->begin(), bytes->begin() + static_cast<std::ptrdiff_t>(length));
    const auto read = readModel(part);
    if (read.has_value()) continue;  // trailing padding may go
    EXPECT_EQ(read.error().code(), StatusCode::Corrupt) << length;
    EXPECT_FALSE(read.error().message().empty());
  }
  EXPECT_FALSE(readModel(std::span(*bytes).first(bytes->size() / 2)).has_value());
}

TEST(ModelFile, DamagedBytesNeverCrash) {
  const auto bytes = writeModel(sample());
  std::mt19937_64 random(7);
  size_t refused = 0;
  for (int round = 0; round < 6000; ++round) {
    std::vector<uint8_t> damaged = *bytes;
    for (uint64_t flips = 1 + random() % 4; flips > 0; --flips)
      damaged[random() % damaged.size()] = static_cast<uint8_t>(random());
    const auto read = readModel(damaged);
    if (read.has_value())
      EXPECT_TRUE(checkStructure(*read).isOk());
    else
      ++refused;
  }
  EXPECT_GT(refused, 1000u);
}

TEST(ModelFile, ConstantsCannotShareBytesToClaimMemory) {
  flatbuffers::FlatBufferBuilder builder;
  const auto data = builder.CreateVector(std::vector<uint8_t>(1000));
  const auto shape = builder.CreateVector(std::vector<int64_t>{1000});
  std::vector<flatbuffers::Offset<file::TensorRecord>> tensors;
  for (int i = 0; i < 100; ++i) {
    const auto name = builder.CreateString(fmt::format("t{}", i));
    tensors.push_back(file::CreateTensorRecord(builder, name, static_cast<uint8_t>(DType::UInt8), shape, true, data));
  }
  file::FinishModelRecordBuffer(builder,
                                file::CreateModelRecord(builder, 1, 0, builder.CreateVector(tensors), 0, 0, 0));
  const auto read = readModel(std::span(builder.GetBufferPointer(), builder.GetSize()));
  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().message().find("claim more than"), std::string::npos) << read.error().message();
}

TEST(ModelFile, RefusesOtherFiles) {
  const std::vector<uint8_t> text(200, 'x');
  const auto read = readModel(text);
  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().message().find("OPKT"), std::string::npos);
}

class FileTest : public testing::Test {
 protected:
  FileTest() : folder_(fs::temp_directory_path() / fmt::format("opkit_file_test.{}", ::getpid())) {
    fs::create_directories(folder_);
  }
  ~FileTest() override { fs::remove_all(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  size_t fileCount() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(FileTest, WritesAndReplaces) {
  const std::vector<uint8_t> first{1, 2, 3}, second{4};
  ASSERT_TRUE(writeFile(path("a"), first).isOk());
  EXPECT_EQ(*readFile(path("a")), first);
  ASSERT_TRUE(writeFile(path("a"), second).isOk());
  EXPECT_EQ(*readFile(path("a")), second);
  EXPECT_EQ(fileCount(), 1u);  // no temporary left
}

TEST_F(FileTest, ErrorsNameThePath) {
  EXPECT_NE(readFile(path("missing")).error().message().find("missing"), std::string::npos);
  EXPECT_NE(readFile(folder_.string()).error().message().find("folder"), std::string::npos);
  const Status status = writeFile(path("no/such/folder"), std::vector<uint8_t>{1});
  EXPECT_NE(status.message().find("no/such/folder"), std::string::npos);
  EXPECT_FALSE(writeFile(folder_.string(), std::vector<uint8_t>{1}).isOk());
  EXPECT_EQ(fileCount(), 0u);
}

TEST_F(FileTest, ReadsFilesThatReportNoSize) { EXPECT_GT(readFile("/proc/self/status")->size(), 10u); }

}  // namespace
}  // namespace opkit
