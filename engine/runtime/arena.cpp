#include "engine/runtime/arena.h"

#include <cstring>

namespace opkit {
namespace {

/// A guard's byte at a position of the arena: others elsewhere, so that one guard copied onto another shows, and the
/// same for tensors that take turns in one place. As floats all are finite and far from data.
std::byte guardAt(size_t position) { return static_cast<std::byte>(0xC5 + position / 64 % 7); }

void fillGuard(std::byte* arena, size_t begin, size_t count) {
  for (size_t at = begin; at < begin + count; ++at) arena[at] = guardAt(at);
}

size_t alignUp(size_t value, size_t alignment) { return (value + alignment - 1) / alignment * alignment; }

}  // namespace

Status Arena::plan(const Schedule& schedule, BackendIndex backendIndex, const Backend& backend,
                   const SessionConfig& config) {
  guardBytes_ = alignUp(config.guardBytes, backend.alignment());
  poisons_ = config.poison || guardBytes_ > 0;
  poisonByte_ = config.poisonByte;
  members_.clear();
  std::vector<Lifetime> lifetimes;
  for (const SlotId s : schedule.slots.ids()) {
    const Slot& slot = schedule.slots[s];
    if (!slot.isPlaced() || slot.backend != backendIndex) continue;
    OPKIT_ASSIGN(const size_t bytes, backend.storedBytes(slot.device));
    members_.push_back({s, bytes});
    // Empty tensors also get a distinct address.
    lifetimes.push_back({std::max<size_t>(bytes, 1) + 2 * guardBytes_, slot.first.value(), slot.last.value()});
  }
  plan_ = planMemory(lifetimes, backend.alignment());
  return Status::ok();
}

Status Arena::bind(Schedule& schedule, const std::shared_ptr<Buffer>& buffer) {
  buffer_ = buffer;
  for (size_t i = 0; i < members_.size(); ++i) {
    Tensor& tensor = schedule.slots[members_[i].slot].device;
    tensor.buffer = buffer_;
    tensor.offsetBytes = plan_.offsets[i] + guardBytes_;
    tensor.guardBytes = guardBytes_;
  }
  return poisons_ && !image_.buffer ? buildImage(schedule) : Status::ok();
}

void Arena::unbind(Schedule& schedule) {
  for (const Member& member : members_) schedule.slots[member.slot].device.buffer = nullptr;
  buffer_ = nullptr;
}

void Arena::addMemory(const Schedule& schedule, MemoryStatistics& memory) const {
  memory.plannedPeakBytes = plan_.peakBytes;
  memory.lowerBoundBytes = plan_.lowerBoundBytes;
  for (const Member& member : members_) {
    const Slot& slot = schedule.slots[member.slot];
    const size_t bytes = member.sizeBytes;
    if (slot.kind == Slot::Kind::Scratch) memory.largestScratchBytes = std::max(memory.largestScratchBytes, bytes);
    (slot.isReused ? memory.dynamicBytes : memory.separateBytes) += bytes;
  }
}

Tensor Arena::whole() const { return {{DType::UInt8, {static_cast<int64_t>(plan_.peakBytes)}}, buffer_, 0, 0}; }

Status Arena::buildImage(const Schedule& schedule) {
  OPKIT_ASSIGN(image_, Tensor::onHost(whole().desc, Fill::None));
  std::byte* bytes = image_.bytes().data();
  std::memset(bytes, poisonByte_, plan_.peakBytes);
  for (const Member& member : members_) {
    const Tensor& tensor = schedule.slots[member.slot].device;
    fillGuard(bytes, tensor.offsetBytes - guardBytes_, guardBytes_);
    fillGuard(bytes, tensor.offsetBytes + member.sizeBytes, guardBytes_);
  }
  return Status::ok();
}

Status Arena::poison(Backend& backend) {
  if (!image_.buffer || plan_.peakBytes == 0) return Status::ok();
  return backend.upload(image_, whole());
}

Status Arena::checkGuards(Backend& backend, const Schedule& schedule, const EncodedGraph& graph, const Model& model) {
  if (guardBytes_ == 0 || plan_.peakBytes == 0) return Status::ok();
  OPKIT_ASSIGN(const Tensor now, Tensor::onHost(whole().desc, Fill::None));
  OPKIT_TRY(backend.download(whole(), now));
  const std::byte* bytes = now.bytes().data();
  for (const Member& member : members_) {
    const Tensor& tensor = schedule.slots[member.slot].device;
    for (size_t i = 0; i < guardBytes_; ++i) {
      const size_t below = tensor.offsetBytes - 1 - i, above = tensor.offsetBytes + member.sizeBytes + i;
      const bool before = bytes[below] != guardAt(below), after = bytes[above] != guardAt(above);
      if (!before && !after) continue;
      const Slot& slot = schedule.slots[member.slot];
      return Status::internal(
          "a kernel wrote {} {} '{}' {}; the nearest changed byte is byte {} {} it",
          before ? "before" : "past the end of", slot.kind == Slot::Kind::Scratch ? "the scratch memory of" : "tensor",
          graph.tensorName(model, slot.tensor), tensor.desc.toString(), i + 1, before ? "before" : "behind");
    }
  }
  return Status::ok();
}

}  // namespace opkit
