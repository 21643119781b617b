// The sample of an operator has every shader that any of its cases runs in the class under test.
#include "harness/check/sample.h"

#include <gtest/gtest.h>

#include "engine/backend/device_test_support.h"
#include "harness/cases/data.h"
#include "harness/check/op_model.h"
#include "harness/check/prepared.h"
#include "harness/check/shader_log.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

enum class Until { Planned, Recorded };

/// Of a Session of the case.
std::set<std::string> shadersOf(const Case& c, Until until, const std::shared_ptr<Runtime>& runtime, ShaderLog& log) {
  log.clear();
  const OpRegistry& registry = ops::builtinOps();
  const auto inputs = makeInputs(c, *registry.find(c.op));
  const auto interpreter = makeOpInterpreter(c, registry, *inputs);
  const auto session = (*interpreter)->createSession({.backend = "vulkan"}, runtime);
  EXPECT_TRUE(session && feed(**session, c, *inputs).isOk()) << c.id();
  const Status status = until == Until::Planned ? (*session)->plannedPlacement().error() : (*session)->resize();
  EXPECT_TRUE(status.isOk()) << c.id() << ": " << status.message();
  return log.shaders();
}

bool isSmall(const Case& c) {
  return std::ranges::all_of(c.inputs, [](const auto& input) { return !input || input->elements() <= 4096; });
}

class SampleOf : public testing::TestWithParam<const char*> {};

TEST_P(SampleOf, HasEveryShaderOfItsCasesInWholeCases) {
  const auto runtime = createRuntime("vulkan", {.deviceClass = GetParam()});
  OPKIT_NEEDS_DEVICE(runtime);
  const OpRegistry& registry = ops::builtinOps();
  auto catalogue = builtinCatalogue(registry);
  ASSERT_TRUE(catalogue);
  const std::vector<CasePlace> sample = sampleOf("MatMul", *catalogue, registry, "vulkan", *runtime);
  const auto log = ShaderLog::attach(**runtime);
  std::set<std::string> sampled;
  for (const CasePlace& place : sample)
    if (!place.brief)
      sampled.merge(shadersOf(catalogue->groups[place.group].cases[place.index], Until::Recorded, *runtime, *log));
  EXPECT_LE(sample.size(), 30u) << "a few cases";
  for (const CaseGroup& group : catalogue->groups)
    for (const Case& c : group.cases) {
      if (c.op != "MatMul" || !c.fallback.empty() || !isSmall(c)) continue;
      for (const std::string& shader : shadersOf(c, Until::Planned, *runtime, *log))
        EXPECT_TRUE(sampled.contains(shader)) << shader << ": " << c.id();
    }
}

INSTANTIATE_TEST_SUITE_P(Classes, SampleOf, testing::Values("software", "discrete"));

}  // namespace
}  // namespace opkit::harness
