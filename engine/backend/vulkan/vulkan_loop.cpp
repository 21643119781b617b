#include "engine/backend/vulkan/vulkan_loop.h"

#include "engine/backend/vulkan/shader_tables.h"
#include "engine/backend/vulkan/vulkan_execution.h"
#include "shaders/loop/loop_copy.h"
#include "shaders/loop/loop_product.h"
#include "shaders/loop/loop_running_sum.h"

namespace opkit::vulkan {
namespace {

using Command = LoopRegion::Command;

constexpr size_t kMaxRank = 6;  // of the shaders
constexpr size_t kMaxTerms = 6;
constexpr size_t kMaxWordBytes = 16;
constexpr uint32_t kLocalSize = 64;

uint32_t u32(int64_t value) { return static_cast<uint32_t>(value); }
int32_t i32(int64_t value) { return static_cast<int32_t>(value); }

bool allEven(const std::vector<int64_t>& values, size_t count) {
  return std::all_of(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count),
                     [](int64_t value) { return value % 2 == 0; });
}

/// A Copy of words of twice the size; false, and nothing done, where words would not be whole or aligned.
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

/// One row of the table per dimension.
void appendDimensions(const Shape& size, std::array<const std::vector<int64_t>*, 3> views,
                      std::vector<uint32_t>& table) {
  for (size_t d = 0; d < size.size(); ++d) {
    table.push_back(u32(size[d]));
    for (const std::vector<int64_t>* view : views) table.push_back(view ? u32((*view)[d]) : 0);
  }
}

class VulkanLoop final : public VulkanExecution {
 public:
  VulkanLoop(const CreateArgs& args, Backend& backend) : VulkanExecution(backend), lowering_(args), tables_(backend) {}

  bool readsInput(size_t index) const override { return !lowering_.knows(index); }

  Status onEncode(TensorList inputs, TensorList outputs, Encoder& encoder) override {
    OPKIT_ASSIGN(const LoopRegion loop, lowering_.lower(inputs, outputs));
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    tables_.restart();
    switch (loop.command) {
      case Command::Copy: return encodeCopy(loop, inputs, *outputs[0], encoder);
      case Command::Product: return encodeProduct(loop, inputs, *outputs[0], encoder);
      case Command::RunningSum: break;
    }
    return encodeRunningSum(loop, inputs, *outputs[0], encoder);
  }

 private:
  static const Tensor* operand(const LoopRegion& loop, size_t k, TensorList inputs) {
    return inputs[static_cast<size_t>(loop.operands[k].source)];
  }

  Result<const Tensor*> upload(std::vector<uint32_t> table) {
    if (table.empty()) table.resize(4);  // a single iteration: bound, not read
    return tables_.upload(table);
  }

  Status encodeCopy(LoopRegion loop, TensorList inputs, const Tensor& output, Encoder& encoder) {
    using Shader = shaders::LoopCopy;
    size_t wordBytes = sizeOf(output.desc.dtype);
    while (wordBytes < kMaxWordBytes && widen(loop)) wordBytes *= 2;
    const bool indexed = !loop.indices.terms.empty();
    std::vector<uint32_t> table;
    appendDimensions(loop.iterations,
                     {&loop.target.steps, &loop.operands[0].steps, indexed ? &loop.indices.steps : nullptr}, table);
    appendDimensions(loop.size, {&loop.target.strides, &loop.operands[0].strides, nullptr}, table);
    for (const LoopIndices::Term& term : loop.indices.terms)
      table.insert(table.end(), {u32(term.offset), u32(term.extent), u32(term.stride), 0});
    OPKIT_ASSIGN(const Tensor* rows, upload(std::move(table)));
    const Tensor* from = operand(loop, 0, inputs);
    const Tensor* indices = indexed ? inputs[static_cast<size_t>(loop.indices.source)] : from;
    const int64_t count = elementCount(loop.iterations) * elementCount(loop.size);
    return encoder.dispatch<Shader>({*Shader::wordOfBytes(wordBytes)},
                                    {.table = rows, .x = from, .indices = indices, .y = &output},
                                    {.count = u32(count),
                                     .indexWords = u32(static_cast<int64_t>(sizeOf(indices->desc.dtype) / 4)),
                                     .sourceOffset = i32(loop.operands[0].offset),
                                     .offset = i32(loop.target.offset)},
                                    Groups::linear(count, kLocalSize),
                                    {.rank = static_cast<uint32_t>(loop.iterations.size() + loop.size.size()),
                                     .terms = static_cast<uint32_t>(loop.indices.terms.size())});
  }

