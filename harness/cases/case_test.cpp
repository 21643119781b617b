#include "harness/cases/case.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/cases/case_dtype.h"
#include "harness/cases/case_file.h"
#include "harness/cases/case_rules.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

std::string parseError(const std::string& text) {
  const auto parsed = parseCaseFile("x.cases.json", text, ops::builtinOps());
  return parsed ? "" : parsed.error().message();
}

Catalogue parse(const std::string& text) {
  auto parsed = parseCaseFile("x.cases.json", text, ops::builtinOps());
  EXPECT_TRUE(parsed) << parsed.error().message();
  return parsed ? *std::move(parsed) : Catalogue();
}

TEST(Case, IdSurvivesTheRoundTrip) {
  for (const std::string id :
       {R"(Softmax{"axis":-1}/f32[8,1024]/normal/seed=7)", "Relu/f32[]/specials/seed=18446744073709551615",
        R"(Conv{"pads":[0,1],"strides":[2,2]}/f32[1,3,8,8],f16[4,3,3,3],-/exact/seed=1/constant=1)",
        R"(Split{"axis":1}/f32[3,9],i64[3]/designed/seed=7/constant=1/outputs=3/data=[null,{"values":[2,0,7]}])",
        R"(Foo{"path":"a/b}{","x":1}/f32[0]/normal/seed=7)"}) {
    const auto parsed = parseCaseId(id);
    ASSERT_TRUE(parsed) << parsed.error().message();
    EXPECT_EQ(parsed->id(), id);
  }
}

TEST(Case, TheDTypeIsThatOfTheMainInput) {
  const OpDef where{.inputs = {{"condition", kBool}, {"x"}, {"y"}}},
      gather{.inputs = {{"data"}, {"indices", kIndexTypes}}}, both{.inputs = {{"a", kBool}, {"b", kBool}}};
  const auto dtypeIn = [](const OpDef* def, const std::string& inputs) {
    const auto parsed = parseInputList(inputs);
    EXPECT_TRUE(parsed) << inputs;
    return dtypeOf(Case{.op = "Any", .inputs = *parsed}, def);
  };
  EXPECT_EQ(dtypeIn(&where, "bool[2],f32[2],f32[2]"), "f32");
  EXPECT_EQ(dtypeIn(&gather, "bool[2,3],i64[2]"), "bool");
  EXPECT_EQ(dtypeIn(&gather, "-,i64[2]"), "i64");
  EXPECT_EQ(dtypeIn(&both, "bool[2],bool[2]"), "bool");
  EXPECT_EQ(dtypeIn(nullptr, "bool[2],f32[2]"), "bool");
  EXPECT_EQ(dtypeOf(Case{}, &where), "");
}

TEST(Case, IdErrorsSayWhatIsWrong) {
  const auto message = [](const std::string& id) { return parseCaseId(id).error().message(); };
  EXPECT_NE(message("Softmax").find("expected OP"), std::string::npos);
  EXPECT_NE(message("Softmax{\"axis\"/f32[2]/normal").find("not a JSON object"), std::string::npos);
  const std::string open(300'000, '['), close(300'000, ']');
  const std::string deep = "JSON may be nested 64 deep, found a deeper list";
  EXPECT_NE(message("Softmax{\"axis\":" + open + close + "}/f32[2]/normal").find(deep), std::string::npos);
  EXPECT_NE(message("Relu/f32[2]/normal/seed=7/data=[" + open + close + "]").find(deep), std::string::npos);
  EXPECT_EQ(message("Softmax{\"a\":\"" + open + "\"}/f32[2]/normal/seed=7").find(deep), std::string::npos);
  EXPECT_NE(message("Relu/f99[2]/normal/seed=7").find("f99"), std::string::npos);
  EXPECT_NE(message("Relu/f32[2]/fast/seed=7").find("lane must be"), std::string::npos);
  EXPECT_NE(message("Relu/f32[2]/normal/sead=7").find("seed=N"), std::string::npos);
  EXPECT_NE(message("Relu/f32[2]/normal/seed=x").find("seed=N"), std::string::npos);
  EXPECT_NE(message("Relu/f32[2]/normal/seed=7/constant=1").find("indices of given inputs"), std::string::npos);
  EXPECT_NE(message("Relu/f32[2]/normal/seed=7/data=[{\"rang\":1}]").find("data must be"), std::string::npos);
}

TEST(CaseFile, ExpandsEveryCombination) {
  const Catalogue catalogue = parse(R"({"cases": [{"op": "Softmax", "params": [{"axis": 0}, {"axis": 1}],
      "inputs": [["T[3,5]"], ["T[2,7]"]], "T": ["f32", "f16"], "lanes": ["normal", "specials"]}]})");
  EXPECT_EQ(catalogue.groups.size(), 8u);
  for (const CaseGroup& group : catalogue.groups) EXPECT_EQ(group.cases.size(), 2u);
}

