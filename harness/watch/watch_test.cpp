#include "harness/watch/watch.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "engine/backend/device_test_support.h"
#include "harness/watch/edited_operators.h"
#include "harness/watch/operator_build.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;

/// A source tree of one operator, to be edited; tests run in parallel, so each has its own.
fs::path copyOfTree(const std::string& name, const std::string& folder = "softmax") {
  const fs::path root = fs::path(testing::TempDir()) / name, source = sourceFolder();
  fs::remove_all(root);
  fs::create_directories(root / "ops");
  fs::create_directories(root / "shaders");
  for (const fs::path& part : {fs::path("shaders") / folder, fs::path("shaders/include"), fs::path("ops") / folder})
    fs::copy(source / part, root / part, fs::copy_options::recursive);
  return root;
}

/// Replaces text in a file and makes the file look newer.
void edit(const fs::path& path, const std::string& from, const std::string& to) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::string all = text.str();
  const size_t at = all.find(from);
  ASSERT_NE(at, std::string::npos) << path;
  all.replace(at, from.size(), to);
  const auto before = fs::last_write_time(path);
  std::ofstream(path) << all;
  fs::last_write_time(path, std::max(before + std::chrono::seconds(2), fs::file_time_type::clock::now()));
}

TEST(Watch, ASavedShaderIsCheckedWithoutABuild) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const fs::path root = copyOfTree("watched_shader");
  const fs::path shader = root / "shaders" / "softmax" / "softmax.comp";
  Watcher watcher({.ops = {"Softmax"}, .source = root.string(), .budgetSeconds = 1, .timeoutSeconds = 120},
                  ops::builtinOps());
  EXPECT_FALSE(watcher.poll());
  const WatchRound first = watcher.run();
  EXPECT_TRUE(first.good()) << first.error << first.failures << (first.blocks.empty() ? "" : first.blocks[0]);
  EXPECT_EQ(first.spirvWords, 0u) << "nothing changed: the build's shaders";

  edit(shader, "1.0 / sum", "2.0 / sum");
  EXPECT_TRUE(watcher.poll());
  const WatchRound broken = watcher.run();
  EXPECT_GT(broken.failures, 0u);
  EXPECT_GT(broken.spirvWords, 0u);
  ASSERT_FALSE(broken.blocks.empty());
  const auto explains = [](const std::string& block) { return block.find("multiplied by 2") != std::string::npos; };
  EXPECT_TRUE(std::any_of(broken.blocks.begin(), broken.blocks.end(), explains)) << broken.blocks[0];

  edit(shader, "2.0 / sum", "1.0 / ");
  EXPECT_TRUE(watcher.poll());
  EXPECT_NE(watcher.run().error.find("softmax.comp:"), std::string::npos) << "a compiler's message";

  edit(shader, "1.0 / ;", "1.0 / sum;");
  EXPECT_TRUE(watcher.poll());
  EXPECT_TRUE(watcher.run().good());
}

TEST(Watch, AShaderOfAnotherDeviceClassIsRunInThatClass) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const fs::path root = copyOfTree("watched_class", "lrn");
  const fs::path shader = root / "shaders/lrn/lrn_rows.comp";
  Watcher watcher({.ops = {"LRN"}, .source = root.string(), .timeoutSeconds = 120}, ops::builtinOps());
  edit(shader, "#version 450", "#version 450\n// saved\n");
  EXPECT_TRUE(watcher.poll());
  const WatchRound good = watcher.run();
  EXPECT_TRUE(good.good()) << good.error << (good.blocks.empty() ? "" : good.blocks[0]);
  EXPECT_GT(good.spirvWords, 0u);
  EXPECT_FALSE(good.lanes.empty());
  for (const std::string& lane : good.lanes) EXPECT_NE(lane.find("device class "), std::string::npos) << lane;

  Watcher sanitizing({.ops = {"LRN"}, .source = root.string(), .sanitize = "bounds", .timeoutSeconds = 120},
                     ops::builtinOps());
  edit(shader, "squares = 0.0;", "squares = LOAD(x, push.rows * push.channels) == 12345.5 ? 1.0 : 0.0;");
  EXPECT_TRUE(sanitizing.poll());
  const WatchRound beyond = sanitizing.run();
  ASSERT_FALSE(beyond.blocks.empty()) << beyond.error;
  EXPECT_NE(beyond.blocks[0].find("on vulkan, device class "), std::string::npos) << beyond.blocks[0];
  EXPECT_NE(beyond.blocks[0].find("sanitize: bounds: "), std::string::npos) << beyond.blocks[0];

  edit(shader, "// saved", "not GLSL");
  EXPECT_TRUE(watcher.poll());
  EXPECT_NE(watcher.run().error.find("lrn_rows.comp:"), std::string::npos) << "a compiler's message";
}

