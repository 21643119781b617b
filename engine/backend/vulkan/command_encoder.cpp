#include "engine/backend/vulkan/command_encoder.h"

#include "engine/backend/vulkan/device_limits.h"
#include "engine/backend/vulkan/dispatch_tracer.h"
#include "engine/backend/vulkan/vulkan_backend.h"
#include "shaders/raster/fill_zero.h"

namespace opkit::vulkan {
namespace {

/// The end of a tensor that vkCmdFillBuffer cannot fill, since it writes whole words. It begins where a shader can bind
/// it. Returns its bytes.
Result<size_t> zeroTail(const Tensor& tensor, Encoder& encoder) {
  using Shader = shaders::FillZero;
  if (tensor.sizeBytes() % 4 == 0) return size_t{0};
  const size_t bytes = tensor.sizeBytes() % kBindingAlignment;
  const size_t word = bytes % 2 == 0 ? 2 : 1;
  const Tensor tail{{DType::UInt8, {static_cast<int64_t>(bytes)}},
                    tensor.buffer,
                    tensor.offsetBytes + tensor.sizeBytes() - bytes,
                    tensor.guardBytes};
  const auto count = static_cast<uint32_t>(bytes / word);
  OPKIT_TRY(encoder.dispatch<Shader>({*Shader::wordOfBytes(word)}, {.y = &tail}, {.count = count}, Items{count}));
  return bytes;
}

}  // namespace

void ScratchMemory::restart(size_t alignment, const Tensor& memory, size_t guardBytes) {
  tensors_.clear();
  gaps_.clear();
  memory_ = memory;
  alignment_ = alignment;
  guardBytes_ = (guardBytes + alignment - 1) / alignment * alignment;
  usedBytes_ = 0;
}

Result<const Tensor*> ScratchMemory::take(TensorDesc desc) {
  const size_t first = usedBytes_, size = desc.sizeBytes();
  usedBytes_ += (size + alignment_ - 1) / alignment_ * alignment_ + guardBytes_;
  if (memory_.buffer && usedBytes_ > memory_.sizeBytes())
    return Status::internal("vulkan: scratch of {} bytes was planned, a kernel takes {}", memory_.sizeBytes(),
                            usedBytes_);
  tensors_.push_back(
      std::make_unique<Tensor>(Tensor{std::move(desc), memory_.buffer, memory_.offsetBytes + first, guardBytes_}));
  if (guardBytes_ > 0 && memory_.buffer)
    gaps_.push_back({{DType::UInt8, {static_cast<int64_t>(usedBytes_ - first - size)}},
                     memory_.buffer,
                     memory_.offsetBytes + first + size,
                     0});
  return static_cast<const Tensor*>(tensors_.back().get());
}

Status MeasuringEncoder::fillZero(const Tensor& tensor) { return zeroTail(tensor, *this).error(); }

size_t MeasuringEncoder::shortestRunBytes() const { return opkit::vulkan::shortestRunBytes(backend_.device()); }

uint64_t MeasuringEncoder::maxBindingBytes() const {
  return opkit::vulkan::maxBindingBytes(backend_.device().physical());
}

const DeviceCaps& MeasuringEncoder::caps() const { return backend_.caps(); }

Result<const Tensor*> MeasuringEncoder::report(int64_t words, DataReport) {
  words_.desc = {DType::Int32, {words}};
  return static_cast<const Tensor*>(&words_);
}

Result<size_t> MeasuringEncoder::choose(const Alternatives& alternatives, TensorList inputs, TensorList outputs) {
  return backend_.tuner().choose(alternatives, inputs, outputs);
}

Status MeasuringEncoder::dispatchRaw(const ShaderCode& code, std::span<const Tensor* const> tensors,
                                     std::span<const std::byte>, std::span<const uint32_t> constants, Groups groups) {
  if (groups.x == 0 || groups.y == 0 || groups.z == 0) return Status::ok();
  const PhysicalDevice& physical = backend_.device().physical();
  OPKIT_TRY(backend_.runtime().pipelines().check(code, constants));
  OPKIT_TRY(requireGroups(physical, code, groups));
  for (size_t i = 0; i < tensors.size() && i < code.bindings.size(); ++i)
    if (tensors[i]) OPKIT_TRY(requireBinding(physical, *tensors[i], code.bindings[i], code.name));
  return Status::ok();
}

Status CommandEncoder::fillZero(const Tensor& tensor) {
  OPKIT_ASSIGN(const size_t rest, zeroTail(tensor, *this));
  const auto whole = static_cast<int64_t>(tensor.sizeBytes() - rest);
  return recording_.fillZero({{DType::UInt8, {whole}}, tensor.buffer, tensor.offsetBytes, 0});
}

uint64_t CommandEncoder::maxBindingBytes() const {
  return opkit::vulkan::maxBindingBytes(backend_.device().physical());
}

const DeviceCaps& CommandEncoder::caps() const { return backend_.caps(); }

Result<const Tensor*> CommandEncoder::report(int64_t words, DataReport explain) {
  OPKIT_ASSIGN(const Tensor* tensor, reports_.add(backend_.sharedDevice(), words, std::move(explain)));
  if (DispatchTracer* tracer = backend_.runtime().pipelines().tracer()) tracer->onWrite(*tensor);
  return tensor;
}

Result<size_t> CommandEncoder::choose(const Alternatives& alternatives, TensorList inputs, TensorList outputs) {
  return backend_.tuner().choose(alternatives, inputs, outputs);
}

}  // namespace opkit::vulkan
