// Stored shapes are the second witness of the shape rules: every rule agrees with its own, and no rule that is wrong in
// one extent, rank or dtype of one output does.
#include "harness/cases/stored_shapes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "harness/cases/case_file.h"
#include "harness/check/check.h"
#include "harness/compare/expected.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

using CasesByOp = std::map<std::string, std::vector<Case>>;

/// All cases of the tree that store shapes.
const CasesByOp& witnesses() {
  static const CasesByOp all = [] {
    CasesByOp byOp;
    const auto catalogue = builtinCatalogue(ops::builtinOps());
    EXPECT_TRUE(catalogue) << catalogue.error().message();
    if (!catalogue) return byOp;
    for (const auto* groups : {&catalogue->shapes, &catalogue->groups})
      for (const CaseGroup& group : *groups)
        for (const Case& c : group.cases)
          if (!c.shapes.empty()) byOp[c.op].push_back(c);
    return byOp;
  }();
  return all;
}

/// Control flow, sequences and strings run on the host and have no shape rule.
std::vector<const OpDef*> cardsWithARule() {
  std::vector<const OpDef*> cards = ops::builtinOps().all();
  std::erase_if(cards, [](const OpDef* def) { return !def->inferShapes; });
  return cards;
}

TEST(StoredShapes, EveryRuleAgreesWithItsOwn) {
  EXPECT_GT(cardsWithARule().size(), 190u);
  for (const OpDef* def : cardsWithARule()) {
    const auto own = witnesses().find(def->type);
    if (own == witnesses().end()) {
      ADD_FAILURE() << def->type << ": no entry with \"shapes\" in a case file (harness/cases.md)";
      continue;
    }
    for (const Case& c : own->second) {
      const Status status = checkShapes(c, *def);
      EXPECT_TRUE(status.isOk()) << c.id() << ": " << status.message();
    }
  }
}

using Fault = std::function<void(std::vector<TensorDesc>&)>;

/// True if the rule with the fault contradicts a case.
bool isFound(const OpDef& def, const std::vector<Case>& cases, const Fault& fault) {
  OpDef broken = def;
  broken.inferShapes = [&](const ShapeArgs& args) -> Result<std::vector<TensorDesc>> {
    OPKIT_ASSIGN(auto outputs, def.inferShapes(args));
    fault(outputs);
    return outputs;
  };
  return std::ranges::any_of(cases, [&](const Case& c) { return !checkShapes(c, broken).isOk(); });
}

/// The largest rank that a case has at an output; nullopt if none has the output.
std::optional<size_t> rankAt(const std::vector<Case>& cases, size_t output) {
  std::optional<size_t> rank;
  for (const Case& c : cases)
    if (output < c.shapes.size()) rank = std::max(rank.value_or(0), c.shapes[output].shape.size());
  return rank;
}

TEST(StoredShapes, NoWrongExtentRankOrTypeAgrees) {
  size_t faults = 0;
  for (const OpDef* def : cardsWithARule()) {
    const auto own = witnesses().find(def->type);
    if (own == witnesses().end()) continue;
    for (size_t output = 0; output < def->outputs.size(); ++output) {
      const std::string where = fmt::format("{}, output {} '{}'", def->type, output, def->outputs[output].name);
      const auto rank = rankAt(own->second, output);
      if (!rank) {
        ADD_FAILURE() << where << ": no stored shape";
        continue;
      }
      const auto expectFound = [&](const std::string& what, const Fault& fault) {
        ++faults;
        EXPECT_TRUE(isFound(*def, own->second, fault)) << where << ": " << what;
      };
      for (size_t axis = 0; axis < *rank; ++axis)
        for (const int64_t change : {1, -1})
          expectFound(fmt::format("axis {} {:+}", axis, change), [=](std::vector<TensorDesc>& outputs) {
            if (output < outputs.size() && axis < outputs[output].shape.size()) outputs[output].shape[axis] += change;
          });
      expectFound("rank + 1", [=](std::vector<TensorDesc>& outputs) {
        if (output < outputs.size()) outputs[output].shape.push_back(1);
      });
      expectFound("dtype", [=](std::vector<TensorDesc>& outputs) {
        if (output < outputs.size())
          outputs[output].dtype = outputs[output].dtype == DType::Float32 ? DType::Int64 : DType::Float32;
      });
    }
  }
  EXPECT_GT(faults, 1000u);
}

