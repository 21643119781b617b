#include "scaffold/spec.h"

#include <gtest/gtest.h>

#include "scaffold/kinds.h"
#include "scaffold/names.h"
#include "scaffold/validate.h"

namespace opkit::scaffold {
namespace {

TEST(Names, Forms) {
  for (const auto& [camel, snake] :
       {std::pair{"HardShrink", "hard_shrink"}, {"LRN", "lrn"}, {"LSTMCell", "lstm_cell"}, {"X", "x"}})
    EXPECT_EQ(snakeCase(camel), snake);
  EXPECT_EQ(upperCamel("hard_shrink"), "HardShrink");
}

TEST(Names, RefusesWhatCannotBeCompiled) {
  for (const char* name :
       {"", "hardShrink", "Hard_Shrink", "Hard-Shrink", "9Lives", "Class", "Sampler", "Double", "../X"})
    EXPECT_FALSE(checkTypeName(name).isOk()) << name;
  EXPECT_TRUE(checkTypeName("HardShrink").isOk());
  for (const char* name : {"", "Alpha", "while", "sample", "gl_x", "a__b", "a_", "count", "1x", "a b"})
    EXPECT_FALSE(checkVariableName("--attr", name).isOk()) << name;
  EXPECT_TRUE(checkVariableName("--attr", "alpha").isOk());
}

TEST(SpecText, AttributesAndPorts) {
  EXPECT_EQ(*parseAttribute("alpha:float=0.5"), (Attribute{"alpha", "float", "0.5"}));
  EXPECT_EQ(*parseAttribute("sizes:ints"), (Attribute{"sizes", "ints", ""}));
  EXPECT_EQ(parseAttribute("alpha=0.5").error().message(),
            "--attr expects NAME:TYPE=DEFAULT, such as alpha:float=0.5, got 'alpha=0.5'");
  EXPECT_EQ(parseAttribute("n:int=x").error().message(), "--attr n: expected a default of type int, got 'x'");
  EXPECT_FALSE(parseAttribute("n:double=1"));
  EXPECT_FALSE(parseAttribute("n:ints=1"));
  EXPECT_EQ(*parsePort("x:f32|f16"), (PortSpec{"x", "f32|f16"}));
  EXPECT_FALSE(parsePort("x:"));
}

TEST(SpecText, JsonRoundTripsEveryKind) {
  for (const Kind& kind : kinds()) {
    Spec spec{.name = "Thing", .kind = kind.name};
    if (!kind.row) spec.attributes.push_back({"gain", "float", "2"});
    const auto whole = completed(spec);
    ASSERT_TRUE(whole) << kind.name << ": " << whole.error().message();
    const auto back = specFromJson(specToJson(*whole).dump());
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(*back, *whole) << kind.name;
    EXPECT_EQ(*completed(*back), *whole) << kind.name;
  }
}

TEST(SpecText, BadJsonSaysWhatIsWrong) {
  const auto message = [](const std::string& text) { return specFromJson(text).error().message(); };
  EXPECT_EQ(message("{"), "spec: the file is not JSON");
  EXPECT_EQ(message(R"({"version": )" + std::string(300'000, '[') + std::string(300'000, ']') + "}"),
            "spec: JSON may be nested 64 deep, found a deeper list");
  EXPECT_EQ(message(R"({"version": 2})"), "spec: expected \"version\": 1, got 2");
  EXPECT_EQ(message(R"({"version": 1, "kind": "unary"})"), "spec: 'name' is missing");
  EXPECT_NE(message(R"({"version": 1, "nmae": "X"})").find("unknown key 'nmae'"), std::string::npos);
  EXPECT_EQ(message(R"({"version": 1, "name": 3, "kind": "unary"})"), "spec: 'name' must be a string, got 3");
  EXPECT_EQ(message(R"({"version": 1, "name": "X", "kind": "unary", "inputs": 3})"),
            "spec: 'inputs' must be a list, got 3");
}

TEST(Completed, AnAttributeOfTheKindKeepsItsDefault) {
  const auto epsilonOf = [](const std::string& initial) {
    const auto spec = completed({.name = "X", .kind = "rowwise", .attributes = {{"epsilon", "float", initial}}});
    EXPECT_TRUE(spec) << spec.error().message();
    return spec->attributes[1].initial;
  };
  EXPECT_EQ(epsilonOf(""), "1e-5");
  EXPECT_EQ(epsilonOf("1e-3"), "1e-3");
}

TEST(Completed, RefusesWhatAKindCannotDo) {
  const auto message = [](Spec spec) { return completed(spec).error().message(); };
  EXPECT_NE(message({.name = "X", .kind = "blob"}).find("--kind: expected one of unary, binary"), std::string::npos);
  EXPECT_NE(message({.name = "X", .kind = "unary", .attributes = {{"a", "int", ""}}}).find("fixed parameters"),
            std::string::npos);
  EXPECT_EQ(message({.name = "X", .kind = "matmul", .inputs = {{"a", ""}}}), "kind matmul takes 2 inputs, got 1");
  EXPECT_EQ(message({.name = "X", .kind = "argpool", .outputs = {{"y", ""}}}), "kind argpool takes 2 outputs, got 1");
  EXPECT_NE(message({.name = "X", .kind = "custom", .backends = {"cuda"}}).find("got 'cuda'"), std::string::npos);
  EXPECT_NE(message({.name = "X", .kind = "rowwise", .attributes = {{"axis", "float", ""}}}).find("needs it as int"),
            std::string::npos);
}

TEST(CheckNames, TypesAndDuplicates) {
  const auto message = [](Spec spec) { return checkNames(*completed(spec)).message(); };
  EXPECT_EQ(message({.name = "X", .kind = "elementwise", .inputs = {{"x", "i32"}}}),
            "--input x: kind elementwise computes on f32 and f16, got i32");
  EXPECT_EQ(message({.name = "X", .kind = "elementwise", .inputs = {{"x", ""}, {"x", ""}}}),
            "--input x: the name is used twice");
  EXPECT_NE(message({.name = "X", .kind = "custom", .inputs = {{"x", "f33"}}}).find("got 'f33'"), std::string::npos);
  EXPECT_NE(message({.name = "X", .kind = "custom", .onnx = "a b"}).find("--onnx"), std::string::npos);
  const std::string endless(100'000, 'x');  // a stack frame for each character
  EXPECT_NE(message({.name = "X", .kind = "custom", .onnx = endless}).find("--onnx"), std::string::npos);
  EXPECT_NE(parseAttribute("mode:string=a|" + endless).error().message().find("a choice is a word"), std::string::npos);
  EXPECT_EQ(message({.name = "X", .kind = "custom"}), "");
  EXPECT_EQ(message({.name = "X", .kind = "custom", .inputs = {{"x", "i32"}, {"keys", "i64"}}}),
            "--input x: kind custom computes on f32 and f16, got i32");
  EXPECT_EQ(message({.name = "X", .kind = "custom", .inputs = {{"x", "f16"}, {"keys", "i64"}}}), "");
  EXPECT_EQ(message({.name = "X", .kind = "copy", .inputs = {{"x", "f64"}}}), "");
  EXPECT_EQ(message({.name = "X", .kind = "scatter", .inputs = {{"data", "u8"}, {"keys", "f32"}, {"updates", ""}}}),
            "--input keys: indices of kind scatter are i64 or i32, got f32");
  EXPECT_EQ(message({.name = "X", .kind = "scatter", .inputs = {{"data", "u8"}, {"keys", ""}, {"updates", "i8"}}}),
            "--input updates: kind scatter gives it the types of data, u8, got i8");
  EXPECT_EQ(message({.name = "X", .kind = "scatter", .inputs = {{"data", "u8"}, {"keys", ""}, {"updates", ""}}}), "");
  EXPECT_EQ(message({.name = "X", .kind = "argpool", .inputs = {{"indices", ""}}}),
            "--output indices: the name is used twice");
}

}  // namespace
}  // namespace opkit::scaffold
