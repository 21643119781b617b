// Kernels that a plugin adds to operators that exist.
#include <cmath>
#include <cstddef>

#include "engine/plugin/call.h"
#include "engine/plugin/library.h"
#include "engine/plugin/registrar.h"
#include "engine/plugin/testing/plugin_set_fixture.h"

namespace opkit {
namespace {

using Values = std::vector<float>;

class AddedKernels : public PluginSetFixture {
 protected:
  ~AddedKernels() override { choose(""); }
  /// Which mistake faulty_kernels makes from here on; "" for none.
  static void choose(const std::string& fault) { setenv("OPKIT_KERNEL_FAULT", fault.c_str(), 1); }
  void load(const std::string& fault = "") {
    choose(fault);
    PluginSetFixture::load(faulty("kernels"));
  }
  static SessionConfig forcing(const std::string& provider) {
    return {.providers = {{{ProviderRule::Kind::Force, provider, ""}}}};
  }
  std::string providerOf(const std::vector<std::string>& types, const SessionConfig& config = {}) {
    const auto y = run(modelOf(types), config);
    EXPECT_TRUE(y) << y.error().toString();
    return y ? placement_.front().provider : "";
  }
};

TEST_F(AddedKernels, StandBeforeThoseOfTheOperator) {
  load();
  EXPECT_EQ(set_.plugins()[0].kernels, (std::vector<std::string>{"Neg on cpu", "Relu on cpu", "Relu on vulkan"}));
  EXPECT_TRUE(set_.registry().providers("Relu").contains("mykernels"));
  for (const char* provider : {"mykernels", "reference"}) {
    const auto y = run(modelOf({"Relu"}), forcing(provider));
    ASSERT_TRUE(y) << y.error().toString();
    EXPECT_EQ(*y, (Values{0, 0, 0, 1, 2, 3}));
    EXPECT_EQ(placement_[0].provider, provider);
  }
  EXPECT_EQ(providerOf({"Relu"}), "mykernels");
  EXPECT_EQ(providerOf({"Neg"}), "mykernels");
  EXPECT_EQ(providerOf({"Negate"}), "reference");
}

TEST_F(AddedKernels, RefusalsGoToTheNextKernelWithTheirReason) {
  load();
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {6}});
  model.inputs = {x};
  model.outputs = {model.addNode("Relu", "n", {x}, {})[0]};
  ASSERT_TRUE(run(std::move(model)));
  EXPECT_EQ(placement_[0].provider, "reference");
  ASSERT_FALSE(placement_[0].refusals.empty());
  EXPECT_NE(placement_[0].refusals[0].reason.find("supports of Relu: mykernels runs two dimensions"), std::string::npos)
      << placement_[0].refusals[0].reason;
}

TEST_F(AddedKernels, OtherDTypesAreNotAsked) {
  load();
  Model model;
  const TensorId x = model.addInput("x", {DType::Float64, {2, 3}});
  model.inputs = {x};
  model.outputs = {model.addNode("Relu", "n", {x}, {})[0]};
  const auto interpreter = Interpreter::create(std::move(model), set_.registry());
  const auto session = (*interpreter)->createSession({});
  (*session)->fillInput("x");  // its zeros will do
  ASSERT_TRUE((*session)->run().isOk());
  const Placement row = (*session)->placement()[0];
  EXPECT_EQ(row.provider, "reference");
  ASSERT_FALSE(row.refusals.empty());
  EXPECT_NE(row.refusals[0].reason.find("the mykernels kernel takes f32, got f64"), std::string::npos);
}

TEST_F(AddedKernels, ServeOnlyWhatIsMadeAfterTheLoad) {
  const OpRegistry& before = set_.registry();
  load();
  EXPECT_FALSE(before.providers("Relu").contains("mykernels"));
  EXPECT_FALSE(base_.providers("Relu").contains("mykernels"));
  EXPECT_TRUE(OpRegistry(set_.registry()).providers("Relu").contains("mykernels")) << "in copies, too";
  {
    const auto interpreter = Interpreter::create(modelOf({"Relu"}), set_.registry());
    EXPECT_NE(set_.unload("faulty_kernels").message().find("busy"), std::string::npos);
  }
  EXPECT_TRUE(set_.unload("faulty_kernels").isOk());
  EXPECT_FALSE(set_.registry().providers("Relu").contains("mykernels"));
  EXPECT_EQ(providerOf({"Relu"}), "reference");
  load();
  EXPECT_EQ(providerOf({"Relu"}), "mykernels");
}

TEST_F(AddedKernels, OfAnOperatorOfAnotherPluginWithItsAttributes) {
  choose("type:com.example::ScaledTanh");
  expectRefused(faulty("kernels"), "kernel of com.example::ScaledTanh: there is no such operator");
  PluginSetFixture::load(sample("scaled_tanh"));
  PluginSetFixture::load(faulty("kernels"));
  const auto y = run(modelOf({"com.example::ScaledTanh"}, R"({"gain": 0.5})"));
  ASSERT_TRUE(y) << y.error().toString();
  EXPECT_EQ(placement_[0].provider, "mykernels");
  EXPECT_NEAR((*y)[5], 1000 * std::tanh(1.5), 1e-3) << "scale is the default of the schema";
  ASSERT_TRUE(set_.unload("example_c").isOk());
  EXPECT_EQ(providerOf({"Neg"}), "mykernels") << "the plugin's other kernels stay";
}

