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
  /// The slice of one of `steps`; it has no value if the tensor has none or is empty.
  Result<Tensor> slice(int64_t step, int64_t steps) const {
    if (length() > 0 && hasValue(tensor))
      return sliceOf(tensor, axis, backwards ? std::max<int64_t>(steps - 1 - step, 0) : step);
    TensorDesc desc = tensor.desc;
    desc.shape.erase(desc.shape.begin() + static_cast<std::ptrdiff_t>(axis));
    return withoutValue(std::move(desc));
  }
};

class ScanLoop {
 public:
  ScanLoop(const ControlArgs& args, const ScanParamsT& params) : params_(params), body_(*args.subgraphs[0]) {}

  /// `inputs`: the initial states, then the scanned tensors. `steps`: all that these have, if null.
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs, const int64_t* steps = nullptr) {
    OPKIT_TRY(readInputs(inputs));
    steps_ = steps ? *steps : length();
    if (steps_ < 0 || steps_ > length())
      return Status::invalidArgument("sequence_lens must be in [0, {}], got {}", length(), steps_);
    std::vector<Tensor> states(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(stateCount_));
    std::vector<std::vector<Tensor>> slices(body_.outputCount() - stateCount_);
    for (int64_t step = 0; step < steps_; ++step) {
      OPKIT_ASSIGN(const std::vector<Tensor> bodyInputs, bodyInputsOf(states, step));
      auto outputs = body_.run(bodyInputs);
      if (!outputs) return outputs.error().withContext(fmt::format("step {}", step));
      for (size_t i = 0; i < stateCount_; ++i) states[i] = (*outputs)[i];
      for (size_t i = 0; i < slices.size(); ++i) slices[i].push_back((*outputs)[stateCount_ + i]);
    }
    return results(std::move(states), slices);
  }

  /// As run, of inputs without values: the body must keep the shapes of the states.
  Result<std::vector<Tensor>> describe(std::span<const Tensor> inputs) {
    OPKIT_TRY(readInputs(inputs));
    std::vector<Tensor> states;
    for (size_t i = 0; i < stateCount_; ++i) states.push_back(withoutValue(inputs[i].desc));
    OPKIT_ASSIGN(const std::vector<Tensor> bodyInputs, bodyInputsOf(states, 0));
    OPKIT_ASSIGN(std::vector<TensorDesc> descs, body_.outputDescs(bodyInputs));
    for (size_t i = 0; i < stateCount_; ++i)
      if (descs[i] != states[i].desc)
        return Status::unsupported("the body makes {} of the state {}", descs[i].toString(), states[i].desc.toString());
    const size_t sliceCount = descs.size() - stateCount_;
    for (size_t i = 0; i < sliceCount; ++i) {
      TensorDesc& desc = descs[stateCount_ + i];
      OPKIT_ASSIGN(const int64_t axis, listed(params_.scan_output_axes, i, sliceCount, "scan_output_axes"));
      OPKIT_ASSIGN(const int at, normalizeAxis(axis, desc.shape.size() + 1));
      desc.shape.insert(desc.shape.begin() + at, length());
      states.push_back(withoutValue(desc));
    }
    return states;
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
    return Status::ok();
  }

  int64_t length() const { return scanned_.front().length(); }

  Result<std::vector<Tensor>> bodyInputsOf(const std::vector<Tensor>& states, int64_t step) const {
    std::vector<Tensor> bodyInputs = states;
    for (const ScanInput& input : scanned_) {
      OPKIT_ASSIGN(Tensor slice, input.slice(step, steps_));
      bodyInputs.push_back(std::move(slice));
    }
    return bodyInputs;
  }

  /// Zeros stand in for the steps that an image of a batch does not have.
  Result<std::vector<Tensor>> results(std::vector<Tensor> states, std::vector<std::vector<Tensor>>& slices) {
    std::vector<TensorDesc> descs(body_.outputCount());
    if (steps_ == 0 && !slices.empty()) {
      OPKIT_ASSIGN(const std::vector<Tensor> bodyInputs, bodyInputsOf(states, 0));
      OPKIT_ASSIGN(descs, body_.outputDescs(bodyInputs));
    }
    for (size_t i = 0; i < slices.size(); ++i) {
      OPKIT_ASSIGN(const int64_t axis, listed(params_.scan_output_axes, i, slices.size(), "scan_output_axes"));
      OPKIT_ASSIGN(const int64_t direction,
                   listed(params_.scan_output_directions, i, slices.size(), "scan_output_directions"));
      if (direction != 0) std::reverse(slices[i].begin(), slices[i].end());
      const TensorDesc desc = steps_ == 0 ? descs[stateCount_ + i] : slices[i].front().desc;
      OPKIT_ASSIGN(const Tensor rest, blank(desc));
      slices[i].resize(static_cast<size_t>(length()), rest);
      OPKIT_ASSIGN(Tensor stacked, stack(slices[i], axis, desc));
      states.push_back(std::move(stacked));
    }
    return states;
  }

  const ScanParamsT& params_;
  SubgraphRunner& body_;
  size_t stateCount_ = 0;
  int64_t steps_ = 0;
  std::vector<ScanInput> scanned_;
};

/// Opset 8: every image of the batch by itself. `lengths`: the number of steps of each, if there are any.
Result<std::vector<Tensor>> runBatches(const ControlArgs& args, const ScanParamsT& params,
                                       std::span<const Tensor> inputs, const Tensor* lengths) {
  for (const Tensor& input : inputs)
    if (input.desc.shape.empty() || input.desc.shape[0] != inputs[0].desc.shape[0] || input.desc.shape[0] == 0)
      return Status::invalidArgument("every input must have the same batch on axis 0, 1 or more, got {} and {}",
                                     inputs[0].desc.toString(), input.desc.toString());
  const int64_t batch = inputs[0].desc.shape[0];
  if (lengths && (lengths->desc.shape != Shape{batch} || !kIndexTypes.contains(lengths->desc.dtype)))
    return Status::invalidArgument("sequence_lens must be i64[{0}] or i32[{0}], got {1}", batch,
                                   lengths->desc.toString());
  const std::vector<int64_t> steps = lengths ? toInt64(*lengths) : std::vector<int64_t>();
  std::vector<std::vector<Tensor>> perOutput(args.subgraphs[0]->outputCount());
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<Tensor> images;
    for (const Tensor& input : inputs) {
      OPKIT_ASSIGN(Tensor image, sliceOf(input, 0, b));
      images.push_back(std::move(image));
    }
    const int64_t* own = lengths ? &steps[static_cast<size_t>(b)] : nullptr;
    OPKIT_ASSIGN(const std::vector<Tensor> outputs, ScanLoop(args, params).run(images, own));
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
  const size_t first = params.has_lengths ? 1 : 0;
  if (args.inputs.size() < first + count)
    return Status::invalidArgument("the body takes {} inputs, the node gives {}", count,
                                   args.inputs.size() - std::min(first, args.inputs.size()));
  for (size_t i = 0; i < first + count; ++i)
    if (!args.hasInput(i)) return Status::invalidArgument("input {} is missing", i);
  const std::span<const Tensor> inputs = args.inputs.subspan(first, count);
  if (!std::ranges::all_of(args.inputs, [](const Tensor& one) { return !one.buffer || hasValue(one); })) {
    if (params.batched) return Status::unsupported("the shapes of batches depend on values");
    return ScanLoop(args, params).describe(inputs);
  }
  if (!params.batched) return ScanLoop(args, params).run(inputs);
  return runBatches(args, params, inputs, params.has_lengths ? args.inputs.data() : nullptr);
}

}  // namespace opkit::ops::control_flow
