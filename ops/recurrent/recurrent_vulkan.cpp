// The steps of RNN, GRU and LSTM on Vulkan, f32: one dispatch per step and direction; two for GRU unless
// linear_before_reset. If few units make up a layer, one work group has them all, and a dispatch makes many steps.
#include <bit>

#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/recurrent/recurrent.h"
#include "shaders/recurrent/recurrent_step.h"

namespace opkit::ops::recurrent {
namespace {

using Shader = shaders::RecurrentStep;

constexpr int64_t kMostRows = 8;
constexpr int64_t kMostSlots = 512;   // of the shader
constexpr int64_t kMostSteps = 1024;  // of a dispatch, so that none takes long
constexpr uint32_t kSoftwareGroup = 16;
constexpr uint32_t kGroup = 64;
constexpr uint32_t kTeam = 32;
constexpr uint32_t kWalkGroup = 128;  // every device allows it

/// How a layer is cut.
struct StepLayout {
  uint32_t team;   // invocations that make a unit
  uint32_t group;  // invocations of a work group
  uint32_t rows;   // sequences of a work group
  bool walks;      // a work group has all units

  static StepLayout of(Cell cell, bool linear, int64_t hidden, int64_t batches, const DeviceCaps& device) {
    const bool isSoftware = device.deviceClass->largestProductTile == 0;
    const auto rows = static_cast<uint32_t>(std::bit_ceil(static_cast<uint64_t>(std::min(batches, kMostRows))));
    const bool hasOnePass = cell != Cell::Gru || linear;
    if (hasOnePass && hidden <= (isSoftware ? kWalkGroup : kWalkGroup / 2)) {
      const auto units = static_cast<uint32_t>(hidden);
      const uint32_t team = isSoftware ? 1 : std::min(std::bit_floor(kWalkGroup / units), kTeam);
      return {team, units * team, std::min(rows, static_cast<uint32_t>(kMostSlots) / kWalkGroup), true};
    }
    if (isSoftware) return {1, kSoftwareGroup, rows, false};
    const auto fours = static_cast<uint32_t>(std::min<int64_t>(hidden, 4 * kTeam) + 3) / 4;
    return {std::clamp<uint32_t>(std::bit_ceil(fours), 1, kTeam), kGroup, rows, false};
  }
  /// Passes of an invocation's loops in one step: over the state, the fold, and the sequences.
  int64_t passesOfStep(int64_t hidden) const {
    const int64_t units = hidden % 4 == 0 ? hidden / 4 : hidden;
    return vulkan::loopPasses({(units + team - 1) / team}) + vulkan::loopPasses({5}) + vulkan::loopPasses({rows});
  }
};

/// The states of a direction.
struct Layer {
  const Tensor* states = nullptr;  // two halves, in turns
  const Tensor* cells = nullptr;
  const Tensor* kept = nullptr;
};

class StepsVulkan final : public vulkan::VulkanExecution {
 public:
  StepsVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<RecurrentParams>()), cell_(cellOf(args.def.type)) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    plan_ = planSteps(params_, cell_, inputs[kProducts]->desc.shape, inputs[kR]->desc.shape);
    if (plan_.stateElements() == 0) return Status::ok();
    layers_.resize(static_cast<size_t>(plan_.directions));
    for (Layer& layer : layers_) {
      const TensorDesc state{DType::Float32, {elements()}};
      OPKIT_ASSIGN(layer.states, encoder.scratch({DType::Float32, {2 * elements()}}));
      OPKIT_ASSIGN(layer.cells, encoder.scratch(state));
      OPKIT_ASSIGN(layer.kept, encoder.scratch(state));
    }
    OPKIT_ASSIGN(bad_, encoder.report(2, [times = plan_.times](std::span<const int32_t> words) {
      return badLength(times, words[0] != 0 ? words[0] : words[1]);
    }));
    layout_ = StepLayout::of(cell_, params_.linear_before_reset, plan_.hidden, plan_.batches, encoder.caps());
    for (size_t direction = 0; direction < layers_.size(); ++direction) {
      OPKIT_TRY(begin(inputs, kInitialH, direction, *layers_[direction].states, encoder));
      if (cell_ == Cell::Lstm) OPKIT_TRY(begin(inputs, kInitialC, direction, *layers_[direction].cells, encoder));
    }
    const int64_t together = stepsTogether(encoder.caps());
    for (int64_t step = 0; step < plan_.times; step += together)
      OPKIT_TRY(encodeSteps(step, std::min(step + together, plan_.times), inputs, outputs, encoder));
    for (size_t i = 1; i < outputs.size(); ++i)
      for (size_t direction = 0; direction < layers_.size(); ++direction)
        OPKIT_TRY(encoder.copyRuns(i == 1 ? *layers_[direction].states : *layers_[direction].cells, *outputs[i],
                                   stateRuns(direction, false, i == 1 ? plan_.times % 2 : 0)));
    return Status::ok();
  }