TEST_F(AddedKernels, SeveralOfOneProviderHaveNames) {
  load("second");
  EXPECT_EQ(providerOf({"Relu"}), "mykernels");
}

TEST_F(AddedKernels, EveryMistakeIsOneLineAndRegistersNothing) {
  const struct {
    const char *fault, *message;
  } kMistakes[] = {
      {"null", "opkit_operator_kernel is NULL"},
      {"null type", "expected an operator's type such as Softmax or com.acme::ScaledTanh, got ''"},
      {"type:Rleu", "kernel of Rleu: there is no such operator"},
      {"type:Mirror", "kernel of Mirror: the operator takes no kernels: it only moves data"},
      {"type:MirrorPlusOne", "kernel of MirrorPlusOne: the operator takes no kernels: it is made of other operators"},
      {"type:ShapeOf", "kernel of ShapeOf: the operator takes no kernels: it is computed from shapes alone"},
      {"backend:gpu", "Relu: expected backend 'cpu' or 'vulkan', got 'gpu'"},
      {"null backend", "Relu: expected backend 'cpu' or 'vulkan', got ''"},
      {"backend:vulkan", "Relu: with backend 'vulkan', `vulkan` must be set and `cpu` NULL"},
      {"null kernel", "Relu: with backend 'cpu', `cpu` must be set and `vulkan` NULL"},
      {"both", "Relu: with backend 'cpu', `cpu` must be set and `vulkan` NULL"},
      {"null execute", "Relu: opkit_kernel: execute is NULL"},
      {"no destroy", "Relu: opkit_kernel: create without destroy"},
      {"no dtype", "Relu: dtypes is 0; expected a mask such as OPKIT_BIT(OPKIT_F32)"},
      {"dtype", "Relu: dtypes 0x80000000 has bits of no dtype"},
      {"name", "Relu: expected the name of a kernel such as rows, got 'a b'"},
      {"provider:onednn", "Relu: provider 'onednn' is OpKit's own; expected another name"},
      {"provider:reference", "Relu: provider 'reference' is OpKit's own"},
      {"provider:my kernels", "Relu: expected a provider such as mykernels, got 'my kernels'"},
      {"twice", "duplicate kernel (cpu, mykernels, f32, Relu): the key is taken by one for f32"},
      {"overlap", "duplicate kernel (cpu, mykernels, f32, f16, Relu): the key is taken by one for f32"},
  };
  for (const auto& [fault, message] : kMistakes) {
    choose(fault);
    expectRefused(faulty("kernels"), message);
    EXPECT_FALSE(set_.registry().find("com.test::Beside")) << fault;
    EXPECT_EQ(providerOf({"Neg"}), "reference") << fault;
  }
}

TEST_F(AddedKernels, AKeyOfTheRegistryIsTaken) {
  OpRegistry base = baseOps();
  base.addCreator("cpu", "Relu", {.provider = "mykernels"});
  PluginSet set(base, OnnxRules());
  choose("");
  const auto info = set.load(faulty("kernels"));
  ASSERT_FALSE(info);
  EXPECT_NE(
      info.error().message().find("duplicate kernel (cpu, mykernels, f32, Relu): the key is taken by one for any"),
      std::string::npos)
      << info.error().message();
}

TEST_F(AddedKernels, APluginSeesThatAnOlderHostLacksThem) {
  opkit_host old = plugin::hostTable();
  old.struct_size = offsetof(opkit_host, add_kernel);
  old.add_kernel = [](opkit_registrar*, const opkit_operator_kernel*) -> opkit_code { std::abort(); };
  EXPECT_FALSE(OPKIT_HOST_HAS(&old, add_kernel));
  EXPECT_TRUE(OPKIT_HOST_HAS(&old, graph_retype));
  EXPECT_TRUE(OPKIT_HOST_HAS(&plugin::hostTable(), add_kernel));
  const auto library = plugin::Library::open(sample("softmax_kernels"));
  ASSERT_TRUE(library) << library.error().toString();
  plugin::Contents contents;
  opkit_registrar registrar(contents);
  EXPECT_EQ((*library)->plugin().load(&old, &registrar), OPKIT_UNSUPPORTED);
}

#ifdef OPKIT_HAS_VULKAN
TEST_F(AddedKernels, OnVulkan) {
  load();
  const SessionConfig vulkan{.backend = "vulkan", .validation = Validation::Core, .allowFallback = false};
  const auto y = run(modelOf({"Relu"}), vulkan);
  ASSERT_TRUE(y) << y.error().toString();
  EXPECT_EQ(*y, (Values{0, 0, 0, 1, 2, 3}));
  EXPECT_EQ(placement_[0].provider, "mykernels");
}

TEST_F(AddedKernels, MistakesOfGlslAreOneLineToo) {
  choose("glsl");
  expectRefused(faulty("kernels"), "Relu: relu.comp:4: error:");
  choose("null encode");
  expectRefused(faulty("kernels"), "Relu: opkit_glsl_kernel: source and encode must be set");
}
#endif

}  // namespace
}  // namespace opkit
