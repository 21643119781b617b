#include "engine/backend/vulkan/vulkan_loop.h"

#include "engine/backend/vulkan/loop_table.h"
#include "engine/backend/vulkan/vulkan_running_sum.h"
#include "engine/backend/vulkan/vulkan_scatter.h"
#include "shaders/loop/loop_copy.h"
#include "shaders/loop/loop_product.h"
#include "shaders/loop/loop_running_sum.h"

namespace opkit::vulkan {
namespace {

using Command = LoopRegion::Command;

constexpr size_t kMaxRank = 6;  // of the shaders
constexpr size_t kMaxWordBytes = 16;

bool allEven(const DimVector& values, size_t count) {
  return std::all_of(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count),
                     [](int64_t value) { return value % 2 == 0; });
}

/// Makes it a Copy of words of twice the size; returns false and changes nothing if words would not be whole or
/// aligned.
bool widen(LoopRegion& loop) {
  LoopView &from = loop.operands[0], &to = loop.target;
  const size_t inner = loop.size.size() - 1;
  if (loop.size.empty() || from.strides[inner] != 1 || to.strides[inner] != 1 || loop.size[inner] % 2 != 0)
    return false;
  for (const LoopView* view : {&from, &to})
    if (view->offset % 2 != 0 || !allEven(view->steps, view->steps.size()) || !allEven(view->strides, inner))
      return false;
  for (const LoopIndices::Term& term : loop.indices.terms)
    if (term.stride % 2 != 0) return false;
  loop.size[inner] /= 2;
  for (LoopView* view : {&from, &to}) {
    view->offset /= 2;
    for (int64_t& step : view->steps) step /= 2;
    for (size_t d = 0; d < inner; ++d) view->strides[d] /= 2;
  }
  for (LoopIndices::Term& term : loop.indices.terms) term.stride /= 2;
  return true;
}

RowWork runningSumsOf(const LoopRegion& loop) {
  constexpr int64_t kRun = 8;  // of loop_running_sum.comp, which walks a run twice and scans a team in between
  return {.rows = elementCount(loop.iterations),
          .extent = loop.size[0],
          .passes = 0,
          .distance = loop.operands[0].strides[0],
          .tileRun = kRun,
          .tilePasses = loopPasses({kRun}) * 2 + kScanPasses};
}

class VulkanLoop final : public VulkanExecution {
 public:
  VulkanLoop(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), type_(args.def.type), lowering_(args) {}

  bool readsInput(size_t index) const override { return !lowering_.knows(index); }

  Status onEncode(TensorList inputs, TensorList outputs, Encoder& encoder) override {
    OPKIT_ASSIGN(const LoopRegion loop, lowering_.lower(inputs, outputs));
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    switch (loop.command) {
      case Command::Copy: return encodeCopy(loop, inputs, *outputs[0], encoder);
      case Command::Scatter: return encodeScatter(loop, inputs, *outputs[0], encoder, type_);
      case Command::Product: return encodeProduct(loop, inputs, *outputs[0], encoder);
      case Command::RunningSum: break;
    }
    return encodeRunningSum(loop, inputs, *outputs[0], encoder);
  }

 private:
  static const Tensor* operand(const LoopRegion& loop, size_t k, TensorList inputs) {
    return inputs[static_cast<size_t>(loop.operands[k].source)];
  }

  Status encodeCopy(LoopRegion loop, TensorList inputs, const Tensor& output, Encoder& encoder) {
    using Shader = shaders::LoopCopy;
    size_t wordBytes = sizeOf(output.desc.dtype);
    while (wordBytes < kMaxWordBytes && widen(loop)) wordBytes *= 2;
    const size_t terms = loop.indices.terms.size();
    const bool indexed = terms > 0;
    OPKIT_ASSIGN(const Tensor* rows, encoder.table(tableOfBoxes(loop)));
    const Tensor* from = operand(loop, 0, inputs);
    const Tensor* indices = indexed ? inputs[static_cast<size_t>(loop.indices.source)] : from;
    OPKIT_ASSIGN(const Tensor* bad, encoder.report(2 * static_cast<int64_t>(std::max<size_t>(terms, 1)),
                                                   explainIndices(type_, loop.indices)));
    const int64_t count = elementCount(loop.iterations) * elementCount(loop.size);
    return encoder.dispatch<Shader>({*Shader::wordOfBytes(wordBytes)},
                                    {.table = rows, .x = from, .indices = indices, .y = &output, .bad = bad},
                                    {.count = count,
                                     .indexWords = static_cast<int64_t>(sizeOf(indices->desc.dtype) / 4),
                                     .sourceOffset = loop.operands[0].offset,
                                     .offset = loop.target.offset},
                                    Items{count},
                                    {.rank = static_cast<uint32_t>(loop.iterations.size() + loop.size.size()),
                                     .terms = static_cast<uint32_t>(terms)});
  }