TEST(CaseFile, AListOfOperatorsStandsForEachOfThem) {
  const Catalogue catalogue = parse(R"({"cases": [{"op": ["Sin", "Cos"], "inputs": [["f32[3]"], ["f32[5]"]]}],
      "errors": [{"op": ["Sin", "Cos"], "inputs": ["i32[3]"], "error": "input 0"}]})");
  ASSERT_EQ(catalogue.groups.size(), 2u);
  EXPECT_EQ(catalogue.groups[0].cases[1].id(), "Sin/f32[5]/normal/seed=7");
  EXPECT_EQ(catalogue.groups[1].cases[1].id(), "Cos/f32[5]/normal/seed=7");
  ASSERT_EQ(catalogue.errors.size(), 2u);
  EXPECT_EQ(catalogue.errors[1].op, "Cos");
  const auto errorOf = [](const std::string& op) {
    return parseError(R"({"cases": [{"op": )" + op + R"(, "inputs": [["f32[3]"]]}]})");
  };
  EXPECT_NE(errorOf("[]").find("cases[0]: \"op\" must be an operator type or a list of them, got []"),
            std::string::npos)
      << errorOf("[]");
  EXPECT_NE(errorOf(R"(["Sin", "Sine"])").find("unknown operator \"Sine\""), std::string::npos);
  EXPECT_NE(errorOf(R"(["Sin", 5])").find("\"op\" must be a string, got 5"), std::string::npos);
  EXPECT_NE(errorOf(R"(["Sin", "Sin"])").find("\"op\" lists \"Sin\" twice"), std::string::npos);
}

TEST(CaseFile, OneWalkPerRankAndConstant) {
  const Catalogue ranks = parse(R"({"cases": [{"op": "Relu", "inputs": [["f32[3]"], ["f32[2,2]"], ["f32[9]"]]}]})");
  ASSERT_EQ(ranks.groups.size(), 2u);
  EXPECT_EQ(ranks.groups[0].cases.size(), 2u);
  const Catalogue constants = parse(R"({"cases": [{"op": "MatMul", "constant": [1],
      "inputs": [["f32[3,4]", "f32[4,2]"], ["f32[5,4]", "f32[4,2]"], ["f32[5,4]", "f32[4,3]"]]}]})");
  ASSERT_EQ(constants.groups.size(), 2u);
  EXPECT_EQ(constants.groups[0].cases.size(), 2u);
}

