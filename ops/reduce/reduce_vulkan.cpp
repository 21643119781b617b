#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/reduce/reduce.h"
#include "shaders/reduce/reduce.h"

namespace opkit::ops::reduce {
namespace {

using Shader = shaders::Reduce;
constexpr size_t kMaxLoops = 4;

Kind kindOf(std::string_view type) {
#define REDUCE(id, Name, numericClass) \
  if (type == "Reduce" #Name) return Kind::Name;
#include "ops/reduce/reduce_table.h"
  OPKIT_CHECK(false);
  return Kind::Sum;
}

vulkan::RowWork workOf(const View& view) {
  return {.rows = elementCount(view.kept.size),
          .extent = elementCount(view.reduced.size),
          .passes = 2,  // LogSumExp, and a sum that overflows
          .distance = view.reduced.strides[0].empty() ? 1 : view.reduced.strides[0].back()};
}

class ReduceVulkan final : public vulkan::VulkanExecution {
 public:
  ReduceVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), kind_(kindOf(args.def.type)), reduced_(axesOf(args)) {}

  /// The folded axes; nullopt if they are not known when kernels are chosen.
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
    const vulkan::RowWork work = workOf(view);
    return encoder.dispatch<Shader>({*Shader::storageOf(inputs[0]->desc.dtype)}, {.x = inputs[0], .y = outputs[0]},
                                    {.outputs = work.rows,
                                     .folded = work.extent,
                                     .keptSizes = packed<kMaxLoops>(view.kept.size),
                                     .keptStrides = packed<kMaxLoops>(view.kept.strides[0]),
                                     .reducedSizes = packed<kMaxLoops>(view.reduced.size),
                                     .reducedStrides = packed<kMaxLoops>(view.reduced.strides[0])},
                                    work,
                                    {.function = static_cast<uint32_t>(kind_),
                                     .keptLoops = static_cast<uint32_t>(view.kept.size.size()),
                                     .reducedLoops = static_cast<uint32_t>(view.reduced.size.size())});
  }

  bool readsInput(size_t index) const override { return index == 0; }

 private:
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
  const View view = viewOf(args.input(0).shape, *reduced);
  if (view.kept.size.size() > kMaxLoops || view.reduced.size.size() > kMaxLoops)
    return Status::unsupported("{}: the Vulkan kernel takes up to {} merged axes of each kind, got {} and {}",
                               args.def.type, kMaxLoops, view.kept.size.size(), view.reduced.size.size());
  return vulkan::requireStorage<Shader>(args, dtype);
}

}  // namespace

void addVulkan(OpRegistry& registry) {
#define REDUCE(id, Name, numericClass) \
  registry.addCreator("vulkan", "Reduce" #Name, vulkan::creatorOf<ReduceVulkan>(supports));
#include "ops/reduce/reduce_table.h"
}

}  // namespace opkit::ops::reduce
