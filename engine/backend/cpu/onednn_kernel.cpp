#include "engine/backend/cpu/onednn_kernel.h"

#include <omp.h>

namespace opkit::cpu {

OnednnKernel::OnednnKernel(const CreateArgs& args, Backend& backend)
    : HostExecution(backend),
      type_(args.def.type),
      threads_(static_cast<int>(threadPool(backend).threadCount())),
      engine_(dnnl::engine::kind::cpu, 0),
      stream_(engine_) {}

Status OnednnKernel::onResize(TensorList inputs, TensorList outputs) {
  arguments_.clear();
  handles_.clear();
  try {
    omp_set_num_threads(threads_);  // of this thread: oneDNN plans for this number
    OPKIT_TRY(build(inputs, outputs));
  } catch (const dnnl::error& error) {
    return Status::internal("{}: oneDNN cannot make the primitive: {}", type_, error.what());
  }
  return Status::ok();
}

Status OnednnKernel::onRun(TensorList inputs, TensorList outputs) {
  omp_set_num_threads(threads_);
  for (Argument& argument : arguments_) {
    const Tensor& tensor = *(argument.isOutput ? outputs : inputs)[argument.index];
    if (dnnl_memory_set_data_handle(argument.memory.get(), tensor.data<float>().data()) != dnnl_success)
      return Status::internal("{}: oneDNN refused the address of a tensor", type_);
  }
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(handles_.size()), handles_.data());
  if (status != dnnl_success)
    return Status::internal("{}: oneDNN failed with status {}", type_, static_cast<int>(status));
  return Status::ok();
}

void OnednnKernel::bind(int argument, const dnnl::memory::desc& desc, size_t index, bool isOutput) {
  arguments_.push_back({dnnl::memory(desc, engine_, nullptr), index, isOutput});
  handles_.push_back({argument, arguments_.back().memory.get()});
}

dnnl::memory::desc OnednnKernel::denseOf(const Shape& shape) { return stridedOf(shape, contiguousStrides(shape)); }

dnnl::memory::desc OnednnKernel::stridedOf(const Shape& shape, const DimVector& strides) {
  return {shape.toVector(), dnnl::memory::data_type::f32, strides.toVector()};
}

}  // namespace opkit::cpu
