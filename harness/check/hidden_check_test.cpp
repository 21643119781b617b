// The sub-check `hidden`: kernels and cards that are wrong only where an element is hidden, and the cases of the cards
// that name hidden elements.
#include "harness/check/hidden_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "harness/testing/function_kernel.h"

namespace opkit::harness {
namespace {

/// How a kernel of Where gets z from the chosen and the other element.
using Mixed = float (*)(float chosen, float other);
float chosenAlone(float chosen, float) { return chosen; }
float weighted(float chosen, float other) { return 1 * chosen + 0 * other; }
float readsInfinity(float chosen, float other) { return std::isinf(other) ? chosen + 1 : chosen; }

FunctionKernel::Run whereBy(Mixed mixed) {
  return [mixed](TensorList inputs, TensorList outputs, Backend&) {
    const auto condition = inputs[0]->data<uint8_t>();
    const auto x = inputs[1]->data<float>(), y = inputs[2]->data<float>(), z = outputs[0]->data<float>();
    for (size_t i = 0; i < z.size(); ++i) z[i] = condition[i] != 0 ? mixed(x[i], y[i]) : mixed(y[i], x[i]);
    return Status::ok();
  };
}

CaseResult checkWhere(const OpRegistry& registry) {
  return checkEntry(registry, "cpu", R"({"op": "Where", "inputs": [["bool[5,7]", "f32[5,7]", "f32[5,7]"]]})").front();
}

CaseResult checkWhere(Mixed mixed) {
  return checkWhere(withKernel("Where", [mixed] { return whereBy(mixed); }));
}

std::string skipReason(const CaseResult& result) {
  for (const NotRun& note : result.notRun)
    if (note.name == "hidden") return note.reason;
  return "";
}

TEST(HiddenCheck, AKernelThatChoosesPasses) {
  const CaseResult result = checkWhere(chosenAlone);
  EXPECT_EQ(result.provider, "broken");
  EXPECT_EQ(result.status, CaseStatus::Pass) << result.reason;
  EXPECT_EQ(skipReason(result), "") << "it ran";
}

TEST(HiddenCheck, AKernelThatWeighsIsCaught) {
  const CaseResult result = checkWhere(weighted);
  EXPECT_TRUE(result.failed("hidden")) << result.reason;
  for (const char* other : {"accuracy", "providers", "pages", "threads"}) EXPECT_FALSE(result.failed(other)) << other;
  EXPECT_NE(result.reason.find("hidden elements"), std::string::npos) << result.reason;
}

TEST(HiddenCheck, AKernelThatIsWrongForInfinityAloneIsCaught) {
  const CaseResult result = checkWhere(readsInfinity);
  EXPECT_TRUE(result.failed("hidden")) << result.reason;
  EXPECT_NE(result.reason.find("infinity in hidden elements"), std::string::npos) << result.reason;
}

TEST(HiddenCheck, EveryKernelMustPass) {
  OpRegistry registry = withKernel("Where", [] { return whereBy(weighted); });
  addFunctionKernel(
      registry, "Where", [] { return whereBy(chosenAlone); }, "first");
  const CaseResult result = checkWhere(registry);
  EXPECT_EQ(result.provider, "first");
  EXPECT_TRUE(result.failed("hidden")) << result.reason;
  EXPECT_FALSE(result.failed("providers")) << result.reason;
  EXPECT_NE(result.reason.find("broken"), std::string::npos) << result.reason;
}

TEST(HiddenCheck, ACardThatNamesTooMuchIsCaught) {
  OpRegistry registry = ops::builtinOps();
  OpDef card = *registry.find("Where");
  const auto allOfX = [](const OracleArgs& args) {
    HiddenElements all(args.inputs.size());
    all[1].assign(args.input(1).real.size(), true);
    return all;
  };
  card.oracle = hiding(card.oracle, allOfX);
  registry.replace(card);
  const CaseResult result = checkWhere(registry);
  EXPECT_TRUE(result.failed("hidden")) << result.reason;
  EXPECT_NE(result.reason.find("the oracle reads elements that the card calls hidden"), std::string::npos);
}

TEST(HiddenCheck, SaysWhyItDoesNotRun) {
  const auto reasonOf = [](const char* entry) {
    return skipReason(checkEntry(ops::builtinOps(), "cpu", entry).front());
  };
  EXPECT_EQ(reasonOf(R"({"op": "Relu", "inputs": [["f32[7]"]]})"), "the operator hides no element of an input");
  for (const char* none : {R"({"op": "Where", "inputs": [["bool[7]", "i32[7]", "i32[7]"]]})",
                           R"({"op": "FusedAttention", "inputs": [["f32[1,1,3,4]", "f32[1,1,5,4]", "f32[1,1,5,4]"]]})"})
    EXPECT_EQ(reasonOf(none), "the case hides no element of a floating input");
}

/// Otherwise the sub-check of that operator would run nowhere.
TEST(HiddenCheck, EveryCardThatNamesHiddenElementsHasACase) {
  const OpRegistry& registry = ops::builtinOps();
  const auto catalogue = builtinCatalogue(registry);
  ASSERT_TRUE(catalogue) << catalogue.error().message();
  std::set<std::string> open;
  for (const OpDef* def : registry.all())
    if (hiddenOf(def->oracle)) open.insert(def->type);
  EXPECT_GE(open.size(), 12u);
  for (const CaseGroup& group : catalogue->groups)
    for (const Case& c : group.cases) {
      if (!open.contains(c.op)) continue;
      if (!c.size.empty()) continue;
      const PreparedCase prepared = prepareCase(c, registry);
      if (prepared.status.isOk() && hiddenElements(*registry.find(c.op), prepared)) open.erase(c.op);
    }
  for (const std::string& op : open) ADD_FAILURE() << op << ": no written case hides an element of a floating input";
}

}  // namespace
}  // namespace opkit::harness
