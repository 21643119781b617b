// The cards of RNN, GRU and LSTM and of their steps.
#include "ops/recurrent/recurrent.h"

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/recurrent/recurrent_oracles.h"

namespace opkit::ops::recurrent {
namespace {

int64_t directionsOf(const RecurrentParamsT& params) { return params.direction == Direction::Bidirectional ? 2 : 1; }

Status checkFunctions(const RecurrentParamsT& params, Cell cell) {
  const size_t expected = functionCount(cell) * static_cast<size_t>(directionsOf(params));
  if (!params.activations.empty() && params.activations.size() != expected)
    return Status::invalidArgument("activations must list {} functions, got {}", expected, params.activations.size());
  for (const Activation kind : params.activations)
    if (kind < Activation::MIN || kind > Activation::MAX)
      return Status::invalidArgument("activations must be in [0, {}], got {}", static_cast<int>(Activation::MAX),
                                     static_cast<int>(kind));
  for (const auto* figures : {&params.activation_alpha, &params.activation_beta})
    if (!figures->empty() && figures->size() != expected)
      return Status::invalidArgument("activation_{} must list {} values, got {}",
                                     figures == &params.activation_alpha ? "alpha" : "beta", expected, figures->size());
  if (!(params.clip >= 0)) return Status::invalidArgument("clip must be 0 or more, got {}", params.clip);
  return Status::ok();
}

Status requireShape(const ShapeArgs& args, size_t i, std::string_view name, const Shape& expected) {
  if (!args.hasInput(i) || args.shape(i) == expected) return Status::ok();
  return Status::invalidArgument("{} must be {}, got {}", name, toString(expected), toString(args.shape(i)));
}

/// Of the inputs from r on, which is input `first`; `x` is [time, batch, ...].
Result<std::vector<TensorDesc>> stepsShapes(const ShapeArgs& args, Cell cell, size_t first) {
  const auto params = args.params<RecurrentParams>();
  OPKIT_TRY(checkFunctions(params, cell));
  const int64_t directions = directionsOf(params), gates = gatesOf(cell);
  const Shape &x = args.shape(0), &r = args.shape(first);
  if (x.size() != 3) return Status::invalidArgument("input 0 must have rank 3, got {}", toString(x));
  if (r.size() != 3 || r[0] != directions || r[1] != gates * r[2])
    return Status::invalidArgument("r must be [{}, {} * hidden, hidden], got {}", directions, gates, toString(r));
  if (params.hidden_size != 0 && params.hidden_size != r[2])
    return Status::invalidArgument("hidden_size is {}, but r is {}", params.hidden_size, toString(r));
  const StepsPlan plan = planSteps(params, cell, x, r);
  const size_t past = first - kR;
  for (size_t i = 1; i < args.inputs.size(); ++i)
    if (i != kLengths + past) OPKIT_TRY(requireSameType(args, i, fmt::format("input {}", i), 0));
  OPKIT_TRY(requireShape(args, kBias + past, "b", {directions, 2 * gates * plan.hidden}));
  OPKIT_TRY(requireShape(args, kLengths + past, "sequence_lens", {plan.batches}));
  OPKIT_TRY(requireShape(args, kInitialH + past, "initial_h", plan.stateShape()));
  OPKIT_TRY(requireShape(args, kInitialC + past, "initial_c", plan.stateShape()));
  OPKIT_TRY(requireShape(args, kPeepholes + past, "p", {directions, 3 * plan.hidden}));
  const DType dtype = args.input(0).dtype;
  std::vector<TensorDesc> outputs{{dtype, plan.outputShape()}, {dtype, plan.stateShape()}, {dtype, plan.stateShape()}};
  outputs.resize(args.outputCount);
  for (const TensorDesc& output : outputs) OPKIT_TRY(checkShape(output.shape));
  return outputs;
}

Result<std::vector<TensorDesc>> stepsRule(const ShapeArgs& args, Cell cell) {
  OPKIT_ASSIGN(const std::vector<TensorDesc> outputs, stepsShapes(args, cell, kR));
  const StepsPlan plan = planSteps(args.params<RecurrentParams>(), cell, args.shape(0), args.shape(kR));
  if (args.shape(0)[2] != plan.columns())
    return Status::invalidArgument("products must have {} columns, got {}", plan.columns(), toString(args.shape(0)));
  return outputs;
}

Result<std::vector<TensorDesc>> wholeRule(const ShapeArgs& args, Cell cell) {
  OPKIT_ASSIGN(const std::vector<TensorDesc> outputs, stepsShapes(args, cell, kR + 1));
  const Shape &x = args.shape(0), &w = args.shape(1), &r = args.shape(2);
  const Shape expected{r[0], r[1], x[2]};
  if (w != expected) return Status::invalidArgument("w must be {}, got {}", toString(expected), toString(w));
  return outputs;
}

double stepsFlops(const ShapeArgs& args, size_t first) {
  const Shape &x = args.shape(0), &r = args.shape(first);
  return 2.0 * static_cast<double>(x[0] * x[1]) * static_cast<double>(elementCount(r));
}

constexpr DTypeSet kLengthTypes{DType::Int32};
constexpr DTypeSet kComputed{DType::Float32, DType::Float64};

std::vector<Port> tailOf(Cell cell, DTypeSet types) {
  std::vector<Port> ports{{"r", types},
                          {"b", types, Port::Kind::Optional},
                          {"sequence_lens", kLengthTypes, Port::Kind::Optional},
                          {"initial_h", types, Port::Kind::Optional}};
  if (cell != Cell::Lstm) return ports;
  ports.push_back({"initial_c", types, Port::Kind::Optional});
  ports.push_back({"p", types, Port::Kind::Optional});
  return ports;
}
std::vector<Port> outputsOf(Cell cell, DTypeSet types) {
  std::vector<Port> ports{{"y", types}, {"y_h", types, Port::Kind::Optional}};
  if (cell == Cell::Lstm) ports.push_back({"y_c", types, Port::Kind::Optional});
  return ports;
}

/// The common part of the cards of an operator and of its steps. Class Norm: the oracle states the rounding errors of
/// each element, which pass from step to step. Larger weights make many units chaotic: errors then grow with every step
/// until they are as large as the state.
OpDef common(Cell cell, DTypeSet types) {
  OpDef card;
  card.params = paramsSchema<RecurrentParams>(kRecurrentSchema);
  card.outputs = outputsOf(cell, types);
  card.numeric = NumericClass::Norm;
  card.domain = {-0.25, 0.25};
  return card;
}

OpDef wholeCard(Cell cell, const char* type, const char* summary, OracleFn oracle) {
  OpDef card = common(cell, kFloats);
  card.type = type;
  card.summary = summary;
  card.inputs = {{"x", kFloats}, {"w", kFloats}};
  for (Port& port : tailOf(cell, kFloats)) card.inputs.push_back(std::move(port));
  card.inferShapes = [cell](const ShapeArgs& args) { return wholeRule(args, cell); };
  card.decompose = [cell](const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts) {
    return decompose(args, outputs, parts, cell);
  };
  card.flops = [](const ShapeArgs& args, auto) {
    return stepsFlops(args, kR + 1) + 2.0 * static_cast<double>(args.shape(0)[0] * args.shape(0)[1]) *
                                          static_cast<double>(elementCount(args.shape(1)));
  };
  card.oracle = hiding(std::move(oracle), hidden);
  return card;
}

OpDef stepsCard(Cell cell, const char* type, const char* summary, OracleFn oracle) {
  OpDef card = common(cell, kComputed);
  card.type = type;
  card.summary = summary;
  card.inputs = {{"products", kComputed}};
  for (Port& port : tailOf(cell, kComputed)) card.inputs.push_back(std::move(port));
  card.inferShapes = [cell](const ShapeArgs& args) { return stepsRule(args, cell); };
  card.flops = [](const ShapeArgs& args, auto) { return stepsFlops(args, kR); };
  card.oracle = hiding(std::move(oracle), stepsHidden);
  return card;
}

}  // namespace

Cell cellOf(const std::string& type) {
  return type.starts_with("LSTM") ? Cell::Lstm : type.starts_with("GRU") ? Cell::Gru : Cell::Rnn;
}
int64_t gatesOf(Cell cell) { return cell == Cell::Lstm ? 4 : cell == Cell::Gru ? 3 : 1; }
size_t functionCount(Cell cell) { return cell == Cell::Lstm ? 3 : cell == Cell::Gru ? 2 : 1; }

Function withDefaults(Activation kind) {
  switch (kind) {
    case Activation::Affine: return {kind, 1, 0};
    case Activation::LeakyRelu: return {kind, 0.01f, 0};
    case Activation::ThresholdedRelu: return {kind, 1, 0};
    case Activation::ScaledTanh: return {kind, 1, 1};
    case Activation::HardSigmoid: return {kind, 0.2f, 0.5f};
    case Activation::Elu: return {kind, 1, 0};
    default: return {kind, 0, 0};
  }
}

std::array<Function, 3> functionsOf(const RecurrentParamsT& params, Cell cell, int64_t direction) {
  std::array<Function, 3> functions;
  const size_t count = functionCount(cell), first = static_cast<size_t>(direction) * count;
  for (size_t i = 0; i < count; ++i) {
    const Activation usual = cell != Cell::Rnn && i == 0 ? Activation::Sigmoid : Activation::Tanh;
    functions[i] = withDefaults(params.activations.empty() ? usual : params.activations[first + i]);
    if (!params.activation_alpha.empty()) functions[i].alpha = params.activation_alpha[first + i];
    if (!params.activation_beta.empty()) functions[i].beta = params.activation_beta[first + i];
  }
  return functions;
}

Shape StepsPlan::outputShape() const {
  return batchFirst ? Shape{batches, times, directions, hidden} : Shape{times, directions, batches, hidden};
}
Shape StepsPlan::stateShape() const {
  return batchFirst ? Shape{batches, directions, hidden} : Shape{directions, batches, hidden};
}

StepsPlan planSteps(const RecurrentParamsT& params, Cell cell, const Shape& first, const Shape& r) {
  return {cell, gatesOf(cell),     r[0], first[params.batch_first ? 1 : 0], first[params.batch_first ? 0 : 1],
          r[2], params.batch_first};
}

Status badLength(int64_t times, int64_t found) {
  return Status::invalidArgument("sequence_lens must be in [0, {}], got {}", times, found);
}

void define(OpRegistry& registry) {
  registry.add(wholeCard(Cell::Rnn, "RNN", "a layer of simple recurrent units over sequences", rnnReference));
  registry.add(wholeCard(Cell::Gru, "GRU", "a layer of gated recurrent units over sequences", gruReference));
  registry.add(wholeCard(Cell::Lstm, "LSTM", "a layer of long short-term memory over sequences", lstmReference));
  registry.add(stepsCard(Cell::Rnn, "RNNSteps", "the steps of RNN, given the products of inputs and weights",
                         rnnStepsReference));
  registry.add(stepsCard(Cell::Gru, "GRUSteps", "the steps of GRU, given the products of inputs and weights",
                         gruStepsReference));
  registry.add(stepsCard(Cell::Lstm, "LSTMSteps", "the steps of LSTM, given the products of inputs and weights",
                         lstmStepsReference));
}

}  // namespace opkit::ops::recurrent
