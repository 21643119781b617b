#include "engine/backend/cpu/onednn_kernel.h"
#include "ops/conv/conv.h"

namespace opkit::ops::conv {
namespace {

class ConvOnednn final : public cpu::OnednnKernel {
 public:
  ConvOnednn(const CreateArgs& args, Backend& backend)
      : OnednnKernel(args, backend), params_(args.params<ConvParams>()) {}

 protected:
  Status build(TensorList inputs, TensorList outputs) override {
    const bool hasBias = inputs.size() > 2 && inputs[2];
    OPKIT_ASSIGN(const ConvPlan plan, planConv(params_, inputs[0]->desc.shape, inputs[1]->desc.shape,
                                               hasBias ? &inputs[2]->desc.shape : nullptr));
    DimVector weights = inputs[1]->desc.shape;
    if (plan.groups > 1) {
      weights[0] = plan.groupOutputs;
      weights.insert(weights.begin(), plan.groups);
    }
    Dims strides, dilations, begins, ends;
    for (const WindowAxis& axis : plan.axes) {
      strides.push_back(axis.stride);
      dilations.push_back(axis.dilation - 1);  // oneDNN counts the gaps
      begins.push_back(axis.padBegin);
      ends.push_back(axis.padEnd);
    }
    const auto x = denseOf(inputs[0]->desc.shape), w = denseOf(weights), y = denseOf(outputs[0]->desc.shape);
    const auto bias = denseOf({plan.groups * plan.groupOutputs});
    using Conv = dnnl::convolution_forward;
    constexpr auto kKind = dnnl::prop_kind::forward_inference;
    constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
    const auto desc = hasBias ? Conv::desc(kKind, kAlgorithm, x, w, bias, y, strides, dilations, begins, ends)
                              : Conv::desc(kKind, kAlgorithm, x, w, y, strides, dilations, begins, ends);
    setPrimitive(Conv({desc, engine()}));
    bindInput(DNNL_ARG_SRC, x, 0);
    bindInput(DNNL_ARG_WEIGHTS, w, 1);
    if (hasBias) bindInput(DNNL_ARG_BIAS, bias, 2);
    bindOutput(DNNL_ARG_DST, y);
    return Status::ok();
  }

 private:
  ConvParamsT params_;
};

Status supports(const CreateArgs& args) {
  const size_t axes = args.input(0).shape.size() - 2;
  if (axes > 2)  // its kernels for three allocate while they run
    return Status::unsupported("Conv: the oneDNN kernel takes 1 or 2 spatial axes, got {}", axes);
  return cpu::requireNoClamp(args, clampOf(args.params<ConvParams>()));
}

}  // namespace

void addOnednn(OpRegistry& registry) { registry.addCreator("cpu", "Conv", cpu::onednnCreatorOf<ConvOnednn>(supports)); }

}  // namespace opkit::ops::conv