 private:
  int64_t stepsTogether(const DeviceCaps& caps) const {
    if (!layout_.walks) return 1;
    const auto passes = static_cast<uint64_t>(layout_.passesOfStep(plan_.hidden) + 1);
    const uint64_t allowed = caps.loopIterations / passes;
    return std::clamp<int64_t>(static_cast<int64_t>(std::min<uint64_t>(allowed, kMostSteps)) - 1, 1, kMostSteps);
  }

  /// Of a direction's state, [batches, hidden].
  int64_t elements() const { return plan_.batches * plan_.hidden; }

  /// Between a direction's state here and one of the node, that of all directions; `half` of the states here.
  std::vector<vulkan::ByteRun> stateRuns(size_t direction, bool toHere, int64_t half = 0) const {
    const bool isOneRun = !plan_.batchFirst || plan_.directions == 1;
    const int64_t rows = isOneRun ? plan_.batches : 1;
    const auto bytesOf = [&](int64_t count) { return static_cast<size_t>(count * plan_.hidden) * sizeof(float); };
    std::vector<vulkan::ByteRun> runs;
    for (int64_t batch = 0; batch < plan_.batches; batch += rows) {
      const size_t here = bytesOf(half * plan_.batches + batch);
      const size_t there = bytesOf(plan_.stateRow(static_cast<int64_t>(direction), batch));
      runs.push_back(toHere ? vulkan::ByteRun{there, here, bytesOf(rows)}
                            : vulkan::ByteRun{here, there, bytesOf(rows)});
    }
    return runs;
  }
  Status begin(TensorList inputs, size_t index, size_t direction, const Tensor& state, vulkan::Encoder& encoder) const {
    if (!has(inputs, index)) return encoder.fillZero(state);
    return encoder.copyRuns(*inputs[index], state, stateRuns(direction, true));
  }

  Status encodeSteps(int64_t first, int64_t last, TensorList inputs, TensorList outputs,
                     vulkan::Encoder& encoder) const {
    const auto pass = [&](Shader::Cell cell, const Tensor* Layer::*operand, int64_t operandBase) -> Status {
      encoder.beginDisjoint();
      for (int64_t direction = 0; direction < plan_.directions; ++direction) {
        const Tensor* const own = layers_[static_cast<size_t>(direction)].*operand;
        OPKIT_TRY(dispatch(cell, {first, last, direction, own, operandBase}, inputs, outputs, encoder));
      }
      encoder.endDisjoint();
      return Status::ok();
    };
    const int64_t half = first % 2 * elements();
    switch (cell_) {
      case Cell::Rnn: return pass(Shader::Cell::Rnn, &Layer::states, half);
      case Cell::Lstm: return pass(Shader::Cell::Lstm, &Layer::states, half);
      case Cell::Gru: break;
    }
    if (params_.linear_before_reset) return pass(Shader::Cell::GruLinear, &Layer::states, half);
    OPKIT_TRY(pass(Shader::Cell::GruGates, &Layer::states, half));
    return pass(Shader::Cell::GruHidden, &Layer::kept, 0);
  }

