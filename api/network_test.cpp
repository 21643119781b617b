// The library as an external program uses it: its refusals, and that nothing is thrown.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>

#include "api/opkit.h"
#include "engine/model/model.h"

namespace opkit::api {
namespace {

/// y = -x, of two rows, in a file.
std::string negFile() {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {2, kDynamic}});
  model.outputs = model.addNode("Neg", "y", {x});
  const std::string path = testing::TempDir() + "network_test.opk";
  EXPECT_TRUE(writeFile(path, *writeModel(model)).isOk());
  return path;
}

class NetworkTest : public testing::Test {
 protected:
  std::unique_ptr<Network> open(const Options& options = {}) { return Network::open(negFile(), options, error_); }
  std::string error_;
};

TEST_F(NetworkTest, RunsOnceEveryInputIsSet) {
  const auto network = open();
  ASSERT_TRUE(network) << error_;
  EXPECT_FALSE(network->run(error_));
  EXPECT_NE(error_.find("1 input is without values: 'x'"), std::string::npos) << error_;
  const float values[] = {1, 2, 3, 4};
  EXPECT_FALSE(network->setInput("x", "f32", {2, 2}, values, 8, error_));
  EXPECT_NE(error_.find("f32[2,2] needs 16 bytes, got 8"), std::string::npos) << error_;
  EXPECT_FALSE(network->setInput("x", "f32", {2, 2}, nullptr, 16, error_));
  EXPECT_FALSE(network->run(error_)) << "a refused input is not set";
  ASSERT_TRUE(network->setInput("x", "f32", {2, 2}, values, 16, error_)) << error_;
  ASSERT_TRUE(network->run(error_)) << error_;
  EXPECT_EQ(static_cast<const float*>(network->output("y"))[3], -4);
  EXPECT_FALSE(network->setInput("x", "f32", {3, 2}, values, 24, error_));
  EXPECT_TRUE(network->run(error_)) << "what was refused changed nothing: " << error_;
}

TEST_F(NetworkTest, ADefaultIsReplacedUntilTheFirstRun) {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {2}});
  const TensorId k = model.addConstant("k", *Tensor::fromValues<float>({DType::Float32, {1}}, {10}));
  model.tensors[k].defaultOf = {1, {kDynamic}};
  model.outputs = model.addNode("Add", "y", {x, k});
  const std::string path = testing::TempDir() + "network_test_default.opk";
  ASSERT_TRUE(writeFile(path, *writeModel(model)).isOk());
  for (const bool asValue : {false, true}) {
    const auto network = Network::open(path, {}, error_);
    ASSERT_TRUE(network) << error_;
    EXPECT_EQ(network->inputs().size(), 1u);
    const float values[] = {1, 2};
    const auto bytes = std::as_bytes(std::span(values));
    const Value value{.dtype = "f32", .shape = {2}, .bytes = {bytes.begin(), bytes.end()}};
    const auto give = [&] {
      return asValue ? network->setInput("k", value, error_) : network->setInput("k", "f32", {2}, values, 8, error_);
    };
    EXPECT_FALSE(network->setInput("k", "f32", {2}, values, 4, error_));
    ASSERT_TRUE(give()) << error_;
    ASSERT_TRUE(network->setInput("x", "f32", {2}, values, 8, error_)) << error_;
    ASSERT_TRUE(network->run(error_)) << error_;
    EXPECT_EQ(static_cast<const float*>(network->output("y"))[1], 4);
    EXPECT_FALSE(give());
    EXPECT_NE(error_.find("before the first resize or run only"), std::string::npos) << error_;
  }
}

TEST_F(NetworkTest, RefusesThreadsThatNobodyMeans) {
  for (const unsigned threads : {100000u, UINT32_MAX}) {
    EXPECT_FALSE(open({.threads = threads}));
    EXPECT_NE(error_.find("threads: expected 0 (one per core) to 1024"), std::string::npos) << error_;
  }
  EXPECT_TRUE(open({.threads = 2})) << error_;
}

TEST_F(NetworkTest, KeepsToTheLimitOfHostMemory) {
  const auto network = open();
  ASSERT_TRUE(network) << error_;
  setHostMemoryLimit(1 << 20);
  const std::vector<float> values(1 << 20);
  EXPECT_FALSE(network->setInput("x", "f32", {2, 1 << 19}, values.data(), values.size() * 4, error_));
  EXPECT_NE(error_.find("the limit is 1048576"), std::string::npos) << error_;
  setHostMemoryLimit(0);
  EXPECT_TRUE(network->setInput("x", "f32", {2, 1 << 19}, values.data(), values.size() * 4, error_)) << error_;
  EXPECT_TRUE(network->run(error_)) << error_;
}

