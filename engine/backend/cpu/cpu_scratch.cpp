#include "engine/backend/cpu/cpu_scratch.h"

#include "engine/tensor/lazy_buffer.h"

namespace opkit::cpu {

Result<std::shared_ptr<const Tensor>> packConstant(Backend& backend, const Tensor& constant, const std::string& form,
                                                   int64_t count,
                                                   const std::function<void(const Tensor&, float*)>& pack) {
  return backend.constants().get<Tensor>(constant, form, [&]() -> Result<Tensor> {
    OPKIT_ASSIGN(const Tensor source, readable(constant));
    Tensor packed{{DType::Float32, {count}}, nullptr, 0, 0};
    OPKIT_ASSIGN(packed.buffer, backend.allocate(packed.sizeBytes()));
    pack(source, packed.data<float>().data());
    return packed;
  });
}

}  // namespace opkit::cpu
