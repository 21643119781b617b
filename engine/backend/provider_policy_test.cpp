#include "engine/backend/provider_policy.h"

#include <gtest/gtest.h>

#include "engine/op/op_registry.h"

namespace opkit {
namespace {

using Kind = ProviderRule::Kind;

OpDef defOf(const std::string& type) {
  return {.type = type, .outputs = {{"y"}}, .inferShapes = [](const ShapeArgs&) -> Result<std::vector<TensorDesc>> {
            return std::vector{TensorDesc{DType::Float32, {1}}};
          }};
}

Creator creatorOf(const std::string& provider, DTypeSet dtypes = kAnyDType, const std::string& kernel = "") {
  return {.provider = provider,
          .supports = [](const CreateArgs&) { return Status::ok(); },
          .dtypes = dtypes,
          .kernel = kernel};
}

class ProviderPolicyTest : public ::testing::Test {
 protected:
  ProviderPolicyTest() {
    for (const char* type : {"Conv", "Relu"}) {
      registry.add(defOf(type));
      for (const char* provider : {"a", "b", "c"}) registry.addCreator("cpu", type, creatorOf(provider));
    }
    OpDef lowered = defOf("Flip");
    lowered.lower = [](const ShapeArgs&, auto) -> Result<std::vector<RegionList>> { return std::vector<RegionList>(); };
    registry.add(lowered);
  }
  /// "b|a: reason; c: reason": the chosen provider and the refusals.
  std::string choose(const std::string& type) {
    const std::vector<TensorDesc> outputs = {{DType::Float32, {1}}};
    const CreateArgs args{*registry.find(type), {}, {}, outputs, {}, caps};
    const Choice choice = chooseCreator(registry.creators("cpu", type), args, policy);
    std::string text = (choice.creator ? choice.creator->provider : "none") + "|";
    for (const Refusal& refusal : choice.refusals) text += refusal.provider + ": " + refusal.reason + ";";
    return text;
  }
  void add(Kind kind, const char* text) { ASSERT_TRUE(policy.add(kind, text).isOk()); }