/// joined = a + suffix (strings), both = [a, joined] (a sequence), count and copy of the given sequence.
std::string stringsFile() {
  Model model;
  const TensorId a = model.addInput("a", {DType::String, {kDynamic}});
  const TensorId suffix = model.addInput("suffix", {DType::String, {1}});
  const TensorId list = model.addInput("list", {DType::Sequence, {kDynamic}});
  const TensorId joined = model.addNode("StringConcat", "joined", {a, suffix})[0];
  const TensorId both = model.addNode("SequenceConstruct", "both", {a, joined})[0];
  const TensorId count = model.addNode("SequenceLength", "count", {list})[0];
  const TensorId same = model.addNode("HostIdentity", "same", {list})[0];
  model.outputs = {joined, both, count, same};
  const std::string path = testing::TempDir() + "network_test_strings.opk";
  EXPECT_TRUE(writeFile(path, *writeModel(model)).isOk());
  return path;
}

Value strings(std::vector<std::string> values) {
  return {.dtype = "string", .shape = {static_cast<int64_t>(values.size())}, .strings = std::move(values)};
}

Value numbers(const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {.dtype = "f32", .shape = {static_cast<int64_t>(values.size())}, .bytes = {bytes.begin(), bytes.end()}};
}

TEST_F(NetworkTest, TakesAndGivesValuesOfEveryKind) {
  const auto network = Network::open(stringsFile(), {}, error_);
  ASSERT_TRUE(network) << error_;
  EXPECT_FALSE(network->setInput("a", "string", {2}, nullptr, 0, error_)) << "strings have no bytes";
  EXPECT_NE(error_.find("input 'a' is string[2], which has no bytes"), std::string::npos) << error_;
  EXPECT_FALSE(network->run(error_));
  EXPECT_NE(error_.find("3 inputs are without values"), std::string::npos) << error_;

  ASSERT_TRUE(network->setInput("a", strings({"x", "y"}), error_)) << error_;
  ASSERT_TRUE(network->setInput("suffix", strings({"!"}), error_)) << error_;
  ASSERT_TRUE(network->setInput("list", {.dtype = "sequence", .values = {numbers({1, 2}), numbers({3})}}, error_));
  Value got;
  EXPECT_FALSE(network->output("joined", got, error_)) << "before a run";
  ASSERT_TRUE(network->run(error_)) << error_;
  ASSERT_TRUE(network->output("joined", got, error_)) << error_;
  EXPECT_EQ(got.dtype, "string");
  EXPECT_EQ(got.strings, (std::vector<std::string>{"x!", "y!"}));
  ASSERT_TRUE(network->output("both", got, error_)) << error_;
  ASSERT_EQ(got.values.size(), 2u);
  EXPECT_EQ(got.values[0].strings, (std::vector<std::string>{"x", "y"}));
  ASSERT_TRUE(network->output("same", got, error_)) << error_;
  EXPECT_EQ(got.dtype, "sequence");
  ASSERT_EQ(got.values.size(), 2u);
  EXPECT_EQ(got.values[1].bytes, numbers({3}).bytes);
  size_t bytes = 1;
  for (const char* name : {"joined", "both", "same"}) EXPECT_EQ(network->output(name, &bytes), nullptr) << name;
  EXPECT_EQ(bytes, 0u);
  EXPECT_EQ(*static_cast<const int64_t*>(network->output("count", &bytes)), 2);
  EXPECT_EQ(bytes, 8u);
  EXPECT_FALSE(network->output("nothing", got, error_));
  EXPECT_NE(error_.find("no output is called 'nothing'"), std::string::npos) << error_;
}

/// As the rule of ZipMap leaves it.
TEST_F(NetworkTest, NamesTheColumnsThatStandForMaps) {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {1, 3}});
  const auto constant = [&](const char* name, const std::vector<int64_t>& values) {
    return model.addConstant(name, *Tensor::fromValues<int64_t>({DType::Int64, {std::ssize(values)}}, values));
  };
  const TensorId shape = constant("maps/shape", {0, 3});
  constant("maps/columns of ZipMap", {7, -1, 3});
  model.outputs = model.addNode("Reshape", "maps", {x, shape});
  model.outputs.push_back(model.addNode("Neg", "y", {x})[0]);
  const std::string path = testing::TempDir() + "network_test_columns.opk";
  ASSERT_TRUE(writeFile(path, *writeModel(model)).isOk());
  const auto network = Network::open(path, {}, error_);
  ASSERT_TRUE(network) << error_;
  ASSERT_EQ(network->outputs().size(), 2u);
  EXPECT_EQ(network->outputs()[0].columns, (std::vector<std::string>{"7", "-1", "3"}));
  EXPECT_EQ(network->outputs()[1].columns, std::vector<std::string>());
}

