#include "harness/trace/shader_tracer.h"

#include <xxhash.h>

#include <algorithm>

#include "engine/backend/vulkan/vulkan_image.h"

namespace opkit::harness {
namespace {

constexpr size_t kMostBytes = size_t{640} << 20;  // of the traces of a session: less than a worker may take

uint64_t hashOf(std::span<const uint32_t> words) { return XXH3_64bits(words.data(), words.size_bytes()); }

uint64_t count(const vulkan::Groups& groups) { return uint64_t{groups.x} * groups.y * groups.z; }

}  // namespace

std::span<const uint32_t> ShaderTracer::instrument(const vulkan::ShaderCode& code) {
  std::span<const uint32_t> words = source_ ? source_(code) : std::span<const uint32_t>();
  if (words.empty()) words = code.spirv;
  InstrumentedShader& made = shaders_[hashOf(code.spirv)];
  if (made.spirv.empty()) {
    Result<InstrumentedShader> rewritten = harness::instrument(words);
    if (rewritten)
      made = *std::move(rewritten);
    else
      made = {{words.begin(), words.end()}, {}, 0, false, rewritten.error().message()};
  }
  latest_[code.name] = &made;
  return made.spirv;
}

uint64_t ShaderTracer::numberOf(const Buffer* buffer) {
  const auto found = buffers_.find(buffer);
  return found == buffers_.end() ? 0 : found->second.first;
}

TracedBinding ShaderTracer::bindingOf(const Tensor& tensor, vulkan::Access access) {
  buffers_.try_emplace(tensor.buffer.get(), buffers_.size() + 1, tensor.buffer);
  TracedBinding binding{numberOf(tensor.buffer.get()), tensor.offsetBytes, tensor.sizeBytes(), 0, 0, 0};
  if (access == vulkan::Access::Texel) binding.texelBytes = static_cast<uint32_t>(4 * sizeOf(tensor.desc.dtype));
  if (vulkan::isImage(access)) {
    const vulkan::ImageShape shape(tensor.desc.shape);
    binding.columns = shape.columns();
    binding.rows = shape.rows();
  }
  return binding;
}

Result<std::shared_ptr<const vulkan::VulkanBuffer>> ShaderTracer::bufferFor(
    const vulkan::TracedDispatch& dispatch, const std::shared_ptr<vulkan::Device>& device) {
  const auto code = latest_.find(dispatch.code.name);
  if (code == latest_.end()) return Status::internal("{}: was not instrumented", dispatch.code.name);
  Recorded made;
  const size_t bytes = sizeof(TraceHeader) + capacity_ * sizeof(TraceRecord);
  if ((recorded_.size() + 1) * bytes > kMostBytes)
    return Status::unsupported("the traces of {} dispatches take more than {} MiB", recorded_.size() + 1,
                               kMostBytes >> 20);
  OPKIT_ASSIGN(made.buffer, vulkan::VulkanBuffer::create(device, bytes, vulkan::MemoryUse::Staging));
  made.header() = {.wanted = 0, .capacity = static_cast<uint32_t>(capacity_), .stride = 1, .phase = 0};
  made.trace.shader = dispatch.code.name;
  made.trace.constants.assign(dispatch.constants.begin(), dispatch.constants.end());
  made.trace.groups = count(dispatch.groups);
  made.trace.invocations = dispatch.code.invocations(dispatch.constants);
  made.trace.code = code->second;
  for (size_t i = 0; i < dispatch.tensors.size(); ++i)
    made.trace.bindings.push_back(bindingOf(*dispatch.tensors[i], dispatch.code.bindings[i]));
  recorded_.push_back(std::move(made));
  return std::shared_ptr<const vulkan::VulkanBuffer>(recorded_.back().buffer);
}

void ShaderTracer::onWrite(const Tensor& tensor) {
  const TracedBinding binding = bindingOf(tensor, vulkan::Access::Write);
  writes_.push_back({binding.buffer, binding.offsetBytes, binding.sizeBytes});
}

void ShaderTracer::sampleOneGroup() {
  for (const Recorded& one : recorded_) {
    TraceHeader& header = one.header();
    header.wanted = 0;
    header.stride = static_cast<uint32_t>(std::max<uint64_t>(one.trace.groups, 1));
    header.phase = header.stride / 2;
  }
}

void ShaderTracer::chooseGroups() {
  for (const Recorded& one : recorded_) {
    TraceHeader& header = one.header();
    const uint64_t each = std::max<uint64_t>(header.wanted, 1);
    const uint64_t groups = std::clamp<uint64_t>(capacity_ / each, 1, one.trace.groups);
    header.stride = static_cast<uint32_t>((one.trace.groups + groups - 1) / groups);
    header.phase = header.stride / 2;
    header.wanted = 0;
  }
}

std::vector<DispatchTrace> ShaderTracer::dispatches() const {
  std::vector<DispatchTrace> traces;
  for (const Recorded& one : recorded_) {
    const TraceHeader& header = one.header();
    DispatchTrace trace = one.trace;
    trace.wanted = header.wanted;
    trace.groupsTraced = (trace.groups - header.phase + header.stride - 1) / header.stride;
    const auto* first = reinterpret_cast<const TraceRecord*>(one.buffer->hostData() + sizeof(TraceHeader));
    trace.records = {first, std::min<size_t>(header.wanted, header.capacity)};
    traces.push_back(std::move(trace));
  }
  return traces;
}

void ShaderTracer::clear() {
  recorded_.clear();
  writes_.clear();
  buffers_.clear();
}

}  // namespace opkit::harness
