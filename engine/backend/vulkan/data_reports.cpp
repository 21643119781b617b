#include "engine/backend/vulkan/data_reports.h"

#include <algorithm>

namespace opkit::vulkan {

Result<const Tensor*> DataReports::add(const std::shared_ptr<Device>& device, int64_t words, DataReport explain) {
  Tensor tensor{{DType::Int32, {words}}, nullptr, 0, 0};
  // Host memory on every device: shaders access it slowly, but only to report something.
  OPKIT_ASSIGN(tensor.buffer, VulkanBuffer::create(device, tensor.sizeBytes(), MemoryUse::Staging));
  std::ranges::fill(tensor.data<int32_t>(), 0);
  entries_.push_back({std::move(tensor), std::move(explain)});
  return &entries_.back().words;
}

Status DataReports::take() {
  Status status;
  for (const Entry& entry : entries_) {
    const std::span<int32_t> words = entry.words.data<int32_t>();
    if (std::ranges::all_of(words, [](int32_t word) { return word == 0; })) continue;
    if (status.isOk()) status = entry.explain(words);
    std::ranges::fill(words, 0);
  }
  return status;
}

}  // namespace opkit::vulkan