TEST_F(NetworkTest, RefusesValuesThatContradictThemselvesOrTheModel) {
  const auto network = Network::open(stringsFile(), {}, error_);
  ASSERT_TRUE(network) << error_;
  Value short_ = numbers({1, 2});
  short_.shape = {3};
  const std::pair<Value, const char*> refused[] = {
      {{.dtype = "string", .shape = {2}, .strings = {"x"}}, "string[2] needs 2 strings, got 1"},
      {{.dtype = "string", .shape = {-1}}, "input 'a'"},
      {short_, "f32[3] needs 12 bytes, got 8"},
      {numbers({1, 2}), "input 'a': expected string, got f32"},
      {{.dtype = "words"}, "no dtype is called 'words'"},
      {{.dtype = "optional", .values = {numbers({1}), numbers({2})}}, "one value or none, got 2"},
      {{.dtype = "sequence", .values = {{.dtype = "string", .shape = {1}}}}, "string[1] needs 1 strings, got 0"}};
  for (const auto& [value, why] : refused) {
    EXPECT_FALSE(network->setInput("a", value, error_));
    EXPECT_NE(error_.find(why), std::string::npos) << error_;
    EXPECT_EQ(error_.find('\n'), std::string::npos) << error_;
  }
  EXPECT_FALSE(network->setInput("nothing", strings({"x"}), error_));
  EXPECT_FALSE(network->setInput("suffix", strings({"x", "y"}), error_)) << "the model fixes one";
  EXPECT_FALSE(network->run(error_)) << "nothing was set";
}

/// picked = x[at] as numbers, and with `staged` after a condition that only a run knows; all = [x, picked].
std::string pickFile(bool staged) {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic}});
  const TensorId at = model.addInput("at", {DType::Int64, {1}});
  TensorId picked = model.addNode("Gather", staged ? "inner" : "picked", {x, at})[0];
  if (staged) {
    const TensorId condition = model.addNode("Greater", "condition", {picked, picked})[0];
    Model branch;
    branch.outputs = branch.addNode("Neg", "neg", {branch.addInput("x", {})});
    picked = model.addNode("If", "picked", {condition, picked})[0];
    model.nodes.back().subgraphs = {{"then_branch", branch, {1}}, {"else_branch", branch, {1}}};
  }
  model.outputs = {picked, model.addNode("SequenceConstruct", "all", {x, picked})[0]};
  const std::string path = testing::TempDir() + "network_test_pick.opk";
  EXPECT_TRUE(writeFile(path, *writeModel(model)).isOk());
  return path;
}

/// Whoever asks for an output of a run that failed gets none: neither new memory nor the values of a run before.
TEST_F(NetworkTest, OutputsAreThoseOfTheLastRunIfItSucceeded) {
  for (const char* backend : {"cpu", "reference", "vulkan"})
    for (const bool staged : {false, true}) {
      SCOPED_TRACE(std::string(backend) + (staged ? ", staged" : ""));
      const auto network = Network::open(pickFile(staged), {.backend = backend}, error_);
      if (!network && std::string(backend) == "vulkan") continue;  // no device
      ASSERT_TRUE(network) << error_;
      const auto run = [&](std::vector<float> x, int64_t at) {
        EXPECT_TRUE(network->setInput("x", numbers(x), error_)) << error_;
        EXPECT_TRUE(network->setInput("at", "i64", {1}, &at, sizeof at, error_)) << error_;
        return network->run(error_);
      };
      const auto expectNone = [&] {
        size_t bytes = 1;
        EXPECT_EQ(network->output("picked", &bytes), nullptr);
        EXPECT_EQ(bytes, 0u);
        Value value{.dtype = "untouched"};
        for (const char* name : {"picked", "all"}) {
          EXPECT_FALSE(network->output(name, value, error_)) << name;
          EXPECT_NE(error_.find("has no value: the last run failed, or there was none"), std::string::npos) << error_;
        }
        EXPECT_EQ(value.dtype, "untouched");
      };
      expectNone();
      EXPECT_FALSE(run({1, 2, 3}, 7)) << "the first run fails";
      expectNone();
      ASSERT_TRUE(run({1, 2, 3}, 2)) << error_;
      EXPECT_EQ(*static_cast<const float*>(network->output("picked")), staged ? -3 : 3);
      EXPECT_FALSE(run({1, 2, 3}, -9)) << "of known shapes";
      expectNone();
      ASSERT_TRUE(run({4, 5}, 0)) << error_;
      EXPECT_EQ(*static_cast<const float*>(network->output("picked")), staged ? -4 : 4);
      EXPECT_FALSE(run({1, 2, 3, 4}, 4)) << "of new shapes";
      expectNone();
      ASSERT_TRUE(run({1, 2, 3, 4}, 3)) << error_;
      Value all;
      ASSERT_TRUE(network->output("all", all, error_)) << error_;
      EXPECT_EQ(all.values[0].bytes, numbers({1, 2, 3, 4}).bytes);
    }
}

TEST_F(NetworkTest, SaysWhatIsWrongInOneLine) {
  for (const Options& options : {Options{.backend = "nope"}, Options{.device = "\xff"}}) {
    EXPECT_FALSE(open(options));
    EXPECT_FALSE(error_.empty());
    EXPECT_EQ(error_.find('\n'), std::string::npos) << error_;
  }
  EXPECT_FALSE(Network::open("/no/such/model", {}, error_));
  EXPECT_NE(error_.find("/no/such/model"), std::string::npos) << error_;
  EXPECT_FALSE(Network::open(testing::TempDir(), {}, error_));
  EXPECT_NE(error_.find("folder"), std::string::npos) << error_;
}

}  // namespace
}  // namespace opkit::api
