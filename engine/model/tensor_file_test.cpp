#include "engine/model/tensor_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "engine/model/model.h"

namespace opkit {
namespace {

namespace fs = std::filesystem;

Tensor pattern(TensorDesc desc) {
  Tensor tensor = *Tensor::onHost(std::move(desc));
  for (size_t i = 0; i < tensor.sizeBytes(); ++i) tensor.bytes()[i] = static_cast<std::byte>(i % 2);
  return tensor;
}

void expectEqualTensors(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.desc, b.desc);
  EXPECT_EQ(std::memcmp(a.bytes().data(), b.bytes().data(), a.sizeBytes()), 0);
}

/// An .npy file of `version` with a header written by hand.
std::vector<uint8_t> npy(uint8_t version, const std::string& header, const std::vector<uint8_t>& elements) {
  std::vector<uint8_t> bytes{0x93, 'N', 'U', 'M', 'P', 'Y', version, 0};
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes.push_back(static_cast<uint8_t>(header.size() >> (8 * i)));
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), elements.begin(), elements.end());
  return bytes;
}

TEST(Npy, EveryDTypeMakesTheRoundTrip) {
  for (int number = 1; number <= 12; ++number) {
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3, 1}, Shape{0, 4}}) {
      const Tensor tensor = pattern({static_cast<DType>(number), shape});
      const std::vector<uint8_t> bytes = tensorToNpy(tensor);
      const auto read = tensorFromNpy(bytes);
      ASSERT_TRUE(read.has_value()) << read.error().toString();
      expectEqualTensors(*read, tensor);
      EXPECT_EQ((bytes.size() - tensor.sizeBytes()) % 64, 0u);  // elements are aligned in the file
    }
  }
}

TEST(Npy, CodedFloatsAreWrittenAsBytesAndNotReadBack) {
  const std::vector<uint8_t> bytes = tensorToNpy(*Tensor::onHost({DType::BFloat16, {2}}));
  const std::string header(bytes.begin(), bytes.end());
  EXPECT_NE(header.find("'descr': '|V2'"), std::string::npos) << header;
  EXPECT_NE(tensorFromNpy(bytes).error().message().find("'|V2'"), std::string::npos);
}

TEST(Npy, ReadsWhatNumpyWrites) {
  const std::vector<uint8_t> one{0, 0, 128, 63};
  for (uint8_t version : {1, 2, 3}) {
    const auto read = tensorFromNpy(npy(version, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }  \n", one));
    ASSERT_TRUE(read.has_value()) << read.error().toString();
    EXPECT_EQ(read->data<float>()[0], 1.0f);
  }
  const auto scalar = tensorFromNpy(npy(1, "{'shape': (), 'descr': '|b1', 'fortran_order': False}", {9}));
  ASSERT_TRUE(scalar.has_value()) << scalar.error().toString();
  EXPECT_EQ(scalar->data<uint8_t>()[0], 1);
}

TEST(Npy, RefusesWithAReason) {
  const auto messageOf = [](const std::string& header) { return tensorFromNpy(npy(1, header, {1})).error().message(); };
  EXPECT_NE(messageOf("{'descr': '|u1', 'fortran_order': True, 'shape': (1,)}").find("Fortran"), std::string::npos);
  EXPECT_NE(messageOf("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}").find("'>f4'"), std::string::npos);
  EXPECT_NE(messageOf("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}").find("'<c8'"), std::string::npos);
  EXPECT_NE(messageOf("{'descr': [('a', '<f4')], 'shape': (1,)}").find("structured"), std::string::npos);
  EXPECT_NE(messageOf("{'descr': '|u1', 'shape': (2,)}").find("needs 2 bytes"), std::string::npos);
  EXPECT_NE(messageOf("{'descr': '|u1', 'shape': (-2,)}").find("negative"), std::string::npos);
  EXPECT_NE(messageOf("{'descr': '|u1'}").find("dictionary"), std::string::npos);
  EXPECT_NE(tensorFromNpy(npy(9, "{}", {})).error().message().find("version 9"), std::string::npos);
}

TEST(Npy, DamagedBytesNeverCrash) {
  const std::vector<uint8_t> bytes = tensorToNpy(pattern({DType::Float32, {3, 5}}));
  for (size_t length = 6; length < bytes.size(); ++length)
    EXPECT_FALSE(tensorFromNpy(std::span(bytes).first(length)).has_value()) << length;
  std::mt19937_64 random(5);
  size_t refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<uint8_t> damaged = bytes;
    damaged[6 + random() % 70] = static_cast<uint8_t>(random());
    refused += !tensorFromNpy(damaged).has_value();
  }
  EXPECT_GT(refused, 1000u);
}

TEST(TensorFile, SavesAndLoadsBothForms) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("opkit_tensor_file_test.{}", ::getpid());
  fs::create_directories(folder);
  const Tensor tensor = pattern({DType::Int32, {2, 2}});
  for (const char* name : {"a.npy", "a.pb"}) {
    const std::string path = (folder / name).string();
    ASSERT_TRUE(saveTensor(path, tensor).isOk());
    const auto read = loadTensor(path);
    ASSERT_TRUE(read.has_value()) << read.error().toString();
    expectEqualTensors(*read, tensor);
  }
  EXPECT_NE(saveTensor((folder / "a.txt").string(), tensor).message().find(".npy or .pb"), std::string::npos);
  ASSERT_TRUE(writeFile((folder / "junk").string(), std::vector<uint8_t>(64, 0xFF)).isOk());
  const auto junk = loadTensor((folder / "junk").string());
  ASSERT_FALSE(junk.has_value());
  EXPECT_NE(junk.error().message().find("junk"), std::string::npos);
  // A TensorProto of one complex64: dims, data_type 14, raw_data.
  ASSERT_TRUE(writeFile((folder / "narrow.pb").string(), std::vector<uint8_t>{8, 1, 16, 14, 74, 1, 0}).isOk());
  const auto narrow = loadTensor((folder / "narrow.pb").string());
  ASSERT_FALSE(narrow.has_value());
  EXPECT_EQ(narrow.error().code(), StatusCode::Unsupported);
  EXPECT_NE(narrow.error().message().find("complex64"), std::string::npos) << narrow.error().message();
  fs::remove_all(folder);
}

}  // namespace
}  // namespace opkit
