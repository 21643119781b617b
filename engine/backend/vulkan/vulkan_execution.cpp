#include "engine/backend/vulkan/vulkan_execution.h"

#include "engine/backend/vulkan/vulkan_backend.h"

namespace opkit::vulkan {
namespace {

// Every device allows this many groups along each axis (Vulkan specification, required limits).
constexpr int64_t kMaxGroups = 65535;

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

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

struct VulkanExecution::State {
  ScratchMemory scratch;
  EncodedCommands commands;
};

VulkanExecution::VulkanExecution(Backend& backend) : backend_(backend), state_(std::make_unique<State>()) {
  ++backend.counters().executionsCreated;
}

VulkanExecution::~VulkanExecution() = default;

Status VulkanExecution::onResize(TensorList inputs, TensorList outputs) {
  OPKIT_ASSIGN(state_->commands, static_cast<VulkanBackend&>(backend_).encode(*this, inputs, outputs, state_->scratch));
  return Status::ok();
}

Status VulkanExecution::onExecute(TensorList, TensorList) {
  return static_cast<VulkanBackend&>(backend_).execute(state_->commands);
}

Result<Tensor> uploadConstant(Backend& backend, const Tensor& host) {
  Tensor device{{backend.storageDType(host.desc.dtype), host.desc.shape}, nullptr, 0, 0};
  OPKIT_ASSIGN(device.buffer, backend.allocate(device.sizeBytes()));
  OPKIT_TRY(backend.upload(host, device));
  return device;
}

}  // namespace opkit::vulkan
