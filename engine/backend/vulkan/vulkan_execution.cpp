#include "engine/backend/vulkan/vulkan_execution.h"

#include "engine/backend/guarded_tensor.h"
#include "engine/backend/vulkan/vulkan_backend.h"
#include "engine/base/divide.h"

namespace opkit::vulkan {
namespace {

// Every device allows this many groups along each axis (Vulkan specification, required limits).
constexpr int64_t kMaxGroups = 65535;

}  // namespace

Groups Groups::linear(int64_t count, uint32_t localSize) {
  const int64_t groups = ceilDiv(count, localSize);
  if (groups <= 0) return {0, 1, 1};
  // Rounding the other axes first keeps the surplus below one group per row.
  const int64_t z = ceilDiv(groups, kMaxGroups * kMaxGroups);
  const int64_t y = ceilDiv(ceilDiv(groups, z), kMaxGroups);
  const int64_t x = ceilDiv(groups, y * z);
  return {static_cast<uint32_t>(x), static_cast<uint32_t>(y), static_cast<uint32_t>(z)};
}

uint32_t ShaderCode::invocations(std::span<const uint32_t> constants) const {
  uint32_t count = 1;
  for (size_t axis = 0; axis < 3; ++axis)
    count *= localSizeConstants[axis] == kNoConstant ? localSize[axis] : constants[localSizeConstants[axis]];
  return count;
}

struct VulkanExecution::State {
  explicit State(Backend& backend) : tables(backend) {}
  ScratchMemory scratch;
  ShaderTables tables;
  size_t variation = 0;  // of the device class: chosen by scratchBytes
};

VulkanExecution::VulkanExecution(Backend& backend) : backend_(backend), state_(std::make_unique<State>(backend)) {}

VulkanExecution::~VulkanExecution() = default;

Result<size_t> VulkanExecution::scratchBytes(TensorList inputs, TensorList outputs) {
  auto& backend = VulkanBackend::of(backend_);
  OPKIT_ASSIGN(state_->variation, backend.tuner().chooseVariation(*this, inputs, outputs));
  const EncodingAs chosen(backend, state_->variation);
  state_->scratch.restart(backend_.alignment(), {}, backend.guardBytes());
  MeasuringEncoder encoder(backend, state_->scratch);
  OPKIT_TRY(onEncode(inputs, outputs, encoder));
  return state_->scratch.usedBytes();
}

Status VulkanExecution::onResize(TensorList inputs, TensorList outputs) {
  auto& backend = VulkanBackend::of(backend_);
  state_->scratch.restart(backend_.alignment(), scratch(), backend.guardBytes());
  state_->tables.restart();
  const EncodingAs chosen(backend, state_->variation);
  const Status status = backend.encode(*this, inputs, outputs, state_->scratch, state_->tables);
  state_->scratch.restart(backend_.alignment(), {});  // the recording keeps the memory
  return status;
}

Status VulkanExecution::onExecute(TensorList, TensorList) {
  return Status::internal("vulkan: a Recording runs the commands of onResize");
}

int64_t loopPasses(std::initializer_list<int64_t> iterations) {
  constexpr int64_t kMost = INT32_MAX;  // more than any device with a limit allows; products of two stay in range
  int64_t passes = 0;
  for (auto each = std::rbegin(iterations); each != std::rend(iterations); ++each)
    passes = std::min(std::clamp<int64_t>(*each, 0, kMost) * (passes + 1) + 1, kMost);
  return passes;
}

Status requireLoops(const CreateArgs& args, int64_t passes) {
  if (passes <= 0 || static_cast<uint64_t>(passes) <= args.device.loopIterations) return Status::ok();
  return Status::unsupportedByDevice(
      "{}: the device ends loops after {} iterations of an invocation, the kernel needs {}", args.def.type,
      args.device.loopIterations, passes);
}

Status requireImages(const CreateArgs& args, std::span<const TensorDesc* const> tensors) {
  if (args.device.imageExtent == 0) return Status::unsupported("{}: images are not in use", args.def.type);
  const auto limit = static_cast<int64_t>(args.device.imageExtent);
  for (const TensorDesc* desc : tensors) {
    if (desc->dtype != DType::Float32 && desc->dtype != DType::Float16)
      return Status::unsupported("{}: images hold floats, got {}", args.def.type, desc->toString());
    if (desc->shape.size() < 2 || desc->shape.size() > 4 || desc->elements() == 0)
      return Status::unsupported("{}: images hold tensors of rank 2 to 4 with elements, got {}", args.def.type,
                                 desc->toString());
    const ImageShape image(desc->shape);
    if (image.columns() > limit || image.rows() > limit)
      return Status::unsupportedByDevice("{}: {} as an image exceeds {} texels", args.def.type, desc->toString(),
                                         limit);
    if (desc->sizeBytes() > args.device.maxTensorBytes)  // it could not be converted from a buffer
      return Status::unsupportedByDevice("{}: {} exceeds the device limit of {} bytes per buffer", args.def.type,
                                         desc->toString(), args.device.maxTensorBytes);
  }
  return Status::ok();
}

Result<std::shared_ptr<const Tensor>> packConstant(Backend& backend, const Tensor& constant, const std::string& form,
                                                   const std::function<Result<Tensor>()>& pack) {
  const DType dtype = backend.storageDType(constant.desc.dtype);
  const size_t guard = VulkanBackend::of(backend).guardBytes();
  const std::string key = fmt::format("{} {}{}", form, nameOf(dtype), guard > 0 ? " guarded" : "");
  OPKIT_ASSIGN(auto packed, backend.constants().get<Tensor>(constant, key, [&]() -> Result<Tensor> {
    OPKIT_ASSIGN(const Tensor host, pack());
    const DType stored = backend.storageDType(host.desc.dtype);
    return uploadGuarded(backend, host, {{stored, host.desc.shape}, nullptr, 0, 0}, guard);
  }));
  if (guard > 0) VulkanBackend::of(backend).watchGuards(packed);
  return packed;
}

}  // namespace opkit::vulkan
