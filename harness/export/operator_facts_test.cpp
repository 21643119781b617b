#include "harness/export/operator_facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace opkit::harness {
namespace operator_facts_test {
namespace {

bool holds(const PortFact& port, const std::string& type) {
  return std::ranges::find(port.types, type) != port.types.end();
}

std::string errorOf(const std::string& text) {
  const auto parsed = parseOperatorFacts(text);
  return parsed ? "none" : parsed.error().message();
}

/// An input of a version that must be there.
const PortFact& inputOf(const std::string& domain, const std::string& type, int opset, size_t index) {
  static const PortFact none{.name = "none", .types = {"none"}};
  const OperatorFact* fact = factFor(domain, type, opset);
  EXPECT_TRUE(fact && index < fact->inputs.size()) << type << " of opset " << opset;
  return fact && index < fact->inputs.size() ? fact->inputs[index] : none;
}

TEST(OperatorFacts, ARowIsRead) {
  const auto facts = parseOperatorFacts(
      "# a comment\n"
      "@ints\tint64,int32\n"
      "@both\tfloat,@ints,float\n"
      "ai.onnx\tLast\t1\tX:T axes:int64? more:V*\tY:T Z:T?\taxis:int=0\tT=@both,map(int64,string) V=seq(float),@ints\n"
      "ai.onnx\tLast\t7\t\t-\n"
      "ai.onnx\tSplit\t2\tX:float\tY:float*\n");
  ASSERT_TRUE(facts) << facts.error().message();
  ASSERT_EQ(facts->size(), 3u);
  const OperatorFact& last = facts->front();
  EXPECT_EQ(last.inputs[0].types, (std::vector<std::string>{"float", "int64", "int32", "map(int64,string)"}));
  EXPECT_EQ(last.inputs[0].variable, "T");
  EXPECT_EQ(last.inputs[0].type(), "float");
  EXPECT_EQ(last.inputs[1].types, std::vector<std::string>{"int64"});
  EXPECT_EQ(last.inputs[1].variable, "");
  EXPECT_TRUE(last.inputs[1].isOptional);
  EXPECT_TRUE(last.inputs[2].isVariadic);
  EXPECT_EQ(last.inputs[2].type(), "seq(float)");
  EXPECT_EQ(last.outputs.size(), 2u);
  EXPECT_EQ(last.fewestOutputs(), 1u);
  EXPECT_EQ(last.find("axis")->fallback, "0");
  EXPECT_EQ(last.until, 6);
  EXPECT_TRUE(facts->at(1).isDeprecated);
  EXPECT_EQ(facts->at(1).fewestOutputs(), 1u);
  EXPECT_EQ(facts->at(2).fewestOutputs(), 1u) << "one of any number";
}

TEST(OperatorFacts, AWrongRowIsNamed) {
  EXPECT_EQ(errorOf("a\tB\t1\n"), "row 'a\tB\t1': expected 5 to 7 columns, found 3");
  EXPECT_EQ(errorOf("a\tB\tx\tX:int8\tY:int8\n"), "row 'a\tB\tx\tX:int8\tY:int8': expected a version, found 'x'");
  EXPECT_EQ(errorOf("a\tB\t1\tX\tY:int8\n"), "row 'a\tB\t1\tX\tY:int8': expected name:type, found 'X'");
  EXPECT_EQ(errorOf("a\tB\t1\tX:int8\t\n"), "row 'a\tB\t1\tX:int8\t': expected 5 to 7 columns, found 4");
  EXPECT_EQ(errorOf("a\tB\t1\tX:int8\t\ta:int\n"), "row 'a\tB\t1\tX:int8\t\ta:int': expected outputs or '-'");
  EXPECT_EQ(errorOf("a\tB\t1\tX:T1\tY:int8\n"), "row 'a\tB\t1\tX:T1\tY:int8': X has the unknown variable T1");
  EXPECT_EQ(errorOf("a\tB\t1\tX:T\tY:T\t\tT=@ints\n"),
            "row 'a\tB\t1\tX:T\tY:T\t\tT=@ints': no line above defines the set @ints");
  EXPECT_EQ(errorOf("a\tB\t1\tX:T\tY:T\t\tT=\n"),
            "row 'a\tB\t1\tX:T\tY:T\t\tT=': expected types with commas between them, found ''");
  EXPECT_EQ(errorOf("a\tB\t1\tX:T\tY:T\t\tT=int8 T=int4\n"),
            "row 'a\tB\t1\tX:T\tY:T\t\tT=int8 T=int4': variable T is defined twice");
  EXPECT_EQ(errorOf("a\tB\t1\tX:T\tY:T\t\tint8\n"),
            "row 'a\tB\t1\tX:T\tY:T\t\tint8': expected Variable=types, found 'int8'");
  EXPECT_EQ(errorOf("@a\tint8\n@a\tint4\n"), "row '@a\tint4': the set is defined twice");
  EXPECT_EQ(errorOf("@a\n"), "row '@a': expected a set's name, a tab and types");
  EXPECT_EQ(errorOf("a\tB\t2\tX:int8\tY:int8\na\tB\t1\tX:int8\tY:int8\n"),
            "row 'a\tB\t1\tX:int8\tY:int8': expected a version after 2");
}

TEST(OperatorFacts, AVersionHoldsUntilTheNext) {
  EXPECT_EQ(factFor("", "Relu", 0), nullptr);
  EXPECT_EQ(factFor("", "Relu", 5)->since, 1);
  EXPECT_EQ(factFor("", "Relu", 6)->since, 6);
  EXPECT_EQ(factFor("ai.onnx", "Relu", 12)->since, 6);
  EXPECT_EQ(factFor("ai.onnx", "Relu", 13)->since, 13);
  EXPECT_EQ(factFor("ai.onnx", "Relu", 99)->since, 14);
  EXPECT_EQ(factFor("", "Gelu", 19), nullptr) << "an operator of opset 20";
  EXPECT_EQ(factFor("ai.onnx.ml", "Relu", 13), nullptr);
  EXPECT_EQ(factFor("com.microsoft", "Gelu", 1)->domain, "com.microsoft");
  EXPECT_TRUE(factFor("", "Upsample", 10)->isDeprecated);
}

TEST(OperatorFacts, HaveTheTypesOfTheSpecification) {
  EXPECT_TRUE(holds(inputOf("", "Relu", 14, 0), "int8"));
  EXPECT_TRUE(holds(inputOf("", "Relu", 14, 0), "bfloat16"));
  EXPECT_FALSE(holds(inputOf("", "Relu", 13, 0), "int32"));
  EXPECT_TRUE(holds(inputOf("", "Relu", 13, 0), "bfloat16"));
  EXPECT_FALSE(holds(inputOf("", "Relu", 6, 0), "bfloat16"));
  EXPECT_EQ(inputOf("", "Softmax", 13, 0).types, (std::vector<std::string>{"float", "float16", "double", "bfloat16"}));
  EXPECT_TRUE(holds(inputOf("", "Cast", 21, 0), "int4"));
  EXPECT_FALSE(holds(inputOf("", "Cast", 19, 0), "int4"));
  EXPECT_EQ(inputOf("", "Gather", 13, 1).types, (std::vector<std::string>{"int64", "int32"}));
  EXPECT_TRUE(holds(inputOf("", "If", 99, 0), "bool"));
  EXPECT_EQ(inputOf("com.microsoft", "Gelu", 1, 0).types,
            (std::vector<std::string>{"float", "float16", "double", "bfloat16"}));
  EXPECT_EQ(factFor("", "TopK", 24)->outputs.at(1).types, std::vector<std::string>{"int64"});
  const OperatorFact& cast = *factFor("", "Cast", 13);
  EXPECT_NE(cast.inputs[0].variable, cast.outputs[0].variable);
  const OperatorFact& add = *factFor("", "Add", 14);
  EXPECT_EQ(add.inputs[0].variable, add.outputs[0].variable);
  EXPECT_EQ(factFor("", "LSTM", 14)->fewestOutputs(), 1u);
  EXPECT_EQ(factFor("", "Loop", 13)->fewestOutputs(), 1u);
  EXPECT_EQ(factFor("com.microsoft", "Unique", 1)->fewestOutputs(), 3u);
}

TEST(OperatorFacts, OfEveryVersionAreComplete) {
  const std::set<std::string> elements{
      "float",      "float16", "bfloat16",     "double",         "int8",       "int16",          "int32",
      "int64",      "uint8",   "uint16",       "uint32",         "uint64",     "bool",           "string",
      "int4",       "uint4",   "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float8e8m0",
      "float4e2m1", "int2",    "uint2",        "complex64",      "complex128"};
  std::map<std::string, int> versions;
  for (const OperatorFact& fact : operatorFacts()) {
    const std::string name = fact.ruleName() + "-" + std::to_string(fact.since);
    versions[fact.domain] += !fact.isDeprecated;
    EXPECT_EQ(fact.outputs.empty(), fact.isDeprecated) << name;
    EXPECT_EQ(factFor(fact.domain, fact.type, fact.since), &fact) << name << " has two rows";
    std::map<std::string, std::vector<std::string>> variables;
    for (const auto* ports : {&fact.inputs, &fact.outputs}) {
      for (const PortFact& port : *ports) {
        EXPECT_FALSE(port.types.empty()) << name << " " << port.name;
        EXPECT_EQ(port.types.size() == 1, port.variable.empty()) << name << " " << port.name;
        for (const std::string& type : port.types)
          EXPECT_TRUE(elements.contains(type) || type.find('(') != std::string::npos) << name << " takes " << type;
        const auto [known, isNew] = variables.emplace(port.variable, port.types);
        EXPECT_TRUE(port.variable.empty() || known->second == port.types) << name << " " << port.variable;
      }
    }
  }
  EXPECT_EQ(versions, (std::map<std::string, int>{{"ai.onnx", 610},
                                                  {"ai.onnx.ml", 23},
                                                  {"ai.onnx.preview", 1},
                                                  {"ai.onnx.preview.training", 4},
                                                  {"com.microsoft", 55}}));
}

}  // namespace
}  // namespace operator_facts_test
}  // namespace opkit::harness