  struct Part {
    int64_t firstStep;
    int64_t lastStep;
    int64_t direction;
    const Tensor* operand;  // that r multiplies
    int64_t operandBase;
  };
  Status dispatch(Shader::Cell cell, const Part& part, TensorList inputs, TensorList outputs,
                  vulkan::Encoder& encoder) const {
    const Tensor& products = *inputs[kProducts];
    const Layer& layer = layers_[static_cast<size_t>(part.direction)];
    const auto orProducts = [&](size_t index) { return has(inputs, index) ? inputs[index] : &products; };
    const auto functions = functionsOf(params_, cell_, part.direction);
    const int64_t blocks = (plan_.batches + layout_.rows - 1) / layout_.rows, perGroup = layout_.group / layout_.team;
    const int64_t unitGroups = (plan_.hidden + perGroup - 1) / perGroup;
    return encoder.dispatch<Shader>({cell, readOf(*inputs[kR], encoder.caps())},
                                    {.products = &products,
                                     .r = inputs[kR],
                                     .operand = part.operand,
                                     .states = layer.states,
                                     .bias = orProducts(kBias),
                                     .lengths = orProducts(kLengths),
                                     .peepholes = orProducts(kPeepholes),
                                     .cells = layer.cells,
                                     .kept = layer.kept,
                                     .y = outputs[0],
                                     .bad = bad_},
                                    {.firstStep = part.firstStep,
                                     .lastStep = part.lastStep,
                                     .operandBase = part.operandBase,
                                     .stateElements = elements(),
                                     .unitGroups = unitGroups,
                                     .times = plan_.times,
                                     .batches = plan_.batches,
                                     .hidden = plan_.hidden,
                                     .directions = plan_.directions,
                                     .direction = part.direction,
                                     .gates = plan_.gates,
                                     .reverse = isReverse(params_, part.direction) ? 1 : 0,
                                     .batchFirst = plan_.batchFirst ? 1 : 0,
                                     .hasBias = has(inputs, kBias) ? 1 : 0,
                                     .hasLengths = has(inputs, kLengths) ? 1 : 0,
                                     .hasPeepholes = has(inputs, kPeepholes) ? 1 : 0,
                                     .coupled = params_.input_forget ? 1 : 0,
                                     .clip = params_.clip,
                                     .figuresF = {functions[0].alpha, functions[0].beta},
                                     .figuresG = {functions[1].alpha, functions[1].beta},
                                     .figuresH = {functions[2].alpha, functions[2].beta}},
                                    vulkan::Groups::linear(unitGroups * blocks, 1),
                                    {.localSizeX = layout_.group,
                                     .team = layout_.team,
                                     .rows = layout_.rows,
                                     .functionF = static_cast<uint32_t>(functions[0].kind),
                                     .functionG = static_cast<uint32_t>(functions[1].kind),
                                     .functionH = static_cast<uint32_t>(functions[2].kind),
                                     .walks = layout_.walks});
  }
  Shader::Read readOf(const Tensor& r, const DeviceCaps& caps) const {
    if (plan_.hidden % 4 != 0) return Shader::Read::Single;
    const bool fits = static_cast<uint64_t>(r.desc.elements()) / 4 <= caps.maxTexels;
    return caps.deviceClass->prefersTexels && fits ? Shader::Read::Texel : Shader::Read::Ssbo;
  }

  RecurrentParamsT params_;
  Cell cell_;
  StepsPlan plan_;
  StepLayout layout_{};
  std::vector<Layer> layers_;  // by direction, so that no command reads what one of the other direction writes
  const Tensor* bad_ = nullptr;
};

Status supports(const CreateArgs& args) {
  if (args.input(0).dtype != DType::Float32)
    return Status::unsupported("{}: the Vulkan kernel has no {} variant", args.def.type, nameOf(args.input(0).dtype));
  const auto params = args.params<RecurrentParams>();
  const Cell cell = cellOf(args.def.type);
  const StepsPlan plan = planSteps(params, cell, args.input(kProducts).shape, args.input(kR).shape);
  const StepLayout layout = StepLayout::of(cell, params.linear_before_reset, std::max<int64_t>(plan.hidden, 1),
                                           std::max<int64_t>(plan.batches, 1), args.device);
  return vulkan::requireLoops(args, vulkan::loopPasses({1}) + layout.passesOfStep(plan.hidden));
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  for (const char* type : {"RNNSteps", "GRUSteps", "LSTMSteps"})
    registry.addCreator("vulkan", type, vulkan::creatorOf<StepsVulkan>(supports));
}

}  // namespace opkit::ops::recurrent
