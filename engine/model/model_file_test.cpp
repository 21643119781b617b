#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <random>

#include "engine/base/checked_file.h"
#include "engine/base/nesting.h"
#include "engine/model/model.h"
#include "engine/model/model_generated.h"
#include "engine/model/model_structure.h"
#include "engine/tensor/objects.h"
#include "engine/testing/small_stack.h"

namespace opkit {
namespace {

namespace fs = std::filesystem;

Model sample() {
  Model model;
  model.producer = "test";
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic, 3}});
  const TensorId k = model.addConstant("k", *Tensor::fromValues<float>({DType::Float32, {3}}, {1.5f, -2.0f, 3.0f}));
  const TensorId flags = model.addConstant("flags", *Tensor::fromValues<uint8_t>({DType::Bool, {2}}, {1, 0}));
  const TensorId none = model.addConstant("none", *Tensor::onHost({DType::Int64, {0, 7}}));
  const std::vector<TensorId> split = model.addNode("Split", "s", {x, {}, k}, {1, 2, 3, 4}, 2);
  model.nodes.back().outputs[1] = {};
  model.outputs = model.addNode("com.acme::Foo", "f", {split[0], flags, none});
  return model;
}

void expectEqual(const Model& a, const Model& b) {
  EXPECT_EQ(a.producer, b.producer);
  EXPECT_EQ(a.inputs, b.inputs);
  EXPECT_EQ(a.outputs, b.outputs);
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (const TensorId i : a.tensors.ids()) {
    EXPECT_EQ(a.tensors[i].name, b.tensors[i].name);
    EXPECT_EQ(a.tensors[i].desc, b.tensors[i].desc);
    ASSERT_EQ(a.tensors[i].constant.has_value(), b.tensors[i].constant.has_value());
    if (!a.tensors[i].constant) continue;
    const auto left = a.tensors[i].constant->bytes(), right = b.tensors[i].constant->bytes();
    EXPECT_TRUE(std::equal(left.begin(), left.end(), right.begin(), right.end()));
  }
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (const NodeId i : a.nodes.ids()) {
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

TEST(ModelFile, KeepsWhatNobodyComputesWith) {
  Model model = sample();
  model.metadata = {{"author", "somebody"}, {"", ""}};
  ModelTensor &x = model.tensors[model.findTensor("x")], &k = model.tensors[model.findTensor("k")];
  x.extentNames = {"batch", ""};
  k.defaultOf = {3, {kDynamic}, true};
  const auto read = readModel(*writeModel(model));
  ASSERT_TRUE(read.has_value()) << read.error().toString();
  expectEqual(*read, model);
  EXPECT_EQ(read->metadata, model.metadata);
  EXPECT_EQ(read->tensors[read->findTensor("x")].extentNames, x.extentNames);
  const std::optional<InputDefault>& defaultOf = read->tensors[read->findTensor("k")].defaultOf;
  ASSERT_TRUE(defaultOf);
  EXPECT_EQ(defaultOf->position, 3u);
  EXPECT_EQ(defaultOf->shape, Shape{kDynamic});
  EXPECT_TRUE(defaultOf->isFixed);
  x.defaultOf = k.defaultOf;
  EXPECT_EQ(readModel(*writeModel(model)).error().message(),
            "model: 'x' is the default of an input and not a constant");
}

/// A model with a subgraph with a subgraph, `depth` of them.
Model nested(size_t depth) {
  Model model;
  for (size_t d = 0; d <= depth; ++d) {
    Model around;
    around.outputs = around.addNode("Host", "y", {around.addInput("x", {DType::Float32, {}})});
    if (d > 0) around.nodes.back().subgraphs = {{"body", std::move(model), {}}};
    model = std::move(around);
  }
  return model;
}

TEST(ModelFile, SubgraphsAreNestedUpToALimit) {
  test::onSmallStack([] {
    EXPECT_TRUE(readModel(*writeModel(nested(kMaxNesting))).has_value());
    EXPECT_EQ(readModel(*writeModel(nested(kMaxNesting + 1))).error().message(),
              fmt::format("model: subgraphs may be nested {} deep, found a deeper one", kMaxNesting));
  });
  const std::vector<uint8_t> deep = *writeModel(nested(1000));
  test::onSmallStack([&] {
    EXPECT_EQ(readModel(deep).error().message(),
              fmt::format(".opk model: its {} bytes are truncated, damaged or hold subgraphs more than {} deep",
                          deep.size(), kMaxNesting));
  });
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

/// A model of one constant "k", as bytes: `version`, its data inside or at `dataAt`, the claimed size of the structure.
std::vector<uint8_t> oneConstant(uint32_t version, const TensorDesc& desc, const std::vector<uint8_t>& inside,
                                 uint64_t dataAt = 0, uint64_t structureBytes = 0) {
  flatbuffers::FlatBufferBuilder builder;
  builder.ForceDefaults(true);
  const auto data = builder.CreateVector(inside);
  const auto shape = builder.CreateVector(desc.shape.data(), desc.shape.size());
  const auto name = builder.CreateString("k");
  const std::vector tensors{
      file::CreateTensorRecord(builder, name, static_cast<uint8_t>(desc.dtype), shape, true, data, 0, dataAt)};
  const auto vector = builder.CreateVector(tensors);
  const auto outputs = builder.CreateVector(std::vector<int>{0});
  file::FinishModelRecordBuffer(builder,
                                file::CreateModelRecord(builder, version, 0, vector, 0, 0, outputs, structureBytes));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

TEST(ModelFile, ReadsFormatOne) {
  const std::vector<uint8_t> bytes = oneConstant(1, {DType::Float32, {2}}, {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40});
  const auto model = readModel(bytes);
  ASSERT_TRUE(model) << model.error().toString();
  EXPECT_TRUE(std::ranges::equal(model->tensors[TensorId(0)].constant->data<float>(), std::vector{1.0f, 2.0f}));
  EXPECT_FALSE(readModel(oneConstant(3, {DType::Float32, {2}}, {})));
  EXPECT_FALSE(readModel(oneConstant(1, {DType::Float32, {2}}, {1, 2, 3})));
}

TEST(ModelFile, ConstantsLieBehindTheStructure) {
  const TensorDesc desc{DType::UInt8, {100}};
  const uint64_t structure = oneConstant(2, desc, {}).size();
  const uint64_t begin = (structure + 63) / 64 * 64;
  const auto read = [&](uint64_t at, uint64_t claimed, uint64_t fileBytes) {
    std::vector<uint8_t> bytes = oneConstant(2, desc, {}, at, claimed);
    EXPECT_EQ(bytes.size(), structure);
    bytes.resize(fileBytes, 7);
    return readModel(bytes);
  };
  const auto model = read(begin, structure, begin + 100);
  ASSERT_TRUE(model) << model.error().toString();
  EXPECT_EQ(model->tensors[TensorId(0)].constant->data<uint8_t>()[99], 7);
  const std::array<uint64_t, 3> wrong[] = {
      {begin, structure, begin + 99},       // beyond the end
      {begin + 1, structure, begin + 200},  // not aligned
      {0, structure, begin + 100},          // in the structure
      {uint64_t{0} - 64, structure, begin + 100},
      {begin + 64, structure, begin + 64},
      {begin, begin + 101, begin + 100},  // the structure claims more than the file
      {begin, 0, begin + 100},
      {begin, structure / 2, begin + 100},  // the structure claims less than it needs
      {begin, begin + 64, begin + 164}};    // the structure claims the constant
  for (const auto& [at, claimed, fileBytes] : wrong) {
    const auto refused = read(at, claimed, fileBytes);
    ASSERT_FALSE(refused) << at << " " << claimed << " " << fileBytes;
    EXPECT_EQ(refused.error().code(), StatusCode::Corrupt) << refused.error().toString();
  }
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

mode_t modeOf(const std::string& file) {
  struct stat facts {};
  EXPECT_EQ(::stat(file.c_str(), &facts), 0);
  return facts.st_mode & 07777;
}

TEST_F(FileTest, WhatReplacesAFileKeepsItsMode) {
  const mode_t before = ::umask(022);
  const std::vector<uint8_t> bytes{1};
  ASSERT_TRUE(writeFile(path("a"), bytes).isOk());
  EXPECT_EQ(modeOf(path("a")), 0644u);
  for (const mode_t mode : {0600u, 0640u, 0755u, 0666u}) {
    ASSERT_EQ(::chmod(path("a").c_str(), mode), 0);
    ASSERT_TRUE(writeFile(path("a"), bytes).isOk());
    EXPECT_EQ(modeOf(path("a")), mode);
  }
  ::umask(077);
  ASSERT_TRUE(writeFile(path("b"), bytes).isOk());
  EXPECT_EQ(modeOf(path("b")), 0600u);
  ::umask(before);
}

TEST_F(FileTest, SymbolicLinksAreFollowedAndHardLinksKeepTheOldBytes) {
  const std::vector<uint8_t> old{1}, bytes{2, 3};
  fs::create_directories(path("folder"));
  ASSERT_TRUE(writeFile(path("folder/target"), old).isOk());
  fs::create_hard_link(path("folder/target"), path("other"));
  fs::create_symlink("folder/target", path("link"));
  fs::create_symlink(path("link"), path("second"));
  fs::create_symlink("folder/new", path("dangling"));
  fs::create_symlink("circle", path("circle"));
  ASSERT_TRUE(writeFile(path("second"), bytes).isOk());
  EXPECT_TRUE(fs::is_symlink(path("second")) && fs::is_symlink(path("link")));
  EXPECT_EQ(*readFile(path("folder/target")), bytes);
  EXPECT_EQ(*readFile(path("other")), old);
  ASSERT_TRUE(writeFile(path("dangling"), bytes).isOk());
  EXPECT_EQ(*readFile(path("folder/new")), bytes);
  EXPECT_NE(writeFile(path("circle"), bytes).message().find("Too many levels of symbolic links"), std::string::npos);
}

TEST_F(FileTest, OpenDescriptorsAreWrittenInPlace) {
  const std::vector<uint8_t> bytes{2, 3};
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  ASSERT_EQ(writeFile(fmt::format("/dev/fd/{}", ends[1]), bytes).message(), "");
  std::array<uint8_t, 4> read{};
  EXPECT_EQ(::read(ends[0], read.data(), read.size()), 2);
  EXPECT_EQ(read[1], 3);
  for (const int end : ends) close(end);
  // A file that is open, as with `> file`, and gets /dev/stdout as an output too: both stand in it.
  const int file = ::open(path("open").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(::write(file, "\x01", 1), 1);
  ASSERT_EQ(writeFile(fmt::format("/dev/fd/{}", file), bytes).message(), "");
  EXPECT_EQ(*readFile(path("open")), (std::vector<uint8_t>{1, 2, 3}));
  fs::remove(path("open"));
  EXPECT_TRUE(writeFile(fmt::format("/dev/fd/{}", file), bytes).isOk());
  EXPECT_EQ(fileCount(), 0u) << "no file 'open (deleted)'";
  close(file);
}

TEST_F(FileTest, ErrorsNameThePath) {
  EXPECT_NE(readFile(path("missing")).error().message().find("missing"), std::string::npos);
  EXPECT_NE(readFile(folder_.string()).error().message().find("folder"), std::string::npos);
  const Status status = writeFile(path("no/such/folder"), std::vector<uint8_t>{1});
  EXPECT_NE(status.message().find("no/such/folder"), std::string::npos);
  EXPECT_FALSE(writeFile(folder_.string(), std::vector<uint8_t>{1}).isOk());
  EXPECT_EQ(fileCount(), 0u);
}

TEST_F(FileTest, ConstantsStayInTheFile) {
  const Model model = sample();
  const auto bytes = writeModel(model, path("a.opk"));
  ASSERT_TRUE(bytes) << bytes.error().toString();
  EXPECT_EQ(*bytes, fs::file_size(path("a.opk")));
  EXPECT_EQ(*readFile(path("a.opk")), *writeModel(model));
  auto file = MappedFile::open(path("a.opk"));
  ASSERT_TRUE(file);
  const auto read = readModel(*file);
  ASSERT_TRUE(read) << read.error().toString();
  expectEqual(model, *read);
  EXPECT_EQ(read->tensors[TensorId(1)].constant->buffer, *file);
  EXPECT_FALSE(writeModel(model, path("no/such/folder")));
  EXPECT_EQ(fileCount(), 1u);
}

TEST_F(FileTest, ConstantsMayLieBeyondTwoGigabytes) {
  const TensorDesc desc{DType::Float32, {3, 1 << 28}};  // 3 GiB of zeros, a hole in the file
  const uint64_t structure = oneConstant(2, desc, {}).size();
  const uint64_t begin = (structure + 63) / 64 * 64;
  ASSERT_TRUE(writeFile(path("large.opk"), oneConstant(2, desc, {}, begin, structure)).isOk());
  fs::resize_file(path("large.opk"), begin + desc.sizeBytes());
  const auto file = MappedFile::open(path("large.opk"));
  ASSERT_TRUE(file) << file.error().toString();
  const auto model = readModel(*file);
  ASSERT_TRUE(model) << model.error().toString();
  EXPECT_EQ(model->tensors[TensorId(0)].constant->data<float>().back(), 0.0f);
  fs::resize_file(path("large.opk"), begin + desc.sizeBytes() - 1);
  EXPECT_FALSE(readModel(*MappedFile::open(path("large.opk"))));
}

TEST_F(FileTest, MappedFilesMustBeFiles) {
  EXPECT_NE(MappedFile::open(path("missing")).error().message().find("missing"), std::string::npos);
  EXPECT_NE(MappedFile::open(folder_.string()).error().message().find("a folder"), std::string::npos);
  EXPECT_NE(MappedFile::open("/dev/null").error().message().find("a pipe or a device"), std::string::npos);
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_NE(MappedFile::open(path("pipe")).error().message().find("a pipe or a device"), std::string::npos);
  ASSERT_TRUE(writeFile(path("empty"), std::vector<uint8_t>()).isOk());
  const auto empty = MappedFile::open(path("empty"));
  ASSERT_TRUE(empty);
  EXPECT_TRUE((*empty)->contents().empty());
  EXPECT_FALSE(readModel(*empty));
}

/// Reading them might never end; opening a pipe without a writer does not return.
TEST_F(FileTest, PipesAndDevicesAreNotRead) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const std::string& place : {path("pipe"), std::string("/dev/zero"), std::string("/dev/null")})
    EXPECT_EQ(readFile(place).error().message(),
              fmt::format("cannot read '{}': it is a pipe or a device, not a file", place));
}

TEST_F(FileTest, SocketsAreNotRead) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string place = path("socket");
  ASSERT_LT(place.size(), sizeof(address.sun_path));
  std::ranges::copy(place, address.sun_path);
  const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(readFile(place).error().message(), fmt::format("cannot read '{}': it is a socket, not a file", place));
}

TEST_F(FileTest, ReadsFilesThatReportNoSize) { EXPECT_GT(readFile("/proc/self/status")->size(), 10u); }

TEST(ModelFile, HoldsNoConstantsOfStrings) {
  Model model;
  const TensorId words = model.addConstant("words", stringTensor({1}, {"a"}));
  model.outputs = {words};
  EXPECT_EQ(writeModel(model).error().message(),
            ".opk models hold constants of numbers and bool, 'words' is string[1]");
}

}  // namespace
}  // namespace opkit
