#include "engine/backend/vulkan/shader_tables.h"

namespace opkit::vulkan {

Result<const Tensor*> ShaderTables::upload(const std::vector<uint32_t>& words) {
  const TensorDesc desc{DType::UInt32, {static_cast<int64_t>(words.size())}};
  if (used_ == tables_.size()) tables_.emplace_back();
  Table& table = tables_[used_++];
  if (table.tensor.buffer && table.words == words) return static_cast<const Tensor*>(&table.tensor);
  table.words.clear();
  if (!table.tensor.buffer || table.tensor.desc != desc) {
    table.tensor = {desc, nullptr, 0, 0};
    OPKIT_ASSIGN(table.tensor.buffer, backend_.allocate(table.tensor.sizeBytes()));
  }
  OPKIT_ASSIGN(const Tensor host, Tensor::fromValues(desc, words));
  OPKIT_TRY(backend_.upload(host, table.tensor));
  table.words = words;
  return static_cast<const Tensor*>(&table.tensor);
}

}  // namespace opkit::vulkan
