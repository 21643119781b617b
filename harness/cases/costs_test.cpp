#include "harness/cases/costs.h"

#include <gtest/gtest.h>

#include "harness/cases/case_file.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

CaseWork work(const std::string& id) {
  const auto c = parseCaseId(id);
  EXPECT_TRUE(c) << c.error().message();
  return workOf(*c, *ops::builtinOps().find(c->op));
}

TEST(Costs, WorkCountsInputsAndOutputs) {
  const CaseWork product = work("MatMul/f32[100,200],f32[200,50]/normal/seed=7");
  EXPECT_NEAR(product.elements, 0.02 + 0.01 + 0.005, 1e-9);
  EXPECT_NEAR(product.flops, 2e-9 * 100 * 200 * 50, 1e-12);
  EXPECT_NEAR(product.steps, 0.02, 1e-9);
  EXPECT_NEAR(product.rows, 0.01, 1e-9);
  EXPECT_NEAR(work(R"(Reshape/f32[6,5],i64[2]/designed/seed=7/data=[null,{"values":[3,10]}])").elements, 62e-6, 1e-9);
}

TEST(Costs, RatesAreFoundAgain) {
  const CostRates rates = {0.01, 2, 0, 0.5, 0.25};
  std::vector<CostSample> samples;
  for (int i = 0; i < 40; ++i) {
    CostSample sample{{1, 0.01 * (i % 7), 0.03 * (i % 5), 0.2 * (i % 3), 0.3 * (i % 11)}, 0};
    const auto parts = sample.work.parts();
    for (size_t p = 0; p < parts.size(); ++p) sample.seconds += rates[p] * parts[p];
    samples.push_back(sample);
  }
  const CostRates found = fitRates(samples);
  for (size_t p = 0; p < rates.size(); ++p) EXPECT_NEAR(found[p], rates[p], 1e-3) << p;
}

TEST(Costs, AWrongLineIsNamed) {
  EXPECT_EQ(CaseCosts::parse("# text\n\nRelu\tcpu\t1\t2\t3\t4\t5").error().message(),
            "line 3: expected an operator, a backend and 6 numbers, got 'Relu\tcpu\t1\t2\t3\t4\t5'");
  EXPECT_EQ(CaseCosts::parse("core\t12x").error().message(), "line 1: expected core and a hash, got 'core\t12x'");
  EXPECT_EQ(CaseCosts::parse("brief\t12 3").error().message(), "line 1: expected brief and a hash, got 'brief\t12 3'");
}

TEST(Costs, EstimatesEndAtWhatWasRecorded) {
  const auto costs =
      CaseCosts::parse("*\tcpu\t1\t0\t0\t0\t0\t7\nRelu\tcpu\t1\t2\t3\t4\t5\t50\ncore\t00000000000000ff\nbrief\tfe\n");
  ASSERT_TRUE(costs) << costs.error().message();
  EXPECT_DOUBLE_EQ(costs->seconds("Relu", {1, 1, 1, 1, 1}, "cpu"), 15);
  EXPECT_DOUBLE_EQ(costs->seconds("Relu", {1, 1e6, 1, 1, 1}, "cpu"), 50);
  EXPECT_DOUBLE_EQ(costs->seconds("Gelu", {1, 1, 1, 1, 1}, "cpu"), 1) << "as others";
  EXPECT_TRUE(costs->knows("Relu"));
  EXPECT_FALSE(costs->knows("Gelu"));
  EXPECT_TRUE(costs->isCore(255));
  EXPECT_FALSE(costs->isCore(254));
  EXPECT_TRUE(costs->isBriefCore(254));
  EXPECT_FALSE(costs->isBriefCore(255));
}

TEST(Costs, AWrittenCaseOverASecondSaysWhy) {
  const OpRegistry registry = ops::builtinOps();
  const auto catalogue = builtinCatalogue(registry);
  ASSERT_TRUE(catalogue);
  std::string silent;
  for (const CaseGroup& group : catalogue->groups)
    for (const Case& c : group.cases) {
      const CaseWork work = workOf(c, *registry.find(c.op));
      for (const char* backend : {"cpu", "vulkan"})
        if (const double seconds = CaseCosts::builtin().seconds(c.op, work, backend); seconds > 1 && c.costly.empty())
          silent += fmt::format("  {:.1f} s on {}: {}\n", seconds, backend, c.id());
    }
  EXPECT_TRUE(silent.empty()) << "make them smaller, or say why with \"costly\" (harness/cases.md):\n" << silent;
}

TEST(Costs, TheCoverTakesWhatIsNewPerSecond) {
  EXPECT_EQ(cheapestCover({{1, {1, 2}}, {10, {1, 2, 3}}, {1, {3}}, {0.1, {2}}}), (std::vector<size_t>{3, 0, 2}));
  EXPECT_TRUE(cheapestCover({}).empty());
}

}  // namespace
}  // namespace opkit::harness
