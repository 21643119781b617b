#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "engine/op/rows.h"
#include "ops/one_hot/one_hot_parts.h"
#include "shaders/one_hot/one_hot.h"
#include "shaders/one_hot/one_hot_classes.h"

namespace opkit::ops::one_hot {
namespace {

using Fill = shaders::OneHot;
using Classes = shaders::OneHotClasses;

constexpr size_t kWidestWord = 4;  // with vectors of four

/// 64-bit integers are read as two words.
Classes::Storage storageOf(DType dtype) {
  switch (dtype) {
    case DType::Float32: return Classes::Storage::F32;
    case DType::Float16: return Classes::Storage::F16;
    case DType::Float64: return Classes::Storage::F64;
    case DType::Int8: return Classes::Storage::I8;
    case DType::UInt8: return Classes::Storage::U8;
    case DType::Int16: return Classes::Storage::I16;
    case DType::UInt16: return Classes::Storage::U16;
    case DType::Int32: return Classes::Storage::I32;
    case DType::UInt32: return Classes::Storage::U32;
    default: return Classes::Storage::U32x2;
  }
}

class OneHotVulkan final : public vulkan::VulkanExecution {
 public:
  OneHotVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), axis_(args.params<OneHotParams>().axis) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const TensorDesc &indices = inputs[0]->desc, &output = outputs[0]->desc;
    const int64_t count = output.elements();
    if (count == 0) return Status::ok();
    const Rows rows = rowsAlong(output.shape, axis_);
    OPKIT_ASSIGN(const Tensor* classes, encoder.scratch({DType::Int32, {indices.elements()}}));
    OPKIT_TRY(encoder.dispatch<Classes>({storageOf(indices.dtype)}, {.indices = inputs[0], .classes = classes},
                                        {.count = indices.elements(), .depth = rows.extent},
                                        vulkan::Items{indices.elements()},
                                        {.isSigned = indices.dtype != DType::UInt64}));
    return encoder.dispatch<Fill>({*Fill::wordOfBytes(sizeOf(output.dtype))},
                                  {.classes = classes, .values = inputs[2], .y = outputs[0]},
                                  {.count = count, .depth = rows.extent, .inner = rows.inner},
                                  vulkan::Elements{count, sizeOf(output.dtype) <= kWidestWord});
  }

 private:
  int axis_;
};

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "OneHot", vulkan::creatorOf<OneHotVulkan>(vulkan::takeAll));
}

}  // namespace opkit::ops::one_hot
