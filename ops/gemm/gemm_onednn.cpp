#include "engine/backend/cpu/onednn_kernel.h"
#include "ops/gemm/gemm.h"

namespace opkit::ops::gemm {
namespace {

class GemmOnednn final : public cpu::OnednnKernel {
 public:
  GemmOnednn(const CreateArgs& args, Backend& backend)
      : OnednnKernel(args, backend), params_(args.params<GemmParams>()) {}

 protected:
  Status build(TensorList inputs, TensorList) override {
    const bool hasBias = inputs.size() > 2 && inputs[2];
    OPKIT_ASSIGN(const GemmPlan plan, planGemm(params_, inputs[0]->desc.shape, inputs[1]->desc.shape,
                                               hasBias ? &inputs[2]->desc.shape : nullptr));
    const auto a = stridedOf({plan.rows, plan.depth}, {plan.aRowStride, plan.aDepthStride});
    const auto b = stridedOf({plan.depth, plan.columns}, {plan.bDepthStride, plan.bColumnStride});
    const auto y = denseOf({plan.rows, plan.columns});
    bindInput(DNNL_ARG_SRC, a, 0);
    bindInput(DNNL_ARG_WEIGHTS, b, 1);
    bindOutput(DNNL_ARG_DST, y);
    if (!hasBias) {
      setPrimitive(dnnl::matmul({dnnl::matmul::desc(a, b, y), engine()}));
      return Status::ok();
    }
    const auto bias = denseOf({plan.cRowStride == 0 ? 1 : plan.rows, plan.cColumnStride == 0 ? 1 : plan.columns});
    setPrimitive(dnnl::matmul({dnnl::matmul::desc(a, b, bias, y), engine()}));
    bindInput(DNNL_ARG_BIAS, bias, 2);
    return Status::ok();
  }

 private:
  GemmParamsT params_;
};

Status supports(const CreateArgs& args) {
  const auto params = args.params<GemmParams>();
  OPKIT_TRY(cpu::requireNoClamp(args, clampOf(params)));
  if (params.alpha != 1) return Status::unsupported("Gemm: the oneDNN kernel takes alpha 1, got {}", params.alpha);
  if (args.hasInput(2) && params.beta != 1)
    return Status::unsupported("Gemm: the oneDNN kernel takes beta 1, got {}", params.beta);
  return Status::ok();
}

}  // namespace

void addOnednn(OpRegistry& registry) { registry.addCreator("cpu", "Gemm", cpu::onednnCreatorOf<GemmOnednn>(supports)); }

}  // namespace opkit::ops::gemm
