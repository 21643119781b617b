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
  // a bias, in pairs also the scale of the bias. The decoder, the detector, the speech network, the transformer and the
  // U-Net have widths of our own.
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
                                                   {"decoder", 125256},
                                                   {"detector", 195202}};
  for (const std::string& name : zooNames()) EXPECT_EQ(parameterCount(parsed(name).graph()), expected.at(name)) << name;
}

TEST(Zoo, IsTheSameEverywhere) {
  const std::pair<const char*, uint64_t> digests[] = {{"transformer", 5246756047899565926u},
                                                      {"decoder", 9215286698763566305u},
                                                      {"decoder:model=36,heads=2", 15213416889654608902u}};
  for (const auto& [name, expected] : digests) {
    const auto first = buildZoo(name), second = buildZoo(name);
    ASSERT_TRUE(first.has_value() && second.has_value()) << name;
    EXPECT_EQ(*first, *second) << name;
    EXPECT_EQ(digest(*first), expected) << name;
  }
}

TEST(Zoo, UnknownNamesListTheKnownOnes) {
  const auto bytes = buildZoo("alexnet");
  ASSERT_FALSE(bytes.has_value());
  EXPECT_NE(bytes.error().message().find(
                "mobilenet_v2, resnet50, resnet50_qdq, resnet50_qlinear, speech, squeezenet, transformer"),
            std::string::npos);
}

TEST(Zoo, ParametersChangeTheSizes) {
  const onnx::GraphProto graph = parsed("decoder:layers=3,model=48,heads=6,kv_heads=3,hidden=10,vocabulary=17").graph();
  const int64_t attention = 48 * (48 + 24 + 24 + 48), feedForward = 3 * 48 * 10, norms = 2 * 48, frequencies = 4;
  EXPECT_EQ(parameterCount(graph), 3 * (attention + feedForward + norms) + 2 * 17 * 48 + 48 + frequencies);
  ASSERT_EQ(graph.output_size(), 1 + 2 * 3);
  EXPECT_EQ(graph.output(0).name(), "logits");
  EXPECT_EQ(graph.output(0).type().tensor_type().shape().dim(2).dim_value(), 17);
  EXPECT_EQ(graph.input(7).name(), "past_value_2");
  EXPECT_EQ(graph.input(7).type().tensor_type().shape().dim(1).dim_value(), 3);
  EXPECT_EQ(graph.input(7).type().tensor_type().shape().dim(3).dim_value(), 8);
}

TEST(Zoo, BadParametersAreOneClearLine) {
  const std::pair<const char*, const char*> refusals[] = {
      {"decoder:layer=4", "decoder: no parameter is called 'layer'; expected one of layers, model, heads, kv_heads, "},
      {"decoder:layers", "decoder: expected parameters as NAME=NUMBER,NAME=NUMBER, got 'layers'"},
      {"decoder:layers=2,", "decoder: expected parameters as NAME=NUMBER,NAME=NUMBER, got ''"},
      {"decoder:layers=two", "decoder: layers: expected a whole number from 1 to 1000, got 'two'"},
      {"decoder:layers=", "got ''"},
      {"decoder:layers=2x", "got '2x'"},
      {"decoder:layers=0", "got '0'"},
      {"decoder:layers=-1", "got '-1'"},
      {"decoder:hidden=99999999999999999999", "hidden: expected a whole number from 1 to 1000000, got '99999999999"},
      {"decoder:layers=2,layers=3", "decoder: layers is given twice"},
      {"decoder:heads=4,kv_heads=3", "decoder: heads must be a multiple of kv_heads, got 4 and 3"},
      {"decoder:model=60,heads=8", "decoder: model must be an even multiple of heads, got 60 and 8"},
      {"decoder:model=12,heads=4", "decoder: model must be an even multiple of heads, got 12 and 4"},
      {"decoder:vocabulary=1000000,model=1024",
       "decoder: one ONNX file holds at most 524288000 weights, got 2055377920"},
      {"decoder:layers=1000,model=1000000,hidden=1000000", "weights, got "},
      {"resnet50:layers=2", "resnet50: takes no parameters, got 'layers'"},
      {"nope:layers=2", "the zoo has no network 'nope'; expected one of decoder, detector"}};
  for (const auto& [name, message] : refusals) {
    for (const Status& status : {checkZoo(name), buildZoo(name).error()}) {
      EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << name;
      EXPECT_NE(status.message().find(message), std::string::npos) << status.message();
      EXPECT_EQ(status.message().find('\n'), std::string::npos) << name;
    }
  }
  EXPECT_TRUE(checkZoo("decoder:layers=4,model=256,heads=8,kv_heads=2,hidden=688,vocabulary=1000").isOk());
}

TEST(Zoo, EveryNetworkImportsAndSurvivesTheModelFile) {
  for (const std::string& name : zooNames()) {
    const Result<Model> model = loadModel("zoo:" + name);
    ASSERT_TRUE(model.has_value()) << model.error().toString();
    EXPECT_EQ(model->inputs.size(), name == "decoder" ? 6u : 1u);
    EXPECT_EQ(model->tensors[model->inputs[0]].desc.shape[0], kDynamic);
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
