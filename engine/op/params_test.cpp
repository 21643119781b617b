#include "engine/op/params.h"

#include <gtest/gtest.h>

#include <cstring>

#include "engine/op/test_params_generated.h"
#include "engine/op/test_params_schema.h"

namespace opkit {
namespace {

const ParamsSchema kSchema = paramsSchema<test::TestParams>(kTestParamsSchema);

TEST(Params, EmptyBytesAreTheDefaults) {
  EXPECT_EQ(unpackParams<test::TestParams>({}).axis, -1);
  EXPECT_EQ(paramsToJson(kSchema, {}), "{}");
  EXPECT_TRUE(verifyParams(kSchema, {}).isOk());
}

TEST(Params, JsonRoundTrips) {
  const Result<ParamBytes> bytes = paramsFromJson(kSchema, R"({"axis": 3, "pads": [1, 2]})");
  ASSERT_TRUE(bytes) << bytes.error().toString();
  EXPECT_TRUE(verifyParams(kSchema, *bytes).isOk());
  const auto params = unpackParams<test::TestParams>(*bytes);
  EXPECT_EQ(params.axis, 3);
  EXPECT_EQ(params.pads, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(paramsToJson(kSchema, *bytes), R"({"axis": 3,"pads": [1,2]})");
  EXPECT_EQ(paramsToJson(kSchema, packParams(params)), R"({"axis": 3,"pads": [1,2]})");
}

TEST(Params, UnknownFieldsAndForeignBytesAreRefused) {
  EXPECT_NE(paramsFromJson(kSchema, R"({"axle": 3})").error().message().find("axle"), std::string::npos);
  const ParamBytes garbage(16, 0xEE);
  EXPECT_EQ(verifyParams(kSchema, garbage).code(), StatusCode::Corrupt);
  EXPECT_EQ(verifyParams(ParamsSchema{}, garbage).code(), StatusCode::Corrupt);
  EXPECT_FALSE(paramsFromJson(ParamsSchema{}, R"({"axis": 3})"));
}

TEST(Params, VectorsMustBeAlignedToTheirElements) {
  test::TestParamsT params;
  params.pads = {1, 2, 3};
  const ParamBytes bytes = packParams(params);
  ASSERT_TRUE(verifyParams(kSchema, bytes).isOk());
  // The same buffer, shifted by 4 bytes: every offset still holds, but the elements are misaligned.
  ParamBytes shifted(bytes.size() + 4);
  std::copy(bytes.begin() + 4, bytes.end(), shifted.begin() + 8);
  uint32_t root = 0;
  std::memcpy(&root, bytes.data(), 4);
  root += 4;
  std::memcpy(shifted.data(), &root, 4);
  EXPECT_EQ(verifyParams(kSchema, shifted).code(), StatusCode::Corrupt);
}

}  // namespace
}  // namespace opkit
