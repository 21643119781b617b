#include "engine/graph/folding.h"

#include "engine/backend/op_runner.h"
#include "engine/op/decomposition.h"
#include "engine/op/internal_operators.h"

namespace opkit {
namespace {

/// The values that an Execution may rely on: another value of such a port makes another plan.
std::vector<const Tensor*> contentsOf(const OpDef& def, std::span<const Tensor* const> values) {
  std::vector<const Tensor*> contents(values.size(), nullptr);
  for (size_t i = 0; i < values.size(); ++i) {
    const Port* port = portOf(def.inputs, i);
    if (port && port->contents) contents[i] = values[i];
  }
  return contents;
}

Status runRegions(Backend& backend, const RegionList& regions, const KnownNode& node, const Tensor& output) {
  OPKIT_ASSIGN(const auto raster, makeRaster(backend, regions, node.inputs, output.desc));
  return resizeAndRun(backend, {{raster.get(), {node.values.begin(), node.values.end()}, {&output}}});
}

Status runKernel(Backend& backend, const KnownNode& node, std::span<const Tensor> outputs) {
  const std::vector<const Tensor*> contents = contentsOf(node.def, node.values);
  const CreateArgs args{node.def, node.params, node.inputs, node.outputs, contents, backend.caps()};
  const Choice choice = chooseCreator(backend.creators(node.def), args);
  if (!choice.creator) return Status::unsupported("{}: has no oracle to be computed with at resize", node.def.type);
  OPKIT_ASSIGN(auto execution, choice.creator->create(args, backend));
  OpCall call{execution.get(), {node.values.begin(), node.values.end()}, {}};
  for (const Tensor& output : outputs) call.outputs.push_back(&output);
  return resizeAndRun(backend, {call});
}

/// With the kernels of a backend: one of the operator, or the rasters of one that is lowered.
Result<std::vector<Tensor>> runOn(Backend& backend, const KnownNode& node) {
  std::vector<Tensor> outputs;
  for (const TensorDesc& desc : node.outputs) {
    OPKIT_ASSIGN(Tensor output, Tensor::onHost(desc));
    outputs.push_back(std::move(output));
  }
  if (!node.def.lower) {
    OPKIT_TRY(runKernel(backend, node, outputs));
    return outputs;
  }
  OPKIT_ASSIGN(const auto lists, node.def.lower(node.shapeArgs(), node.outputs));
  for (size_t i = 0; i < outputs.size(); ++i) OPKIT_TRY(runRegions(backend, lists[i], node, outputs[i]));
  return outputs;
}

/// By the card's function for a resize, else by the oracle. A shape-only operator never reads values: it gets
/// descriptions without elements.
Result<std::vector<Tensor>> runCard(const KnownNode& node) {
  std::vector<OracleTensor> inputs(node.inputs.size()), results;
  std::vector<const OracleTensor*> inputList;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (node.inputs[i] && node.def.shapeOnly) inputs[i].desc = *node.inputs[i];
    if (node.inputs[i] && !node.def.shapeOnly) inputs[i].load(*node.values[i]);
    inputList.push_back(node.inputs[i] ? &inputs[i] : nullptr);
  }
  for (const TensorDesc& desc : node.outputs) results.emplace_back(desc);
  OPKIT_TRY((node.def.fold ? node.def.fold : node.def.oracle)({node.params, inputList, results, false}));
  std::vector<Tensor> outputs;
  for (const OracleTensor& result : results) {
    OPKIT_ASSIGN(Tensor output, Tensor::onHost(result.desc));
    result.toTensor(output);
    outputs.push_back(std::move(output));
  }
  return outputs;
}

Status checkSizes(std::span<const TensorDesc> outputs) {
  for (const TensorDesc& desc : outputs)
    if (desc.sizeBytes() > kMostFoldedBytes)
      return Status::outOfMemory("{} would be computed at resize, where tensors have at most {} bytes", desc.toString(),
                                 kMostFoldedBytes);
  return Status::ok();
}

/// Kernels write the outputs that the card requires, without a question.
bool hasWrittenOutputs(const KnownNode& node) {
  const std::vector<Port>& ports = node.def.outputs;
  return node.outputs.size() >= ports.size() || ports[node.outputs.size()].kind != Port::Kind::Required;
}

}  // namespace

