#include "engine/backend/vulkan/command_encoder.h"

#include <fmt/ranges.h>
#include <xxhash.h>

#include <bit>
#include <cstring>

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

/// Bits of each 32-bit word, as "8.10.1".
std::string magnitudes(std::span<const std::byte> bytes) {
  std::vector<int> bits;
  for (size_t at = 0; at + sizeof(uint32_t) <= bytes.size(); at += sizeof(uint32_t)) {
    uint32_t word = 0;
    std::memcpy(&word, &bytes[at], sizeof word);
    bits.push_back(std::bit_width(word));
  }
  return fmt::format("{}", fmt::join(bits, "."));
}

}  // namespace

void RecordedWork::add(std::span<const std::byte> bytes) {
  hash = XXH3_64bits_withSeed(bytes.data(), bytes.size(), hash);
}

void ScratchMemory::restart(size_t alignment, const Tensor& memory, size_t guardBytes) {
  tensors_.clear();
  gaps_.clear();
  memory_ = memory;
  alignment_ = alignment;
  guardBytes_ = (guardBytes + alignment - 1) / alignment * alignment;
  usedBytes_ = 0;
  chosen_ = 0;
}

Result<size_t> ScratchMemory::nextChoice() {
  if (chosen_ == choices_.size())
    return Status::internal("vulkan: a kernel chose {} alternatives when it was measured and more when it was recorded",
                            choices_.size());
  return choices_[chosen_++];
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

size_t MeasuringEncoder::shortestRunBytes() const { return caps().deviceClass->shortestRunBytes; }

uint64_t BackendEncoder::maxBindingBytes() const {
  return opkit::vulkan::maxBindingBytes(backend_.device().physical());
}

const DeviceCaps& BackendEncoder::caps() const { return backend_.caps(); }

Result<const Tensor*> MeasuringEncoder::report(int64_t words, DataReport) {
  words_.desc = {DType::Int32, {words}};
  return static_cast<const Tensor*>(&words_);
}

Result<size_t> MeasuringEncoder::choose(const Alternatives& alternatives, TensorList inputs, TensorList outputs) {
  if (work_ && alternatives.count > 1) work_->offersAlternatives = true;
  OPKIT_ASSIGN(const size_t choice, backend_.tuner().choose(alternatives, inputs, outputs));
  scratch_.noteChoice(choice);
  return choice;
}

Status MeasuringEncoder::dispatchRaw(const ShaderCode& code, std::span<const Tensor* const> tensors,
                                     std::span<const std::byte> push, std::span<const uint32_t> constants,
                                     Groups groups) {
  if (groups.x == 0 || groups.y == 0 || groups.z == 0) return Status::ok();
  if (work_) describe(code, tensors, push, constants, groups);
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

void MeasuringEncoder::describe(const ShaderCode& code, std::span<const Tensor* const> tensors,
                                std::span<const std::byte> push, std::span<const uint32_t> constants, Groups groups) {
  const std::array<uint32_t, 3> axes = {groups.x, groups.y, groups.z};
  work_->add(std::as_bytes(std::span(code.name, std::strlen(code.name))));
  work_->add(push);
  work_->add(std::as_bytes(constants));
  work_->add(std::as_bytes(std::span(axes)));
  for (const Tensor* tensor : tensors) {
    const std::array<size_t, 2> range = {tensor ? tensor->offsetBytes : 0, tensor ? tensor->sizeBytes() : 0};
    work_->add(std::as_bytes(std::span(range)));
  }
  work_->shapeClass +=
      fmt::format("{}{} [{}] groups {} parameters {}", work_->dispatches++ > 0 ? "; " : "", code.name,
                  fmt::join(constants, "."), magnitudes(std::as_bytes(std::span(axes))), magnitudes(push));
}

Result<const Tensor*> CommandEncoder::report(int64_t words, DataReport explain) {
  OPKIT_ASSIGN(const Tensor* tensor, reports_.add(backend_.sharedDevice(), words, std::move(explain)));
  if (DispatchTracer* tracer = backend_.runtime().pipelines().tracer()) tracer->onWrite(*tensor);
  return tensor;
}

}  // namespace opkit::vulkan