TEST(CaseFile, DeparturesMarkTheCasesTheyName) {
  const Catalogue catalogue = parse(R"({"cases": [{"op": "Relu", "inputs": [["f32[3]"], ["f32[9]"]],
      "lanes": ["normal", "specials"]}],
      "departures": [{"provider": "lib", "cases": ["*[9]/specials", "Relu/f32[3]/normal"], "most": 2, "reason": "why"}]})");
  std::vector<std::string> marked;
  for (const CaseGroup& group : catalogue.groups)
    for (const Case& c : group.cases)
      if (c.departures.contains("lib")) {
        marked.push_back(c.id());
        EXPECT_EQ(c.departures.at("lib").reason, "why");
      }
  EXPECT_EQ(marked, (std::vector<std::string>{"Relu/f32[3]/normal/seed=7", "Relu/f32[9]/specials/seed=7"}));
  const Catalogue sometimes = parse(R"({"cases": [{"op": "Relu", "inputs": [["f32[3]"]]}],
      "departures": [{"provider": "lib", "cases": ["~Relu/f32[3]/normal"], "most": 2, "reason": "why"}]})");
  EXPECT_FALSE(sometimes.groups[0].cases[0].departures.at("lib").required);
  const Catalogue unbounded = parse(R"({"cases": [{"op": "Relu", "inputs": [["f32[3]"]]}],
      "departures": [{"provider": "lib", "cases": ["Relu*"], "most": "inf", "reason": "NaN"}]})");
  EXPECT_TRUE(std::isinf(unbounded.groups[0].cases[0].departures.at("lib").most));
  const auto error = [](const std::string& entry) {
    return parseError(R"({"cases": [{"op": "Relu", "inputs": [["f32[3]"]]}], "departures": [)" + entry + "]}");
  };
  EXPECT_NE(error(R"({"provider": "lib", "cases": ["Relu*/exact"], "reason": "why"})")
                .find("\"departures\" of lib: the file has no case 'Relu*/exact'"),
            std::string::npos);
  EXPECT_NE(
      error(R"({"provider": "lib", "cases": ["Relu*"], "reason": "why"})").find("compared by value: state \"most\""),
      std::string::npos);
  for (const char* most : {"1", "\"nan\"", "[2]"})
    EXPECT_NE(error(R"({"provider": "lib", "cases": ["Relu*"], "reason": "why", "most": )" + std::string(most) + "}")
                  .find("a number above 1"),
              std::string::npos)
        << most;
  EXPECT_NE(error(R"({"provider": "lib", "cases": ["*"]})").find("departures[0]: a departure needs"),
            std::string::npos);
  EXPECT_NE(error(R"({"provider": "lib", "reason": "why"})").find("\"cases\" must be a list"), std::string::npos);
  EXPECT_NE(error(R"({"provider": "lib", "cases": [], "reason": "why", "op": 1})").find("unknown key \"op\""),
            std::string::npos);
}

TEST(CaseFile, EntriesWithASizeStandApart) {
  const Catalogue catalogue = parse(R"({"cases": [
    {"op": "Relu", "inputs": [["f32[9]"]]},
    {"op": "Relu", "size": "typical", "slow": "it is", "inputs": [["f32[99]"]]}]})");
  ASSERT_EQ(catalogue.groups.size(), 1u);
  ASSERT_EQ(catalogue.sized.size(), 1u);
  EXPECT_EQ(catalogue.sized[0].cases[0].id(), "Relu/f32[99]/normal/seed=7");
  EXPECT_EQ(catalogue.sized[0].cases[0].slow, "it is");
  const auto byId = applyFilter(catalogue, {.id = "Relu/f32[99]/normal/seed=7"}, ops::builtinOps());
  ASSERT_TRUE(byId) << byId.error().message();
  EXPECT_EQ(byId->groups[0].cases[0].size, "typical") << "a case is found by its id";
  EXPECT_NE(parseError(R"({"cases": [{"op": "Relu", "size": "huge", "inputs": [["f32[9]"]]}]})").find("typical"),
            std::string::npos);
  const auto access = [](const std::string& fields) {
    return parseError(R"({"cases": [{"op": "Relu", "inputs": [["f32[9]"]], )" + fields + "}]}");
  };
  EXPECT_NE(access(R"("efficiency": 1.5)").find("\"efficiency\" must be at most 1"), std::string::npos);
  EXPECT_NE(access(R"("efficiency": 0)").find("\"efficiency\" must be a positive number"), std::string::npos);
  EXPECT_NE(access(R"("requests": "few")").find("\"requests\" must be a positive number"), std::string::npos);
  EXPECT_NE(access(R"("uncoalesced": "so")").find("\"uncoalesced\" must be the reason"), std::string::npos);
  EXPECT_NE(parseError(R"({"cases": [{"op": "Relu", "slow": "no size", "inputs": [["f32[9]"]]}]})").find("slow"),
            std::string::npos);
}

