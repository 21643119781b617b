// Sequences and optional values through sessions: positions, copies, loops, errors of one line.
#include "ops/sequence/sequence.h"

#include <gtest/gtest.h>

#include "engine/backend/device_test_support.h"
#include "engine/runtime/session.h"
#include "engine/testing/test_backends.h"
#include "ops/builtin_ops.h"
#include "ops/sequence/join_generated.h"
#include "ops/sequence/sequence_generated.h"

namespace opkit::ops::sequence {
namespace {

using Values = std::vector<float>;

Tensor floats(const Shape& shape, const Values& values) {
  return *Tensor::fromValues<float>({DType::Float32, shape}, values);
}
Tensor position(int64_t value) { return *Tensor::fromValues<int64_t>({DType::Int64, {}}, {value}); }

Values valuesIn(const Tensor& tensor) {
  const std::span<float> values = tensor.data<float>();
  return {values.begin(), values.end()};
}

/// Runs the card's function alone.
Result<std::vector<Tensor>> call(const char* type, std::vector<Tensor> inputs, const ParamBytes& params = {}) {
  return runOnHost(*builtinOps().find(type), {params, inputs, {}, 1});
}
std::string messageOf(const Result<std::vector<Tensor>>& result) {
  return result ? "no error" : result.error().message();
}

const Tensor kPair = sequenceOf({floats({2}, {1, 2}), floats({1}, {3})});

TEST(Sequence, InsertsErasesAndReadsAtPositions) {
  const Tensor nine = floats({1}, {9});
  for (const auto& [at, place] : {std::pair{0, 0}, {1, 1}, {2, 2}, {-1, 1}, {-2, 0}}) {
    const auto inserted = call("SequenceInsert", {kPair, nine, position(at)});
    ASSERT_TRUE(inserted) << inserted.error().toString();
    ASSERT_EQ(valuesOf((*inserted)[0]).size(), 3u);
    EXPECT_EQ(valuesIn(valuesOf((*inserted)[0])[static_cast<size_t>(place)]), Values{9}) << at;
  }
  EXPECT_EQ(describe((*call("SequenceInsert", {kPair, nine}))[0]), "sequence[f32[2], f32[1], f32[1]]");
  EXPECT_EQ(describe((*call("SequenceErase", {kPair}))[0]), "sequence[f32[2]]");
  EXPECT_EQ(describe((*call("SequenceErase", {kPair, position(-2)}))[0]), "sequence[f32[1]]");
  EXPECT_EQ(valuesIn((*call("SequenceAt", {kPair, position(-1)}))[0]), Values{3});
  EXPECT_EQ((*call("SequenceLength", {kPair}))[0].data<int64_t>()[0], 2);
  EXPECT_EQ(valuesOf(kPair).size(), 2u) << "a sequence is not changed";
}

TEST(Sequence, SaysWhatIsWrongInOneLine) {
  const Tensor empty = sequenceOf({}), number = floats({}, {1}), list = floats({2}, {1, 2});
  const Tensor integer = *Tensor::fromValues<int64_t>({DType::Int64, {1}}, {1});
  const Tensor lengths = *Tensor::fromValues<int64_t>({DType::Int64, {2}}, {1, 2});
  const std::tuple<const char*, std::vector<Tensor>, const char*> rows[] = {
      {"SequenceAt", {kPair, position(2)}, "SequenceAt: the position must be in [-2, 1], got 2"},
      {"SequenceAt", {kPair, lengths}, "SequenceAt: the position must be one number, got i64[2]"},
      {"SequenceAt", {kPair}, "SequenceAt: input 1 'position' is required"},
      {"SequenceErase", {empty}, "SequenceErase: the sequence is empty"},
      {"SequenceInsert", {kPair, integer}, "SequenceInsert: a sequence holds tensors of one type, f32, got i64"},
      {"SequenceInsert", {kPair, list, number}, "SequenceInsert: input 2 'position' must be one of i32, i64, got f32"},
      {"SequenceConstruct", {list, integer}, "SequenceConstruct: a sequence holds tensors of one type, f32, got i64"},
      {"SequenceConstruct", {list, Tensor()}, "SequenceConstruct: input 1 'tensors' is required"},
      {"SequenceLength", {integer}, "SequenceLength: input 0 'sequence' must be one of sequence, got i64"},
      {"SequenceLength", {kPair, kPair}, "SequenceLength: takes at most 1 inputs, got 2"},
      {"ConcatFromSequence", {empty}, "ConcatFromSequence: the sequence is empty"},
      {"ConcatFromSequence",
       {sequenceOf({floats({1, 2}, {1, 2}), floats({1, 1}, {3})})},
       "ConcatFromSequence: tensors must agree in type and in extents beside axis 0, got f32[1,2] and f32[1,1]"},
      {"SplitToSequence", {list, lengths}, "SplitToSequence: lengths must add up to 2, got 3"},
      {"SplitToSequence", {list, number}, "SplitToSequence: input 1 'lengths' must be one of i32, i64, got f32"},
      {"OptionalGetElement", {optionalOf(std::nullopt)}, "OptionalGetElement: the optional value is empty"},
  };
  for (const auto& [type, inputs, message] : rows) EXPECT_EQ(messageOf(call(type, inputs)), message);
}

TEST(Sequence, SplitsAndJoinsAlongEveryAxis) {
  const Tensor whole = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  SplitToSequenceParamsT split;
  split.axis = -1;
  split.keep_dims = false;
  const auto columns = call("SplitToSequence", {whole}, packParams(split));
  ASSERT_TRUE(columns) << columns.error().toString();
  EXPECT_EQ(describe((*columns)[0]), "sequence[f32[2], f32[2], f32[2]]");
  EXPECT_EQ(valuesIn(valuesOf((*columns)[0])[1]), (Values{2, 5}));

  ConcatFromSequenceParamsT join;
  join.axis = 1;
  join.new_axis = true;
  EXPECT_EQ(valuesIn((*call("ConcatFromSequence", *columns, packParams(join)))[0]), valuesIn(whole));
  join.new_axis = false;
  const Tensor two = *Tensor::fromValues<int64_t>({DType::Int64, {}}, {2});
  split.keep_dims = true;
  const auto pieces = call("SplitToSequence", {whole, two}, packParams(split));
  EXPECT_EQ(describe((*pieces)[0]), "sequence[f32[2,2], f32[2,1]]") << "the last part is shorter";
  EXPECT_EQ(valuesIn((*call("ConcatFromSequence", *pieces, packParams(join)))[0]), valuesIn(whole));

  const auto words = call("SplitToSequence", {stringTensor({2, 2}, {"a", "b", "c", "d"})}, packParams(split));
  EXPECT_EQ(stringsOf(valuesOf((*words)[0])[1]), (std::vector<std::string>{"b", "d"}));
  EXPECT_EQ(stringsOf((*call("ConcatFromSequence", *words, packParams(join)))[0]),
            (std::vector<std::string>{"a", "b", "c", "d"}));
}

/// Loop: total = total + 1, inserted into the carried sequence; then all tensors joined.
Model loopModel() {
  Model body;
  body.addInput("i", {DType::Int64, {}});
  const TensorId keep = body.addInput("keep", {DType::Bool, {}});
  const TensorId total = body.addInput("total", {DType::Float32, {}});
  const TensorId sequence = body.addInput("sequence", {DType::Sequence, {kDynamic}});
  const TensorId one = body.addConstant("one", floats({}, {1}));
  const TensorId next = body.addNode("Add", "next", {total, one})[0];
  const TensorId longer = body.addNode("SequenceInsert", "longer", {sequence, next})[0];
  const TensorId kept = body.addNode("Identity", "kept", {keep})[0];
  body.outputs = {kept, next, longer};

  Model model;
  const TensorId trips = model.addInput("trips", {DType::Int64, {}});
  const TensorId start = model.addInput("start", {DType::Float32, {kDynamic}});
  const TensorId condition = model.addConstant("condition", *Tensor::fromValues<uint8_t>({DType::Bool, {}}, {1}));
  const TensorId empty = model.addNode("SequenceEmpty", "empty", {})[0];
  const std::vector<TensorId> made = model.addNode("Loop", "loop", {trips, condition, start, empty}, {}, 2);
  model.nodes.back().subgraphs = {{"body", std::move(body), {}}};
  model.outputs = model.addNode("ConcatFromSequence", "all", {made[1]});
  model.outputs.push_back(made[1]);
  return model;
}

TEST(Sequence, ALoopInsertsCopiesOnEveryBackend) {
  for (const std::string& backend : testBackends()) {
    const auto interpreter = *Interpreter::create(loopModel(), builtinOps());
    auto session = interpreter->createSession({.backend = backend, .threads = 1});
    if (!session && backend == "vulkan" && !devicesArePromised()) continue;
    ASSERT_TRUE(session) << session.error().toString();
    for (const int64_t trips : {3, 1, 5}) {
      ASSERT_TRUE((*session)->resizeInput("start", {2}).isOk());
      (*session)->fillInput("trips")->data<int64_t>()[0] = trips;
      std::ranges::copy(Values{0, 10}, (*session)->fillInput("start")->data<float>().begin());
      const Status ran = (*session)->run();
      ASSERT_TRUE(ran.isOk()) << backend << ": " << ran.toString();
      Values expected;
      for (int64_t i = 1; i <= trips; ++i)
        expected.insert(expected.end(), {static_cast<float>(i), static_cast<float>(10 + i)});
      EXPECT_EQ(valuesIn((*session)->outputs()[0]), expected) << backend;
      EXPECT_EQ(valuesOf((*session)->outputs()[1]).size(), static_cast<size_t>(trips));
    }
  }
}

TEST(Sequence, AMapRunsItsBodyForEachPosition) {
  Model body;
  const TensorId x = body.addInput("x", {});
  const TensorId by = body.addInput("by", {});
  body.outputs = body.addNode("Mul", "scaled", {x, by});
  Model model;
  const TensorId sequence = model.addInput("sequence", {DType::Sequence, {kDynamic}});
  const TensorId scale = model.addInput("scale", {DType::Float32, {1}});
  model.outputs = model.addNode("SequenceMap", "map", {sequence, scale});
  model.nodes.back().subgraphs = {{"body", std::move(body), {}}};
  for (const std::string& backend : testBackends()) {
    const auto interpreter = *Interpreter::create(model, builtinOps());
    auto session = interpreter->createSession({.backend = backend, .threads = 1});
    if (!session && backend == "vulkan" && !devicesArePromised()) continue;
    (*session)->fillInput("scale")->data<float>()[0] = 2;
    EXPECT_EQ((*session)->run().code(), StatusCode::InvalidArgument) << "the sequence was not set";
    *(*session)->fillInput("sequence") = kPair;
    const Status ran = (*session)->run();
    ASSERT_TRUE(ran.isOk()) << ran.toString();
    EXPECT_EQ(describe((*session)->outputs()[0]), "sequence[f32[2], f32[1]]");
    EXPECT_EQ(valuesIn(valuesOf((*session)->outputs()[0])[0]), (Values{2, 4}));
  }
}

TEST(Sequence, AModelMayHandObjectsOn) {
  Model model;
  model.outputs = {model.addInput("sequence", {DType::Sequence, {kDynamic}}),
                   model.addInput("words", {DType::String, {kDynamic}})};
  for (const std::string& backend : testBackends()) {
    const auto session = (*Interpreter::create(model, builtinOps()))->createSession({.backend = backend, .threads = 1});
    if (!session && backend == "vulkan" && !devicesArePromised()) continue;
    *(*session)->fillInput("sequence") = kPair;
    *(*session)->fillInput("words") = stringTensor({2}, {"a", "b"});
    const Status ran = (*session)->run();
    ASSERT_TRUE(ran.isOk()) << ran.toString();
    EXPECT_EQ(describe((*session)->outputs()[0]), describe(kPair));
    EXPECT_EQ(stringsOf((*session)->outputs()[1]), (std::vector<std::string>{"a", "b"}));
  }
}

TEST(Sequence, OtherOperatorsRefuseObjectsInOneLine) {
  Model model;
  model.outputs = model.addNode("Relu", "y", {model.addInput("words", {DType::String, {kDynamic}})});
  const auto session = (*Interpreter::create(model, builtinOps()))->createSession({.backend = "cpu"});
  *(*session)->fillInput("words") = stringTensor({1}, {"a"});
  const Status ran = (*session)->run();
  EXPECT_NE(ran.toString().find("must be one of"), std::string::npos) << ran.toString();
}

TEST(Sequence, OptionalValuesHoldTensorsAndSequences) {
  const auto has = [](const Tensor& value) {
    return (*call("OptionalHasElement", {value}))[0].data<uint8_t>()[0] != 0;
  };
  const Tensor some = (*call("Optional", {kPair}))[0];
  EXPECT_EQ(describe(some), "optional[sequence[f32[2], f32[1]]]");
  EXPECT_TRUE(has(some));
  EXPECT_TRUE(has(floats({1}, {1}))) << "a tensor is its own value";
  EXPECT_FALSE(has((*call("Optional", {}))[0]));
  EXPECT_EQ(describe((*call("OptionalGetElement", {some}))[0]), describe(kPair));
}

TEST(Sequence, NoListMakesAValueDeep) {
  EXPECT_NE(messageOf(call("Optional", {optionalOf(kPair)})).find("must be one of"), std::string::npos);
  Model body;
  const TensorId value = body.addInput("value", {DType::Float32, {kDynamic}});
  body.outputs = body.addNode("SequenceConstruct", "pair", {value, value});
  Model model;
  model.outputs = model.addNode("SequenceMap", "map", {model.addInput("sequence", {DType::Sequence, {kDynamic}})});
  model.nodes.back().subgraphs = {{"body", std::move(body), {}}};
  auto session = (*Interpreter::create(model, builtinOps()))->createSession({.backend = "cpu", .threads = 1});
  *(*session)->fillInput("sequence") = kPair;
  const Status ran = (*session)->run();
  EXPECT_NE(ran.message().find("a sequence holds tensors, got sequence"), std::string::npos) << ran.toString();
}

}  // namespace
}  // namespace opkit::ops::sequence
