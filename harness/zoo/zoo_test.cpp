#include "harness/zoo/zoo.h"
#include "harness/zoo/cut_onnx.h"

#include <gtest/gtest.h>

#include <map>

#include "engine/import/onnx/onnx_proto.h"
#include "harness/zoo/load_model.h"

namespace opkit {
namespace {

/// FNV-1a over the bytes: a network that changes must change on purpose.
uint64_t digest(const std::vector<uint8_t>& bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

onnx::ModelProto parsed(const std::string& name) {
  const auto bytes = buildZoo(name);
  onnx::ModelProto model;
  EXPECT_TRUE(bytes.has_value());
  EXPECT_TRUE(model.ParseFromArray(bytes->data(), static_cast<int>(bytes->size())));
  return model;
}

int64_t parameterCount(const onnx::GraphProto& graph) {
  int64_t count = 0;
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    if (tensor.data_type() == onnx::TensorProto::INT64 || tensor.dims_size() == 0) continue;
    int64_t elements = 1;
    for (int64_t extent : tensor.dims()) elements *= extent;
    count += elements;
  }
  return count;
}

TEST(Zoo, HasThePublishedNumberOfParameters) {
  // Counts of torchvision, of Keras (MobileNetV1) and of DeiT-tiny; BatchNormalization's two running statistics per
  // channel are counted here as well. The quantised networks have none, but for each channel a scale, a zero point and
  // a bias, in pairs also the scale of the bias. The detector, the speech network, the transformer and the U-Net have
  // widths of our own.
  const std::map<std::string, int64_t> expected = {{"squeezenet", 1235496},
                                                   {"resnet50", 25557032 + 2 * 26560},
                                                   {"resnet50_qdq", 25502912 + 4 * 27560},
                                                   {"resnet50_qlinear", 25502912 + 3 * 27560},
                                                   {"mobilenet_v2", 3504872 + 2 * 17056},
                                                   {"transformer", 2 * 198272},
                                                   {"mobilenet_v1_fp16", 475544},
                                                   {"vit", 5717416},
                                                   {"unet", 1945538},
                                                   {"speech", 90781},
                                                   {"detector", 195202}};
  for (const std::string& name : zooNames()) EXPECT_EQ(parameterCount(parsed(name).graph()), expected.at(name)) << name;
}

TEST(Zoo, IsTheSameEverywhere) {
  const auto first = buildZoo("transformer"), second = buildZoo("transformer");
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(digest(*first), 5246756047899565926u);
}

TEST(Zoo, UnknownNamesListTheKnownOnes) {
  const auto bytes = buildZoo("alexnet");
  ASSERT_FALSE(bytes.has_value());
  EXPECT_NE(bytes.error().message().find(
                "mobilenet_v2, resnet50, resnet50_qdq, resnet50_qlinear, speech, squeezenet, transformer"),
            std::string::npos);
}

TEST(Zoo, EveryNetworkImportsAndSurvivesTheModelFile) {
  for (const std::string& name : zooNames()) {
    const Result<Model> model = loadModel("zoo:" + name);
    ASSERT_TRUE(model.has_value()) << model.error().toString();
    EXPECT_EQ(model->inputs.size(), 1u);
    EXPECT_EQ(model->tensors[static_cast<size_t>(model->inputs[0])].desc.shape[0], kDynamic);
    const auto bytes = writeModel(*model);
    ASSERT_TRUE(bytes.has_value());
    const Result<Model> read = readModel(*bytes);
    ASSERT_TRUE(read.has_value()) << read.error().toString();
    EXPECT_EQ(read->nodes.size(), model->nodes.size());
  }
}

TEST(CutOnnx, APartIsANetwork) {
  const auto whole = buildZoo("squeezenet");
  ASSERT_TRUE(whole);
  onnx::ModelProto proto;
  ASSERT_TRUE(proto.ParseFromArray(whole->data(), static_cast<int>(whole->size())));
  const onnx::NodeProto& first = proto.graph().node(0);
  const onnx::NodeProto& second = proto.graph().node(1);
  const auto part = cutOnnx(*whole, {{first.output(0), {DType::Float32, {1, 64, 9, 9}}}}, {second.output(0)});
  ASSERT_TRUE(part) << part.error().message();
  onnx::ModelProto cut;
  ASSERT_TRUE(cut.ParseFromArray(part->data(), static_cast<int>(part->size())));
  EXPECT_EQ(cut.graph().node_size(), 1);
  EXPECT_EQ(cut.graph().input(0).name(), first.output(0));
  EXPECT_FALSE(cutOnnx(*whole, {}, {second.output(0)})) << "its input is missing";
  EXPECT_FALSE(cutOnnx(*whole, {}, {"nope"}));
}

}  // namespace
}  // namespace opkit