TEST(CaseFile, ErrorsNameFileEntryAndExpectation) {
  EXPECT_NE(parseError("{").find("x.cases.json: line 1: the JSON ends too early"), std::string::npos);
  const std::string open(300'000, '['), close(300'000, ']');  // printing it would take a stack frame per bracket
  EXPECT_EQ(parseError(R"({"cases": [)" + open + close + "]}"),
            "x.cases.json: JSON may be nested 64 deep, found a deeper list");
  EXPECT_NE(parseError("{}").find("\"cases\""), std::string::npos);
  EXPECT_NE(
      parseError(R"({"cases": [{"op": "Relu", "inputs": [["f32[2]"]], "seed": 1e999}]})").find("exceeds a double"),
      std::string::npos);
  EXPECT_NE(parseError(R"({"cases": [{"op": "Nope", "inputs": [["f32[2]"]]}]})").find("cases[0]: unknown operator"),
            std::string::npos);
  EXPECT_NE(parseError(R"({"cases": [{"op": "Relu", "name": "n"}]})").find("cases[0] \"n\": \"inputs\" must be"),
            std::string::npos);
  EXPECT_NE(parseError(R"({"cases": [{"op": "Relu", "inputs": [["T[2]"]]}]})").find("letter without dtypes"),
            std::string::npos);
  EXPECT_NE(parseError(R"({"cases": [{"op": "Relu", "inputs": [["f32[2]"]], "lane": "normal"}]})")
                .find("unknown key \"lane\""),
            std::string::npos);
  EXPECT_NE(parseError(R"({"cases": [{"op": "Relu", "inputs": [["f32[2]"]], "T": ["f31"]}]})").find("f31"),
            std::string::npos);
  EXPECT_NE(parseError(R"({"cases": [{"op": "Relu", "inputs": [["f32[2]"]], "boundScale": 4}]})").find("reason"),
            std::string::npos);
  EXPECT_NE(parseError(R"({"cases": [{"op": "Relu", "inputs": [["f32[2]"]], "boundScale": -4, "reason": "no"}]})")
                .find("at least 0, got -4"),
            std::string::npos);
  EXPECT_NE(parseError(R"({"cases": [{"op": "Softmax", "params": {"axes": 1}, "inputs": [["f32[2]"]]}]})").find("axes"),
            std::string::npos);
  EXPECT_NE(parseError(R"({"cases": [{"op": "Relu", "inputs": [["f32[2]"]], "constant": [3]}]})").find("input 3"),
            std::string::npos);
  EXPECT_NE(parseError(R"({"cases": [], "errors": [{"op": "Relu", "inputs": ["f32[2]"]}]})").find("errors[0]"),
            std::string::npos);
}

TEST(CaseFile, FilterFindsACaseAndItsWalk) {
  const Catalogue all = parse(R"({"cases": [{"op": "Relu", "inputs": [["f32[3]"], ["f32[4]"], ["f32[5]"]]},
                                            {"op": "Softmax", "inputs": [["f32[3,3]"]]}]})");
  const auto one = applyFilter(all, {.id = "Relu/f32[4]/normal/seed=7"}, ops::builtinOps());
  ASSERT_TRUE(one);
  ASSERT_EQ(one->groups.size(), 1u);
  EXPECT_EQ(one->groups[0].cases.size(), 3u);
  EXPECT_EQ(one->groups[0].cases[0].id(), "Relu/f32[4]/normal/seed=7");
  const auto unknown = applyFilter(all, {.id = "Relu/f32[99]/normal/seed=3"}, ops::builtinOps());
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->groups[0].cases.size(), 1u);
  const auto byOp = applyFilter(all, {.ops = {"Softmax"}}, ops::builtinOps());
  EXPECT_EQ(byOp->groups.size(), 1u);
  EXPECT_FALSE(applyFilter(all, {.ops = {"Nope"}}, ops::builtinOps()));
  const auto seeded = applyFilter(all, {.text = "f32[5]", .seed = 11}, ops::builtinOps());
  ASSERT_EQ(seeded->groups.size(), 1u);
  EXPECT_EQ(seeded->groups[0].cases[0].id(), "Relu/f32[5]/normal/seed=11");
}

TEST(CaseFile, BuiltInFilesAreSound) {
  const auto catalogue = builtinCatalogue(ops::builtinOps());
  ASSERT_TRUE(catalogue) << catalogue.error().message();
  EXPECT_GT(catalogue->groups.size(), 0u);
  for (const CaseGroup& group : catalogue->groups)
    for (const Case& c : group.cases) {
      const auto parsed = parseCaseId(c.id());
      ASSERT_TRUE(parsed) << parsed.error().message();
      EXPECT_EQ(parsed->id(), c.id());
    }
}

