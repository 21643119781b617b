// The key "kernel" of a case: the kernel that must run it.
#include <gtest/gtest.h>

#include "harness/cases/accept.h"
#include "harness/cases/vary.h"
#include "harness/testing/check_all.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

/// The built-in operators, where a copy of Relu's kernel for f32 comes first, with another refusal.
OpRegistry withKernel(Status (*supports)(const CreateArgs&)) {
  OpRegistry registry = ops::builtinOps();
  Creator creator = registry.creators("cpu", "Relu").front();
  creator.supports = supports;
  creator.kernel = "fused";
  registry.addFirstCreator("cpu", "Relu", creator);
  return registry;
}

OpRegistry taking() {
  return withKernel([](const CreateArgs& args) {
    return args.input(0).elements() == 12 ? Status::ok() : Status::unsupported("Relu: fused takes 12 elements");
  });
}

CaseResult checkNamed(const OpRegistry& registry, const std::string& kernel, const std::string& input = "f32[12]") {
  const auto results = checkAll(
      registry, "cpu", R"({"cases": [{"op": "Relu", "inputs": [[")" + input + R"("]], "kernel": )" + kernel + "}]}");
  EXPECT_EQ(results.size(), 1u);
  return results.empty() ? CaseResult() : results.front();
}

TEST(NamedKernel, MustRunTheCase) {
  const OpRegistry registry = taking();
  for (const char* kernel : {R"({"cpu": "opkit/fused"})", R"({"cpu": "fused"})", R"({"vulkan": "opkit/other"})"}) {
    const CaseResult result = checkNamed(registry, kernel);
    EXPECT_EQ(result.status, CaseStatus::Pass) << kernel << ": " << result.reason;
    EXPECT_EQ(result.kernel, "fused");
  }
}

TEST(NamedKernel, AnotherKernelFailsTheCaseInOneLine) {
  const OpRegistry registry = taking();
  const CaseResult refused = checkNamed(registry, R"({"cpu": "opkit/fused"})", "f32[13]");
  EXPECT_EQ(refused.status, CaseStatus::Fail);
  EXPECT_TRUE(refused.failed("placement"));
  EXPECT_NE(refused.reason.find("declared to run the kernel opkit/fused, but opkit/vector ran; refused: cpu/opkit: "
                                "Relu: fused takes 12 elements"),
            std::string::npos)
      << refused.reason;
  EXPECT_EQ(refused.reason.find('\n'), std::string::npos);
  const CaseResult behind = checkNamed(registry, R"({"cpu": "opkit/vector"})");
  EXPECT_NE(behind.reason.find("but opkit/fused ran; opkit/fused comes first and takes this case, so opkit/vector was "
                               "not asked"),
            std::string::npos)
      << behind.reason;
  EXPECT_EQ(checkNamed(registry, R"({"cpu": "opkit/fuse"})").status, CaseStatus::Fail) << "a part of a name";
}

TEST(NamedKernel, ALimitOfTheDeviceIsNoFailure) {
  const OpRegistry registry =
      withKernel([](const CreateArgs&) { return Status::unsupportedByDevice("Relu: the device is too small"); });
  const CaseResult result = checkNamed(registry, R"({"cpu": "opkit/fused"})");
  EXPECT_EQ(result.status, CaseStatus::Unsupported) << result.reason;
  EXPECT_NE(result.reason.find("the device is too small"), std::string::npos);
}

TEST(NamedKernel, CasesOfOtherShapesMayRunAny) {
  Case c;
  c.op = "Relu";
  c.inputs = {TensorDesc{DType::Float32, {12}}};
  c.kernel = {{"cpu", "opkit/fused"}};
  for (const Case& stop : walkStops(c)) EXPECT_TRUE(stop.kernel.empty()) << stop.id();
  markDrawn(c, "drawn");
  EXPECT_TRUE(c.kernel.empty());
}

TEST(NamedKernel, TheFormIsChecked) {
  const auto message = [](const std::string& more) {
    const std::string text = R"({"cases": [{"op": "Relu", "inputs": [["f32[12]"]], )" + more + "}]}";
    return parseCaseFile("test", text, ops::builtinOps()).error().message();
  };
  EXPECT_EQ(message(R"("kernel": {"cpu": "opkit/vector"}, "fallback": {"vulkan": "why"})"), "");
  EXPECT_NE(message(R"("kernel": "fused")").find("\"kernel\" must be an object, one text per backend"),
            std::string::npos);
  EXPECT_NE(message(R"("kernel": {"cpu": ""})").find("must be the kernel that must run it"), std::string::npos);
  EXPECT_NE(message(R"("kernel": {"cpu": "a"}, "fallback": {"cpu": "b"})").find("\"fallback\" that cpu refuses it"),
            std::string::npos);
}

}  // namespace
}  // namespace opkit::harness
