// Cases that prove nothing are found.
#include "harness/check/trust.h"

#include <map>

#include "harness/testing/check_all.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

TEST(Trust, MostlyZeroProvesLittle) {
  const auto results = checkAll(ops::builtinOps(), "cpu",
                                R"({"cases": [{"op": "MatMul", "inputs": [["f32[4,4]", "f32[4,4]"]], "lanes": ["exact"],
                                     "data": [{"value": 0}, null]}]})");
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].status, CaseStatus::Pass) << "zero terms: the magnitudes are zero too";
  PreparedCase sparse;
  OpDef def;
  def.numeric = NumericClass::Sum;
  sparse.expected.emplace_back(TensorDesc{DType::Float32, {10}});
  sparse.expected[0].real = {0, 0, 0, 0, -1, 2, 3, 4, 5, 6};
  sparse.expected[0].magnitude.assign(10, 1.0);
  EXPECT_FALSE(checkZeros(def, sparse).isOk());
  sparse.expected[0].real = {0, 0, 0, 3, -1, 2, 3, 4, 5, 6};
  EXPECT_TRUE(checkZeros(def, sparse).isOk());
  sparse.expected[0].real = {0, 0, 0, 0, 0, 0, 3, 4, 5, 6};
  EXPECT_TRUE(checkZeros(def, sparse).isOk()) << "clamped at zero";
  sparse.expected[0].real = {0, 0, 0, 0, 0, 0, 0, 0, 5, 6};
  EXPECT_FALSE(checkZeros(def, sparse).isOk());
}

/// A case of `lane` whose oracle gave these values; the sums over them have the magnitude and number of terms.
PreparedCase preparedAs(Lane lane, DType dtype, const std::vector<double>& values, double magnitude) {
  PreparedCase c;
  c.description.lane = lane;
  OracleTensor& y = c.expected.emplace_back(TensorDesc{dtype, {static_cast<int64_t>(values.size())}});
  y.real = values;
  y.magnitude.assign(values.size(), magnitude);
  y.terms = 9;
  return c;
}

TEST(Trust, EveryClassNoticesAValueJustOutsideItsBound) {
  const std::vector<double> values = {-3, 0.1, 7e-5, 0.25, 1e-3, 2, -0.7, 5, 1.0 / 3};
  for (int numeric = 0; numeric <= static_cast<int>(NumericClass::Cast); ++numeric)
    for (const Lane lane : {Lane::Normal, Lane::Designed, Lane::Exact})
      for (const DType dtype : {DType::Float32, DType::Float16, DType::Float64}) {
        OpDef def;
        def.numeric = static_cast<NumericClass>(numeric);
        const Status trusted = checkBounds(def, preparedAs(lane, dtype, values, 5));
        EXPECT_TRUE(trusted.isOk()) << numeric << " " << nameOf(lane) << " " << nameOf(dtype) << trusted.message();
      }
}

// A bound around them reaches infinity: any number further from zero would pass as infinity, so that one nearer to zero
// has to be noticed.
TEST(Trust, ABoundThatReachesInfinityIsNoticedFromBelow) {
  const std::map<DType, double> largest = {
      {DType::Float16, 65504}, {DType::Float32, 3.4028234e38}, {DType::Float64, 1.797e308}};
  for (const NumericClass numeric :
       {NumericClass::Sum, NumericClass::Norm, NumericClass::OneRounding, NumericClass::Products})
    for (const auto& [dtype, value] : largest)
      for (const double at : {value, -value, value * 0.9999}) {
        OpDef def;
        def.numeric = numeric;
        const Status trusted = checkBounds(def, preparedAs(Lane::Designed, dtype, {at, 1, at}, value));
        EXPECT_TRUE(trusted.isOk()) << static_cast<int>(numeric) << " " << nameOf(dtype) << " " << at
                                    << trusted.message();
      }
}

