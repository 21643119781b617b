// Softmax by oneDNN. Not always within our bounds: see the departures in softmax.cases.json.
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
    const auto shape = denseOf({rows.outer, rows.extent, rows.inner});
    constexpr int kAxis = 1;
    constexpr auto kKind = dnnl::prop_kind::forward_inference;
    if (params_.log) {
      using LogSoftmax = dnnl::logsoftmax_forward;
      setPrimitive(LogSoftmax({LogSoftmax::desc(kKind, shape, kAxis), engine()}));
    } else {
      using Softmax = dnnl::softmax_forward;
      setPrimitive(Softmax({Softmax::desc(kKind, shape, kAxis), engine()}));
    }
    bindInput(DNNL_ARG_SRC, shape, 0);
    bindOutput(DNNL_ARG_DST, shape);
    return Status::ok();
  }

 private:
  SoftmaxParamsT params_;
};

}  // namespace

void addOnednn(OpRegistry& registry) {
  registry.addCreator("cpu", "Softmax",
                      cpu::onednnCreatorOf<SoftmaxOnednn>([](const CreateArgs&) { return Status::ok(); }));
}

}  // namespace opkit::ops::softmax
