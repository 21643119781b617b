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

}  // namespace

Result<std::vector<Tensor>> runIf(const ControlArgs& args) {
  if (!args.hasInput(0)) return Status::invalidArgument("the condition is required");
  if (args.inputs[0].desc.dtype != DType::Bool)
    return Status::invalidArgument("the condition must be bool, got {}", args.inputs[0].desc.toString());
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
