// LayerNormalization by oneDNN, which stores the mean as a float: see the departures in layer_norm.cases.json.
#include "engine/backend/cpu/onednn_kernel.h"
#include "ops/layer_norm/layer_norm.h"

namespace opkit::ops::layer_norm {
namespace {

class LayerNormOnednn final : public cpu::OnednnKernel {
 public:
  LayerNormOnednn(const CreateArgs& args, Backend& backend)
      : OnednnKernel(args, backend), params_(args.params<LayerNormParams>()) {}

 protected:
  Status build(TensorList inputs, TensorList outputs) override {
    const NormRows rows = layerRows(params_, inputs[0]->desc.shape);
    const auto x = denseOf({rows.rows, rows.extent}), scale = denseOf({rows.extent});
    const bool shifted = inputs.size() > 2 && inputs[2];
    auto flags = dnnl::normalization_flags::use_scale;
    if (shifted) flags |= dnnl::normalization_flags::use_shift;
    using Norm = dnnl::layer_normalization_forward;
    setPrimitive(Norm(
        {Norm::desc(dnnl::prop_kind::forward_inference, x, denseOf({rows.rows}), params_.epsilon, flags), engine()}));
    bindInput(DNNL_ARG_SRC, x, 0);
    bindInput(DNNL_ARG_SCALE, scale, 1);
    if (shifted) bindInput(DNNL_ARG_SHIFT, scale, 2);
    bindOutput(DNNL_ARG_DST, denseOf(outputs[0]->desc.shape));
    return Status::ok();
  }

 private:
  LayerNormParamsT params_;
};

Status supports(const CreateArgs& args) {
  if (args.outputs.size() > 1)
    return Status::unsupported("{}: the oneDNN kernel gives no mean and no deviation", args.def.type);
  if (!args.params<LayerNormParams>().centred)
    return Status::unsupported("{}: the oneDNN kernel subtracts the mean", args.def.type);
  return Status::ok();
}

}  // namespace

void addOnednn(OpRegistry& registry) {
  registry.addCreator("cpu", "LayerNormalization", cpu::onednnCreatorOf<LayerNormOnednn>(supports));
}

}  // namespace opkit::ops::layer_norm