TEST(Trust, ABoundAsLargeAsTheValuesProvesLittle) {
  OpDef def;
  def.numeric = NumericClass::Sum;
  const std::vector<double> values(10, 1e-3);
  EXPECT_TRUE(checkBounds(def, preparedAs(Lane::Designed, DType::Float32, values, 1)).isOk());
  const Status cancelled = checkBounds(def, preparedAs(Lane::Designed, DType::Float32, values, 1e6));
  EXPECT_NE(cancelled.message().find("10 of 10 expected elements of output 0 would pass as zero"), std::string::npos);
  // Of a single element: the bound swallows whatever the kernel writes.
  const Status infinite = checkBounds(def, preparedAs(Lane::Designed, DType::Float32, {1}, INFINITY));
  EXPECT_NE(infinite.message().find("a value just outside the bound of element [0] passes"), std::string::npos)
      << infinite.message();
  // NaN grants nothing, not even to the right result.
  const Status nothing = checkBounds(def, preparedAs(Lane::Designed, DType::Float32, {1}, NAN));
  EXPECT_NE(nothing.message().find("the oracle's own result does not pass"), std::string::npos) << nothing.message();
}

TEST(Trust, AnOracleOfSumsWithoutMagnitudesGivesTooSmallABound) {
  OpDef def;
  def.numeric = NumericClass::Sum;
  PreparedCase c = preparedAs(Lane::Normal, DType::Float32, {1, 2, 3, 4}, 5);
  c.expected[0].magnitude.clear();
  EXPECT_TRUE(checkBounds(def, c).isOk()) << "a script gives values alone";
  def.oracle = [](const OracleArgs&) { return Status::ok(); };
  EXPECT_NE(checkBounds(def, c).message().find("reports no sum of |terms|"), std::string::npos);
  def.numeric = NumericClass::OneRounding;
  EXPECT_TRUE(checkBounds(def, c).isOk());
}

TEST(Trust, DesignedCasesAreCheckedToo) {
  OpRegistry registry = ops::builtinOps();
  const auto statusOf = [&](const std::string& op, const std::string& shape, const std::string& data) {
    return checkAll(registry, "cpu",
                    R"({"cases": [{"op": ")" + op + R"(", "inputs": [[")" + shape + R"("]],
                                         "data": [)" +
                        data + "]}]}")
        .at(0);
  };
  EXPECT_EQ(statusOf("ReduceSum", "f32[8,64]", R"({"range": [1, 2]})").status, CaseStatus::Pass);
  // Each row sums to about 1e-3, of terms of 1e8: a kernel that writes zeros is within the bound.
  const CaseResult cancels = statusOf("ReduceSum", "f32[64]", R"({"values": [1e8, -1e8, 1e-3, 0]})");
  EXPECT_EQ(cancels.status, CaseStatus::Pass) << "a single element is not judged";
  OpDef deaf = *registry.find("Relu");
  deaf.oracle = [](const OracleArgs& args) {
    std::fill(args.output().real.begin(), args.output().real.end(), 0.0);
    return Status::ok();
  };
  registry.replace(deaf);
  const CaseResult constant = statusOf("Relu", "f32[40]", R"({"pattern": "negative"})");
  EXPECT_EQ(constant.status, CaseStatus::Mistrusted) << constant.reason;
}

TEST(Trust, AnOutputThatNeverChangesProvesNothing) {
  OpRegistry registry = ops::builtinOps();
  OpDef deaf = *registry.find("Relu");
  deaf.oracle = [](const OracleArgs& args) {
    std::fill(args.output().real.begin(), args.output().real.end(), 3.0);
    return Status::ok();
  };
  registry.replace(deaf);
  const PreparedGroup group = prepareGroup({{*parseCaseId("Relu/f32[9]/normal/seed=7")}}, registry);
  EXPECT_FALSE(checkSensitivity(deaf, group.cases[0]).isOk());
  const PreparedGroup honest = prepareGroup({{*parseCaseId("Relu/f32[9]/normal/seed=7")}}, ops::builtinOps());
  EXPECT_TRUE(checkSensitivity(*ops::builtinOps().find("Relu"), honest.cases[0]).isOk());
}

}  // namespace
}  // namespace opkit::harness
