#include "engine/backend/vulkan/shader_tables.h"

namespace opkit::vulkan {

Result<const Tensor*> ShaderTables::upload(const std::vector<uint32_t>& words) {
  const TensorDesc desc{DType::UInt32, {static_cast<int64_t>(words.size())}};
  if (used_ == tables_.size()) tables_.emplace_back();
  Tensor& table = tables_[used_++];
  if (!table.buffer || table.desc != desc) {
    table = {desc, nullptr, 0, 0};
    OPKIT_ASSIGN(table.buffer, backend_.allocate(table.sizeBytes()));
  }
  OPKIT_ASSIGN(const Tensor host, Tensor::fromValues(desc, words));
  OPKIT_TRY(backend_.upload(host, table));
  return static_cast<const Tensor*>(&table);
}

}  // namespace opkit::vulkan
