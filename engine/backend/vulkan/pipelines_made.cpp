#include "engine/backend/vulkan/pipelines_made.h"

#include <atomic>

#include "engine/base/clock.h"

namespace opkit::vulkan {
namespace {

std::atomic<uint64_t> madeCount{0}, madeNs{0};

}  // namespace

PipelinesMade pipelinesMade() { return {madeCount, static_cast<double>(madeNs)}; }

MakingTimer::MakingTimer(uint64_t pipelines) : pipelines_(pipelines), begunNs_(nowNs()) {}

MakingTimer::~MakingTimer() {
  madeCount += pipelines_;
  madeNs += static_cast<uint64_t>(nowNs() - begunNs_);
}

}  // namespace opkit::vulkan
