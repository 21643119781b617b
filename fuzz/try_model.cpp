#include "fuzz/try_model.h"

#include "engine/import/onnx/onnx_importer.h"
#include "engine/runtime/session.h"
#include "ops/builtin_ops.h"

namespace opkit::fuzz {
namespace {

constexpr int64_t kMostInputElements = 1 << 16;
constexpr double kMostFlops = 1e6;
constexpr size_t kMostBytes = 1 << 22;
constexpr size_t kMostArena = 1 << 28;

bool hasSmallInputs(const Model& model) {
  int64_t elements = 0;
  for (const TensorId input : model.inputs) {
    TensorDesc desc = model.tensors[input].desc;
    for (int64_t& extent : desc.shape)
      if (extent == kDynamic) extent = 1;
    if (!checkShape(desc.shape).isOk()) return false;
    elements += desc.elements();
  }
  return elements <= kMostInputElements;
}

bool isQuick(const Session& session) {
  double flops = 0;
  size_t bytes = session.statistics().plannedPeakBytes;
  for (const Placement& row : session.placement()) {
    flops += row.flops;
    bytes += row.bytesRead + row.bytesWritten;
  }
  return flops <= kMostFlops && bytes <= kMostBytes;
}

Outcome tryModel(Result<Model> model) {
  if (!model) return Outcome::Refused;
  const bool small = hasSmallInputs(*model);
  const auto interpreter = Interpreter::create(*std::move(model), ops::builtinOps());
  if (!interpreter) return Outcome::Refused;
  if (!small) return Outcome::Loaded;
  const auto session = (*interpreter)->createSession({.backend = "cpu", .threads = 1, .memoryLimitBytes = kMostArena});
  if (!session || !(*session)->resize().isOk()) return Outcome::Loaded;
  if (!isQuick(**session)) return Outcome::Planned;
  for (const std::string& name : (*session)->inputNames()) (*session)->fillInput(name);  // zeros will do
  static_cast<void>((*session)->run());
  return Outcome::Finished;
}

}  // namespace

Outcome tryOpk(std::span<const uint8_t> bytes) { return tryModel(readModel(bytes)); }

Outcome tryOnnx(std::span<const uint8_t> bytes) {
  return tryModel(importOnnx(bytes, ops::builtinOnnxRules(), ops::builtinOps()));
}

}  // namespace opkit::fuzz
