#include "engine/import/onnx/onnx_tensor.h"

#include <gtest/gtest.h>

#include <cstring>

#include "engine/import/onnx/onnx_importer.h"
#include "engine/tensor/float_format.h"
#include "engine/tensor/objects.h"

namespace opkit {
namespace {

using onnx::TensorProto;

TEST(OnnxTensor, EveryDTypeMakesTheRoundTrip) {
  for (int number = 1; !isObject(static_cast<DType>(number)); ++number) {
    const TensorDesc desc{static_cast<DType>(number), {2, 3}};
    const Tensor tensor = *Tensor::onHost(desc);
    for (size_t i = 0; i < tensor.sizeBytes(); ++i) tensor.bytes()[i] = static_cast<std::byte>(i % 2);
    const auto bytes = tensorToProto(tensor, "t");
    ASSERT_TRUE(bytes.has_value());
    const auto read = tensorFromProto(*bytes);
    ASSERT_TRUE(read.has_value()) << read.error().toString();
    EXPECT_EQ(read->desc, desc);
    EXPECT_EQ(std::memcmp(read->bytes().data(), tensor.bytes().data(), tensor.sizeBytes()), 0);
  }
}

TEST(OnnxTensor, ReadsTypedFields) {
  TensorProto half;
  half.set_data_type(TensorProto::FLOAT16);
  half.add_dims(2);
  half.add_int32_data(0x3C00);
  half.add_int32_data(0xC000);
  const Tensor halves = *tensorFrom(half);
  EXPECT_EQ(toFloat(halves.data<Half>()[0]), 1.0f);
  EXPECT_EQ(toFloat(halves.data<Half>()[1]), -2.0f);

  TensorProto brain;
  brain.set_data_type(TensorProto::BFLOAT16);
  brain.add_dims(1);
  brain.add_int32_data(0xC040);
  EXPECT_EQ(tensorFrom(brain)->desc.toString(), "bf16[1]");
  EXPECT_EQ(readCoded(*tensorFrom(brain), 0), -3);
  TensorProto eight;
  eight.set_data_type(19);  // FLOAT8E5M2, which Debian's ONNX does not name
  eight.add_dims(2);
  eight.add_int32_data(0x3C);
  eight.add_int32_data(0xC0);
  EXPECT_EQ(readCoded(*tensorFrom(eight), 1), -2);

  TensorProto bytes;
  bytes.set_data_type(TensorProto::INT8);
  bytes.add_dims(2);
  bytes.add_int32_data(-128);
  bytes.add_int32_data(127);
  EXPECT_EQ(tensorFrom(bytes)->data<int8_t>()[0], -128);

  TensorProto wide;
  wide.set_data_type(TensorProto::UINT32);
  wide.add_uint64_data(4000000000u);
  EXPECT_EQ(tensorFrom(wide)->data<uint32_t>()[0], 4000000000u);

  TensorProto flags;
  flags.set_data_type(TensorProto::BOOL);
  flags.add_dims(2);
  flags.set_raw_data(std::string("\x00\x07", 2));
  EXPECT_EQ(tensorFrom(flags)->data<uint8_t>()[1], 1);

  TensorProto empty;
  empty.set_data_type(TensorProto::DOUBLE);
  empty.add_dims(0);
  EXPECT_EQ(tensorFrom(empty)->desc.toString(), "f64[0]");
}

TEST(OnnxTensor, RefusesWhatItCannotHold) {
  TensorProto proto;
  proto.set_data_type(TensorProto::FLOAT);
  proto.add_dims(int64_t{1} << 45);
  EXPECT_EQ(tensorFrom(proto).error().code(), StatusCode::InvalidArgument);
  proto.set_dims(0, 1 << 30);  // claims 4 GiB, holds nothing
  EXPECT_EQ(tensorFrom(proto).error().code(), StatusCode::Corrupt);
  proto.set_dims(0, 2);
  proto.set_raw_data("12345");
  EXPECT_NE(tensorFrom(proto).error().message().find("needs 8 bytes of raw data, found 5"), std::string::npos);
  proto.set_data_type(TensorProto::STRING);
  EXPECT_NE(tensorFrom(proto).error().message().find("string"), std::string::npos);
  proto.set_data_type(TensorProto::COMPLEX64);
  EXPECT_NE(tensorFrom(proto).error().message().find("complex"), std::string::npos);
  EXPECT_EQ(tensorFromProto(std::vector<uint8_t>(40, 0xFF)).error().code(), StatusCode::Corrupt);
}

TEST(OnnxTensor, PackedTypesComeRawOrAsBytes) {
  for (const int number : {21, 22, 23, 25, 26}) {
    TensorProto raw, typed;
    for (TensorProto* proto : {&raw, &typed}) {
      proto->set_data_type(number);
      proto->add_dims(3);
    }
    const bool isFour = number < 25;
    raw.set_raw_data(isFour ? std::string("\x21\x03") : std::string("\x39"));
    for (const int byte : isFour ? std::vector{0x21, 0x03} : std::vector{0x39}) typed.add_int32_data(byte);
    const auto a = tensorFrom(raw), b = tensorFrom(typed);
    ASSERT_TRUE(a && b) << number;
    for (uint32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(readCode(*a, i), isFour ? i + 1 : (0x39u >> 2 * i & 3)) << number;
      EXPECT_EQ(readCode(*a, i), readCode(*b, i)) << number;
    }
    EXPECT_EQ(protoFrom(*a, "").raw_data(), raw.raw_data());
    raw.set_raw_data("123");
    EXPECT_EQ(tensorFrom(raw).error().code(), StatusCode::Corrupt);
  }
}

TEST(OnnxTensor, StringsSequencesAndOptionalValuesRoundTrip) {
  const Tensor words = stringTensor({2}, {"a", ""}), number = *Tensor::fromValues<float>({DType::Float32, {1}}, {3});
  for (const Tensor& value : {words, sequenceOf({number, number}), sequenceOf({words}), sequenceOf({}),
                              optionalOf(number), optionalOf(sequenceOf({number})), optionalOf(std::nullopt)}) {
    const auto bytes = tensorToProto(value);
    ASSERT_TRUE(bytes) << bytes.error().toString();
    const auto back = valueFromProto(*bytes, value.desc.dtype);
    ASSERT_TRUE(back) << back.error().toString();
    EXPECT_EQ(describe(*back), describe(value));
  }
  TensorProto proto;
  proto.set_data_type(TensorProto::STRING);
  proto.add_dims(2);
  EXPECT_EQ(tensorFrom(proto).error().message(), "string[2] needs 2 strings, found 0");
  EXPECT_EQ(valueFromProto(std::vector<uint8_t>(40, 0xFF), DType::Sequence).error().code(), StatusCode::Corrupt);
}

TEST(OnnxTensor, RefusesOtherSequencesAndOptionalValues) {
  const auto refusal = [](const google::protobuf::MessageLite& proto, DType kind) {
    const std::string bytes = proto.SerializeAsString();
    const auto value = valueFromProto(std::vector<uint8_t>(bytes.begin(), bytes.end()), kind);
    return value ? "no error" : value.error().message();
  };
  onnx::SequenceProto sequence;
  sequence.set_elem_type(onnx::SequenceProto::MAP);
  EXPECT_EQ(refusal(sequence, DType::Sequence), "expected a sequence of tensors, found one of kind MAP");
  onnx::OptionalProto optional;
  optional.set_elem_type(onnx::OptionalProto::SPARSE_TENSOR);
  optional.mutable_sparse_tensor_value();
  EXPECT_EQ(refusal(optional, DType::Optional),
            "expected an optional tensor or sequence, found one of kind SPARSE_TENSOR");
  TensorProto strings;
  strings.set_data_type(TensorProto::STRING);
  strings.set_data_location(TensorProto::EXTERNAL);
  EXPECT_EQ(tensorFrom(strings).error().message(), "strings cannot be in an external file");
  onnx::SparseTensorProto sparse;
  sparse.mutable_values()->set_data_type(TensorProto::STRING);
  sparse.mutable_values()->add_dims(0);
  sparse.mutable_indices()->set_data_type(TensorProto::INT64);
  sparse.mutable_indices()->add_dims(0);
  sparse.add_dims(2);
  EXPECT_EQ(tensorFrom(sparse).error().message(), "a sparse tensor of string has no zeros");
}

TEST(OnnxTensor, TypesThatItCannotHoldAreUnsupportedByName) {
  const std::pair<int, const char*> types[] = {{14, "complex64"}, {15, "complex128"}};
  for (const auto& [number, name] : types) {
    TensorProto proto;
    proto.set_data_type(number);
    const Status status = tensorFrom(proto).error();
    EXPECT_EQ(status.code(), StatusCode::Unsupported) << number;
    EXPECT_NE(status.message().find(fmt::format("ONNX type {}:", name)), std::string::npos) << status.message();
  }
  TensorProto proto;
  proto.set_data_type(27);
  EXPECT_EQ(tensorFrom(proto).error().code(), StatusCode::Unsupported);
  EXPECT_NE(tensorFrom(proto).error().message().find("27: newer than this build, which knows those up to 26"),
            std::string::npos);
  for (const int number : {0, -1}) {
    proto.set_data_type(number);
    EXPECT_EQ(tensorFrom(proto).error().code(), StatusCode::InvalidArgument) << number;
  }
}

}  // namespace
}  // namespace opkit
