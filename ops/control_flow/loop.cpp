#include "ops/control_flow/control_flow.h"

namespace opkit::ops::control_flow {
namespace {

/// REQUIRES a tensor of integers or flags.
Result<int64_t> scalarOf(const Tensor& tensor, const char* what) {
  if (tensor.desc.elements() != 1)
    return Status::invalidArgument("{} must hold one element, got {}", what, tensor.desc.toString());
  return toInt64(tensor)[0];
}

/// No card knows what a body makes.
Result<bool> flagOf(const Tensor& tensor) {
  if (tensor.desc.dtype != DType::Bool || tensor.desc.elements() != 1)
    return Status::invalidArgument("the body's condition must hold one bool, got {}", tensor.desc.toString());
  return tensor.data<uint8_t>()[0] != 0;
}

Result<Tensor> scalarTensor(DType dtype, int64_t value) {
  OPKIT_ASSIGN(Tensor tensor, Tensor::onHost({dtype, {}}));
  if (dtype == DType::Bool)
    tensor.data<uint8_t>()[0] = static_cast<uint8_t>(value != 0);
  else
    tensor.data<int64_t>()[0] = value;
  return tensor;
}

/// Without a condition: what both branches give.
Result<std::vector<Tensor>> eitherBranch(const ControlArgs& args) {
  OPKIT_ASSIGN(const std::vector<TensorDesc> descs, args.subgraphs[0]->outputDescs({}));
  OPKIT_ASSIGN(const std::vector<TensorDesc> others, args.subgraphs[1]->outputDescs({}));
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < std::min(descs.size(), others.size()); ++i) {
    if (descs[i] != others[i])
      return Status::unsupported("its branches give {} and {}, and the condition is not known", descs[i].toString(),
                                 others[i].toString());
    outputs.push_back(withoutValue(descs[i]));
  }
  return outputs;
}

/// Without values: the body must keep the shapes of what it carries, and slices cannot be counted.
Result<std::vector<Tensor>> describeLoop(SubgraphRunner& body, std::span<const Tensor> carried) {
  if (body.outputCount() > 1 + carried.size())
    return Status::unsupported(
        "the number of its iterations is not known, and so the shape of the slices that it stacks");
  std::vector<Tensor> inputs{withoutValue({DType::Int64, {}}), withoutValue({DType::Bool, {}})};
  for (const Tensor& value : carried) inputs.push_back(withoutValue(value.desc));
  OPKIT_ASSIGN(const std::vector<TensorDesc> outputs, body.outputDescs(inputs));
  for (size_t i = 0; i < carried.size(); ++i)
    if (outputs[1 + i] != carried[i].desc)
      return Status::unsupported("the body makes {} of {}, and the number of its iterations is not known",
                                 outputs[1 + i].toString(), carried[i].desc.toString());
  return std::vector<Tensor>(inputs.begin() + 2, inputs.end());
}

}  // namespace

Result<std::vector<Tensor>> runIf(const ControlArgs& args) {
  if (!args.hasInput(0)) return Status::invalidArgument("the condition is required");
  if (args.inputs[0].desc.dtype != DType::Bool)
    return Status::invalidArgument("the condition must be bool, got {}", args.inputs[0].desc.toString());
  if (!hasValue(args.inputs[0])) return eitherBranch(args);
  OPKIT_ASSIGN(const int64_t condition, scalarOf(args.inputs[0], "the condition"));
  return args.subgraphs[condition != 0 ? 0 : 1]->run({});
}

Result<std::vector<Tensor>> runLoop(const ControlArgs& args) {
  SubgraphRunner& body = *args.subgraphs[0];
  if (body.inputCount() < 2 || body.outputCount() < body.inputCount() - 1)
    return Status::invalidArgument(
        "the body must take (iteration, condition, carried...) and give (condition, "
        "carried..., scans...), it takes {} and gives {}",
        body.inputCount(), body.outputCount());
  const size_t carriedCount = body.inputCount() - 2;
  const size_t scanCount = body.outputCount() - 1 - carriedCount;
  if (args.inputs.size() < 2 + carriedCount)
    return Status::invalidArgument("the body carries {} values, the node gives {}", carriedCount,
                                   args.inputs.size() - std::min<size_t>(args.inputs.size(), 2));
  if (!std::ranges::all_of(args.inputs, [](const Tensor& one) { return !one.buffer || hasValue(one); }))
    return describeLoop(body, args.inputs.subspan(2, carriedCount));
  int64_t trips = INT64_MAX;
  bool running = true;
  if (args.hasInput(0)) {
    OPKIT_ASSIGN(trips, scalarOf(args.inputs[0], "the trip count"));
  }
  if (args.hasInput(1)) {
    OPKIT_ASSIGN(const int64_t condition, scalarOf(args.inputs[1], "the condition"));
    running = condition != 0;
  }
  std::vector<Tensor> bodyInputs(2);
  for (size_t i = 0; i < carriedCount; ++i) {
    if (!args.hasInput(2 + i)) return Status::invalidArgument("the initial value of carried value {} is missing", i);
    bodyInputs.push_back(args.inputs[2 + i]);
  }
  std::vector<std::vector<Tensor>> scans(scanCount);
  OPKIT_ASSIGN(bodyInputs[0], scalarTensor(DType::Int64, 0));
  OPKIT_ASSIGN(bodyInputs[1], scalarTensor(DType::Bool, running));
  int64_t iteration = 0;
  for (; iteration < trips && running; ++iteration) {
    OPKIT_ASSIGN(bodyInputs[0], scalarTensor(DType::Int64, iteration));
    OPKIT_ASSIGN(bodyInputs[1], scalarTensor(DType::Bool, running));
    auto outputs = body.run(bodyInputs);
    if (!outputs) return outputs.error().withContext(fmt::format("iteration {}", iteration));
    OPKIT_ASSIGN(running, flagOf((*outputs)[0]));
    for (size_t i = 0; i < carriedCount; ++i) bodyInputs[2 + i] = (*outputs)[1 + i];
    for (size_t i = 0; i < scanCount; ++i) scans[i].push_back((*outputs)[1 + carriedCount + i]);
  }
  std::vector<TensorDesc> slices(body.outputCount());
  if (iteration == 0 && scanCount > 0) {
    OPKIT_ASSIGN(slices, body.outputDescs(bodyInputs));
  }
  std::vector<Tensor> results(bodyInputs.begin() + 2, bodyInputs.end());
  for (size_t i = 0; i < scanCount; ++i) {
    OPKIT_ASSIGN(Tensor stacked, stack(scans[i], 0, slices[1 + carriedCount + i]));
    results.push_back(std::move(stacked));
  }
  return results;
}

}  // namespace opkit::ops::control_flow