  OpRegistry registry;
  ProviderPolicy policy;
  DeviceCaps caps;
};

TEST_F(ProviderPolicyTest, KeepsTheTablesOrderWithoutRules) { EXPECT_EQ(choose("Conv"), "a|"); }

TEST_F(ProviderPolicyTest, PreferredComeFirstInTheOrderOfTheRules) {
  add(Kind::Prefer, "c");
  add(Kind::Prefer, "Conv=b");
  EXPECT_EQ(choose("Conv"), "b|");
  EXPECT_EQ(choose("Relu"), "c|");
}

TEST_F(ProviderPolicyTest, ForbiddenAreRefusedAndSaySo) {
  add(Kind::Forbid, "Conv=a");
  add(Kind::Forbid, "c");
  EXPECT_EQ(choose("Conv"), "b|a: provider a is forbidden for Conv;c: provider c is forbidden for this session;");
  EXPECT_EQ(choose("Relu"), "a|c: provider c is forbidden for this session;");
}

TEST_F(ProviderPolicyTest, ForcedRulesOutAllOthers) {
  add(Kind::Force, "Conv=c");
  add(Kind::Forbid, "c");
  EXPECT_EQ(choose("Conv"), "c|a: provider c is forced for Conv;b: provider c is forced for Conv;");
  EXPECT_EQ(choose("Relu"), "a|c: provider c is forbidden for this session;");
  policy.rules.clear();
  add(Kind::Force, "b");
  EXPECT_EQ(choose("Relu"), "b|a: provider b is forced for this session;c: provider b is forced for this session;");
}

TEST_F(ProviderPolicyTest, UnknownNamesListTheKnown) {
  const auto message = [&](Kind kind, const char* text) {
    ProviderPolicy one;
    EXPECT_TRUE(one.add(kind, text).isOk());
    return one.check(registry).message();
  };
  EXPECT_EQ(message(Kind::Prefer, "Conv=x"), "prefer Conv=x: Conv has no provider 'x'; known: a, b, c");
  EXPECT_EQ(message(Kind::Forbid, "x"), "forbid x: this session has no provider 'x'; known: a, b, c");
  EXPECT_EQ(message(Kind::Force, "Conf=a"), "force Conf=a: unknown operator 'Conf'; known: Conv, Flip, Relu");
  EXPECT_EQ(message(Kind::Force, "Flip=a"),
            "force Flip=a: Flip has no kernels to choose among: it is lowered to a raster");
  EXPECT_EQ(message(Kind::Force, "Conv=a"), "");
  EXPECT_EQ(policy.add(Kind::Force, "Conv=").message(), "force: expected PROVIDER or OPERATOR=PROVIDER, got 'Conv='");
  EXPECT_FALSE(policy.add(Kind::Force, "=a").isOk());
}

TEST_F(ProviderPolicyTest, RefusesContradictions) {
  add(Kind::Force, "Conv=a");
  add(Kind::Forbid, "Conv=a");
  EXPECT_EQ(policy.check(registry).message(), "force Conv=a: provider 'a' is also forbidden for Conv");
}

TEST(OpRegistry, RefusesDuplicateKeys) {
  OpRegistry registry;
  registry.add(defOf("Conv"));
  const auto add = [&](Creator creator) { return registry.tryAddCreator("cpu", "Conv", std::move(creator)); };
  EXPECT_TRUE(add(creatorOf("a", DTypeSet(DType::Float32))).isOk());
  EXPECT_TRUE(add(creatorOf("a", DTypeSet(DType::Float16))).isOk());
  EXPECT_TRUE(add(creatorOf("a", DTypeSet(DType::Float32), "direct")).isOk());
  EXPECT_EQ(add(creatorOf("a", kFloats)).message(),
            "duplicate kernel (cpu, a, f32, f16, f64, Conv): the key is taken by one for f32");
  EXPECT_EQ(registry.tryAddCreator("cpu", "Nope", creatorOf("a")).message(),
            "kernel (cpu, a): unknown operator 'Nope'");
  OpDef lowered = defOf("Flip");
  lowered.lower = [](const ShapeArgs&, auto) -> Result<std::vector<RegionList>> { return std::vector<RegionList>(); };
  registry.add(lowered);
  EXPECT_EQ(
      registry.tryAddCreator("cpu", "Flip", creatorOf("a")).message(),
      "kernel (cpu, a) of Flip: the operator takes no kernels: it only moves data, which each backend does with one "
      "kernel for all such operators");
  EXPECT_EQ(registry.tryAdd(defOf("Conv")).message(), "operator Conv: the type is taken");
  EXPECT_FALSE(registry.tryAdd({.type = "NoRule"}).isOk());
  EXPECT_EQ(registry.creators("cpu", "Conv").size(), 3u);
}

TEST(Creator, RefusesOtherDTypesBeforeAskingTheKernel) {
  OpRegistry registry;
  registry.add(defOf("Conv"));
  registry.addCreator("cpu", "Conv", creatorOf("a", DTypeSet(DType::Float32)));
  const TensorDesc mask{DType::Bool, {1}}, half{DType::Float16, {1}};
  const std::vector<const TensorDesc*> inputs = {&mask, &half};  // keyed by the first input that is not bool
  const DeviceCaps caps;
  const CreateArgs args{*registry.find("Conv"), {}, inputs, {}, {}, caps};
  const Choice choice = chooseCreator(registry.creators("cpu", "Conv"), args);
  EXPECT_FALSE(choice.creator);
  ASSERT_EQ(choice.refusals.size(), 1u);
  EXPECT_EQ(choice.refusals[0].reason, "Conv: the a kernel takes f32, got f16");
}

TEST(Creator, SaysWhatTheLoopLimitAloneRefuses) {
  const auto needs = [](uint64_t passes, bool ableOtherwise) {
    Creator creator = creatorOf("a");
    creator.supports = [=](const CreateArgs& args) {
      if (!ableOtherwise) return Status::unsupported("no");
      return passes <= args.device.loopIterations ? Status::ok() : Status::unsupportedByDevice("too long");
    };
    return creator;
  };
  const OpDef def = defOf("Conv");
  const auto limitOf = [&](const Creator& creator, uint64_t iterations) {
    DeviceCaps caps;
    caps.loopIterations = iterations;
    const Choice choice = chooseCreator({&creator, 1}, {def, {}, {}, {}, {}, caps});
    EXPECT_EQ(choice.refusals.size(), 1u);
    return choice.refusals.empty() ? 0 : choice.refusals[0].loopLimit;
  };
  EXPECT_EQ(limitOf(needs(101, true), 100), 100u);
  EXPECT_EQ(limitOf(needs(101, false), 100), 0u) << "it would refuse without the limit, too";
  EXPECT_EQ(limitOf(needs(101, false), UINT64_MAX), 0u);
}

}  // namespace
}  // namespace opkit
