#include "engine/backend/vulkan/shader_tables.h"

namespace opkit::vulkan {

TensorDesc tableDesc(const std::vector<uint32_t>& words) {
  return {DType::UInt32, {std::max<int64_t>((std::ssize(words) + 3) / 4 * 4, 4)}};
}

Result<const Tensor*> ShaderTables::upload(const std::vector<uint32_t>& words) {
  const TensorDesc desc = tableDesc(words);
  if (used_ == tables_.size()) tables_.emplace_back();
  Table& table = tables_[used_++];
  if (table.tensor.buffer && table.words == words) return static_cast<const Tensor*>(&table.tensor);
  table.words.clear();
  if (!table.tensor.buffer || table.tensor.desc != desc) {
    table.tensor = {desc, nullptr, 0, 0};
    OPKIT_ASSIGN(table.tensor.buffer, backend_.allocate(table.tensor.sizeBytes()));
  }
  std::vector<uint32_t> padded = words;
  padded.resize(static_cast<size_t>(desc.elements()));
  OPKIT_ASSIGN(const Tensor host, Tensor::fromValues(desc, padded));
  OPKIT_TRY(backend_.upload(host, table.tensor));
  table.words = words;
  return static_cast<const Tensor*>(&table.tensor);
}

}  // namespace opkit::vulkan
