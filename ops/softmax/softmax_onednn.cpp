#include "engine/backend/cpu/onednn_kernel.h"
#include "ops/softmax/softmax.h"

namespace opkit::ops::softmax {
namespace {

class SoftmaxOnednn final : public cpu::OnednnKernel {
 public:
  SoftmaxOnednn(const CreateArgs& args, Backend& backend)
      : OnednnKernel(args, backend), params_(args.params<SoftmaxParams>()) {}

 protected:
  Status build(TensorList inputs, TensorList) override {
    const Rows rows = rowsOf(params_, inputs[0]->desc.shape);
    const auto x = denseOf({rows.outer, rows.extent, rows.inner});
    constexpr auto kKind = dnnl::prop_kind::forward_inference;
    constexpr int kAxis = 1;
    if (params_.log)
      setPrimitive(dnnl::logsoftmax_forward({dnnl::logsoftmax_forward::desc(kKind, x, kAxis), engine()}));
    else
      setPrimitive(dnnl::softmax_forward({dnnl::softmax_forward::desc(kKind, x, kAxis), engine()}));
    bindInput(DNNL_ARG_SRC, x, 0);
    bindOutput(DNNL_ARG_DST, x);
    return Status::ok();
  }

 private:
  SoftmaxParamsT params_;
};

}  // namespace

void addOnednn(OpRegistry& registry) {
  registry.addCreator("cpu", "Softmax", cpu::onednnCreatorOf<SoftmaxOnednn>(cpu::supportsAll));
}

}  // namespace opkit::ops::softmax