  Status encodeProduct(const LoopRegion& loop, TensorList inputs, const Tensor& output, Encoder& encoder) {
    using Shader = shaders::LoopProduct;
    const LoopView &a = loop.operands[0], &b = loop.operands[1], &y = loop.target;
    std::vector<uint32_t> table;
    appendDimensions(loop.iterations, {&y.steps, &a.steps, &b.steps}, table);
    OPKIT_ASSIGN(const Tensor* rows, upload(std::move(table)));
    const int64_t count = output.desc.elements();
    return encoder.dispatch<Shader>(
        {*Shader::storageOf(output.desc.dtype)},
        {.table = rows, .a = operand(loop, 0, inputs), .b = operand(loop, 1, inputs), .y = &output},
        {.count = u32(count),
         .rows = u32(loop.size[0]),
         .columns = u32(loop.size[1]),
         .depth = u32(loop.size[2]),
         .aOffset = i32(a.offset),
         .bOffset = i32(b.offset),
         .yOffset = i32(y.offset),
         .aRow = i32(a.strides[0]),
         .aDepth = i32(a.strides[2]),
         .bColumn = i32(b.strides[1]),
         .bDepth = i32(b.strides[2]),
         .yRow = i32(y.strides[0]),
         .yColumn = i32(y.strides[1]),
         .low = loop.clamp.low,
         .high = loop.clamp.high},
        Groups::linear(count, kLocalSize), {.rank = static_cast<uint32_t>(loop.iterations.size())});
  }

  Status encodeRunningSum(const LoopRegion& loop, TensorList inputs, const Tensor& output, Encoder& encoder) {
    using Shader = shaders::LoopRunningSum;
    const LoopView &x = loop.operands[0], &y = loop.target;
    std::vector<uint32_t> table;
    appendDimensions(loop.iterations, {&y.steps, &x.steps, nullptr}, table);
    OPKIT_ASSIGN(const Tensor* rows, upload(std::move(table)));
    const int64_t count = elementCount(loop.iterations);
    return encoder.dispatch<Shader>(
        {*Shader::storageOf(output.desc.dtype)}, {.table = rows, .x = operand(loop, 0, inputs), .y = &output},
        {.rows = u32(count),
         .terms = u32(loop.size[0]),
         .xOffset = i32(x.offset),
         .yOffset = i32(y.offset),
         .xStride = i32(x.strides[0]),
         .yStride = i32(y.strides[0]),
         .exclusive = loop.exclusive ? 1u : 0u},
        Groups::linear(count, kLocalSize), {.rank = static_cast<uint32_t>(loop.iterations.size())});
  }

  LoopLowering lowering_;
  ShaderTables tables_;
};

Status supportsCopy(const LoopRegion& loop, const CreateArgs& args) {
  LoopRegion widened = loop;
  size_t word = sizeOf(args.outputs[0].dtype);
  while (word < kMaxWordBytes && widen(widened)) word *= 2;
  if ((word == 1 && !args.device.storage8) || (word == 2 && !args.device.storage16))
    return Status::unsupported("{}: the device cannot load {}-byte words from buffers", args.def.type, word);
  if (loop.indices.terms.size() > kMaxTerms)
    return Status::unsupported("{}: the loop kernel takes {} index terms, got {}", args.def.type, kMaxTerms,
                               loop.indices.terms.size());
  for (const LoopIndices::Term& term : loop.indices.terms)
    if (term.extent == 0 || term.extent > INT32_MAX)
      return Status::unsupported("{}: the loop kernel takes extents in [1, 2^31), got {}", args.def.type, term.extent);
  return Status::ok();
}

template <class S>
Status supportsNumbers(const CreateArgs& args) {
  const DType dtype = args.outputs[0].dtype;
  if (sizeOf(dtype) == 8 && !args.device.int64)
    return Status::unsupported("{}: the device has no 64-bit integers", args.def.type);
  return requireStorage<S>(args, dtype);
}

Status supports(const CreateArgs& args) {
  OPKIT_ASSIGN(const LoopRegion loop, LoopLowering::lower(args));
  const size_t rank = loop.iterations.size() + (loop.command == Command::Copy ? loop.size.size() : 0);
  if (rank > kMaxRank)
    return Status::unsupported("{}: the loop kernel walks {} dimensions, got {}", args.def.type, kMaxRank, rank);
  const auto checkSize = [&](const TensorDesc& desc) {
    if (desc.sizeBytes() <= args.device.maxTensorBytes && desc.elements() <= INT32_MAX) return Status::ok();
    return Status::unsupported("{}: {} exceeds the device limit of {} bytes per buffer or 2^31 elements", args.def.type,
                               desc.toString(), args.device.maxTensorBytes);
  };
  for (const TensorDesc* input : args.inputs)
    if (input) OPKIT_TRY(checkSize(*input));
  OPKIT_TRY(checkSize(args.outputs[0]));
  switch (loop.command) {
    case Command::Copy: return supportsCopy(loop, args);
    case Command::Product:
      OPKIT_TRY(supportsNumbers<shaders::LoopProduct>(args));
      return requireLoops(args, loopPasses({loop.size[2]}));
    case Command::RunningSum: break;
  }
  OPKIT_TRY(supportsNumbers<shaders::LoopRunningSum>(args));
  return requireLoops(args, loopPasses({loop.size[0]}));
}

}  // namespace

Creator loopCreator(LoopCondition when, std::string_view kernel) {
  const auto both = [when = std::move(when)](const CreateArgs& args) -> Status {
    if (when) OPKIT_TRY(when(args));
    return supports(args);
  };
  Creator creator = creatorOf<VulkanLoop>(both, Layout::NCHW, kernel);
  creator.provider = kLoopProvider;
  return creator;
}

}  // namespace opkit::vulkan
