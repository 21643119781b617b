#include "scaffold/where.h"

#include <gtest/gtest.h>

#include "scaffold/testing/scratch_tree.h"

namespace opkit::scaffold {
namespace {

/// "card ops/softmax/softmax.cpp" per place, if its line holds the name or `begins`.
std::set<std::string> placesIn(const Tree& tree, const std::string& name) {
  std::set<std::string> found;
  const auto places = placesOf(tree, name);
  if (!places) return {places.error().message()};
  for (const Place& place : *places) {
    found.insert(place.part + " " + place.path);
    const std::string text = *tree.read(place.path);
    size_t begin = 0;
    for (size_t line = 1; line < place.line; ++line) begin = text.find('\n', begin) + 1;
    const size_t end = text.find('\n', begin);
    EXPECT_TRUE(text.substr(begin, end - begin).ends_with(place.text)) << place.path << ":" << place.line;
  }
  return found;
}

std::string lineOf(const Tree& tree, const std::string& name, const std::string& part) {
  const auto places = placesOf(tree, name);
  for (const Place& place : *places)
    if (place.part == part) return place.text;
  return "";
}

class Where : public testing::Test {
 protected:
  ScratchTree scratch_;
  const Tree tree_ = scratch_.tree();
};

TEST_F(Where, AnOperatorOfItsOwnFolder) {
  const std::set<std::string> found = placesIn(tree_, "Softmax");
  for (const char* place : {"card ops/softmax/softmax.cpp", "parameters ops/softmax/softmax.fbs",
                            "oracle ops/softmax/softmax_reference.cpp", "ONNX rule ops/softmax/softmax_onnx.cpp",
                            "CPU kernel ops/softmax/softmax_cpu.cpp", "oneDNN kernel ops/softmax/softmax_onednn.cpp",
                            "Vulkan kernel ops/softmax/softmax_vulkan.cpp", "shader shaders/softmax/softmax.comp",
                            "cases ops/softmax/softmax.cases.json", "page ops/softmax/softmax.md"})
    EXPECT_TRUE(found.contains(place)) << place;
}

TEST_F(Where, ARowOfAFamilyIsFoundByItsLines) {
  EXPECT_TRUE(lineOf(tree_, "Sigmoid", "row").starts_with("UNARY(")) << lineOf(tree_, "Sigmoid", "row");
  EXPECT_NE(lineOf(tree_, "Sigmoid", "row").find(", Sigmoid,"), std::string::npos);
  EXPECT_TRUE(lineOf(tree_, "Sigmoid", "oracle").starts_with("ORACLE(Sigmoid,")) << lineOf(tree_, "Sigmoid", "oracle");
  EXPECT_EQ(lineOf(tree_, "Sigmoid", "Vulkan kernel"), "void addVulkan(OpRegistry& registry) {");
}

TEST_F(Where, ANameOfOnnxWithoutAnOperator) {
  EXPECT_EQ(placesIn(tree_, "SwiGLU"), std::set<std::string>{"ONNX rule ops/unary/unary_onnx.cpp"});
  scratch_.write("ops/acme/acme_rules.cpp", "  rules.add(qualified(\"Foo\"), {}, foo);\n");
  EXPECT_EQ(placesIn(tree_, "com.acme::Foo"), std::set<std::string>{"ONNX rule ops/acme/acme_rules.cpp"});
}

TEST_F(Where, UnknownNamesAreRefusedWithSimilarOnes) {
  EXPECT_EQ(placesIn(tree_, "Softmux"), std::set<std::string>{"no operator and no ONNX rule of this tree is named "
                                                              "Softmux; similar: Softmax, Softplus, Softsign"});
  EXPECT_EQ(placesIn(tree_, "a(b"),
            std::set<std::string>{"expected an operator such as Softmax or com.microsoft::FusedConv, got 'a(b'"});
}

}  // namespace
}  // namespace opkit::scaffold
