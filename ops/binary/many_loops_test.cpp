// Kernels that walk broadcast loops keep their positions in arrays of kMaxLoops, so each must refuse more.
#include <gtest/gtest.h>

#include "engine/backend/backend_registry.h"
#include "engine/backend/cpu/parallel.h"
#include "ops/builtin_ops.h"

namespace opkit::ops {
namespace {

/// Operands of `rank` axes that repeat in every second one, in turns: no two loops merge.
std::vector<TensorDesc> operands(const std::string& type, int64_t rank) {
  Shape even, odd;
  for (int64_t d = 0; d < rank; ++d) {
    even.push_back(d % 2 == 0 ? 2 : 1);
    odd.push_back(d % 2 == 0 ? 1 : 2);
  }
  if (type.starts_with("QLinear")) {
    const TensorDesc scale{DType::Float32, {}}, zeroPoint{DType::UInt8, {}};
    return {{DType::UInt8, even}, scale, zeroPoint, {DType::UInt8, odd}, scale, zeroPoint, scale, zeroPoint};
  }
  if (type == "Where") return {{DType::Bool, even}, {DType::Float32, odd}, {DType::Float32, even}};
  if (type == "Pow of two types") return {{DType::Float32, even}, {DType::Int32, odd}};
  return {{DType::Float32, even}, {DType::Float32, odd}};
}

/// Whether a kernel of the CPU takes them, not the oracle.
bool isTaken(const std::string& name, int64_t rank) {
  const std::string type = name.substr(0, name.find(' '));
  const OpDef& def = *builtinOps().find(type);
  const std::vector<TensorDesc> inputs = operands(name, rank);
  std::vector<const TensorDesc*> list;
  for (const TensorDesc& input : inputs) list.push_back(&input);
  const std::vector<const Tensor*> none(inputs.size(), nullptr);
  const ParamBytes params;
  const auto outputs = inferShapes(def, {params, list, none, 1});
  EXPECT_TRUE(outputs) << name << ": " << outputs.error().toString();
  const auto runtime = *createRuntime("cpu");
  const auto backend = *runtime->createBackend(builtinOps(), {});
  const CreateArgs args{def, params, list, *outputs, none, backend->caps()};
  const Creator* creator = chooseCreator(backend->creators(def), args).creator;
  return creator && creator->provider == "opkit";
}

TEST(ManyLoops, AreRefusedByEveryKernelThatWalksThem) {
  constexpr auto kMost = static_cast<int64_t>(cpu::kMaxLoops);
  for (const char* name : {"Add", "Less", "Pow", "Pow of two types", "Sum", "Where", "QLinearAdd", "QLinearMul"}) {
    EXPECT_TRUE(isTaken(name, kMost)) << name;
    EXPECT_FALSE(isTaken(name, kMost + 1)) << name;
  }
}

}  // namespace
}  // namespace opkit::ops
