#include <cmath>
#include <fstream>

#include "engine/graph/pass.h"
#include "engine/plugin/testing/plugin_set_fixture.h"
#include "engine/testing/nowhere.h"

namespace opkit {
namespace {

namespace fs = std::filesystem;

class PluginSetTest : public PluginSetFixture {};

TEST_F(PluginSetTest, OperatorInPlainC) {
  load(sample("scaled_tanh"));
  EXPECT_EQ(set_.plugins()[0].operators, std::vector<std::string>{"com.example::ScaledTanh"});
  EXPECT_TRUE(set_.onnxRules().find("com.example::ScaledTanh", 1));
  for (const char* provider : {"example_c", "reference"}) {
    const auto y = run(modelOf({"com.example::ScaledTanh"}, R"({"scale": 2.0, "gain": 0.5})"),
                       {.providers = {{{ProviderRule::Kind::Force, provider, ""}}}});
    ASSERT_TRUE(y) << y.error().toString();
    for (size_t i = 0; i < y->size(); ++i)
      EXPECT_NEAR((*y)[i], 2 * std::tanh(0.5 * (static_cast<double>(i) - 2)), 1e-6);
    EXPECT_EQ(placement_[0].provider, provider);
  }
}

TEST_F(PluginSetTest, AttributesAreVerifiedLikeEveryParameter) {
  load(sample("scaled_tanh"));
  const ParamsSchema& schema = set_.registry().find("com.example::ScaledTanh")->params;
  const auto bytes = paramsFromJson(schema, R"({"gain": 0.25})");
  ASSERT_TRUE(bytes);
  EXPECT_EQ(paramsToJson(schema, *bytes), R"({"gain": 0.25})");
  EXPECT_TRUE(verifyParams(schema, *bytes).isOk());
  EXPECT_FALSE(verifyParams(schema, ParamBytes(16, 0xEE)).isOk());
  EXPECT_FALSE(verifyParams(schema, ParamBytes(3, 1)).isOk());
  EXPECT_FALSE(paramsFromJson(schema, R"({"gian": 0.25})"));
}

TEST_F(PluginSetTest, BackendRunsWhatItTakesAndFallsBackForTheRest) {
  load(sample("device_and_pass"));
  const auto y = run(modelOf({"Relu", "AddOne", "Relu"}), {.backend = "twin"});
  ASSERT_TRUE(y) << y.error().toString();
  EXPECT_EQ(*y, (std::vector<float>{1, 1, 1, 2, 3, 4}));
  std::vector<std::string> where;
  for (const Placement& row : placement_) where.push_back(row.type + "@" + row.backend);
  EXPECT_EQ(where, (std::vector<std::string>{"Relu@twin", "Copy@cpu", "AddOne@cpu", "Copy@twin", "Relu@twin"}));
  ASSERT_FALSE(placement_[2].refusals.empty());
  EXPECT_NE(placement_[2].refusals[0].reason.find("the twin runs Relu only"), std::string::npos);
  EXPECT_EQ(createRuntime("twin", {.device = "3"}).error().code(), StatusCode::Unsupported);
}

TEST_F(PluginSetTest, PassRewritesModels) {
  load(sample("device_and_pass"));
  const GraphPass* pass = nullptr;
  for (const auto& one : set_.registry().passes())
    if (one->name == "example.drop-double-neg") pass = one.get();
  ASSERT_TRUE(pass);
  Model model = modelOf({"Relu", "Neg", "Neg", "AddOne", "Neg", "Neg"});
  const auto changes = pass->rewriteModel(model, set_.registry());
  ASSERT_TRUE(changes) << changes.error().toString();
  EXPECT_EQ(*changes, 1u);  // the last pair makes an output of the model
  ASSERT_EQ(model.nodes.size(), 4u);
  EXPECT_EQ(model.nodes[NodeId(1)].type, "AddOne");
  EXPECT_EQ(model.nodes[NodeId(1)].inputs, model.nodes[NodeId(0)].outputs);
  EXPECT_TRUE(run(std::move(model)));
}

TEST_F(PluginSetTest, FilesThatAreNoPlugins) {
  const fs::path text = fs::path(testing::TempDir()) / "opkit_not_a_library.so";
  std::ofstream(text) << "not a library";
  expectRefused(nowhere("a.so"), "Not a directory");
  expectRefused(testing::TempDir(), "it is a folder, not a file");
  expectRefused(text.string(), "not a shared library");
  expectRefused(faulty("no_symbol"), "exports no opkit_plugin_get");
  expectRefused(faulty("abi_version"), "built for ABI version 99, this OpKit has 1");
  fs::remove(text);
}

TEST_F(PluginSetTest, RegistrationIsAllOrNothing) {
  expectRefused(faulty("nothing"), "announces no operator");
  expectRefused(faulty("load_throws"), "no licence");
  expectRefused(faulty("backend_taken"), "there is a backend called 'cpu' already");
  load(faulty("shapes"));
  expectRefused(faulty("duplicate_key"), "there is an operator 'com.test::Faulty' already");
  EXPECT_FALSE(set_.registry().find("com.test::First"));
  expectRefused(faulty("shapes"), "a plugin 'faulty_shapes' is loaded already");
}

TEST_F(PluginSetTest, EveryMistakeOfADeclarationIsNamed) {
  for (const char* part : {"expected an operator's type with its domain such as com.acme::ScaledTanh, got 'Softmax'",
                           "got ''", "opkit_operator is NULL", "expected abi_version 1, found 0", "kernel must be set",
                           "run is NULL", "attribute 'axis' is declared twice"})
    expectRefused(faulty("declarations"), part);
}

TEST_F(PluginSetTest, ShapeRulesThatFail) {
  load(faulty("shapes"));
  EXPECT_TRUE(run(modelOf({"com.test::Faulty"})));
  expectFault("rank", "output 0 has rank -2, expected 0 to 16");
  expectFault("deep", "output 0 has rank 1073741824");
  expectFault("dtype", "dtype number 77, which does not exist");
  expectFault("huge", "2^40");
  expectFault("negative", "-3");
  expectFault("index", "expected an output below 1, got 5");
  expectFault("ignored", "dtype number 77");
  expectFault("nothing", "did not set output 0");
  expectFault("throws", "infer of com.test::Faulty threw out of luck");
  expectFault("throws7", "something that is no std::exception");
  expectFault("silent", "failed without saying why");
  expectFault("code", "failed without saying why");
  expectFault("run throws", "execute of com.test::Faulty threw in the middle");
  expectFault("run fails", "the kernel gave up");
}

TEST_F(PluginSetTest, UnloadingIsRefusedWhileSomethingMayUseIt) {
  load(sample("device_and_pass"));
  load(sample("scaled_tanh"));
  EXPECT_EQ(set_.unload("nobody").code(), StatusCode::InvalidArgument);
  {
    const auto interpreter = Interpreter::create(modelOf({"com.example::ScaledTanh"}), set_.registry());
    ASSERT_TRUE(interpreter);
    auto session = (*interpreter)->createSession({});
    ASSERT_TRUE(session);
    (*session)->fillInput("x");  // its zeros will do
    ASSERT_TRUE((*session)->run().isOk());
    const Status busy = set_.unload("example_c");
    EXPECT_NE(busy.message().find("plugin 'example_c' is busy"), std::string::npos) << busy.message();
    EXPECT_TRUE((*session)->run().isOk());  // and it goes on working
  }
  EXPECT_TRUE(set_.unload("example_c").isOk());
  EXPECT_FALSE(set_.registry().find("com.example::ScaledTanh"));
  EXPECT_TRUE(set_.registry().find("com.example::CenteredRows"));
  {
    const auto runtime = createRuntime("twin");
    ASSERT_TRUE(runtime);
    EXPECT_NE(set_.unload("example_cpp").message().find("busy"), std::string::npos);
    EXPECT_TRUE(createRuntime("twin"));
  }
  EXPECT_TRUE(set_.unload("example_cpp").isOk());
  EXPECT_FALSE(createRuntime("twin"));
  load(sample("scaled_tanh"));
  EXPECT_TRUE(run(modelOf({"com.example::ScaledTanh"})));
}

#ifdef OPKIT_HAS_VULKAN
TEST_F(PluginSetTest, GlslThatDoesNotCompileNamesItsLine) { expectRefused(faulty("glsl"), "faulty.comp:4: error:"); }

TEST_F(PluginSetTest, GlslIsCompiledWhenThePluginIsLoaded) {
  load(sample("scaled_tanh"));
  for (const Precision precision : {Precision::High, Precision::Normal}) {
    const auto y =
        run(modelOf({"com.example::ScaledTanh"}, R"({"scale": 2.0})"),
            {.backend = "vulkan", .validation = Validation::Core, .precision = precision, .allowFallback = false});
    ASSERT_TRUE(y) << y.error().toString();
    for (size_t i = 0; i < y->size(); ++i) EXPECT_NEAR((*y)[i], 2 * std::tanh(static_cast<double>(i) - 2), 2e-3);
    EXPECT_EQ(placement_[0].provider, "example_c");
  }
}

TEST_F(PluginSetTest, DispatchesAreCheckedAgainstTheShader) {
  load(faulty("dispatch"));
  const SessionConfig vulkan{.backend = "vulkan", .allowFallback = false};
  const auto y = run(modelOf({"com.test::Dispatch"}), vulkan);
  ASSERT_TRUE(y) << y.error().toString();
  EXPECT_EQ((*y)[5], 9.0f);  // factor is 3 by specialisation
  const auto expect = [&](const char* how, const char* part) { expectFault(how, part, "com.test::Dispatch", vulkan); };
  expect("variant", "expected a variant among '', got 'STORAGE=f64'");
  expect("binding", "there is no binding 'z'; expected x, y");
  expect("missing", "binding 'y' is not given");
  expect("stranger", "binding 'x' is no input or output of the call");
  expect("push", "there is no push constant 'amount'; expected count");
  expect("twice", "push constant 'count' is given twice");
  expect("range", "'count' is a uint32_t, got -1");
  expect("constant", "there is no specialisation constant 'divisor'; expected factor");
}

TEST_F(PluginSetTest, LongLoopsAreRefusedWhereTheDeviceEndsThem) {
  load(faulty("dispatch"));
  setenv("OPKIT_VULKAN_MASK", "loops=1000", 1);
  const SessionConfig vulkan{.backend = "vulkan", .allowFallback = false};
  const auto y = run(modelOf({"com.test::Dispatch"}), vulkan);
  EXPECT_TRUE(y) << y.error().toString();
  expectFault("loops", "ends loops after 1000 iterations of an invocation, the kernel needs 1001", "com.test::Dispatch",
              vulkan);
  expectFault("loops throw", "no count", "com.test::Dispatch", vulkan);
  unsetenv("OPKIT_VULKAN_MASK");
}
#endif

}  // namespace
}  // namespace opkit
