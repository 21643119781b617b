// Inputs whose dtype or depth the model does not have.
#include <gtest/gtest.h>

#include "api/testing/networks.h"
#include "engine/testing/test_backends.h"

namespace opkit::api {
namespace {

class ValuesTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { OPKIT_NEEDS_DEVICE(createRuntime(GetParam())); }
  std::string error_;
};

TEST_P(ValuesTest, TheDtypeOfElementsIsChecked) {
  const auto network = Network::open(negFile(), {.backend = GetParam(), .threads = 2}, error_);
  ASSERT_TRUE(network) << error_;
  const std::pair<const char*, const char*> refused[] = {{"i32", "input 'x': expected f32, got i32"},
                                                         {"", "input 'x': expected f32, got "},
                                                         {"f\n32", "input 'x': expected f32, got f 32"},
                                                         {"sequence", "input 'x': expected f32, got sequence"}};
  const int32_t integers[] = {1, 2};
  for (const auto& [dtype, why] : refused) {
    EXPECT_FALSE(network->setInput("x", dtype, {2, 1}, integers, 8, error_));
    EXPECT_EQ(error_, why);
  }
  EXPECT_FALSE(network->run(error_)) << "a refused input is not set";
  const float floats[] = {1, 2};
  ASSERT_TRUE(network->setInput("x", "f32", {2, 1}, floats, 8, error_)) << error_;
  ASSERT_TRUE(network->run(error_)) << error_;
  EXPECT_EQ(static_cast<const float*>(network->output("y"))[1], -2);
}

/// Lists of `dtype`, one inside the other, around a tensor.
Value nested(size_t depth, const char* dtype) {
  Value inner{.dtype = "f32", .shape = {1}, .bytes = std::vector<std::byte>(4)};
  for (size_t i = 0; i < depth; ++i) {
    Value outer{.dtype = dtype};
    outer.values.push_back(std::move(inner));
    inner = std::move(outer);
  }
  return inner;
}

TEST(Values, CopiesAndDestructionTakeNoStack) {
  const Value deep = nested(300'000, "sequence");
  Value copy = deep;
  size_t depth = 0;
  for (const Value* inner = &copy; !inner->values.empty(); inner = &inner->values[0]) ++depth;
  EXPECT_EQ(depth, 300'000u);
  const Value wide{.dtype = "sequence", .values = {nested(2, "sequence"), {.dtype = "i8"}, nested(1, "optional")}};
  copy = wide;
  ASSERT_EQ(copy.values.size(), 3u);
  EXPECT_EQ(copy.values[0].values[0].values[0].bytes.size(), 4u);
  EXPECT_EQ(copy.values[1].dtype, "i8");
  EXPECT_EQ(copy.values[2].values[0].shape, std::vector<int64_t>{1});
}

/// The same list, of a list input, is its output.
std::string listFile(DType dtype) {
  Model model;
  const TensorId list = model.addInput("list", {dtype, {kDynamic}});
  model.outputs = model.addNode("HostIdentity", "same", {list});
  return saved(model, dtype == DType::Sequence ? "sequence" : "optional");
}

TEST_P(ValuesTest, NoDepthOverflowsTheStack) {
  const Options options{.backend = GetParam(), .threads = 2};
  const auto sequence = Network::open(listFile(DType::Sequence), options, error_);
  ASSERT_TRUE(sequence) << error_;
  const auto optional = Network::open(listFile(DType::Optional), options, error_);
  ASSERT_TRUE(optional) << error_;
  for (const size_t depth : {2, 100, 20'000}) {
    EXPECT_FALSE(sequence->setInput("list", nested(depth, "sequence"), error_)) << depth;
    EXPECT_EQ(error_, "input 'list': a sequence holds tensors, got sequence");
    EXPECT_FALSE(optional->setInput("list", nested(depth, "optional"), error_)) << depth;
    EXPECT_EQ(error_, "input 'list': an optional holds a tensor or a sequence, got optional");
  }
  Value both{.dtype = "optional", .values = {nested(1, "sequence")}}, got;
  ASSERT_TRUE(optional->setInput("list", both, error_)) << error_;
  ASSERT_TRUE(optional->run(error_)) << error_;
  got = nested(20'000, "sequence");  // which the output replaces
  ASSERT_TRUE(optional->output("same", got, error_)) << error_;
  ASSERT_EQ(got.values.size(), 1u);
  ASSERT_EQ(got.values[0].values.size(), 1u);
  EXPECT_EQ(got.values[0].values[0].dtype, "f32");
}

INSTANTIATE_TEST_SUITE_P(All, ValuesTest, testing::ValuesIn(testBackends()));

}  // namespace
}  // namespace opkit::api
