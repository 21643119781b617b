#include "engine/backend/vulkan/timestamp_pool.h"

#include <algorithm>

#include "engine/backend/vulkan/vulkan_status.h"

namespace opkit::vulkan {
namespace {

constexpr size_t kIntervalsPerPool = 64;
constexpr uint32_t kQueriesPerPool = 2 * kIntervalsPerPool;

}  // namespace

Status TimestampPool::begin(VkCommandBuffer commands) {
  const VolkDeviceTable& vk = device_->vk();
  if (intervals_ == pools_.size() * kIntervalsPerPool) {
    VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = kQueriesPerPool;
    VkQueryPool pool = VK_NULL_HANDLE;
    OPKIT_VK_CREATE(*device_, vk.vkCreateQueryPool(device_->handle(), &info, nullptr, &pool), "creating a query pool");
    pools_.emplace_back(*device_, pool, vk.vkDestroyQueryPool);
    vk.vkCmdResetQueryPool(commands, pool, 0, kQueriesPerPool);
  }
  const auto query = static_cast<uint32_t>(intervals_ % kIntervalsPerPool * 2);
  vk.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pools_.back().get(), query);
  ++intervals_;
  return Status::ok();
}

void TimestampPool::end(VkCommandBuffer commands) {
  const auto query = static_cast<uint32_t>((intervals_ - 1) % kIntervalsPerPool * 2 + 1);
  device_->vk().vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pools_.back().get(), query);
}

Status TimestampPool::readNs(std::vector<double>& lengths) const {
  const uint32_t bits = device_->physical().timestampBits;
  const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  for (size_t first = 0; first < intervals_; first += kIntervalsPerPool) {
    const auto count = static_cast<uint32_t>(2 * std::min(intervals_ - first, kIntervalsPerPool));
    uint64_t ticks[kQueriesPerPool];
    OPKIT_VK(device_->vk().vkGetQueryPoolResults(device_->handle(), pools_[first / kIntervalsPerPool].get(), 0, count,
                                                 sizeof(ticks), ticks, sizeof(uint64_t),
                                                 VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
             "reading timestamps");
    for (uint32_t i = 0; i < count; i += 2)
      lengths.push_back(static_cast<double>((ticks[i + 1] - ticks[i]) & mask) *
                        static_cast<double>(device_->limits().timestampPeriod));
  }
  return Status::ok();
}

}  // namespace opkit::vulkan
