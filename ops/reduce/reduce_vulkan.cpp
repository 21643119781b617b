#include "engine/backend/vulkan/row_split.h"
#include "engine/op/op_registry.h"
#include "ops/reduce/reduce.h"
#include "shaders/reduce/reduce.h"
#include "shaders/reduce/reduce_parts.h"

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

/// Folds with a walk for the largest element, or one for scaled elements.
bool walksTwice(Kind kind) {
  return kind == Kind::LogSumExp || kind == Kind::Mean || kind == Kind::L2 || kind == Kind::LogSum;
}

/// Whether the input is [outputs / inner, folded, inner] for the innermost stride of the folded loop.
bool isPlain(const View& view) {
  if (view.reduced.size.size() != 1 || view.kept.size.size() > 2) return false;
  const int64_t inner = view.reduced.strides[0][0], period = inner * view.reduced.size[0];
  const DimVector &size = view.kept.size, &strides = view.kept.strides[0];
  if (size.empty()) return inner == 1;
  if (size.size() == 1) return inner == 1 ? strides[0] == period : strides[0] == 1 && size[0] == inner;
  return inner > 1 && strides[0] == period && strides[1] == 1 && size[1] == inner;
}

vulkan::RowWork workOf(const View& view, Kind kind, DType dtype) {
  return {.rows = elementCount(view.kept.size),
          .extent = elementCount(view.reduced.size),
          .passes = walksTwice(kind) ? 2 : 1,
          .distance = view.reduced.strides[0].empty() ? 1 : view.reduced.strides[0].back(),
          .elementBytes = static_cast<int64_t>(sizeOf(dtype)),
          .keptBytes = !isPlain(view) ? 0 : std::max<int64_t>(4, static_cast<int64_t>(sizeOf(dtype)))};
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
    const vulkan::RowWork work = workOf(view, kind_, inputs[0]->desc.dtype);
    const vulkan::RowSplit split = vulkan::RowSplit::of(work, encoder.caps());
    if (split.isSplit()) return encodeParts(view, work, split, *inputs[0], *outputs[0], encoder);
    return encodeFold(view, work, split, *inputs[0], *outputs[0], *outputs[0], encoder);
  }

  bool readsInput(size_t index) const override { return index == 0; }

 private:
  Status encodeFold(const View& view, const vulkan::RowWork& work, vulkan::RowSplit split, const Tensor& x,
                    const Tensor& y, const Tensor& sums, vulkan::Encoder& encoder) const {
    const bool keeps = vulkan::RowTeam::of(work, encoder.caps()).keeps != vulkan::RowTeam::Keeps::Nothing;
    return encoder.dispatch<Shader>({*Shader::storageOf(x.desc.dtype)}, {.x = &x, .y = &y, .partSums = &sums},
                                    {.outputs = work.rows / split.parts,
                                     .folded = elementCount(view.reduced.size),
                                     .parts = split.parts,
                                     .partLength = split.length,
                                     .keptSizes = packed<kMaxLoops>(view.kept.size),
                                     .keptStrides = packed<kMaxLoops>(view.kept.strides[0]),
                                     .reducedSizes = packed<kMaxLoops>(view.reduced.size),
                                     .reducedStrides = packed<kMaxLoops>(view.reduced.strides[0])},
                                    work,
                                    {.function = static_cast<uint32_t>(kind_),
                                     .keptLoops = static_cast<uint32_t>(view.kept.size.size()),
                                     .reducedLoops = static_cast<uint32_t>(view.reduced.size.size()),
                                     .keepsRows = keeps,
                                     .splits = split.isSplit()});
  }

  /// Two stages: several work groups fold parts of each output, then a team per output joins them.
  Status encodeParts(const View& view, const vulkan::RowWork& work, vulkan::RowSplit split, const Tensor& x,
                     const Tensor& y, vulkan::Encoder& encoder) const {
    using Join = shaders::ReduceParts;
    OPKIT_ASSIGN(const Tensor* sums,
                 encoder.scratch({vulkan::arithmeticOf(x.desc.dtype), {3, split.parts, work.rows}}));
    OPKIT_TRY(encodeFold(view, split.folding(work), split, x, y, *sums, encoder));
    return encoder.dispatch<Join>({*Join::storageOf(x.desc.dtype)}, {.partSums = sums, .y = &y},
                                  {.outputs = work.rows, .parts = split.parts, .folded = work.extent},
                                  split.joining(work), {.function = static_cast<uint32_t>(kind_)});
  }

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