/// The operator itself makes these extents (global pools) or outputs (states of optimizers) equal.
bool isAlike(const std::string& type, size_t axis) {
  const bool isState = type == "Adagrad" || type == "Adam" || type == "Momentum";
  return isState || (type.find("Global") != std::string::npos && axis >= 2);
}

/// Neighbouring extents in the wrong order, and the description of another output, must not agree either.
TEST(StoredShapes, NoExtentOfAnotherAxisOrOutputAgrees) {
  size_t faults = 0;
  std::string missing;
  for (const OpDef* def : cardsWithARule()) {
    const auto own = witnesses().find(def->type);
    if (own == witnesses().end()) continue;
    for (size_t output = 0; output < def->outputs.size(); ++output) {
      const size_t rank = rankAt(own->second, output).value_or(0);
      for (size_t axis = 0; axis + 1 < rank; ++axis) {
        if (isAlike(def->type, axis)) continue;
        ++faults;
        const bool found = isFound(*def, own->second, [=](std::vector<TensorDesc>& outputs) {
          if (output >= outputs.size() || axis + 1 >= outputs[output].shape.size()) return;
          std::swap(outputs[output].shape[axis], outputs[output].shape[axis + 1]);
        });
        if (!found) missing += fmt::format("{} output {} axes {} and {}\n", def->type, output, axis, axis + 1);
      }
      if (output == 0 || isAlike(def->type, 0)) continue;
      ++faults;
      const bool found = isFound(*def, own->second, [=](std::vector<TensorDesc>& outputs) {
        if (output < outputs.size()) outputs[output] = outputs[0];
      });
      if (!found) missing += fmt::format("{} output {} like output 0\n", def->type, output);
    }
  }
  EXPECT_EQ(missing, "");
  EXPECT_GT(faults, 300u);
}

/// A stored extent that is a quotient of no whole number, rounded.
struct RoundedExtent {
  const char* id;
  size_t axis;  // of output 0
  double numerator, denominator;
  double (*rounding)(double);
  int64_t added = 0;
};

double toNearest(double x) { return std::floor(x + 0.5); }

constexpr double (*kFloor)(double) = std::floor;
constexpr double (*kCeil)(double) = std::ceil;
constexpr double (*kNearest)(double) = toNearest;

