#include "engine/backend/vulkan/loop_table.h"

namespace opkit::vulkan {
namespace {

constexpr size_t kMaxTerms = 6;  // of the shaders

uint32_t u32(int64_t value) { return static_cast<uint32_t>(value); }

}  // namespace

void appendDimensions(const Shape& size, std::array<const DimVector*, 3> views, std::vector<uint32_t>& table) {
  for (size_t d = 0; d < size.size(); ++d) {
    table.push_back(u32(size[d]));
    for (const DimVector* view : views) table.push_back(view ? u32((*view)[d]) : 0);
  }
}

std::vector<uint32_t> tableOfBoxes(const LoopRegion& loop) {
  const bool indexed = !loop.indices.terms.empty();
  std::vector<uint32_t> table;
  appendDimensions(loop.iterations,
                   {&loop.target.steps, &loop.operands[0].steps, indexed ? &loop.indices.steps : nullptr}, table);
  appendDimensions(loop.size, {&loop.target.strides, &loop.operands[0].strides, nullptr}, table);
  for (const LoopIndices::Term& term : loop.indices.terms)
    table.insert(table.end(), {u32(term.offset), u32(term.extent), u32(term.stride), 0});
  return table;
}

Status checkTerms(const LoopRegion& loop, const CreateArgs& args) {
  if (loop.indices.terms.size() > kMaxTerms)
    return Status::unsupported("{}: the loop kernel takes {} index terms, got {}", args.def.type, kMaxTerms,
                               loop.indices.terms.size());
  for (const LoopIndices::Term& term : loop.indices.terms)
    if (term.extent == 0 || term.extent > INT32_MAX)
      return Status::unsupported("{}: the loop kernel takes extents in [1, 2^31), got {}", args.def.type, term.extent);
  return Status::ok();
}

DataReport explainIndices(const std::string& type, const LoopIndices& indices) {
  return [type, terms = indices.terms](std::span<const int32_t> words) {
    for (size_t t = 0; t < terms.size(); ++t)
      for (const int32_t found : words.subspan(2 * t, 2))
        if (found != 0) return badIndex(type, terms[t].extent, found);
    return Status::internal("{}: a kernel reports bad data, but not which", type);
  };
}

}  // namespace opkit::vulkan