// --op reads only the files that name the operator.
TEST(CaseFile, ChosenOperatorsHaveTheCasesOfTheWholeCatalogue) {
  const OpRegistry& registry = ops::builtinOps();
  const auto idsOf = [&](const std::vector<std::string>& read, const std::vector<std::string>& ops) {
    const auto catalogue = builtinCatalogue(registry, read);
    const auto chosen = applyFilter(*catalogue, {.ops = ops}, registry);
    std::vector<std::string> ids = {fmt::format("{} errors", chosen->errors.size())};
    for (const CaseGroup& group : chosen->groups)
      for (const Case& c : group.cases) ids.push_back(fmt::format("{} {}", c.id(), c.departures.size()));
    for (const CaseGroup& group : chosen->sized) ids.push_back(group.cases.front().id());
    return ids;
  };
  for (const std::vector<std::string>& ops :
       std::vector<std::vector<std::string>>{{"Relu"}, {"Sin", "ReduceMax"}, {"If"}})
    EXPECT_EQ(idsOf(ops, ops), idsOf({}, ops)) << ops.front();
}

TEST(CaseRules, EveryCaseFileMeetsThem) {
  for (const EmbeddedFile& file : builtinCaseFiles())
    for (const BrokenRule& broken : brokenCaseRules(file.text))
      ADD_FAILURE() << file.name << ": " << broken.op << ": " << broken.message;
}

std::string brokenIn(const std::string& text) {
  std::string all;
  for (const BrokenRule& broken : brokenCaseRules(text)) all += broken.op + ": " + broken.message + "\n";
  return all;
}

TEST(CaseRules, WhatIsNotTriedIsNamed) {
  EXPECT_EQ(brokenIn(R"({"cases": [{"op": "A", "inputs": [["f32[4]"], ["f32[2]"]]}]})"),
            "A: no case has an extent of 0\nA: no case has an extent of 1\nA: no case has an odd extent\n"
            "A: all cases have one rank\n");
  EXPECT_EQ(brokenIn(R"({"cases": [{"op": "A", "inputs": [["f32[0]", "f32[1,3]"], ["T[2,2]", "-"]]}]})"), "");
  EXPECT_EQ(brokenIn(R"({"cases": [{"op": "A", "lanes": ["exact"], "inputs": [["f32[0,1,3]"], ["f32[1048577]"]]}]})"),
            "A: a case of the exact lane has more than 1048576 elements, whose sums fp32 does not count\n");
  EXPECT_EQ(
      brokenIn(R"({"cases": [{"op": ["A", "B"], "inputs": [["f32[0,1,3]"]]}, {"op": "A", "inputs": [["f32[1]"]]}]})"),
      "B: all cases have one rank\n");
  EXPECT_EQ(
      brokenIn(R"({"cases": [{"op": "A", "inputs": [["f32[0,1,3]"], ["f32[1]"]], "data": [null, {"value": 1}]}]})"),
      "A: \"data\" has an entry per input; it has 2, and [\"f32[0,1,3]\"] has 1 inputs\n");
  EXPECT_EQ(brokenIn("{\"cases\": 3}") + brokenIn("[]") + brokenIn("nothing"), "");
}

TEST(CaseRules, ExemptionsAreNeededAndHaveAReason) {
  const std::string cases = R"({"cases": [{"op": "Relu", "inputs": [["f32[0,1,3]"]]}])";
  const auto exempt = [&](const std::string& entry) { return cases + R"(, "exempt": [)" + entry + "]}"; };
  EXPECT_EQ(brokenIn(cases + "}"), "Relu: all cases have one rank\n");
  EXPECT_EQ(brokenIn(exempt(R"({"op": "Relu", "rules": ["ranks"], "reason": "why"})")), "");
  EXPECT_EQ(brokenIn(exempt(R"({"op": "Relu", "rules": ["ranks", "odd"], "reason": "why"})")),
            "Relu: \"exempt\" from \"odd\" without need: its cases meet the rule\n");
  EXPECT_EQ(brokenIn(exempt(R"({"op": "Relu", "rules": ["ranks"], "reason": "why"},
                               {"op": "Abs", "rules": ["one"], "reason": "why"})")),
            "Abs: \"exempt\" from \"one\", but the file has no case of it\n");
  EXPECT_NE(
      parseError(exempt(R"({"op": "Relu", "rules": ["ranks"]})")).find("exempt[0]: an exemption needs a \"reason\""),
      std::string::npos);
  EXPECT_NE(parseError(exempt(R"({"op": "Relu", "rules": ["rank"], "reason": "why"})")).find("list of empty, one, odd"),
            std::string::npos);
  EXPECT_NE(parseError(exempt(R"({"op": "Nope", "rules": ["ranks"], "reason": "why"})")).find("unknown operator"),
            std::string::npos);
}

}  // namespace
}  // namespace opkit::harness