/// Together the rows of an operator tell each of its roundings from the other two.
const std::vector<RoundedExtent>& roundedExtents() {
  static const std::vector<RoundedExtent> rows = {
      {R"(Conv{"strides":[3,2]}/f32[1,2,10,9],f32[3,2,3,2]/normal/seed=7)", 3, 7, 2, kFloor, 1},
      {R"(Conv{"auto_pad":"SameUpper","strides":[3,2]}/f32[1,2,10,9],f32[3,2,3,2]/normal/seed=7)", 2, 10, 3, kCeil},
      {R"(ConvInteger{"strides":[3,2]}/u8[1,2,10,9],i8[3,2,3,2]/normal/seed=7)", 3, 7, 2, kFloor, 1},
      {R"(ConvInteger{"auto_pad":"SameUpper","strides":[3,2]}/u8[1,2,10,9],u8[3,2,3,2]/normal/seed=7)", 2, 10, 3,
       kCeil},
      {R"(QLinearConv{"strides":[3,2]}/u8[1,2,10,9],f32[],u8[],i8[3,2,3,2],f32[],i8[],f32[],u8[]/normal/seed=7)", 3, 7,
       2, kFloor, 1},
      {R"(DeformConv{"strides":[2,2]}/f32[1,1,8,9],f32[1,1,3,2],f32[1,12,3,4]/normal/seed=7)", 3, 7, 2, kFloor, 1},
      {R"(MaxPool{"kernel_shape":[3,2],"strides":[3,2]}/f32[1,2,10,9]/normal/seed=7/outputs=2)", 3, 7, 2, kFloor, 1},
      {R"(MaxPool{"ceil_mode":true,"kernel_shape":[3,2],"strides":[3,2]}/f32[1,2,10,9]/normal/seed=7/outputs=2)", 2, 7,
       3, kCeil, 1},
      {R"(AveragePool{"kernel_shape":[3,2],"strides":[3,2]}/f32[1,2,10,9]/normal/seed=7)", 3, 7, 2, kFloor, 1},
      {R"(AveragePool{"ceil_mode":true,"kernel_shape":[3,2],"strides":[3,2]}/f32[1,2,10,9]/normal/seed=7)", 2, 7, 3,
       kCeil, 1},
      {R"(LpPool{"kernel_shape":[3,2],"strides":[3,2]}/f32[1,2,10,9]/normal/seed=7)", 3, 7, 2, kFloor, 1},
      {R"(LpPool{"ceil_mode":true,"kernel_shape":[3,2],"strides":[3,2]}/f32[1,2,10,9]/normal/seed=7)", 2, 7, 3, kCeil,
       1},
      {R"(Resize/f32[1,2,5,7],-,f32[4]/designed/seed=7/data=[null,null,{"values":[1,1,0.7,2.3]}])", 2, 35, 10, kFloor},
      {R"(Resize{"aspect_policy":"NotLarger","axes":[1,2]}/f32[2,5,7],-,-,i64[2]/designed/seed=7/data=[null,null,null,{"values":[7,8]}])",
       1, 40, 7, kNearest},
      {R"(Resize{"aspect_policy":"NotLarger","axes":[2,1],"mode":"Linear"}/f32[1,2,10],-,-,i64[2]/designed/seed=7/data=[null,null,null,{"values":[7,8]}])",
       1, 14, 10, kNearest},
      {R"(Range/i64[],i64[],i64[]/designed/seed=7/data=[{"value":0},{"value":10},{"value":3}])", 0, 10, 3, kCeil},
      {R"(Range/f32[],f32[],f32[]/designed/seed=7/data=[{"value":0},{"value":1},{"value":0.3}])", 0, 10, 3, kCeil},
      {R"(STFT/f32[2,31,1],i64[],-,i64[]/designed/seed=7/data=[null,{"value":4},null,{"value":9}])", 1, 22, 4, kFloor,
       1},
      {R"(STFT/f32[2,31,1],i64[],-,i64[]/designed/seed=7/data=[null,{"value":4},null,{"value":9}])", 2, 9, 2, kFloor,
       1},
      {R"(DFT{"axis":1,"onesided":true}/f32[2,9,1]/normal/seed=7)", 1, 9, 2, kFloor, 1},
      {R"(FourierTransform{"axis":1,"length":37,"onesided":true}/f32[5,24,1]/normal/seed=7)", 1, 37, 2, kFloor, 1},
      {R"(FourierTransform{"axis":1,"frame_step":9}/f32[2,104,2],f32[24]/normal/seed=7)", 1, 80, 9, kFloor, 1},
      {R"(MelWeightMatrix/i64[],i64[],i64[],f32[],f32[]/designed/seed=7/data=[{"value":4},{"value":9},{"value":8192},{"value":0},{"value":4096}])",
       0, 9, 2, kFloor, 1},
      {R"(Split{"axis":-1}/f32[2,7]/normal/seed=7/outputs=3)", 1, 7, 3, kCeil},
      {R"(Slice/f32[20,10,5],i64[1],i64[1],i64[1],i64[1]/designed/seed=7/data=[null,{"values":[-1]},{"values":[-1000]},{"values":[1]},{"values":[-3]}])",
       1, 10, 3, kCeil},
  };
  return rows;
}

const Case* witness(const std::string& id) {
  for (const auto& [op, cases] : witnesses())
    for (const Case& c : cases)
      if (c.id() == id) return &c;
  return nullptr;
}

TEST(StoredShapes, QuotientsThatAreNoWholeNumbersAreRoundedAsTheSourceSays) {
  std::map<std::pair<std::string, double (*)(double)>, std::set<double (*)(double)>> told;
  for (const RoundedExtent& row : roundedExtents()) {
    const Case* const c = witness(row.id);
    ASSERT_TRUE(c) << row.id << ": no such case stores shapes";
    const double quotient = row.numerator / row.denominator;
    const double expected = row.rounding(quotient);
    EXPECT_EQ(c->shapes[0].shape[row.axis], static_cast<int64_t>(expected) + row.added) << row.id;
    auto& others = told[{c->op, row.rounding}];
    for (const auto& other : {kFloor, kCeil, kNearest})
      if (other(quotient) != expected) others.insert(other);
  }
  for (const auto& [rounding, others] : told) EXPECT_EQ(others.size(), 2u) << rounding.first;
  for (const auto& rounding : {kFloor, kCeil, kNearest})
    EXPECT_TRUE(std::ranges::any_of(told, [&](const auto& one) { return one.first.second == rounding; }));
}

std::string messageOf(const std::string& text) {
  const auto catalogue = parseCaseFile("x.cases.json", text, ops::builtinOps());
  return catalogue ? "no error" : catalogue.error().message();
}

