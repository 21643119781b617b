#ifdef OPKIT_HAS_VULKAN
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/backend/op_runner.h"
#include "engine/backend/vulkan/vulkan_runtime.h"
#include "ops/builtin_ops.h"
#include "ops/softmax/softmax.h"

namespace opkit::ops::softmax {
namespace {

/// One Softmax on the device.
Status runOnDevice(Backend& backend, const SoftmaxParamsT& params, const Tensor& x, const Tensor& y) {
  const OpDef& def = *builtinOps().find("Softmax");
  const ParamBytes bytes = packParams(params);
  const TensorDesc desc{backend.storageDType(x.desc.dtype), x.desc.shape};
  const TensorDesc* input = &desc;
  const CreateArgs args{def, bytes, {&input, 1}, {&desc, 1}, {}, backend.caps()};
  const Choice choice = chooseCreator(backend.creators(def), args);
  if (!choice.creator) return Status::unsupported("{}", choice.refusals.empty() ? "none" : choice.refusals[0].reason);
  OPKIT_ASSIGN(auto execution, choice.creator->create(args, backend));
  OpRunner runner(backend, std::move(execution), choice.creator->layout);
  OPKIT_TRY(runner.place(args.inputs, args.outputs));
  OPKIT_TRY(runner.upload(0, x));
  OPKIT_TRY(runner.resize());
  OPKIT_TRY(runner.run());
  return runner.download(0, y);
}

TEST(SoftmaxVulkan, AgreesWithTheReference) {
  const auto runtime = vulkan::createRuntime({.device = "", .validation = Validation::Core});
  ASSERT_TRUE(runtime) << runtime.error().message();
  const TensorDesc desc{DType::Float32, {5, 70, 3}};
  const Tensor x = *Tensor::onHost(desc);
  std::mt19937 random(1);
  for (float& value : x.data<float>()) value = static_cast<float>(random() % 1000) * 0.01f - 8.0f;
  for (const Precision precision : {Precision::High, Precision::Normal}) {
    for (const int axis : {-1, 0, 1}) {
      const auto backend = (*runtime)->createBackend(builtinOps(), {.precision = precision});
      ASSERT_TRUE(backend) << backend.error().message();
      SoftmaxParamsT params;
      params.axis = axis;
      const Tensor y = *Tensor::onHost(desc);
      const Status status = runOnDevice(**backend, params, x, y);
      ASSERT_TRUE(status.isOk()) << status.message();

      OracleTensor in = OracleTensor::fromTensor(x);
      OracleTensor out(desc);
      const OracleTensor* input = &in;
      ASSERT_TRUE(reference({packParams(params), {&input, 1}, {&out, 1}}).isOk());
      const double tolerance = precision == Precision::High ? 2e-6 : 4e-3;
      for (size_t i = 0; i < out.real.size(); ++i) ASSERT_NEAR(y.data<float>()[i], out.real[i], tolerance) << i;
    }
  }
  EXPECT_EQ(vulkan::validationMessageCount(), 0u);
}

}  // namespace
}  // namespace opkit::ops::softmax
#endif
