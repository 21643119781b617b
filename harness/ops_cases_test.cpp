// Each operator's cases on each backend as one GoogleTest test, so that an IDE shows and runs them: Cpu.Softmax,
// Vulkan.Softmax. The tests are discovered, not listed.
#include <gtest/gtest.h>

#include <set>

#include "engine/backend/device_test_support.h"
#include "harness/check/check.h"
#include "harness/run/terminal.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

const Catalogue& catalogue() {
  static const Catalogue all = [] {
    auto read = builtinCatalogue(ops::builtinOps());
    if (!read) fmt::print(stderr, "{}\n", read.error().message());
    return read ? *std::move(read) : Catalogue();
  }();
  return all;
}

class OperatorCases : public testing::Test {
 public:
  OperatorCases(std::string backend, std::string op) : backend_(std::move(backend)), op_(std::move(op)) {}

  void TestBody() override {
    const auto runtime = createRuntime(backend_);
    if (backend_ == "cpu") {
      ASSERT_TRUE(runtime) << runtime.error().message();
    }
    OPKIT_NEEDS_DEVICE(runtime);
    Checker checker(ops::builtinOps(), backend_, *runtime);
    checker.setRuntimeOptions({});
    size_t cases = 0;
    const std::set<size_t> coldCaches = coldCacheGroups(catalogue());
    for (size_t g = 0; g < catalogue().groups.size(); ++g) {
      if (catalogue().groups[g].cases.front().op != op_) continue;
      PreparedGroup group = prepareGroup(catalogue().groups[g], ops::builtinOps());
      group.coldCaches = coldCaches.contains(g);
      for (const CaseResult& result : checker.checkGroup(group)) report(result, cases);
    }
    for (const ErrorCase& error : catalogue().errors)
      if (error.op == op_) report(checker.checkError(error), cases);
    EXPECT_GT(cases, 0u) << "no case names " << op_;
  }

 private:
  static void report(const CaseResult& result, size_t& cases) {
    ++cases;
    if (isFailure(result.status))
      ADD_FAILURE() << failureBlock(
          result, fmt::format("op-harness check --backend {} --case '{}'", result.backend, result.id));
  }

  std::string backend_;
  std::string op_;
};

void registerTests() {
  std::set<std::string> operators;
  for (const CaseGroup& group : catalogue().groups) operators.insert(group.cases.front().op);
  std::vector<std::string> backends = {"cpu"};
#ifdef OPKIT_HAS_VULKAN
  backends.emplace_back("vulkan");
#endif
  for (const std::string& backend : backends)
    for (const std::string& op : operators) {
      const std::string suite = backend == "cpu" ? "Cpu" : "Vulkan";
      testing::RegisterTest(suite.c_str(), op.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [backend, op]() -> testing::Test* { return new OperatorCases(backend, op); });
    }
}

}  // namespace
}  // namespace opkit::harness

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  opkit::harness::registerTests();
  return RUN_ALL_TESTS();
}