double KnownNode::work() const {
  int64_t elements = 0;
  for (const TensorDesc& output : outputs) elements += output.elements();
  if (def.lower) return static_cast<double>(elements);
  for (const TensorDesc* input : inputs) elements += input ? input->elements() : 0;
  return std::max(static_cast<double>(elements), def.flops ? def.flops(shapeArgs(), outputs) : 0);
}

bool Folding::takes(const KnownNode& node, Origin origin, bool needed, double& spent) const {
  if (!options_.backend || node.def.fold || origin == Origin::Constants || needed) return true;
  const double work = node.work();
  if (origin == Origin::Shapes && (node.def.oracle || node.def.lower) && spent + work <= kMostFoldedWork) {
    spent += work;
    return true;
  }
  return !hasKernel(node);
}

bool Folding::takesBack(const KnownNode& node, Origin origin) const {
  return (origin == Origin::Shapes || options_.mayRefuse) && !hasKernel(node);
}

/// Whether the session's backend computes the node, or its parts are to be looked at.
bool Folding::hasKernel(const KnownNode& node) const {
  if (node.def.decompose) return true;
  if (node.def.toKernelForm) {
    const auto form = kernelForm(node.def, node.shapeArgs(), node.outputs);
    if (form && !form->parts().empty()) return true;
  }
  const auto stored = [this](TensorDesc desc) {
    desc.dtype = options_.backend->storageDType(desc.dtype);
    return desc;
  };
  std::vector<TensorDesc> inputs, outputs;
  std::vector<const TensorDesc*> inputList;
  for (const TensorDesc* input : node.inputs) inputs.push_back(input ? stored(*input) : TensorDesc());
  for (const TensorDesc& output : node.outputs) outputs.push_back(stored(output));
  for (size_t i = 0; i < inputs.size(); ++i) inputList.push_back(node.inputs[i] ? &inputs[i] : nullptr);
  const DeviceCaps& caps = options_.backend->caps();
  if (!node.def.lower) {
    const std::vector<const Tensor*> contents = contentsOf(node.def, node.values);
    return runs({node.def, node.params, inputList, outputs, contents, caps}, node.values);
  }
  const auto lists = node.def.lower(node.shapeArgs(), node.outputs);
  for (size_t i = 0; lists && i < outputs.size(); ++i)
    if (!runs({rasterCard(), {}, inputList, std::span(&outputs[i], 1), {}, caps, {}, &(*lists)[i]}, node.values))
      return false;
  return static_cast<bool>(lists);
}

bool Folding::runs(const CreateArgs& args, std::span<const Tensor* const> values) const {
  Backend& backend = *options_.backend;
  const FitsDevice fits = backend.sharesHostMemory() ? FitsDevice() : fitsOn(backend, args, values);
  const Choice choice = chooseCreator(backend.creators(args.def), args, options_.providers, fits);
  return choice.creator && choice.creator->provider != "reference";
}

Result<std::vector<Tensor>> Folding::compute(const KnownNode& node) const {
  OPKIT_TRY(checkSizes(node.outputs));
  if (node.def.shapeOnly || node.def.fold) return runCard(node);
  const bool isMuch = node.work() > kMuchWork || (!node.def.oracle && !node.def.lower);
  if (options_.cpu && isMuch && hasWrittenOutputs(node)) {
    OPKIT_ASSIGN(Backend* const cpu, options_.cpu());
    auto outputs = runOn(*cpu, node);
    if (outputs) return outputs;  // else the oracle says why, or does it
  }
  return runOn(reference_, node);
}

}  // namespace opkit
