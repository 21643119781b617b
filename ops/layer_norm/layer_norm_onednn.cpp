#include "engine/backend/cpu/onednn_kernel.h"
#include "ops/layer_norm/layer_norm.h"

namespace opkit::ops::layer_norm {
namespace {

class LayerNormOnednn final : public cpu::OnednnKernel {
 public:
  LayerNormOnednn(const CreateArgs& args, Backend& backend)
      : OnednnKernel(args, backend), params_(args.params<LayerNormParams>()) {}

 protected:
  Status build(TensorList inputs, TensorList) override {
    const NormRows rows = layerRows(params_, inputs[0]->desc.shape);
    const bool hasBias = inputs.size() > 2 && inputs[2];
    const auto x = denseOf({rows.rows, rows.extent}), row = denseOf({rows.extent});
    auto flags = dnnl::normalization_flags::use_scale;
    if (hasBias) flags |= dnnl::normalization_flags::use_shift;
    using Norm = dnnl::layer_normalization_forward;
    setPrimitive(Norm({Norm::desc(dnnl::prop_kind::forward_inference, x, rows.epsilon, flags), engine()}));
    bindInput(DNNL_ARG_SRC, x, 0);
    bindInput(DNNL_ARG_SCALE, row, 1);
    if (hasBias) bindInput(DNNL_ARG_SHIFT, row, 2);
    bindOutput(DNNL_ARG_DST, x);
    return Status::ok();
  }

 private:
  LayerNormParamsT params_;
};

Status supports(const CreateArgs& args) {
  if (args.outputs.size() == 1) return Status::ok();
  return Status::unsupported("LayerNormalization: the oneDNN kernel gives no statistics");
}

}  // namespace

void addOnednn(OpRegistry& registry) {
  registry.addCreator("cpu", "LayerNormalization", cpu::onednnCreatorOf<LayerNormOnednn>(supports));
}

}  // namespace opkit::ops::layer_norm
