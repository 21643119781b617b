#include "harness/check/kernel_rig.h"

#include "engine/base/clock.h"
#include "engine/op/decomposition.h"
#include "harness/check/guard_pages.h"
#include "harness/compare/expected.h"

namespace opkit::harness {
namespace {

struct Views {
  std::vector<const TensorDesc*> descs;
  std::vector<const Tensor*> contents;
};

Views viewsOf(const HostInputs& inputs) {
  Views views;
  for (const auto& input : inputs) {
    views.descs.push_back(input ? &input->desc : nullptr);
    views.contents.push_back(input ? &*input : nullptr);
  }
  return views;
}

}  // namespace

/// Tensors of one run, and their conversions to the kernel's layout.
struct KernelRig::Stage {
  struct Conversion {
    std::unique_ptr<Execution> execution;
    const Tensor *from, *to;
  };
  std::vector<std::unique_ptr<Tensor>> memory;  // unique_ptr: the lists point into it
  std::vector<Conversion> conversions;
  std::vector<const Tensor*> inputs, outputs;

  const Tensor* keep(Tensor tensor) { return memory.emplace_back(std::make_unique<Tensor>(std::move(tensor))).get(); }
};

KernelRig::~KernelRig() = default;

Result<std::unique_ptr<KernelRig>> KernelRig::create(const Case& c, const HostInputs& inputs,
                                                     const OpRegistry& registry, Runtime& runtime,
                                                     const RigOptions& options) {
  std::unique_ptr<KernelRig> rig(new KernelRig);
  rig->case_ = c;
  rig->registry_ = &registry;
  rig->options_ = options;
  rig->def_ = registry.find(c.op);
  if (!rig->def_) return Status::invalidArgument("unknown operator '{}'", c.op);
  OPKIT_ASSIGN(rig->params_, paramsFromJson(rig->def_->params, c.params));
  OPKIT_ASSIGN(rig->backend_, runtime.createBackend(registry, {.threads = options.threads}));
  const double start = nowNs();
  OPKIT_TRY(rig->choose(inputs));
  rig->createNs_ = nowNs() - start;
  return rig;
}

Result<std::vector<TensorDesc>> KernelRig::outputDescs(const HostInputs& inputs) const {
  const Views views = viewsOf(inputs);
  const size_t count = case_.outputs ? case_.outputs : requiredOutputs(*def_);
  return inferShapes(*def_, {params_, views.descs, views.contents, count});
}

Status KernelRig::withArgs(const HostInputs& inputs, const std::function<Status(const CreateArgs&)>& body) const {
  OPKIT_ASSIGN(const std::vector<TensorDesc> outputs, outputDescs(inputs));
  const Views views = viewsOf(inputs);
  OPKIT_ASSIGN(const Decomposition form,
               kernelForm(*def_, {params_, views.descs, views.contents, outputs.size()}, outputs));
  if (!form.parts().empty()) return Status::unsupported("{} in this form is made of other operators", def_->type);
  std::vector<const Tensor*> constants;
  for (size_t i = 0; i < inputs.size(); ++i) constants.push_back(case_.isConstant(i) ? views.contents[i] : nullptr);
  return body({*def_, params_, views.descs, outputs, constants, backend_->caps()});
}

Status KernelRig::accepts(const HostInputs& inputs) const {
  if (!creator_) return Status::ok();
  const std::vector<Layout> layouts = layoutsFor(*creator_);
  return withArgs(inputs, [&](const CreateArgs& args) {
    return creator_->supports(
        {args.def, args.paramBytes, args.inputs, args.outputs, args.constants, args.device, layouts});
  });
}

Status KernelRig::choose(const HostInputs& inputs) {
  // The CPU would offer the oracle, which sessions do not run.
  if (def_->decompose) return Status::unsupported("{} is made of other operators: no kernel of its own", def_->type);
  if (def_->lower) {
    OPKIT_ASSIGN(std::unique_ptr<RasterExecution> raster, backend_->createRaster());
    raster_ = raster.get();
    execution_ = std::move(raster);
    provider_ = "raster";
    return Status::ok();
  }
  return withArgs(inputs, [this](const CreateArgs& unplaced) -> Status {
    std::string refusals;
    for (const Creator& creator : backend_->creators(*def_)) {
      const std::vector<Layout> layouts = layoutsFor(creator);
      const CreateArgs args{unplaced.def,       unplaced.paramBytes, unplaced.inputs, unplaced.outputs,
                            unplaced.constants, unplaced.device,     layouts};
      if (!options_.provider.empty() && creator.provider != options_.provider) continue;
      if (options_.kernel && creator.kernel != *options_.kernel) continue;
      if (!creator.dtypes.contains(keyDType(args))) continue;
      const auto refuse = [&](const Status& why) {
        refusals += fmt::format("{}{}: {}", refusals.empty() ? "" : "; ", creator.provider, why.message());
      };
      if (const Status supported = creator.supports(args); !supported.isOk()) {
        refuse(supported);
        continue;
      }
      OPKIT_ASSIGN(execution_, creator.create(args, *backend_));
      const Status fits = planAlone(*backend_, *execution_, args, creator.layout, args.constants).error();
      if (fits.code() == StatusCode::Unsupported) {
        refuse(fits);
        continue;
      }
      provider_ = creator.provider;
      layout_ = creator.layout;
      creator_ = &creator;
      return Status::ok();
    }
    return Status::unsupported("{}", refusals.empty() ? "no kernel" : refusals);
  });
}

/// A kernel that was asked for by name may find its inputs where it wants them: some take what is an image already, and
/// convert nothing.
std::vector<Layout> KernelRig::layoutsFor(const Creator& creator) const {
  std::vector<Layout> layouts;
  for (size_t i = 0; options_.kernel && i < case_.inputs.size(); ++i)
    layouts.push_back(case_.isConstant(i) ? Layout::NCHW : creator.layout);
  return layouts;
}

Result<Tensor> KernelRig::place(const TensorDesc& desc, Layout layout) {
  if (options_.guardPages) return onGuardedPages(desc);
  Tensor tensor;
  tensor.desc = {backend_->storageDType(desc.dtype), desc.shape};
  tensor.layout = layout;
  tensor.offsetBytes = bytesOf(tensor.desc.dtype, static_cast<int64_t>(options_.offset));
  OPKIT_ASSIGN(const size_t bytes, backend_->storedBytes(tensor));
  OPKIT_ASSIGN(tensor.buffer, backend_->allocate(tensor.offsetBytes + std::max<size_t>(bytes, 1)));
  return tensor;
}

/// Makes a tensor that holds `values` when the kernel runs.
Result<const Tensor*> KernelRig::fill(Stage& stage, const Tensor& values, Layout layout) {
  OPKIT_ASSIGN(Tensor plain, place(values.desc));
  OPKIT_TRY(backend_->upload(values, plain));
  const Tensor* from = stage.keep(std::move(plain));
  if (layout == Layout::NCHW) return from;
  OPKIT_ASSIGN(Tensor converted, place(values.desc, layout));
  OPKIT_ASSIGN(auto conversion, backend_->createConversion());
  const Tensor* to = stage.keep(std::move(converted));
  stage.conversions.push_back({std::move(conversion), from, to});
  return to;
}

Result<RigRun> KernelRig::run(const HostInputs& inputs) {
  RigRun result;
  const double start = nowNs();
  OPKIT_ASSIGN(const std::vector<TensorDesc> descs, outputDescs(inputs));
  result.shapeNs = nowNs() - start;
  Stage stage;
  if (raster_) {
    const Views views = viewsOf(inputs);
    OPKIT_ASSIGN(auto regions, def_->lower({params_, views.descs, views.contents, descs.size()}, descs));
    raster_->setRegions(std::move(regions.front()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* tensor = nullptr;
    if (inputs[i]) {
      OPKIT_ASSIGN(tensor, fill(stage, *inputs[i], case_.isConstant(i) ? Layout::NCHW : layout_));
    }
    stage.inputs.push_back(tensor);
  }
  for (const TensorDesc& desc : descs) {
    OPKIT_ASSIGN(const Tensor* tensor, outputFor(stage, desc));
    stage.outputs.push_back(tensor);
    if (raster_) break;  // a raster makes one output; the first represents all
  }
  const auto body = [&] { return execute(stage, result); };
  OPKIT_TRY(options_.guardPages ? withGuardPages(body) : body());
  for (size_t i = 0; i < stage.outputs.size(); ++i) {
    OPKIT_ASSIGN(Tensor output, Tensor::onHost(descs[i]));
    OPKIT_TRY(backend_->download(*stage.outputs[i], output));
    result.outputs.push_back(std::move(output));
  }
  result.inputsKept = checkInputs(stage, inputs);
  return result;
}

/// Poisoned memory, or the tensor of the aliased input.
Result<const Tensor*> KernelRig::outputFor(Stage& stage, const TensorDesc& desc) {
  if (options_.alias && stage.outputs.empty()) {
    const Tensor* input = stage.inputs[*options_.alias];
    if (input && input->desc == desc) return input;
    return Status::unsupported("input {} cannot become the output", *options_.alias);
  }
  OPKIT_ASSIGN(const Tensor poison, Tensor::onHost({backend_->storageDType(desc.dtype), desc.shape}));
  std::ranges::fill(poison.bytes(), std::byte{0xFF});
  return fill(stage, poison, layout_);
}

/// Tensors in the kernel's own layout are images, which kernels cannot write where they read.
Status KernelRig::checkInputs(const Stage& stage, const HostInputs& inputs) const {
  for (size_t i = 0; i < stage.inputs.size(); ++i) {
    const Tensor* tensor = stage.inputs[i];
    if (!tensor || tensor->layout != Layout::NCHW || options_.alias == i) continue;
    OPKIT_ASSIGN(Tensor now, Tensor::onHost(inputs[i]->desc));
    OPKIT_TRY(backend_->download(*tensor, now));
    if (!std::ranges::equal(now.bytes(), inputs[i]->bytes())) return Status::internal("the run changed input {}", i);
  }
  return Status::ok();
}

std::string KernelRig::kernel() const {
  return creator_ && !creator_->kernel.empty() ? provider_ + "/" + creator_->kernel : provider_;
}

Status KernelRig::execute(const Stage& stage, RigRun& run) {
  OPKIT_TRY(backend_->onResizeBegin());
  OPKIT_TRY(backend_->beginSegment(0));
  for (const Stage::Conversion& conversion : stage.conversions)
    OPKIT_TRY(resizeAlone(*backend_, *conversion.execution, {&conversion.from, 1}, {&conversion.to, 1}));
  const double start = nowNs();
  OPKIT_TRY(resizeAlone(*backend_, *execution_, stage.inputs, stage.outputs));
  OPKIT_TRY(backend_->endSegment(0));
  run.resizeNs = nowNs() - start;
  for (const Stage::Conversion& conversion : stage.conversions)
    OPKIT_TRY(conversion.execution->onExecute({&conversion.from, 1}, {&conversion.to, 1}));
  const uint64_t before = heapCount();
  countHeap(true);
  const Status status = execution_->onExecute(stage.inputs, stage.outputs);
  countHeap(false);
  run.heapAllocations = heapCount() - before;
  OPKIT_TRY(status);
  return backend_->onExecuteEnd(0);
}

}  // namespace opkit::harness
