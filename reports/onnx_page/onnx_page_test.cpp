#include "reports/onnx_page/onnx_page.h"

#include <gtest/gtest.h>

#include <set>

#include "reports/onnx_page/contrib_names.h"

namespace opkit::reports {
namespace {

OpRegistry oneOperator() {
  OpRegistry registry;
  registry.setFolder("relu");
  registry.add({.type = "Relu",
                .inputs = {{"x", DTypeSet(DType::Float32, DType::Float16)}},
                .outputs = {{"y"}},
                .inferShapes = [](const ShapeArgs& args) -> Result<std::vector<TensorDesc>> {
                  return std::vector{args.input(0)};
                },
                .lower = nullptr,
                .flops = nullptr,
                .oracle = [](const OracleArgs&) { return Status::ok(); }});
  return registry;
}

TEST(OnnxPage, HasARowPerName) {
  OnnxRules rules;
  rules.setFolder("relu");
  rules.add("Relu", {}, passThrough("Relu"), 1, 5);
  rules.add("Relu", {}, passThrough("Relu"), 6, 13);
  rules.add("Relu", {}, passThrough("Relu"), 16);
  rules.add("com.acme::Rectify", {}, passThrough("Relu"));
  rules.note("com.acme::Rectify", {"Relu"}, "alpha is 0");
  rules.add("Gradient", {}, passThrough("Relu"));
  rules.note("Gradient", {}, "refused: no");
  const auto page = renderOnnxPage(oneOperator(), rules);
  ASSERT_TRUE(page.has_value()) << page.error().message();
  for (const char* line :
       {"\n| Relu | 1–13, 16+ | [relu](../ops/relu/relu.md) | f32, f16 | reference, on Vulkan – |  |  |\n",
        "\n## com.acme\n",
        "\n| Rectify | 1+ | [relu](../ops/relu/relu.md) | f32, f16 | reference, on Vulkan – | Relu | alpha is 0 |\n",
        "\n| Gradient | 1+ | [relu](../ops/relu/relu.md) |  | – |  | refused: no |\n",
        "\n2 names, 1 of them in the domain of ONNX.\n"})
    EXPECT_NE(page->find(line), std::string::npos) << line << *page;
}

TEST(OnnxPage, ListsTheNamesWithoutARuleByTheirWriters) {
  OnnxRules rules;
  rules.setFolder("relu");
  for (const char* name : {"EPContext", "BiasDropout"}) {
    rules.add(std::string("com.microsoft::") + name, {}, passThrough("Relu"));
    rules.note(std::string("com.microsoft::") + name, {"Relu"});
  }
  const auto page = renderOnnxPage(oneOperator(), rules);
  ASSERT_TRUE(page.has_value()) << page.error().message();
  for (const char* line : {"\nOf ONNX 1.23: ai.onnx.ml::CastMap, ", "\n## Not taken\n", "\nOf the 127 operators that ",
                           "\n| execution providers, around a compiled model | Snpe |\n",
                           "\n| training | BitmaskBiasDropout, BitmaskDropout, GemmaRotaryEmbedding, IsAllFinite, "
                           "TorchEmbedding |\n"})
    EXPECT_NE(page->find(line), std::string::npos) << line << *page;
}

TEST(OnnxPage, EveryNameOfComMicrosoftHasOneWriter) {
  std::set<std::string> names;
  for (const auto& [writtenBy, contrib] : contribNames())
    for (const char* name : contrib) EXPECT_TRUE(names.insert(name).second) << name << " again: " << writtenBy;
  EXPECT_EQ(names.size(), 127u);
}

TEST(OnnxPage, NamesWithoutACardNeedANote) {
  OnnxRules rules;
  rules.add("Rectify", {}, passThrough("Relu"));
  EXPECT_EQ(renderOnnxPage(oneOperator(), rules).error().message(),
            "Rectify: no operator has this name; name its operators with OnnxRules::note()");
  rules.note("Rectify", {"Relo"});
  EXPECT_EQ(renderOnnxPage(oneOperator(), rules).error().message(),
            "Rectify: its note names Relo, which is no operator");
}

}  // namespace
}  // namespace opkit::reports
