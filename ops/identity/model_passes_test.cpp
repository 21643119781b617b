// The passes join-equal-nodes, remove-dead-code and remove-identities on graphs that nearly fit them.
#include "ops/pass_test_support.h"
#include "ops/pool/pool_generated.h"
#include "ops/random/random_generated.h"
#include "ops/unary/unary_generated.h"

namespace opkit::ops::identity {
namespace {

int64_t countOf(const Types& types, const char* type) { return std::ranges::count(types, type); }

TensorId inputOf(PassNet& net, const Shape& shape) { return net.input(drawnTensor(shape, -3, 3, 7)); }

using JoinEqualNodes = PassTest;

TEST_F(JoinEqualNodes, SplitsOfDifferentlyManyParts) {
  for (const auto& [first, second] : {std::pair<size_t, size_t>(2, 3), {3, 2}, {3, 3}}) {
    PassNet net;
    const TensorId x = inputOf(net, {6});
    for (const size_t parts : {first, second})
      for (const TensorId part : net.nodes("Split", {x}, parts)) net.model.outputs.push_back(net.node("Neg", {part}));
    const Outcome after = expectMeaning(net, 0, fmt::format("{} and {} parts", first, second));
    EXPECT_EQ(countOf(after.nodes, "Split"), first == second ? 1 : 2);
  }
}

TEST_F(JoinEqualNodes, OutputsThatTheFirstNodeDoesNotMake) {
  pool::PoolParamsT params;
  params.kernel_shape = {2, 2};
  for (const bool indicesFirst : {true, false}) {
    PassNet net;
    const TensorId x = inputOf(net, {1, 1, 4, 4});
    for (const bool withIndices : {indicesFirst, !indicesFirst})
      for (const TensorId y : net.nodes("MaxPool", {x}, withIndices ? 2 : 1, packParams(params)))
        net.model.outputs.push_back(net.node("Abs", {y}));
    EXPECT_EQ(countOf(expectMeaning(net, 0).nodes, "MaxPool"), indicesFirst ? 1 : 2);
  }
  PassNet net;
  const TensorId x = inputOf(net, {6});
  const std::vector<TensorId> first = net.nodes("Split", {x}, 2), second = net.nodes("Split", {x}, 2);
  net.model.nodes[NodeId(0)].outputs[1] = {};
  net.model.outputs = {net.node("Neg", {first[0]}), net.node("Neg", {second[1]})};
  EXPECT_EQ(countOf(expectMeaning(net, 0).nodes, "Split"), 2);
}

/// Clip from 0 and from -0: their reciprocals differ.
TEST_F(JoinEqualNodes, ParametersAreEqualByteByByte) {
  const auto clipsAfter = [](float low, float other) {
    PassNet net;
    const TensorId x = net.input(tensorOf({3}, {-1, -2, 2}));
    for (const float bound : {low, other}) {
      unary::UnaryParamsT params;
      params.alpha = bound;
      net.model.outputs.push_back(net.node("Reciprocal", {net.node("Clip", {x}, packParams(params))}));
    }
    return countOf(expectMeaning(net, 0).nodes, "Clip");
  };
  EXPECT_EQ(clipsAfter(0.0f, -0.0f), 2);
  EXPECT_EQ(clipsAfter(0.5f, 0.5f), 1);
  EXPECT_EQ(clipsAfter(NAN, NAN), 1);
}

TEST_F(JoinEqualNodes, RandomNodesOfOneStreamAndOfTwo) {
  for (const uint64_t other : {uint64_t{5}, uint64_t{6}}) {
    PassNet net;
    const TensorId x = inputOf(net, {8});
    for (const uint64_t key : {uint64_t{5}, other}) {
      random::RandomParamsT params;
      params.key = key;
      net.model.outputs.push_back(net.node("Neg", {net.node("RandomUniform", {x}, packParams(params))}));
    }
    const Outcome after = expectMeaning(net, 0);
    EXPECT_EQ(countOf(after.nodes, "RandomUniform"), other == 5 ? 1 : 2);
    EXPECT_EQ(after.values.at(0) == after.values.at(1), other == 5);
  }
}

/// Two nodes of control flow with equal inputs differ in their branches.
TEST_F(JoinEqualNodes, BranchesAreNotCompared) {
  PassNet net;
  const TensorId x = inputOf(net, {4});
  const TensorId condition = net.input(tensorOf({}, {1}, DType::Bool));
  for (const char* type : {"Neg", "Abs"}) {
    Model branch;
    branch.outputs = {branch.addNode(type, "y", {branch.addInput("captured", {})})[0]};
    const TensorId y = net.node("If", {condition, x});
    net.model.nodes.back().subgraphs = {{"then_branch", branch, {1}}, {"else_branch", branch, {1}}};
    net.model.outputs.push_back(net.node("Exp", {y}));
  }
  expectMeaning(net, 1e-6);
  // What a branch alone reads is joined, too.
  PassNet read;
  const TensorId z = inputOf(read, {4});
  const TensorId a = read.node("Exp", {z}), b = read.node("Exp", {z});
  read.model.outputs = {read.node("Abs", {a}), read.negatedInBranch(b)};
  EXPECT_EQ(countOf(expectMeaning(read, 1e-6).nodes, "Exp"), 1);
}

using RemoveDeadCode = PassTest;

TEST_F(RemoveDeadCode, WhatIsReadStays) {
  PassNet branch;
  branch.model.outputs = {branch.negatedInBranch(branch.node("Exp", {inputOf(branch, {4})}))};
  EXPECT_EQ(countOf(expectMeaning(branch, 1e-6).nodes, "Exp"), 1) << "a branch alone reads it";

  PassNet constant;
  inputOf(constant, {4});
  const TensorId shown = constant.constant(tensorOf({2}, {3, 4}));
  constant.model.outputs = {shown, constant.negatedInBranch(constant.constant(tensorOf({1}, {5})))};
  EXPECT_EQ(expectMeaning(constant, 0).values.at(0), (std::vector<double>{3, 4}));

  PassNet part;
  part.model.outputs = {part.node("Neg", {part.nodes("Split", {inputOf(part, {6})}, 3)[1]})};
  EXPECT_EQ(expectMeaning(part, 0).nodes, (Types{"Split", "Neg"})) << "one of three parts is read";
}

using RemoveIdentities = PassTest;

/// Tensors of a Dropout after Exp; the mask has the type of `kept`.
struct Dropped {
  TensorId y, mask;
};

Dropped dropout(PassNet& net, TensorId x, const Shape& kept = {}) {
  const std::vector<double> ones(static_cast<size_t>(elementCount(kept)), 1);
  const std::vector<TensorId> made = net.nodes("Dropout", {x, net.constant(tensorOf(kept, ones, DType::Bool))}, 2);
  return {made[0], made[1]};
}

TEST_F(RemoveIdentities, AMaskThatIsReadStays) {
  for (const char* reader : {"nobody", "output", "node", "branch"}) {
    PassNet net;
    const Dropped dropped = dropout(net, net.node("Exp", {inputOf(net, {4})}));
    net.model.outputs = {net.node("Neg", {dropped.y})};
    const std::string_view kind = reader;
    const auto asFloat = [&] { return net.node("Where", {dropped.mask, dropped.y, dropped.y}); };
    if (kind == "output") net.model.outputs.push_back(dropped.mask);
    if (kind == "node") net.model.outputs.push_back(net.node("Not", {dropped.mask}));
    if (kind == "branch") net.model.outputs.push_back(net.negatedInBranch(asFloat()));
    EXPECT_EQ(countOf(expectMeaning(net, 1e-6, reader).nodes, "Dropout"), kind == "nobody" ? 0 : 1) << reader;
  }
}

TEST_F(RemoveIdentities, WhatTheShapeRuleRefusesStaysRefused) {
  PassNet net;
  net.model.outputs = {dropout(net, net.node("Exp", {inputOf(net, {4})}), {2}).y};
  expectRefused(net);
}

/// Copies whose two names must be kept, and others.
TEST_F(RemoveIdentities, NamesOfInputsAndOutputsStay) {
  PassNet ends;  // input, constant and output to output
  const TensorId x = inputOf(ends, {4});
  const TensorId y = ends.node("Exp", {x});
  ends.model.outputs = {ends.node("Identity", {x}), ends.node("Identity", {ends.constant(tensorOf({2}, {3, 4}))}), y,
                        ends.node("Identity", {y})};
  EXPECT_EQ(countOf(expectMeaning(ends, 1e-6).nodes, "Identity"), 3);

  PassNet twice;  // two outputs of one tensor: one of them takes its place
  const TensorId z = twice.node("Exp", {inputOf(twice, {4})});
  twice.model.outputs = {twice.node("Identity", {z}), twice.node("Identity", {z}), twice.node("Neg", {z})};
  EXPECT_EQ(countOf(expectMeaning(twice, 1e-6).nodes, "Identity"), 1);

  PassNet chain;
  const TensorId first = chain.node("Identity", {inputOf(chain, {4})});
  chain.model.outputs = {chain.node("Identity", {chain.node("Identity", {first})})};
  EXPECT_EQ(expectMeaning(chain, 0).nodes, Types{"Identity"});
}

TEST_F(RemoveIdentities, AroundControlFlow) {
  PassNet net;
  const TensorId x = net.node("Identity", {inputOf(net, {4})});
  net.model.outputs = {net.node("Identity", {net.negatedInBranch(net.node("Identity", {x}))})};
  EXPECT_EQ(countOf(expectMeaning(net, 0).nodes, "Identity"), 1);
  PassNet part;  // the second of three outputs takes the name
  const std::vector<TensorId> parts = part.nodes("Split", {inputOf(part, {6})}, 3);
  part.model.outputs = {part.node("Identity", {parts[1]}), part.node("Neg", {parts[1]}), parts[2]};
  EXPECT_EQ(countOf(expectMeaning(part, 0).nodes, "Identity"), 0);
}

}  // namespace
}  // namespace opkit::ops::identity
