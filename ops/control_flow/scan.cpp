#include "ops/control_flow/control_flow.h"

namespace opkit::ops::control_flow {
namespace {

/// The value listed for position i, 0 if the list is empty.
Result<int64_t> listed(const std::vector<int64_t>& list, size_t i, size_t count, const char* what) {
  if (list.empty()) return int64_t{0};
  if (list.size() != count) return Status::invalidArgument("{} must list {} values, got {}", what, count, list.size());
  return list[i];
}

struct ScanInput {
  Tensor tensor;
  size_t axis;
  bool backwards;

  int64_t length() const { return tensor.desc.shape[axis]; }
  Result<Tensor> slice(int64_t step) const { return sliceOf(tensor, axis, backwards ? length() - 1 - step : step); }
};

class ScanLoop {
 public:
  ScanLoop(const ControlArgs& args, const ScanParamsT& params) : params_(params), body_(*args.subgraphs[0]) {}

  /// `inputs`: the initial states, then the scanned tensors.
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) {
    OPKIT_TRY(readInputs(inputs));
    std::vector<Tensor> states(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(stateCount_));
    std::vector<std::vector<Tensor>> slices(body_.outputCount() - stateCount_);
    const int64_t length = scanned_.front().length();
    for (int64_t step = 0; step < length; ++step) {
      std::vector<Tensor> bodyInputs = states;
      for (const ScanInput& input : scanned_) {
        OPKIT_ASSIGN(Tensor slice, input.slice(step));
        bodyInputs.push_back(std::move(slice));
      }
      auto outputs = body_.run(bodyInputs);
      if (!outputs) return outputs.error().withContext(fmt::format("step {}", step));
      for (size_t i = 0; i < stateCount_; ++i) states[i] = (*outputs)[i];
      for (size_t i = 0; i < slices.size(); ++i) slices[i].push_back((*outputs)[stateCount_ + i]);
    }
    return results(std::move(states), slices);
  }

 private:
  Status readInputs(std::span<const Tensor> inputs) {
    const auto scanCount = static_cast<size_t>(params_.num_scan_inputs);
    stateCount_ = inputs.size() - scanCount;
    for (size_t i = 0; i < scanCount; ++i) {
      const Tensor& tensor = inputs[stateCount_ + i];
      OPKIT_ASSIGN(const int64_t axis, listed(params_.scan_input_axes, i, scanCount, "scan_input_axes"));
      OPKIT_ASSIGN(const int at, normalizeAxis(axis, tensor.desc.shape.size()));
      OPKIT_ASSIGN(const int64_t direction,
                   listed(params_.scan_input_directions, i, scanCount, "scan_input_directions"));
      scanned_.push_back({tensor, static_cast<size_t>(at), direction != 0});
      if (scanned_[i].length() != scanned_[0].length())
        return Status::invalidArgument("scan inputs must have one length, got {} and {}", scanned_[0].length(),
                                       scanned_[i].length());
    }
    if (scanned_.front().length() == 0)
      return Status::unsupported("scan inputs must have a length of 1 or more, got 0");
    return Status::ok();
  }

  Result<std::vector<Tensor>> results(std::vector<Tensor> states, std::vector<std::vector<Tensor>>& slices) {
    for (size_t i = 0; i < slices.size(); ++i) {
      OPKIT_ASSIGN(const int64_t axis, listed(params_.scan_output_axes, i, slices.size(), "scan_output_axes"));
      OPKIT_ASSIGN(const int64_t direction,
                   listed(params_.scan_output_directions, i, slices.size(), "scan_output_directions"));
      if (direction != 0) std::reverse(slices[i].begin(), slices[i].end());
      OPKIT_ASSIGN(Tensor stacked, stack(slices[i], axis, {}));
      states.push_back(std::move(stacked));
    }
    return states;
  }

  const ScanParamsT& params_;
  SubgraphRunner& body_;
  size_t stateCount_ = 0;
  std::vector<ScanInput> scanned_;
};

/// Opset 8: every image of the batch by itself.
Result<std::vector<Tensor>> runBatches(const ControlArgs& args, const ScanParamsT& params,
                                       std::span<const Tensor> inputs) {
  for (const Tensor& input : inputs)
    if (input.desc.shape.empty() || input.desc.shape[0] != inputs[0].desc.shape[0] || input.desc.shape[0] == 0)
      return Status::invalidArgument("every input must have the same batch on axis 0, 1 or more, got {} and {}",
                                     inputs[0].desc.toString(), input.desc.toString());
  std::vector<std::vector<Tensor>> perOutput(args.subgraphs[0]->outputCount());
  for (int64_t b = 0; b < inputs[0].desc.shape[0]; ++b) {
    std::vector<Tensor> images;
    for (const Tensor& input : inputs) {
      OPKIT_ASSIGN(Tensor image, sliceOf(input, 0, b));
      images.push_back(std::move(image));
    }
    OPKIT_ASSIGN(const std::vector<Tensor> outputs, ScanLoop(args, params).run(images));
    for (size_t i = 0; i < perOutput.size(); ++i) perOutput[i].push_back(outputs[i]);
  }
  std::vector<Tensor> stacked;
  for (const std::vector<Tensor>& images : perOutput) {
    OPKIT_ASSIGN(Tensor whole, stack(images, 0, {}));
    stacked.push_back(std::move(whole));
  }
  return stacked;
}

}  // namespace

Result<std::vector<Tensor>> runScan(const ControlArgs& args) {
  const auto params = args.params<ScanParams>();
  const SubgraphRunner& body = *args.subgraphs[0];
  const size_t count = body.inputCount();
  if (params.num_scan_inputs < 1 || static_cast<uint64_t>(params.num_scan_inputs) > count)
    return Status::invalidArgument("num_scan_inputs must be in [1, {}], got {}", count, params.num_scan_inputs);
  if (body.outputCount() < count - static_cast<size_t>(params.num_scan_inputs))
    return Status::invalidArgument("the body must give its {} states first, it gives {} outputs",
                                   count - static_cast<size_t>(params.num_scan_inputs), body.outputCount());
  if (args.inputs.size() < count)
    return Status::invalidArgument("the body takes {} inputs, the node gives {}", count, args.inputs.size());
  for (size_t i = 0; i < count; ++i)
    if (!args.hasInput(i)) return Status::invalidArgument("input {} is missing", i);
  const std::span<const Tensor> inputs = args.inputs.first(count);
  return params.batched ? runBatches(args, params, inputs) : ScanLoop(args, params).run(inputs);
}

}  // namespace opkit::ops::control_flow