std::string entryMessage(const std::string& fields) {
  return messageOf(R"({"cases": [], "shapes": [{"op": "Relu", "inputs": [["f32[2]"], ["f32[3]"]], )" + fields + "}]}");
}

TEST(StoredShapes, BadFormsAreNamed) {
  const std::string good = R"("shapes": [["f32[2]"], ["f32[3]"]])";
  EXPECT_EQ(entryMessage(good + R"(, "source": "a page")"), "no error");
  EXPECT_EQ(
      entryMessage(R"("shapes": [["f32[2]"]], "source": "a page")"),
      R"(x.cases.json: shapes[0]: "shapes" must hold 2 lists of outputs such as ["f32[2,3]"], one per shape set)");
  EXPECT_NE(entryMessage(R"("shapes": "f32[2]", "source": "a page")").find("must hold 2 lists"), std::string::npos);
  EXPECT_NE(entryMessage(R"("shapes": [["f32[2]"], []], "source": "a page")").find("must hold 2 lists"),
            std::string::npos);
  EXPECT_EQ(entryMessage(R"("shapes": [["f32[2]"], ["f32[3]", "f32[3]"]], "source": "a page")"),
            R"(x.cases.json: shapes[0]: "shapes" describes 2 outputs, the case has 1)");
  EXPECT_EQ(entryMessage(R"("shapes": [["f32[2]"], ["-"]], "source": "a page")"),
            R"(x.cases.json: shapes[0]: "shapes" must describe every output, got "-")");
  EXPECT_NE(entryMessage(R"("shapes": [["f32[2]"], ["T[3]"]], "source": "a page")").find("a letter without dtypes"),
            std::string::npos);
  EXPECT_EQ(
      entryMessage(good),
      R"(x.cases.json: shapes[0]: "expected" or "shapes" and "source", which says where they are from, belong together)");
  EXPECT_EQ(entryMessage(R"("outputs": 1)"),
            R"(x.cases.json: shapes[0]: "shapes" must hold the outputs of each shape set, such as [["f32[2,3]"]])");
  EXPECT_NE(entryMessage(good + R"(, "source": "a page", "lanes": ["exact"])").find("unknown key \"lanes\""),
            std::string::npos);
  EXPECT_NE(entryMessage(good + R"(, "source": "a page", "params": [])").find("stands for no case"), std::string::npos);
}

/// The status of each result of `check` on the CPU.
std::vector<std::string> checked(const std::string& text) {
  const auto catalogue = parseCaseFile("x.cases.json", text, ops::builtinOps());
  EXPECT_TRUE(catalogue) << catalogue.error().message();
  const auto runtime = createRuntime("cpu");
  EXPECT_TRUE(runtime);
  Checker checker(ops::builtinOps(), "cpu", *runtime);
  std::vector<CaseResult> results;
  for (const CaseGroup& group : catalogue->groups)
    for (CaseResult& result : checker.checkGroup(prepareGroup(group, ops::builtinOps(), true)))
      results.push_back(std::move(result));
  for (const CaseGroup& group : catalogue->shapes) results.push_back(checker.checkShapes(group));
  std::vector<std::string> texts;
  for (const CaseResult& result : results)
    texts.push_back(fmt::format("{}: {}", result.id, isFailure(result.status) ? result.reason : "pass"));
  return texts;
}

TEST(StoredShapes, CheckComparesThem) {
  const std::string right = R"("T": ["f32", "f16"], "shapes": [["T[2]"]], "source": "a page"})";
  const std::string wrong = R"("T": ["f32"], "shapes": [["T[2,1]"]], "source": "a page"})";
  const std::string relu = R"({"op": "Relu", "inputs": [["T[2]"]], )";
  EXPECT_EQ(checked(R"({"cases": [)" + relu + right + R"(], "shapes": [)" + relu + right + "]}"),
            (std::vector<std::string>{"Relu/f32[2]/normal/seed=7: pass", "Relu/f16[2]/normal/seed=7: pass",
                                      "shapes:Relu: pass"}));
  const std::string reason = "output 0 is f32[2] by the shape rule, f32[2,1] by a page";
  EXPECT_EQ(checked(R"({"cases": [)" + relu + wrong + R"(], "shapes": [)" + relu + wrong + "]}"),
            (std::vector<std::string>{"Relu/f32[2]/normal/seed=7: stored: " + reason,
                                      "shapes:Relu: stored: Relu/f32[2]/normal/seed=7: " + reason}));
}

}  // namespace
}  // namespace opkit::harness