  Status encodeProduct(const LoopRegion& loop, TensorList inputs, const Tensor& output, Encoder& encoder) {
    using Shader = shaders::LoopProduct;
    const LoopView &a = loop.operands[0], &b = loop.operands[1], &y = loop.target;
    std::vector<uint32_t> table;
    appendDimensions(loop.iterations, {&y.steps, &a.steps, &b.steps}, table);
    OPKIT_ASSIGN(const Tensor* rows, encoder.table(table));
    const int64_t count = output.desc.elements();
    return encoder.dispatch<Shader>(
        {*Shader::storageOf(output.desc.dtype)},
        {.table = rows, .a = operand(loop, 0, inputs), .b = operand(loop, 1, inputs), .y = &output},
        {.count = count,
         .rows = loop.size[0],
         .columns = loop.size[1],
         .depth = loop.size[2],
         .aOffset = a.offset,
         .bOffset = b.offset,
         .yOffset = y.offset,
         .aRow = a.strides[0],
         .aDepth = a.strides[2],
         .bColumn = b.strides[1],
         .bDepth = b.strides[2],
         .yRow = y.strides[0],
         .yColumn = y.strides[1],
         .low = loop.clamp.low,
         .high = loop.clamp.high},
        Items{count}, {.rank = static_cast<uint32_t>(loop.iterations.size())});
  }

  Status encodeRunningSum(const LoopRegion& loop, TensorList inputs, const Tensor& output, Encoder& encoder) {
    using Shader = shaders::LoopRunningSum;
    OPKIT_ASSIGN(const bool done, encodeRowSums(loop, *operand(loop, 0, inputs), output, encoder));
    if (done) return Status::ok();
    const LoopView &x = loop.operands[0], &y = loop.target;
    std::vector<uint32_t> table;
    appendDimensions(loop.iterations, {&y.steps, &x.steps, nullptr}, table);
    OPKIT_ASSIGN(const Tensor* rows, encoder.table(table));
    const RowWork work = runningSumsOf(loop);
    return encoder.dispatch<Shader>(
        {*Shader::storageOf(output.desc.dtype)}, {.table = rows, .x = operand(loop, 0, inputs), .y = &output},
        {.rows = work.rows,
         .terms = work.extent,
         .xOffset = x.offset,
         .yOffset = y.offset,
         .xStride = x.strides[0],
         .yStride = y.strides[0],
         .exclusive = loop.exclusive},
        work, {.rank = static_cast<uint32_t>(loop.iterations.size()), .isProduct = loop.combine == Combine::Multiply});
  }

  std::string type_;
  LoopLowering lowering_;
};

Status supports(const CreateArgs& args) {
  OPKIT_ASSIGN(const LoopRegion loop, LoopLowering::lower(args));
  const size_t rank = loop.iterations.size() + (movesBoxes(loop.command) ? loop.size.size() : 0);
  if (rank > kMaxRank)
    return Status::unsupported("{}: the loop kernel walks {} dimensions, got {}", args.def.type, kMaxRank, rank);
  switch (loop.command) {
    case Command::Copy: return checkTerms(loop, args);
    case Command::Scatter: return supportsScatter(loop, args);
    case Command::Product:
      OPKIT_TRY(requireStorage<shaders::LoopProduct>(args, args.outputs[0].dtype));
      return requireLoops(args, loopPasses({loop.size[2]}));
    case Command::RunningSum: break;
  }
  return requireStorage<shaders::LoopRunningSum>(args, args.outputs[0].dtype);
}

}  // namespace

Creator loopCreator(LoopCondition when, std::string_view kernel) {
  const auto both = [when = std::move(when)](const CreateArgs& args) -> Status {
    if (when) OPKIT_TRY(when(args));
    return supports(args);
  };
  Creator creator = creatorOf<VulkanLoop>(both, Layout::NCHW, kernel);
  creator.provider = kLoopProvider;
  creator.dtypes = kMovedDTypes;
  return creator;
}

}  // namespace opkit::vulkan
