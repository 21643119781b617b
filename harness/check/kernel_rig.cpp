#include "harness/check/kernel_rig.h"

#include <chrono>

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

double nowNs() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

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

Status KernelRig::choose(const HostInputs& inputs) {
  // The CPU would offer the oracle, which is not what sessions run.
  if (def_->decompose) return Status::unsupported("{} is made of other operators: no kernel of its own", def_->type);
  if (def_->lower) {
    OPKIT_ASSIGN(std::unique_ptr<RasterExecution> raster, backend_->createRaster());
    raster_ = raster.get();
    execution_ = std::move(raster);
    provider_ = "raster";
    return Status::ok();
  }
  OPKIT_ASSIGN(const std::vector<TensorDesc> outputs, outputDescs(inputs));
  const Views views = viewsOf(inputs);
  std::vector<const Tensor*> constants;
  for (size_t i = 0; i < inputs.size(); ++i) constants.push_back(case_.isConstant(i) ? views.contents[i] : nullptr);
  const CreateArgs args{*def_, params_, views.descs, outputs, constants, backend_->caps()};
  std::string refusals;
  for (const Creator& creator : backend_->creators(*def_)) {
    if (!options_.provider.empty() && creator.provider != options_.provider) continue;
    // A session would run its neighbours on images, too; by hand there is only one kernel.
    if (creator.layout != Layout::NCHW) return Status::unsupported("{}: the kernel works on images", creator.provider);
    if (!creator.dtypes.contains(keyDType(args))) continue;
    const Status supported = creator.supports(args);
    if (!supported.isOk()) {
      refusals += fmt::format("{}{}: {}", refusals.empty() ? "" : "; ", creator.provider, supported.message());
      continue;
    }
    OPKIT_ASSIGN(execution_, creator.create(args, *backend_));
    provider_ = creator.provider;
    return Status::ok();
  }
  return Status::unsupported("{}", refusals.empty() ? "no kernel" : refusals);
}

Result<Tensor> KernelRig::place(const TensorDesc& desc) {
  if (options_.guardPages) return onGuardedPages(desc);
  Tensor tensor;
  tensor.desc = {backend_->storageDType(desc.dtype), desc.shape};
  OPKIT_ASSIGN(tensor.buffer, backend_->allocate(std::max<size_t>(tensor.sizeBytes(), 1)));
  return tensor;
}

Result<RigRun> KernelRig::run(const HostInputs& inputs) {
  RigRun result;
  const double start = nowNs();
  OPKIT_ASSIGN(const std::vector<TensorDesc> descs, outputDescs(inputs));
  result.shapeNs = nowNs() - start;
  std::vector<Tensor> memory;  // stays where it is: the lists below point into it
  memory.reserve(inputs.size() + descs.size());
  std::vector<const Tensor*> inputList, outputList;
  if (raster_) {
    const Views views = viewsOf(inputs);
    OPKIT_ASSIGN(auto regions, def_->lower({params_, views.descs, views.contents, descs.size()}, descs));
    raster_->setRegions(std::move(regions.front()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) {
      inputList.push_back(nullptr);
      continue;
    }
    OPKIT_ASSIGN(Tensor tensor, place(inputs[i]->desc));
    OPKIT_TRY(backend_->upload(*inputs[i], tensor));
    memory.push_back(std::move(tensor));
    inputList.push_back(&memory.back());
  }
  for (const TensorDesc& desc : descs) {
    OPKIT_ASSIGN(Tensor tensor, place(desc));
    OPKIT_ASSIGN(const Tensor poison, Tensor::onHost(tensor.desc));
    std::ranges::fill(poison.bytes(), std::byte{0xFF});
    OPKIT_TRY(backend_->upload(poison, tensor));
    memory.push_back(std::move(tensor));
    outputList.push_back(&memory.back());
    if (raster_) break;  // a raster makes one output; the first stands for all
  }
  const auto body = [&] { return execute(inputList, outputList, result); };
  OPKIT_TRY(options_.guardPages ? withGuardPages(body) : body());
  for (size_t i = 0; i < outputList.size(); ++i) {
    OPKIT_ASSIGN(Tensor output, Tensor::onHost(descs[i]));
    OPKIT_TRY(backend_->download(*outputList[i], output));
    result.outputs.push_back(std::move(output));
  }
  return result;
}

Status KernelRig::execute(const std::vector<const Tensor*>& inputs, const std::vector<const Tensor*>& outputs,
                          RigRun& run) {
  OPKIT_TRY(backend_->onResizeBegin());
  OPKIT_TRY(backend_->beginSegment(0));
  const double start = nowNs();
  OPKIT_TRY(resizeAlone(*backend_, *execution_, inputs, outputs));
  OPKIT_TRY(backend_->endSegment(0));
  run.resizeNs = nowNs() - start;
  OPKIT_TRY(backend_->onExecuteBegin(0));
  const uint64_t before = heapCount();
  countHeap(true);
  const Status status = execution_->onExecute(inputs, outputs);
  countHeap(false);
  run.heapAllocations = heapCount() - before;
  OPKIT_TRY(status);
  return backend_->onExecuteEnd(0);
}

}  // namespace opkit::harness
