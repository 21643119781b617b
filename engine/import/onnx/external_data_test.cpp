#include "engine/import/onnx/external_data.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "engine/import/onnx/onnx_tensor.h"
#include "engine/model/model.h"

namespace opkit {
namespace {

namespace fs = std::filesystem;

/// A folder with a model's data: `values` from byte 64 of "data.bin" on.
class ExternalDataTest : public testing::Test {
 protected:
  ExternalDataTest()
      : folder_(fs::path(testing::TempDir()) /
                fmt::format("external_data_{}", testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "model" / "parts");
    std::vector<uint8_t> bytes(64);
    const auto* first = reinterpret_cast<const uint8_t*>(values_.data());
    bytes.insert(bytes.end(), first, first + values_.size() * sizeof(float));
    EXPECT_TRUE(writeFile((folder_ / "model" / "data.bin").string(), bytes).isOk());
    fs::copy(folder_ / "model" / "data.bin", folder_ / "model" / "parts" / "data.bin");
    fs::copy(folder_ / "model" / "data.bin", folder_ / "outside.bin");
  }
  ~ExternalDataTest() override { fs::remove_all(folder_); }

  using Entries = std::vector<std::pair<std::string, std::string>>;
  static onnx::TensorProto proto(const Entries& entries, std::vector<int64_t> shape = {2, 3},
                                 onnx::TensorProto::DataType type = onnx::TensorProto::FLOAT) {
    onnx::TensorProto proto;
    proto.set_data_type(type);
    proto.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const int64_t extent : shape) proto.add_dims(extent);
    for (const auto& [key, value] : entries) {
      onnx::StringStringEntryProto& entry = *proto.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    return proto;
  }
  Result<Tensor> read(const onnx::TensorProto& proto) {
    ExternalData data((folder_ / "model" / "model.onnx").string());
    return tensorFrom(proto, &data);
  }
  void expectRefused(const onnx::TensorProto& proto, const std::string& text) {
    const auto tensor = read(proto);
    ASSERT_FALSE(tensor) << text;
    EXPECT_NE(tensor.error().message().find(text), std::string::npos) << tensor.error().message();
    EXPECT_EQ(tensor.error().message().find('\n'), std::string::npos);
  }

  fs::path folder_;
  std::vector<float> values_{1, -2, 3, -4, 5, -6};
};

TEST_F(ExternalDataTest, ValuesStayInTheFile) {
  for (const char* location : {"data.bin", "parts/data.bin", "./data.bin"}) {
    const auto tensor = read(proto({{"location", location}, {"offset", "64"}, {"length", "24"}, {"checksum", "?"}}));
    ASSERT_TRUE(tensor) << tensor.error().toString();
    EXPECT_TRUE(std::ranges::equal(tensor->data<float>(), values_));
    EXPECT_NE(dynamic_cast<const MappedFile*>(tensor->buffer.get()), nullptr);
    tensor->buffer->discard(tensor->offsetBytes, tensor->sizeBytes());
    EXPECT_TRUE(std::ranges::equal(tensor->data<float>(), values_)) << "read again from the file";
  }
}

TEST_F(ExternalDataTest, ValuesThatAreNotAlignedAreCopied) {
  const auto tensor = read(proto({{"location", "data.bin"}, {"offset", "65"}}, {5}));
  ASSERT_TRUE(tensor) << tensor.error().toString();
  EXPECT_EQ(dynamic_cast<const MappedFile*>(tensor->buffer.get()), nullptr);
  const auto flags = read(proto({{"location", "data.bin"}, {"offset", "64"}}, {24}, onnx::TensorProto::BOOL));
  ASSERT_TRUE(flags);
  for (const uint8_t flag : flags->data<uint8_t>()) EXPECT_LE(flag, 1);
  EXPECT_TRUE(read(proto({{"location", "data.bin"}, {"length", "0"}}, {0, 3})));
}

TEST_F(ExternalDataTest, ALengthOfZeroIsAnAbsentOne) {
  const auto tensor = read(proto({{"location", "data.bin"}, {"offset", "64"}, {"length", "0"}}));
  ASSERT_TRUE(tensor) << tensor.error().toString();
  EXPECT_TRUE(std::ranges::equal(tensor->data<float>(), values_));
  expectRefused(proto({{"location", "data.bin"}, {"offset", "68"}, {"length", "0"}}), "which has 88 bytes");
}

TEST_F(ExternalDataTest, WrongPlacesAreOneLine) {
  expectRefused(proto({}), "no location");
  expectRefused(proto({{"location", "missing.bin"}}), "missing.bin': No such file");
  expectRefused(proto({{"location", "parts"}}), "it is a folder");
  ASSERT_EQ(::mkfifo((folder_ / "model" / "pipe").c_str(), 0600), 0);
  expectRefused(proto({{"location", "pipe"}}), "it is a pipe or a device, not a file");
  expectRefused(proto({{"location", "data.bin"}, {"offset", "-1"}}), "offset '-1': expected a whole number");
  expectRefused(proto({{"location", "data.bin"}, {"offset", "6x"}}), "offset '6x'");
  expectRefused(proto({{"location", "data.bin"}, {"length", "99999999999999999999"}}), "expected a whole number");
  expectRefused(proto({{"location", "data.bin"}, {"length", "20"}}),
                "needs 24 bytes of external data, found a length of 20");
  expectRefused(proto({{"location", "data.bin"}, {"offset", "68"}}),
                "needs 24 bytes at 68 of 'data.bin', which has 88");
  expectRefused(proto({{"location", "data.bin"}, {"offset", "18446744073709551615"}}), "which has 88 bytes");
  expectRefused(proto({{"location", "data.bin"}}, {1 << 20, 1 << 20}), "which has 88 bytes");
}

TEST_F(ExternalDataTest, FilesOutsideTheFolderAreRefused) {
  fs::create_symlink(folder_ / "outside.bin", folder_ / "model" / "link.bin");
  for (const std::string& location :
       {std::string("../outside.bin"), std::string("parts/../data.bin"), (folder_ / "model" / "data.bin").string(),
        std::string("link.bin"), std::string("/dev/zero")})
    expectRefused(proto({{"location", location}, {"offset", "64"}}), "expected a file in the folder of the model");
}

TEST_F(ExternalDataTest, AModelThatIsALinkIntoAStoreFindsItsData) {
  std::ofstream(folder_ / "blob") << "a model";
  fs::create_symlink(folder_ / "blob", folder_ / "model" / "model.onnx");
  fs::create_symlink(folder_ / "outside.bin", folder_ / "model" / "link.bin");
  const auto tensor = read(proto({{"location", "link.bin"}, {"offset", "64"}}));
  ASSERT_TRUE(tensor) << tensor.error().toString();
  EXPECT_TRUE(std::ranges::equal(tensor->data<float>(), values_));
}

TEST_F(ExternalDataTest, AModelWithoutAPathHasNone) {
  ExternalData data("");
  const auto tensor = tensorFrom(proto({{"location", "data.bin"}}), &data);
  ASSERT_FALSE(tensor);
  EXPECT_NE(tensor.error().message().find("the model came without a path"), std::string::npos);
  EXPECT_FALSE(tensorFrom(proto({{"location", "data.bin"}})));
}

}  // namespace
}  // namespace opkit
