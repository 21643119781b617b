#include "engine/backend/cpu/onednn_kernel.h"
#include "ops/matmul/matmul.h"

namespace opkit::ops::matmul {
namespace {

class MatMulOnednn final : public cpu::OnednnKernel {
 public:
  using OnednnKernel::OnednnKernel;

 protected:
  Status build(TensorList inputs, TensorList outputs) override {
    const auto a = denseOf(inputs[0]->desc.shape), b = denseOf(inputs[1]->desc.shape);
    const auto y = denseOf(outputs[0]->desc.shape);
    setPrimitive(dnnl::matmul({dnnl::matmul::desc(a, b, y), engine()}));
    bindInput(DNNL_ARG_SRC, a, 0);
    bindInput(DNNL_ARG_WEIGHTS, b, 1);
    bindOutput(DNNL_ARG_DST, y);
    return Status::ok();
  }
};

Status supports(const CreateArgs& args) {
  const auto params = args.params<MatMulParams>();
  OPKIT_TRY(cpu::requireNoClamp(args, clampOf(params)));
  if (params.trans_a || params.trans_b) return Status::unsupported("MatMul: oneDNN takes no transposed operands here");
  const size_t rank = args.input(0).shape.size();
  if (rank >= 2 && rank == args.input(1).shape.size() && rank <= 6) return Status::ok();
  return Status::unsupported("MatMul: oneDNN takes operands of one rank from 2 to 6, got {} and {}", rank,
                             args.input(1).shape.size());
}

}  // namespace

void addOnednn(OpRegistry& registry) {
  registry.addCreator("cpu", "MatMul", cpu::onednnCreatorOf<MatMulOnednn>(supports));
}

}  // namespace opkit::ops::matmul
