#include "harness/cases/case.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "harness/cases/case_file.h"
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

TEST(Case, IdErrorsSayWhatIsWrong) {
  const auto message = [](const std::string& id) { return parseCaseId(id).error().message(); };
  EXPECT_NE(message("Softmax").find("expected OP"), std::string::npos);
  EXPECT_NE(message("Softmax{\"axis\"/f32[2]/normal").find("not a JSON object"), std::string::npos);
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
      "departures": [{"provider": "lib", "cases": ["*[9]/specials", "Relu/f32[3]/normal"], "reason": "why"}]})");
  std::vector<std::string> marked;
  for (const CaseGroup& group : catalogue.groups)
    for (const Case& c : group.cases)
      if (c.departures.contains("lib")) {
        marked.push_back(c.id());
        EXPECT_EQ(c.departures.at("lib").reason, "why");
      }
  EXPECT_EQ(marked, (std::vector<std::string>{"Relu/f32[3]/normal/seed=7", "Relu/f32[9]/specials/seed=7"}));
  const Catalogue sometimes = parse(R"({"cases": [{"op": "Relu", "inputs": [["f32[3]"]]}],
      "departures": [{"provider": "lib", "cases": ["~Relu/f32[3]/normal"], "reason": "why"}]})");
  EXPECT_FALSE(sometimes.groups[0].cases[0].departures.at("lib").required);
  const auto error = [](const std::string& entry) {
    return parseError(R"({"cases": [{"op": "Relu", "inputs": [["f32[3]"]]}], "departures": [)" + entry + "]}");
  };
  EXPECT_NE(error(R"({"provider": "lib", "cases": ["Relu*/exact"], "reason": "why"})")
                .find("\"departures\" of lib: no case of the file is called 'Relu*/exact'"),
            std::string::npos);
  EXPECT_NE(error(R"({"provider": "lib", "cases": ["*"]})").find("departures[0]: a departure needs"),
            std::string::npos);
  EXPECT_NE(error(R"({"provider": "lib", "reason": "why"})").find("\"cases\" must be a list"), std::string::npos);
  EXPECT_NE(error(R"({"provider": "lib", "cases": [], "reason": "why", "op": 1})").find("unknown key \"op\""),
            std::string::npos);
}

TEST(CaseFile, ErrorsNameFileEntryAndExpectation) {
  EXPECT_NE(parseError("{").find("x.cases.json: not JSON"), std::string::npos);
  EXPECT_NE(parseError("{}").find("\"cases\""), std::string::npos);
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

/// What shapes an operator's cases have.
struct ShapesTried {
  bool empty = false, one = false, odd = false;
  std::set<size_t> ranks;  // of the first input
};

std::map<std::string, ShapesTried> shapesTried(const Catalogue& catalogue) {
  std::map<std::string, ShapesTried> tried;
  for (const CaseGroup& group : catalogue.groups)
    for (const Case& c : group.cases) {
      ShapesTried& shapes = tried[c.op];
      if (!c.inputs.empty() && c.inputs[0]) shapes.ranks.insert(c.inputs[0]->shape.size());
      for (const auto& input : c.inputs)
        for (const int64_t extent : input ? input->shape : Shape()) {
          shapes.empty = shapes.empty || extent == 0;
          shapes.one = shapes.one || extent == 1;
          shapes.odd = shapes.odd || (extent > 1 && extent % 2 == 1);
        }
    }
  return tried;
}

TEST(CaseFile, EveryOperatorMeetsTheShapesThatBreakKernels) {
  // Operators whose definition leaves no choice.
  const std::set<std::string> oneRank = {"DepthToSpace", "SpaceToDepth", "Gemm", "EyeLike", "ConstantOfShape", "Range"};
  const std::set<std::string> noTensors = {"Range", "Constant"};  // scalars, or no input at all
  const auto catalogue = builtinCatalogue(ops::builtinOps());
  ASSERT_TRUE(catalogue) << catalogue.error().message();
  for (const auto& [op, shapes] : shapesTried(*catalogue)) {
    if (noTensors.contains(op)) continue;
    EXPECT_TRUE(shapes.empty) << op << ": no case has an extent of 0";
    EXPECT_TRUE(shapes.one) << op << ": no case has an extent of 1";
    EXPECT_TRUE(shapes.odd) << op << ": no case has an odd extent";
    if (!oneRank.contains(op)) {
      EXPECT_GT(shapes.ranks.size(), 1u) << op << ": all cases have one rank";
    }
  }
}

}  // namespace
}  // namespace opkit::harness
