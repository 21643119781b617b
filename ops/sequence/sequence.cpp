// Sequences and optional values: operators of the host, since a value of theirs is a list of tensors and no buffer. The
// tensors inside are on the host too; operators that compute with them run on the session's backend.
#include "ops/sequence/sequence.h"

#include "engine/op/op_registry.h"
#include "ops/sequence/join_generated.h"
#include "ops/sequence/join_schema.h"
#include "ops/sequence/sequence_generated.h"
#include "ops/sequence/sequence_schema.h"

namespace opkit::ops::sequence {
namespace {

using Outputs = Result<std::vector<Tensor>>;

/// A sequence holds tensors of one type.
Status checkType(DType held, DType added) {
  if (held == added) return Status::ok();
  return Status::invalidArgument("a sequence holds tensors of one type, {}, got {}", nameOf(held), nameOf(added));
}

/// A position from input i, counted from the end if it is negative. `count` positions exist.
Result<int64_t> positionIn(const ControlArgs& args, size_t i, int64_t count) {
  const Tensor& position = args.inputs[i];
  if (position.desc.elements() != 1)
    return Status::invalidArgument("the position must be one number, got {}", position.desc.toString());
  const int64_t given = toInt64(position)[0];
  if (given < -count || given >= count)
    return Status::invalidArgument("the position must be in [{}, {}], got {}", -count, count - 1, given);
  return given < 0 ? given + count : given;
}

Result<Tensor> scalar(DType dtype, int64_t value) {
  OPKIT_ASSIGN(Tensor tensor, Tensor::onHost({dtype, {}}));
  if (dtype == DType::Bool)
    tensor.data<uint8_t>()[0] = static_cast<uint8_t>(value);
  else
    tensor.data<int64_t>()[0] = value;
  return tensor;
}

Outputs runConstruct(const ControlArgs& args) {
  std::vector<Tensor> values;
  for (const Tensor& input : args.inputs) {
    OPKIT_TRY(checkType(args.inputs[0].desc.dtype, input.desc.dtype));
    OPKIT_ASSIGN(Tensor value, copyOf(input));
    values.push_back(std::move(value));
  }
  return std::vector{sequenceOf(std::move(values))};
}

Outputs runEmpty(const ControlArgs&) { return std::vector{sequenceOf({})}; }

Outputs runInsert(const ControlArgs& args) {
  std::vector<Tensor> values = valuesOf(args.inputs[0]);
  const auto count = static_cast<int64_t>(values.size());
  if (!values.empty()) OPKIT_TRY(checkType(values[0].desc.dtype, args.inputs[1].desc.dtype));
  int64_t at = count;
  if (args.hasInput(2)) {
    // Position `count` appends; a negative one counts from the last tensor.
    const bool appends = args.inputs[2].desc.elements() == 1 && toInt64(args.inputs[2])[0] == count;
    if (!appends) {
      OPKIT_ASSIGN(at, positionIn(args, 2, count));
    }
  }
  OPKIT_ASSIGN(Tensor value, copyOf(args.inputs[1]));
  values.insert(values.begin() + at, std::move(value));
  return std::vector{sequenceOf(std::move(values))};
}

Outputs runErase(const ControlArgs& args) {
  std::vector<Tensor> values = valuesOf(args.inputs[0]);
  if (values.empty()) return Status::invalidArgument("the sequence is empty");
  int64_t at = static_cast<int64_t>(values.size()) - 1;
  if (args.hasInput(1)) {
    OPKIT_ASSIGN(at, positionIn(args, 1, static_cast<int64_t>(values.size())));
  }
  values.erase(values.begin() + at);
  return std::vector{sequenceOf(std::move(values))};
}

Outputs runAt(const ControlArgs& args) {
  const std::vector<Tensor>& values = valuesOf(args.inputs[0]);
  OPKIT_ASSIGN(const int64_t at, positionIn(args, 1, static_cast<int64_t>(values.size())));
  return std::vector{values[static_cast<size_t>(at)]};
}

Outputs runLength(const ControlArgs& args) {
  const std::vector<Tensor>& values = valuesOf(args.inputs[0]);
  OPKIT_ASSIGN(Tensor length, scalar(DType::Int64, static_cast<int64_t>(values.size())));
  return std::vector{std::move(length)};
}

Outputs runOptional(const ControlArgs& args) {
  if (!args.hasInput(0)) return std::vector{optionalOf(std::nullopt)};
  OPKIT_ASSIGN(Tensor value, copyOf(args.inputs[0]));
  return std::vector{optionalOf(std::move(value))};
}

Outputs runHasElement(const ControlArgs& args) {
  const bool has =
      args.hasInput(0) && (args.inputs[0].desc.dtype != DType::Optional || !valuesOf(args.inputs[0]).empty());
  OPKIT_ASSIGN(Tensor result, scalar(DType::Bool, has));
  return std::vector{std::move(result)};
}

Outputs runGetElement(const ControlArgs& args) {
  if (!args.hasInput(0)) return Status::invalidArgument("the optional value is absent");
  if (args.inputs[0].desc.dtype != DType::Optional) return std::vector{args.inputs[0]};
  const std::vector<Tensor>& values = valuesOf(args.inputs[0]);
  if (values.empty()) return Status::invalidArgument("the optional value is empty");
  return std::vector{values[0]};
}

Outputs runSame(const ControlArgs& args) { return std::vector{args.inputs[0]}; }

}  // namespace

void define(OpRegistry& registry) {
  constexpr DTypeSet kAll = kEveryDType | kObjects;
  const Port values{"values", kAll, Port::Kind::Variadic}, value{"value", kAll};
  const Port sequence{"sequence", DTypeSet(DType::Sequence)},
      sequences{"sequences", sequence.dtypes, Port::Kind::Variadic};
  const Port tensor{"tensor", kEveryDType | DTypeSet(DType::String)},
      tensors{"tensors", tensor.dtypes, Port::Kind::Variadic};
  const Port maybe{"value", kAll, Port::Kind::Optional};
  const Port held{"value", kEveryDType | DTypeSet(DType::String, DType::Sequence), Port::Kind::Optional};
  const Port position{"position", kIndexTypes}, length{"length", DTypeSet(DType::Int64)};
  Port last = position;
  last.kind = Port::Kind::Optional;
  const auto add = [&](const char* type, const char* summary, std::vector<Port> inputs, Port output, ControlFn run) {
    registry.add({.type = type,
                  .summary = summary,
                  .inputs = std::move(inputs),
                  .outputs = {std::move(output)},
                  .control = std::move(run)});
  };
  add("SequenceConstruct", "a sequence of the inputs", {tensors}, sequence, runConstruct);
  add("SequenceEmpty", "a sequence of no tensors", {}, sequence, runEmpty);
  add("SequenceInsert", "the sequence with one more tensor, at the end or at a position", {sequence, tensor, last},
      sequence, runInsert);
  add("SequenceErase", "the sequence without its last tensor, or that at a position", {sequence, last}, sequence,
      runErase);
  add("SequenceAt", "the tensor at a position", {sequence, position}, tensor, runAt);
  add("SequenceLength", "the number of tensors, a scalar", {sequence}, length, runLength);
  add("Optional", "an optional value that holds the input, or nothing", {held}, {"optional", DTypeSet(DType::Optional)},
      runOptional);
  add("OptionalHasElement", "whether there is a value", {maybe}, {"has", kBool}, runHasElement);
  add("OptionalGetElement", "the value inside", {maybe}, value, runGetElement);
  add("HostIdentity", "a sequence, an optional value or strings, unchanged", {value}, value, runSame);
  registry.add({.type = "SplitToSequence",
                .summary = "a sequence of parts along an axis",
                .params = paramsSchema<SplitToSequenceParams>(kSequenceSchema),
                .inputs = {tensor, {"lengths", kIndexTypes, Port::Kind::Optional}},
                .outputs = {sequence},
                .control = runSplit});
  registry.add({.type = "ConcatFromSequence",
                .summary = "the tensors of a sequence along one axis, or stacked along a new one",
                .params = paramsSchema<ConcatFromSequenceParams>(kJoinSchema),
                .inputs = {sequence},
                .outputs = {tensor},
                .control = runConcat});
  registry.add({.type = "SequenceMap",
                .summary = "runs a subgraph for every position of sequences",
                .inputs = {sequence, values},
                .outputs = {sequences},
                .subgraphs = {"body"},
                .control = runMap});
}

}  // namespace opkit::ops::sequence
