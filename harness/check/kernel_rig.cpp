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

  std::vector<const Tensor*> constantsOf(const Case& c) const {
    std::vector<const Tensor*> constants;
    for (size_t i = 0; i < contents.size(); ++i) constants.push_back(c.isConstant(i) ? contents[i] : nullptr);
    return constants;
  }
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
  if (rig->wantsImages()) {
    OPKIT_ASSIGN(rig->backend_,
                 runtime.createBackend(registry, {.threads = options.threads, .storage = Storage::Image}));
  }
  rig->made_ = inputs;
  if (options.guardPages) OPKIT_TRY(rig->guardConstants(rig->made_));
  const auto choose = [&] { return rig->choose(rig->made_); };
  const double start = nowNs();
  OPKIT_TRY(options.guardPages ? withGuardPages(choose) : choose());
  rig->createNs_ = nowNs() - start;
  return rig;
}

/// A kernel on images that was asked for by name gets them, also in a device class that prefers buffers.
bool KernelRig::wantsImages() const {
  return options_.kernel && std::ranges::any_of(backend_->creators(*def_), [&](const Creator& creator) {
           return creator.provider == options_.provider && creator.kernel == *options_.kernel &&
                  creator.layout != Layout::NCHW;
         });
}

/// Copies, so that the kernel also packs what a session packed before. Constants of a model may lie anywhere: there are
/// no bytes of alignment behind the last one.
Status KernelRig::guardConstants(HostInputs& inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] || !case_.isConstant(i)) continue;
    OPKIT_ASSIGN(Tensor guarded, onGuardedPages(inputs[i]->desc, 1));
    std::ranges::copy(inputs[i]->bytes(), guarded.bytes().begin());
    inputs[i] = std::move(guarded);
  }
  return Status::ok();
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
  const std::vector<const Tensor*> constants = views.constantsOf(case_);
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
      OPKIT_ASSIGN(std::unique_ptr<Execution> execution, creator.create(args, *backend_));
      const Status fits = planAlone(*backend_, *execution, args, creator.layout, args.constants).error();
      if (fits.code() == StatusCode::Unsupported) {
        refuse(fits);
        continue;
      }
      takeKernel(std::move(execution), creator.layout);
      provider_ = creator.provider;
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

void KernelRig::takeKernel(std::unique_ptr<Execution> execution, Layout layout) {
  const auto place = [this](Tensor described) { return placed(std::move(described)); };
  runner_.emplace(*backend_, std::move(execution), layout, OpRunnerOptions{place, options_.alias});
}

Result<Tensor> KernelRig::placed(Tensor tensor) const {
  if (options_.guardPages) return onGuardedPages(tensor.desc);
  tensor.offsetBytes = bytesOf(tensor.desc.dtype, static_cast<int64_t>(options_.offset));
  return onDevice(*backend_, std::move(tensor));
}

Result<RigRun> KernelRig::run(const HostInputs& inputs) {
  RigRun result;
  const double start = nowNs();
  OPKIT_ASSIGN(std::vector<TensorDesc> descs, outputDescs(inputs));
  result.shapeNs = nowNs() - start;
  const Views views = viewsOf(inputs);
  if (def_->lower) {
    OPKIT_ASSIGN(const auto regions, def_->lower({params_, views.descs, views.contents, descs.size()}, descs));
    descs.resize(1);  // a raster makes one output; the first represents all
    OPKIT_ASSIGN(auto raster, makeRaster(*backend_, regions.front(), views.descs, descs.front()));
    takeKernel(std::move(raster), Layout::NCHW);
  }
  OPKIT_TRY(runner_->place(views.descs, descs, views.constantsOf(case_)));
  OPKIT_TRY(fill(inputs));
  const auto body = [&] { return execute(result); };
  OPKIT_TRY(options_.guardPages ? withGuardPages(body) : body());
  for (size_t i = 0; i < descs.size(); ++i) {
    OPKIT_ASSIGN(Tensor output, Tensor::onHost(descs[i]));
    OPKIT_TRY(runner_->download(i, output));
    result.outputs.push_back(std::move(output));
  }
  result.inputsKept = checkInputs(inputs);
  return result;
}

/// The inputs' values, and poison in the outputs.
Status KernelRig::fill(const HostInputs& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (runner_->reads(i)) OPKIT_TRY(runner_->upload(i, *inputs[i]));
  for (size_t i = options_.alias ? 1 : 0; i < runner_->outputs().size(); ++i) {
    OPKIT_ASSIGN(const Tensor poison, Tensor::onHost(runner_->outputs()[i]->desc));
    std::ranges::fill(poison.bytes(), std::byte{0xFF});
    OPKIT_TRY(runner_->uploadOutput(i, poison));
  }
  return Status::ok();
}

/// Tensors in the kernel's own layout are images, which kernels cannot write where they read.
Status KernelRig::checkInputs(const HostInputs& inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!runner_->reads(i) || runner_->inputs()[i]->layout != Layout::NCHW || options_.alias == i) continue;
    OPKIT_ASSIGN(Tensor now, Tensor::onHost(inputs[i]->desc));
    OPKIT_TRY(backend_->download(*runner_->inputs()[i], now));
    if (!std::ranges::equal(now.bytes(), inputs[i]->bytes())) return Status::internal("the run changed input {}", i);
  }
  return Status::ok();
}

std::string KernelRig::kernel() const {
  return creator_ && !creator_->kernel.empty() ? provider_ + "/" + creator_->kernel : provider_;
}

Status KernelRig::execute(RigRun& run) {
  OPKIT_TRY(runner_->resize());
  run.resizeNs = runner_->resizeNs();
  const uint64_t before = heapCount();
  countHeap(true);
  const Status status = runner_->run();
  countHeap(false);
  run.heapAllocations = heapCount() - before;
  return status;
}

}  // namespace opkit::harness
