#include "engine/backend/backend_registry.h"

#include <gtest/gtest.h>

#include <thread>

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/op/internal_operators.h"
#include "engine/op/op_registry.h"

namespace opkit {
namespace {

OpDef anyDef() {
  return {.type = "Any",
          .outputs = {{"y"}},
          .inferShapes = [](const ShapeArgs&) -> Result<std::vector<TensorDesc>> {
            return std::vector{TensorDesc{DType::Float32, {1}}};
          },
          .oracle = [](const OracleArgs&) { return Status::ok(); }};
}

class HostKind : public ::testing::TestWithParam<std::string> {};

TEST_P(HostKind, ListsItsDeviceAndCopiesBothWays) {
  const auto runtime = createRuntime(GetParam());
  ASSERT_TRUE(runtime) << runtime.error().toString();
  EXPECT_EQ((*runtime)->device().backend, GetParam());
  EXPECT_FALSE((*runtime)->device().name.empty());

  const OpRegistry registry;
  const auto backend = std::move(*(*runtime)->createBackend(registry, {}));
  EXPECT_EQ(backend->name(), GetParam());
  const Tensor host = *Tensor::fromValues<float>({DType::Float32, {3}}, {1, 2, 3});
  const Tensor device{host.desc, *backend->allocate(64), 16, 0};
  const Tensor back = *Tensor::onHost(host.desc);
  ASSERT_TRUE(backend->upload(host, device).isOk());
  ASSERT_TRUE(backend->download(device, back).isOk());
  EXPECT_EQ(back.data<float>()[2], 3.0f);
  EXPECT_EQ(backend->counters().allocations, 1u);
  EXPECT_EQ(backend->counters().bytesUploaded, 12u);
  EXPECT_EQ(backend->counters().bytesDownloaded, 12u);
}

TEST_P(HostKind, ChoosesADeviceByIndexOrName) {
  const std::string name = (*createRuntime(GetParam()))->device().name;
  EXPECT_TRUE(createRuntime(GetParam(), {.device = "0"}));
  EXPECT_TRUE(createRuntime(GetParam(), {.device = name}));
  const auto missing = createRuntime(GetParam(), {.device = "7"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), StatusCode::Unsupported);
}

INSTANTIATE_TEST_SUITE_P(Kinds, HostKind, ::testing::Values("cpu", "reference", "null"));

TEST(BackendRegistry, EveryKindAnswersForItsDevices) {
  for (const BackendKind& kind : backendKinds()) {
    EXPECT_FALSE(kind.summary.empty());
    const auto devices = kind.devices();
    if (devices)
      for (const DeviceInfo& device : *devices) EXPECT_EQ(device.backend, kind.name);
    else
      EXPECT_FALSE(devices.error().message().empty());
  }
}

TEST(BackendRegistry, KindsComeAndGoAtRunTime) {
  BackendKind kind = backendKinds().back();
  EXPECT_EQ(addBackendKind(kind).code(), StatusCode::InvalidArgument);  // the name is taken
  kind.name = "visitor";
  ASSERT_TRUE(addBackendKind(kind).isOk());
  EXPECT_TRUE(createRuntime("visitor"));
  removeBackendKind("visitor");
  EXPECT_FALSE(createRuntime("visitor"));
}

TEST(BackendRegistry, UnknownNameListsTheKnown) {
  const Status error = createRuntime("cuda").error();
  EXPECT_EQ(error.code(), StatusCode::InvalidArgument);
  EXPECT_NE(error.message().find("cpu"), std::string::npos);
  EXPECT_NE(error.message().find("'cuda'"), std::string::npos);
}

TEST(CpuBackend, TriesOwnKernelsBeforeTheOracle) {
  OpRegistry registry;
  registry.add(anyDef());
  registry.addCreator("cpu", "Any", {.provider = "fast"});
  const auto backend = std::move(*(*createRuntime("cpu"))->createBackend(registry, {.threads = 3}));
  const auto table = backend->creators(*registry.find("Any"));
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table[0].provider, "fast");
  EXPECT_EQ(table[1].provider, "reference");
  EXPECT_EQ(backend->creators(*registry.find("Any")).data(), table.data());
  EXPECT_EQ(cpu::threadPool(*backend).threadCount(), 3u);
}

TEST(NullBackend, AcceptsNothing) {
  OpRegistry registry;
  registry.add(anyDef());
  const auto backend = std::move(*(*createRuntime("null"))->createBackend(registry, {}));
  EXPECT_TRUE(backend->creators(*registry.find("Any")).empty());
  EXPECT_TRUE(backend->creators(rasterCard()).empty());
}

TEST(CpuBackend, ThreadsAndThePowerHintDecideThePool) {
  const OpRegistry registry;
  const auto threadsOf = [&](const BackendConfig& config) {
    const auto backend = (*createRuntime("cpu"))->createBackend(registry, config);
    return cpu::threadPool(**backend).threadCount();
  };
  EXPECT_EQ(threadsOf({.threads = 3}), 3u);
  EXPECT_EQ(threadsOf({.threads = 0}), std::max(std::thread::hardware_concurrency(), 1u));
  EXPECT_EQ(threadsOf({.threads = 0, .power = PowerHint::Low}), 1u);
  EXPECT_EQ(threadsOf({.threads = 3, .power = PowerHint::Low}), 3u);
}

}  // namespace
}  // namespace opkit
