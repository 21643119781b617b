// VulkanTest: a fixture with a Runtime under validation and host tensors on the device.
#pragma once

#include <gtest/gtest.h>

#include <random>

#include "engine/backend/op_runner.h"
#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/backend/vulkan/vulkan_runtime.h"
#include "engine/op/op_registry.h"
#include "shaders/testing/affine.h"

namespace opkit::vulkan {

/// y = x * factor + amount.
class AffineExecution final : public VulkanExecution {
 public:
  AffineExecution(Backend& backend, float amount, uint32_t factor = 1)
      : VulkanExecution(backend), amount_(amount), factor_(factor) {}

  Status onEncode(TensorList inputs, TensorList outputs, Encoder& encoder) override {
    using Shader = shaders::Affine;
    const auto count = static_cast<uint32_t>(outputs[0]->desc.elements());
    return encoder.dispatch<Shader>({*Shader::storageOf(outputs[0]->desc.dtype)}, {.x = inputs[0], .y = outputs[0]},
                                    {.count = count, .amount = amount_}, Items{count}, {.factor = factor_});
  }

 private:
  float amount_;
  uint32_t factor_;
};

/// Records the calls together or each alone, runs them once, and appends their times.
inline Status runRecorded(Backend& backend, const std::vector<OpCall>& calls, bool alone,
                          std::vector<double>* times = nullptr) {
  OPKIT_ASSIGN(const std::unique_ptr<Recorder> recorder, backend.record());
  std::vector<std::unique_ptr<Recording>> recordings;
  for (const OpCall& call : calls) {
    OPKIT_TRY(recorder->add(*call.execution, call.inputs, call.outputs));
    if (!alone && &call != &calls.back()) continue;
    OPKIT_ASSIGN(recordings.emplace_back(), recorder->finish());
  }
  for (const auto& recording : recordings) {
    OPKIT_TRY(recording->run());
    if (times) OPKIT_TRY(recording->appendTimesNs(*times));
  }
  return Status::ok();
}

class VulkanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    messagesBefore_ = validationMessageCount();
    auto runtime =
        createRuntime({.device = "", .validation = OPKIT_VALIDATION_TESTS ? Validation::Core : Validation::Off});
    ASSERT_TRUE(runtime) << runtime.error().message();
    runtime_ = *runtime;
  }
  void TearDown() override {
    runtime_.reset();
    EXPECT_EQ(validationMessageCount(), messagesBefore_);
  }

  std::unique_ptr<Backend> makeBackend(const BackendConfig& config = {}) {
    auto backend = runtime_->createBackend(registry_, config);
    EXPECT_TRUE(backend) << backend.error().message();
    return *std::move(backend);
  }
  static Tensor makeTensor(Backend& backend, const TensorDesc& desc) {
    auto tensor = onDevice(backend, {{backend.storageDType(desc.dtype), desc.shape}, nullptr});
    EXPECT_TRUE(tensor) << tensor.error().message();
    return *std::move(tensor);
  }
  template <class T>
  static Tensor upload(Backend& backend, const TensorDesc& desc, const std::vector<T>& values) {
    const Tensor device = makeTensor(backend, desc);
    const Status status = backend.upload(*Tensor::fromValues(desc, values), device);
    EXPECT_TRUE(status.isOk()) << status.message();
    return device;
  }
  template <class T>
  static std::vector<T> download(Backend& backend, const Tensor& device, DType dtype) {
    const Tensor host = *Tensor::onHost({dtype, device.desc.shape});
    const Status status = backend.download(device, host);
    EXPECT_TRUE(status.isOk()) << status.message();
    const auto data = host.data<T>();
    return {data.begin(), data.end()};
  }

  OpRegistry registry_;
  std::shared_ptr<Runtime> runtime_;
  uint64_t messagesBefore_ = 0;
};

}  // namespace opkit::vulkan

#define EXPECT_OK(expression)                           \
  do {                                                  \
    const ::opkit::Status status__ = (expression);      \
    EXPECT_TRUE(status__.isOk()) << status__.message(); \
  } while (false)
