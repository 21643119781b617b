// OnednnKernel: base of the CPU kernels that hand an operator to a oneDNN primitive (provider "onednn").
//
// Compiled only if the build found oneDNN; an operator's kernel is ops/<op>/<op>_onednn.cpp and follows OpKit's own
// kernel in the creator table, so it runs only if preferred or forced. A subclass describes the primitive in build(),
// called at onResize; primitives and their scratchpads are made there, onExecute only sets addresses. oneDNN runs on
// OpenMP threads, as many as the session's pool has. f32, plain layouts, tensors without empty extents.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/op/clamp.h"

namespace opkit::cpu {

class OnednnKernel : public HostExecution {
 public:
  OnednnKernel(const CreateArgs& args, Backend& backend);
  /// Internal, with oneDNN's own message, when it refuses the primitive.
  Status onResize(TensorList inputs, TensorList outputs) final;

 protected:
  using Dims = dnnl::memory::dims;

  /// Sets the primitive and binds its arguments. May throw dnnl::error.
  virtual Status build(TensorList inputs, TensorList outputs) = 0;

  /// A dense f32 tensor of these extents, with these strides if given.
  static dnnl::memory::desc denseOf(const Shape& shape);
  static dnnl::memory::desc stridedOf(const Shape& shape, const DimVector& strides);

  void setPrimitive(const dnnl::primitive& primitive) { primitive_ = primitive; }
  void bindInput(int argument, const dnnl::memory::desc& desc, size_t input) { bind(argument, desc, input, false); }
  void bindOutput(int argument, const dnnl::memory::desc& desc) { bind(argument, desc, 0, true); }
  const dnnl::engine& engine() const { return engine_; }

  Status onRun(TensorList inputs, TensorList outputs) override;

 private:
  struct Argument {
    dnnl::memory memory;
    size_t index;
    bool isOutput;
  };
  void bind(int argument, const dnnl::memory::desc& desc, size_t index, bool isOutput);

  std::string type_;
  int threads_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  std::vector<Argument> arguments_;
  std::vector<dnnl_exec_arg_t> handles_;  // of arguments_, as execution takes them
};

/// For `supports` of operators that clamp: oneDNN's clip turns NaN into a bound, so it is not used.
inline Status requireNoClamp(const CreateArgs& args, const Clamp& clamp) {
  if (!clamp.isActive()) return Status::ok();
  return Status::unsupported("{}: the oneDNN kernel does not clamp: it would drop NaN", args.def.type);
}

/// The Creator of a subclass; `supports` as in creatorOf, called after the checks that all of them share.
template <class E, class Supports>
Creator onednnCreatorOf(Supports supports) {
  Creator creator = creatorOf<E>(
      [supports](const CreateArgs& args) -> Status {
        for (const TensorDesc* input : args.inputs)
          if (input && input->elements() == 0)
            return Status::unsupported("{}: oneDNN takes no empty tensors, got {}", args.def.type, input->toString());
        for (const TensorDesc& output : args.outputs)
          if (output.elements() == 0)
            return Status::unsupported("{}: oneDNN gives no empty tensors, got {}", args.def.type, output.toString());
        return supports(args);
      },
      DTypeSet(DType::Float32));
  creator.provider = "onednn";
  return creator;
}

}  // namespace opkit::cpu