TEST(Watch, AnEditedShaderThatNoCaseRunsIsNotAnsweredFor) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const fs::path root = copyOfTree("watched_other", "one_hot");
  fs::copy(fs::path(sourceFolder()) / "shaders/lrn", root / "shaders/lrn");
  fs::copy(fs::path(sourceFolder()) / "ops/lrn", root / "ops/lrn");
  WatchOptions options{.ops = {"OneHot"}, .source = root.string(), .timeoutSeconds = 120};
  Watcher watcher(options, ops::builtinOps());
  EXPECT_TRUE(watcher.run().good());
  edit(root / "shaders/lrn/lrn_rows.comp", "#version 450", "#version 450\n");
  EXPECT_TRUE(watcher.poll());
  const WatchRound other = watcher.run();
  EXPECT_FALSE(other.good());
  EXPECT_EQ(other.failures, 0u);
  EXPECT_EQ(other.unseen,
            std::vector<std::string>{"shaders/lrn/lrn_rows.comp: no case of OneHot runs it in any device class; "
                                     "`op-harness watch --op LRN --once` may"});
  options.backends = {"cpu"};
  Watcher onCpu(options, ops::builtinOps());
  edit(root / "shaders/one_hot/one_hot.comp", "#version 450", "#version 450\n");
  EXPECT_TRUE(onCpu.poll());
  EXPECT_EQ(onCpu.run().unseen,
            std::vector<std::string>{
                "shaders/one_hot/one_hot.comp: no case of OneHot runs it: only the backend vulkan does"});
}

TEST(Watch, AnEditedShaderIsTraced) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const fs::path root = copyOfTree("watched_traced", "one_hot");
  Watcher watcher({.ops = {"OneHot"}, .source = root.string(), .budgetSeconds = 1, .timeoutSeconds = 120},
                  ops::builtinOps());
  EXPECT_TRUE(watcher.run().good());
  edit(root / "shaders/one_hot/one_hot.comp", "== int(place.chosen); }",
       "== int(place.chosen) || (place.outer == 0u && classes[push.count + 7u] == -123456789); }");
  EXPECT_TRUE(watcher.poll());
  const WatchRound broken = watcher.run();
  EXPECT_GT(broken.failures, 0u) << "the values are right";
  ASSERT_FALSE(broken.blocks.empty()) << broken.error;
  EXPECT_NE(broken.blocks[0].find("sanitize: bounds: "), std::string::npos) << broken.blocks[0];
  EXPECT_NE(broken.blocks[0].find("one_hot.comp:"), std::string::npos) << "no source line: " << broken.blocks[0];
}

TEST(Watch, AFilterLeavesOutCases) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const fs::path root = copyOfTree("watched_filter");
  WatchOptions options{.ops = {"Softmax"}, .source = root.string(), .filter = "f16[", .budgetSeconds = 1};
  const WatchRound some = Watcher(options, ops::builtinOps()).run();
  EXPECT_TRUE(some.good()) << some.error;
  options.filter = "";
  options.budgetSeconds = 0;
  const WatchRound all = Watcher(options, ops::builtinOps()).run();
  EXPECT_LT(some.groups + some.groupsLeft, all.groups + all.groupsLeft);
  options.filter = "no case has this";
  EXPECT_EQ(Watcher(options, ops::builtinOps()).run().groups, 0u);
}

TEST(EditedFiles, NamesTheShadersOfAFileAndTheOperatorsOfAShader) {
  const std::string root = sourceFolder();
  const auto files =
      editedFiles(root, {"ops/gemm/gemm_thin_vulkan.cpp", "ops/lrn/lrn_cpu.cpp", "ops/lrn/lrn.cases.json",
                         "shaders/gemm/gemm_thin.comp", "shaders/include/rows.glsl"});
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[0].shaders, std::set<std::string>{"gemm/gemm_thin"});
  EXPECT_EQ(files[1].shaders, std::set<std::string>{"gemm/gemm_thin"});
  EXPECT_FALSE(files[2].shaders.empty());
  for (const std::string& shader : files[2].shaders)
    EXPECT_TRUE(fs::exists(root + "/shaders/" + shader + ".comp")) << shader;
  const auto operators = operatorsOf("gemm/gemm_thin", root, ops::builtinOps());
  EXPECT_EQ(std::ranges::count(operators, "MatMul"), 1);
  EXPECT_EQ(std::ranges::count(operators, "Gemm"), 1);
  EXPECT_EQ(std::ranges::count(operators, "Softmax"), 0);
  EXPECT_TRUE(operatorsOf("raster/raster_tiles", root, ops::builtinOps()).empty()) << "any operator's regions";
}

