// AveragePool and MaxPool by oneDNN. Its maximum of a window loses NaN: see the departures in pool.cases.json.
#include "engine/backend/cpu/onednn_kernel.h"
#include "ops/pool/pool.h"
#include "ops/pool/pool_means.h"

namespace opkit::ops::pool {
namespace {

/// The end padding that the windows reach; it differs from the model's if the number of windows is rounded up.
int64_t reachedPadding(const WindowAxis& axis) {
  return (axis.output - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1 - axis.input - axis.padBegin;
}

class PoolOnednn final : public cpu::OnednnKernel {
 public:
  PoolOnednn(const CreateArgs& args, Backend& backend)
      : OnednnKernel(args, backend), params_(args.params<PoolParams>()), isMax_(args.def.type == "MaxPool") {}

 protected:
  Status build(TensorList inputs, TensorList outputs) override {
    OPKIT_ASSIGN(const PoolPlan plan, planPool(params_, inputs[0]->desc.shape));
    walk_ = {padWindowRank(plan.axes, 3)};
    planes_ = plan.planes;
    Dims kernel, strides, dilations, begins, ends;
    for (const WindowAxis& axis : plan.axes) {
      kernel.push_back(axis.kernel);
      strides.push_back(axis.stride);
      dilations.push_back(axis.dilation - 1);  // oneDNN counts the gaps
      begins.push_back(axis.padBegin);
      ends.push_back(reachedPadding(axis));
    }
    const auto algorithm = isMax_                      ? dnnl::algorithm::pooling_max
                           : params_.count_include_pad ? dnnl::algorithm::pooling_avg_include_padding
                                                       : dnnl::algorithm::pooling_avg_exclude_padding;
    const auto x = denseOf(inputs[0]->desc.shape), y = denseOf(outputs[0]->desc.shape);
    using Pool = dnnl::pooling_v2_forward;
    setPrimitive(
        Pool({Pool::desc(dnnl::prop_kind::forward_inference, algorithm, x, y, strides, kernel, dilations, begins, ends),
              engine()}));
    bindInput(DNNL_ARG_SRC, x, 0);
    bindOutput(DNNL_ARG_DST, y);
    return Status::ok();
  }

  Status onRun(TensorList inputs, TensorList outputs) override {
    OPKIT_TRY(OnednnKernel::onRun(inputs, outputs));
    if (!isMax_)
      repairMeans(walk_, 0, planes_, params_.count_include_pad, inputs[0]->data<float>().data(),
                  outputs[0]->data<float>().data());
    return Status::ok();
  }

 private:
  PoolParamsT params_;
  bool isMax_;
  WindowWalk walk_;
  int64_t planes_ = 0;
};

Status supports(const CreateArgs& args) {
  if (args.outputs.size() > 1) return Status::unsupported("{}: the oneDNN kernel gives no indices", args.def.type);
  OPKIT_ASSIGN(const PoolPlan plan, planPool(args.params<PoolParams>(), args.input(0).shape));
  if (plan.axes.size() > 2)
    return Status::unsupported("{}: oneDNN allocates memory whenever it pools over {} axes", args.def.type,
                               plan.axes.size());
  for (const WindowAxis& axis : plan.axes) {
    if (axis.dilation != 1)
      return Status::unsupported("{}: oneDNN allocates memory whenever it pools with dilation, got {}", args.def.type,
                                 axis.dilation);
    if (reachedPadding(axis) < 0 || reachedPadding(axis) != axis.padEnd)
      return Status::unsupported("{}: the oneDNN kernel takes windows that end with the padding, got {} of {}",
                                 args.def.type, reachedPadding(axis), axis.padEnd);
  }
  return Status::ok();
}

}  // namespace

void addOnednn(OpRegistry& registry) {
  for (const char* type : {"AveragePool", "MaxPool"})
    registry.addCreator("cpu", type, cpu::onednnCreatorOf<PoolOnednn>(supports));
}

}  // namespace opkit::ops::pool
