// Nodes that leave out an output, at the end or before others: the other outputs stay the same. Models drop outputs
// that nothing reads, those that the operator requires too.
#include <gtest/gtest.h>

#include <set>

#include "engine/backend/device_test_support.h"
#include "harness/check/op_model.h"
#include "harness/check/prepared.h"
#include "harness/compare/expected.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

/// The first small case per operator that has all outputs which its written cases ask for.
std::vector<Case> casesOfManyOutputs(const OpRegistry& registry) {
  const auto catalogue = builtinCatalogue(registry);
  EXPECT_TRUE(catalogue) << catalogue.error().message();
  std::map<std::string, Case> most;
  if (!catalogue) return {};
  for (const CaseGroup& group : catalogue->groups)
    for (const Case& c : group.cases) {
      const OpDef& def = *registry.find(c.op);
      if (!c.size.empty() || !c.costly.empty() || !c.fallback.empty() || def.control) continue;
      const auto outputsOf = [&](const Case& any) { return any.outputs ? any.outputs : requiredOutputs(def); };
      const auto known = most.find(c.op);
      if (outputsOf(c) > (known == most.end() ? 1 : outputsOf(known->second))) most.insert_or_assign(c.op, c);
    }
  std::vector<Case> cases;
  for (const auto& [op, c] : most) cases.push_back(c);
  return cases;
}

struct Device {
  std::string backend;
  std::shared_ptr<Runtime> runtime;
};

Result<std::vector<Tensor>> run(const Model& model, const PreparedCase& c, const Device& device) {
  OPKIT_ASSIGN(const auto interpreter, Interpreter::create(model, ops::builtinOps()));
  OPKIT_ASSIGN(const auto session, interpreter->createSession({.backend = device.backend}, device.runtime));
  OPKIT_TRY(feed(*session, c.description, c.inputs));
  OPKIT_TRY(session->resize());
  OPKIT_TRY(session->run());
  return copyOutputs(*session);
}

/// The number of outputs that were left out in turn.
size_t leaveOutEach(const PreparedCase& c, const Device& device) {
  const auto interpreter = makeOpInterpreter(c.description, ops::builtinOps(), c.inputs);
  EXPECT_TRUE(interpreter) << c.description.id();
  if (!interpreter) return 0;
  const Model& model = (*interpreter)->model();
  const auto all = run(model, c, device);
  EXPECT_TRUE(all) << c.description.id() << ": " << all.error().message();
  if (!all) return 0;
  for (size_t i = 0; i < all->size(); ++i) {
    Model without = model;
    without.nodes[NodeId(0)].outputs[i] = {};
    if (i + 1 == all->size()) without.nodes[NodeId(0)].outputs.pop_back();
    without.outputs.erase(without.outputs.begin() + static_cast<ptrdiff_t>(i));
    std::vector<Tensor> expected = *all;
    expected.erase(expected.begin() + static_cast<ptrdiff_t>(i));
    const auto rest = run(without, c, device);
    EXPECT_TRUE(rest) << c.description.id() << " without output " << i << ": " << rest.error().message();
    if (!rest) continue;
    const Status same = sameBits(expected, *rest, true);
    EXPECT_TRUE(same.isOk()) << c.description.id() << " without output " << i << ": " << same.message();
  }
  return all->size();
}

void leaveOutAll(const std::string& backend) {
  const auto runtime = createRuntime(backend, {});
  OPKIT_NEEDS_DEVICE(runtime);
  size_t leftOut = 0;
  for (const Case& c : casesOfManyOutputs(ops::builtinOps())) {
    // The number of parts of a variadic port is what Split depends on.
    if (ops::builtinOps().find(c.op)->outputs.back().kind == Port::Kind::Variadic) continue;
    const PreparedCase prepared = prepareCase(c, ops::builtinOps());
    if (prepared.status.isOk()) leftOut += leaveOutEach(prepared, {backend, *runtime});
  }
  EXPECT_GE(leftOut, 40u);
}

TEST(LeftOutOutputs, ChangeNoOtherOnTheCpu) { leaveOutAll("cpu"); }
TEST(LeftOutOutputs, ChangeNoOtherInTheOracle) { leaveOutAll("reference"); }
TEST(LeftOutOutputs, ChangeNoOtherOnVulkan) { leaveOutAll("vulkan"); }

}  // namespace
}  // namespace opkit::harness