TEST(Watch, ASavedKernelIsCompiledAlone) {
  const fs::path root = copyOfTree("watched_kernel", "one_hot");
  const fs::path kernel = root / "ops/one_hot/one_hot_cpu.cpp";
  const auto build = OperatorBuild::create(root.string(), {"one_hot"});
  ASSERT_TRUE(build.has_value()) << build.error().message();
  WatchOptions options{.ops = {"OneHot"}, .source = root.string(), .budgetSeconds = 5, .timeoutSeconds = 120};
  options.changedSources = [](const std::string&) { return std::vector<std::string>{"ops/one_hot/one_hot_cpu.cpp"}; };
  options.buildOperators = [&] { return build->run(); };
  Watcher watcher(options, ops::builtinOps());

  edit(kernel, "off = pair[0], on = pair[1]", "off = pair[1], on = pair[0]");
  EXPECT_TRUE(watcher.poll());
  const WatchRound broken = watcher.run();
  EXPECT_EQ(broken.lanes, std::vector<std::string>{"cpu"});
  EXPECT_GT(broken.failures, 0u) << broken.error;
  EXPECT_GT(broken.buildSeconds, 0);

  edit(kernel, "off = pair[1], on = pair[0]", "off = pair[0], on = pair[1]");
  EXPECT_TRUE(watcher.poll());
  const WatchRound good = watcher.run();
  EXPECT_TRUE(good.good()) << good.error << (good.blocks.empty() ? "" : good.blocks[0]);

  edit(kernel, "off = pair[0], on", "off = pair[0] on");
  EXPECT_TRUE(watcher.poll());
  EXPECT_NE(watcher.run().error.find("one_hot_cpu.cpp:"), std::string::npos) << "a compiler's message";
}

TEST(Watch, ARoundThatRanOutOfTimeIsNotComplete) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const fs::path root = copyOfTree("watched_budget");
  const WatchRound some =
      Watcher({.ops = {"Softmax"}, .source = root.string(), .budgetSeconds = 0}, ops::builtinOps()).run();
  EXPECT_TRUE(some.good()) << some.error;
  EXPECT_EQ(some.groups, 1u);
  EXPECT_GT(some.groupsLeft, 0u);
  EXPECT_FALSE(some.complete());
}

TEST(Watch, SourcesThatWereNotBuiltAreNotAnsweredFor) {
  std::vector<std::string> changed = {"ops/softmax/softmax_vulkan.cpp", "shaders/softmax/softmax.comp"};
  Watcher watcher({.ops = {"Softmax"}, .changedSources = [&](const std::string&) { return changed; }},
                  ops::builtinOps());
  const WatchRound round = watcher.run();
  EXPECT_FALSE(round.good());
  EXPECT_EQ(round.groups, 0u);
  EXPECT_EQ(round.error.find("nothing was checked: this program was built of another ops/softmax/softmax_vulkan.cpp; "),
            0u)
      << round.error;
  changed = {"shaders/softmax/softmax.comp", "ops/softmax/softmax.cases.json"};
  EXPECT_TRUE(watcher.unbuilt().empty()) << "rounds read these from the tree";
}

TEST(Watch, RulesAndPassesNeedABuild) {
  WatchOptions options{.ops = {"Softmax"}};
  options.buildOperators = [] { return Result<std::string>(Status::internal("no rule is in the library")); };
  for (const char* path : {"ops/softmax/softmax_onnx.cpp", "ops/gemm/gemm_passes.cpp"}) {
    options.changedSources = [path](const std::string&) { return std::vector<std::string>{path}; };
    EXPECT_EQ(Watcher(options, ops::builtinOps()).run().error.find("nothing was checked: "), 0u) << path;
  }
}

TEST(Watch, ASavedCaseRunsOnBothBackends) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const fs::path root = copyOfTree("watched_case");
  Watcher saved({.ops = {"Softmax"}, .source = root.string(), .budgetSeconds = 0}, ops::builtinOps());
  edit(root / "ops" / "softmax" / "softmax.cases.json", "\"cases\"", "\"cases\" ");
  EXPECT_TRUE(saved.poll());
  const auto backendsOf = [](const WatchRound& round) {
    std::vector<std::string> backends = round.lanes;
    std::erase_if(backends, [](const std::string& lane) { return lane.find("device class") != std::string::npos; });
    return backends;
  };
  const std::vector<std::string> both = {"cpu", "vulkan"};
  EXPECT_EQ(backendsOf(saved.run()), both);
  // Saved before the program began, as for --once.
  Watcher once({.ops = {"Softmax"}, .source = root.string(), .budgetSeconds = 0}, ops::builtinOps());
  EXPECT_EQ(once.run().lanes, std::vector<std::string>{"vulkan"});
  WatchOptions options{.ops = {"Softmax"}, .source = root.string(), .budgetSeconds = 0};
  options.changedSources = [](const std::string&) {
    return std::vector<std::string>{"ops/softmax/softmax.cases.json", "ops/relu/relu.cases.json"};
  };
  EXPECT_EQ(backendsOf(Watcher(options, ops::builtinOps()).run()), both);
}

TEST(Watch, ASavedCaseFileIsReadAgain) {
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const fs::path root = copyOfTree("watched_cases");
  Watcher watcher({.ops = {"Softmax"}, .source = root.string(), .budgetSeconds = 0.3}, ops::builtinOps());
  edit(root / "ops" / "softmax" / "softmax.cases.json", "\"cases\"", "\"casez\"");
  EXPECT_TRUE(watcher.poll());
  EXPECT_NE(watcher.run().error.find("expected {"), std::string::npos);
}

}  // namespace
}  // namespace opkit::harness
