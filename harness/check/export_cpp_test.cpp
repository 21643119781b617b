// The exported program must compile and reproduce: right for a right kernel, wrong for a wrong one.
#include "harness/check/export_cpp.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>

#include "engine/backend/device_test_support.h"
#include "harness/testing/broken_kernels.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

/// Compiles and runs the program; its exit code.
int runExported(const std::string& text, const std::string& name) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path + ".cpp") << text;
  const std::string compile =
      "c++ -std=c++17 -Werror=return-type -o " + path + " " + path + ".cpp -lvulkan 2>" + path + ".txt";
  if (std::system(compile.c_str()) != 0) {
    std::ifstream errors(path + ".txt");
    ADD_FAILURE() << std::string((std::istreambuf_iterator<char>(errors)), {});
    return -1;
  }
  const int state = std::system((path + " >/dev/null").c_str());
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

Result<std::string> exported(const OpRegistry& registry, const std::string& id, Runtime& runtime) {
  const PreparedGroup group = prepareGroup({{*parseCaseId(id)}}, registry);
  return exportCpp(group.cases[0], registry, runtime);
}

TEST(ExportCpp, TheProgramReproduces) {
  const auto runtime = createRuntime("vulkan");
  OPKIT_NEEDS_DEVICE(runtime);
  const auto right = exported(ops::builtinOps(), R"(Softmax{"axis":0}/f32[5,3]/normal/seed=7)", **runtime);
  ASSERT_TRUE(right) << right.error().message();
  EXPECT_EQ(runExported(*right, "right"), 0);
  OpRegistry registry = ops::builtinOps();
  addBrokenVulkan(registry, Break::FlipsSign);
  const auto wrong = exported(registry, "Relu/f32[9]/normal/seed=7", **runtime);
  ASSERT_TRUE(wrong) << wrong.error().message();
  EXPECT_EQ(runExported(*wrong, "wrong"), 1);
}

TEST(ExportCpp, SaysWhatCannotBeExported) {
  const auto runtime = createRuntime("vulkan");
  OPKIT_NEEDS_DEVICE(runtime);
  EXPECT_FALSE(exported(ops::builtinOps(), "Transpose/f32[2,3]/normal/seed=7", **runtime));
  EXPECT_NE(exported(ops::builtinOps(), "Relu/f32[1000000]/normal/seed=7", **runtime).error().message().find("shrink"),
            std::string::npos);
}

}  // namespace
}  // namespace opkit::harness
