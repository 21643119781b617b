#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/reduce/reduce.h"
#include "shaders/reduce/reduce.h"

namespace opkit::ops::reduce {
namespace {

using Shader = shaders::Reduce;
constexpr size_t kMaxLoops = 4;
constexpr uint32_t kTeam = 64;  // the shader's work group
// A team pays off when one invocation would have much to fold and the outputs alone do not fill the device.
constexpr int64_t kTeamFromFolded = 256;
constexpr int64_t kTeamUpToOutputs = 4096;

/// Passes of one invocation's loops; LogSumExp folds twice.
int64_t passesOf(Kind kind, int64_t folded, bool team) {
  const int64_t halvings = 6;  // of a team's partial results
  const int64_t one = team ? vulkan::loopPasses({(folded + kTeam - 1) / kTeam}) + vulkan::loopPasses({halvings})
                           : vulkan::loopPasses({folded});
  return kind == Kind::LogSumExp ? 2 * one : one;
}

/// Also where one invocation may not make as many passes.
bool wantsTeam(Kind kind, int64_t outputs, int64_t folded, const DeviceCaps& caps) {
  return (folded >= kTeamFromFolded && outputs <= kTeamUpToOutputs) ||
         static_cast<uint64_t>(passesOf(kind, folded, false)) > caps.loopIterations;
}

Kind kindOf(std::string_view type) {
#define REDUCE(id, Name, numericClass) \
  if (type == "Reduce" #Name) return Kind::Name;
#include "ops/reduce/reduce_table.h"
  OPKIT_CHECK(false);
  return Kind::Sum;
}

class ReduceVulkan final : public vulkan::VulkanExecution {
 public:
  ReduceVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), caps_(args.device), kind_(kindOf(args.def.type)), reduced_(axesOf(args)) {}

  /// The folded axes; nothing when they are not known when kernels are chosen.
  static std::optional<std::vector<bool>> axesOf(const CreateArgs& args) {
    std::vector<int64_t> axes;
    if (args.hasInput(1)) {
      if (!args.constant(1)) return std::nullopt;
      axes = toInt64(*args.constant(1));
    }
    return *reducedAxes(args.params<ReduceParams>(), args.hasInput(1) ? &axes : nullptr, args.input(0).shape.size());
  }

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const View view = viewOf(inputs[0]->desc.shape, *reduced_);
    const int64_t count = elementCount(view.kept.size), folded = elementCount(view.reduced.size);
    const bool team = wantsTeam(kind_, count, folded, caps_);
    return encoder.dispatch<Shader>({*Shader::storageOf(inputs[0]->desc.dtype)}, {.x = inputs[0], .y = outputs[0]},
                                    {.outputs = static_cast<uint32_t>(count),
                                     .folded = static_cast<uint32_t>(folded),
                                     .keptSizes = packed<kMaxLoops>(view.kept.size),
                                     .keptStrides = packed<kMaxLoops>(view.kept.strides[0]),
                                     .reducedSizes = packed<kMaxLoops>(view.reduced.size),
                                     .reducedStrides = packed<kMaxLoops>(view.reduced.strides[0])},
                                    vulkan::Groups::linear(count, team ? 1 : kTeam),
                                    {.function = static_cast<uint32_t>(kind_),
                                     .team = team ? kTeam : 1,
                                     .keptLoops = static_cast<uint32_t>(view.kept.size.size()),
                                     .reducedLoops = static_cast<uint32_t>(view.reduced.size.size())});
  }

  bool readsInput(size_t index) const override { return index == 0; }

 private:
  DeviceCaps caps_;
  Kind kind_;
  std::optional<std::vector<bool>> reduced_;
};

Status supports(const CreateArgs& args) {
  const Kind kind = kindOf(args.def.type);
  const DType dtype = args.input(0).dtype;
  const auto reduced = ReduceVulkan::axesOf(args);
  if (!reduced) return Status::unsupported("{}: the Vulkan kernel needs constant axes", args.def.type);
  if (!isFloat(dtype) && (kind == Kind::L2 || kind == Kind::LogSum || kind == Kind::LogSumExp))
    return Status::unsupported("{}: the Vulkan kernel folds floats only, got {}", args.def.type, nameOf(dtype));
  if (sizeOf(dtype) == 8 && !args.device.int64)
    return Status::unsupported("{}: the device has no 64-bit integers", args.def.type);
  const View view = viewOf(args.input(0).shape, *reduced);
  if (view.kept.size.size() > kMaxLoops || view.reduced.size.size() > kMaxLoops)
    return Status::unsupported("{}: the Vulkan kernel takes up to {} merged axes of each kind, got {} and {}",
                               args.def.type, kMaxLoops, view.kept.size.size(), view.reduced.size.size());
  OPKIT_TRY(vulkan::requireStorage<Shader>(args, dtype));
  const int64_t folded = elementCount(view.reduced.size);
  return vulkan::requireLoops(
      args, passesOf(kind, folded, wantsTeam(kind, elementCount(view.kept.size), folded, args.device)));
}

}  // namespace

void addVulkan(OpRegistry& registry) {
#define REDUCE(id, Name, numericClass) \
  registry.addCreator("vulkan", "Reduce" #Name, vulkan::creatorOf<ReduceVulkan>(supports));
#include "ops/reduce/reduce_table.h"
}

}  // namespace opkit::ops::reduce
