// TreeEnsemble of ONNX becomes that of OpKit, scores per target, with the post transform behind it.
#include <cmath>
#include <numeric>

#include "engine/import/onnx/onnx_fields.h"
#include "ops/features/scores.h"
#include "ops/tree_ensemble/rules.h"
#include "ops/tree_ensemble/tree_ensemble.h"
#include "ops/tree_ensemble/tree_ensemble_parts.h"

namespace opkit::ops::tree_ensemble {
namespace {

using features::Transform;

Result<TensorId> addIntegers(OnnxNode& node, const std::string& name, Shape shape, const std::vector<int32_t>& values) {
  OPKIT_ASSIGN(Tensor tensor, Tensor::fromValues<int32_t>({DType::Int32, std::move(shape)}, values));
  return node.addConstant(name, std::move(tensor));
}

}  // namespace

Status requireCount(const OnnxNode& node, const std::string& name, size_t count, size_t expected) {
  if (count == expected) return Status::ok();
  return Status::invalidArgument("{}: {} must have {} values, got {}", node.opType(), name, expected, count);
}

Result<TreeEnsembleParamsT> targetsOf(const OnnxNode& node) {
  using Params = TreeEnsembleParamsT;
  return readFields<Params>(node, {field("n_targets", &Params::targets)});
}

Result<Integers> integersOf(const OnnxNode& node, const std::string& name, size_t count) {
  Integers values = node.intsAttribute(name);
  OPKIT_TRY(requireCount(node, name, values.size(), count));
  return values;
}

Result<Integers> flagsOf(const OnnxNode& node, const std::string& name, size_t count) {
  if (node.intsAttribute(name).empty()) return Integers(count, 0);
  return integersOf(node, name, count);
}

Result<Tensor> tensorOf(DType dtype, Shape shape, const Reals& values) {
  OracleTensor wide({dtype, std::move(shape)});
  wide.real = values;
  OPKIT_ASSIGN(Tensor tensor, Tensor::onHost(wide.desc));
  wide.toTensor(tensor);
  return tensor;
}

Result<TensorId> emitScores(OnnxNode& node, const Forest& forest, TreeEnsembleParamsT params, DType dtype) {
  OPKIT_ASSIGN(const PackedForest packed, pack(forest, node.opType()));
  const auto nodes = static_cast<int64_t>(packed.tests.size()), leaves = static_cast<int64_t>(forest.leaves.size());
  OPKIT_ASSIGN(Tensor splits, tensorOf(dtype, {nodes}, packed.splits));
  OPKIT_ASSIGN(Tensor weights, tensorOf(dtype, {leaves, packed.votes}, packed.weights));
  std::vector<TensorId> inputs{features::emitCast(node, node.input(0), dtype)};
  OPKIT_ASSIGN(inputs.emplace_back(), addIntegers(node, "tests", {nodes}, packed.tests));
  inputs.push_back(node.addConstant("splits", std::move(splits)));
  OPKIT_ASSIGN(inputs.emplace_back(), addIntegers(node, "children", {nodes, 2}, packed.children));
  OPKIT_ASSIGN(inputs.emplace_back(), addIntegers(node, "targets", {leaves, packed.votes}, packed.targets));
  inputs.push_back(node.addConstant("weights", std::move(weights)));
  params.trees = static_cast<int>(forest.roots.size());
  return node.emitIntermediate("TreeEnsemble", std::move(inputs), packParams(params));
}

Result<Reals> realsOf(const OnnxNode& node, const std::string& name) {
  OPKIT_ASSIGN(const Tensor tensor, node.tensorAttribute(name));
  if (!isFloat(tensor.desc.dtype))
    return Status::invalidArgument("{}: {} must hold floats, got {}", node.opType(), name, tensor.desc.toString());
  return OracleTensor::fromTensor(tensor).real;
}

namespace {

/// The sets of BRANCH_MEMBER nodes, which stand in order, each with a NaN behind it.
Result<std::vector<Reals>> membersOf(const OnnxNode& node, size_t count) {
  std::vector<Reals> sets(1);
  if (node.hasAttribute("membership_values")) {
    OPKIT_ASSIGN(const Reals values, realsOf(node, "membership_values"));
    for (const double value : values) {
      if (std::isnan(value))
        sets.emplace_back();
      else
        sets.back().push_back(value);
    }
  }
  if (sets.back().empty()) sets.pop_back();
  OPKIT_TRY(requireCount(node, "the sets of membership_values", sets.size(), count));
  return sets;
}

/// Turns a node that tests for members into a chain of nodes that test for one each. It may have several parents, so
/// the first of them takes the node's place.
void expandMembers(Forest& forest, size_t place, const Reals& members, bool tracksTrue) {
  const ForestNode original = forest.nodes[place];
  const uint32_t missing = tracksTrue ? uint32_t{kMissing} : 0;
  forest.nodes[place].outcomes = missing;
  for (size_t i = 0, at = place; i < members.size(); ++i) {
    ForestNode& node = forest.nodes[at];
    node.split = members[i];
    node.outcomes = kEqual | missing;
    if (i + 1 == members.size()) break;
    node.whenFalse = {false, static_cast<int64_t>(forest.nodes.size())};
    at = forest.nodes.size();
    forest.nodes.push_back(original);
  }
}

Result<Forest> nodesOf(const OnnxNode& node) {
  constexpr const char* kModes[] = {"LEQ", "LT", "GTE", "GT", "EQ", "NEQ"};
  constexpr int64_t kMember = 6;
  OPKIT_ASSIGN(const Tensor modeTensor, node.tensorAttribute("nodes_modes"));
  if (!kIntegers.contains(modeTensor.desc.dtype))
    return Status::invalidArgument("{}: nodes_modes must hold integers, got {}", node.opType(),
                                   modeTensor.desc.toString());
  const Integers modes = toInt64(modeTensor);
  const size_t count = modes.size();
  OPKIT_ASSIGN(const Reals splits, realsOf(node, "nodes_splits"));
  OPKIT_TRY(requireCount(node, "nodes_splits", splits.size(), count));
  OPKIT_ASSIGN(const Integers featureIds, integersOf(node, "nodes_featureids", count));
  OPKIT_ASSIGN(const Integers trueIds, integersOf(node, "nodes_truenodeids", count));
  OPKIT_ASSIGN(const Integers falseIds, integersOf(node, "nodes_falsenodeids", count));
  OPKIT_ASSIGN(const Integers trueLeaves, integersOf(node, "nodes_trueleafs", count));
  OPKIT_ASSIGN(const Integers falseLeaves, integersOf(node, "nodes_falseleafs", count));
  OPKIT_ASSIGN(const Integers tracks, flagsOf(node, "nodes_missing_value_tracks_true", count));
  const auto memberNodes = static_cast<size_t>(std::ranges::count(modes, kMember));
  OPKIT_ASSIGN(const std::vector<Reals> members, membersOf(node, memberNodes));
  Forest forest;
  for (size_t i = 0; i < count; ++i) {
    forest.nodes.push_back(
        {featureIds[i], 0, splits[i], {trueLeaves[i] != 0, trueIds[i]}, {falseLeaves[i] != 0, falseIds[i]}});
    if (modes[i] == kMember) continue;
    const std::string mode = modes[i] >= 0 && modes[i] < kMember ? kModes[modes[i]] : std::to_string(modes[i]);
    OPKIT_ASSIGN(forest.nodes[i].outcomes, outcomesOf(node.opType(), mode, tracks[i] != 0, forest.nodes[i].split));
  }
  for (size_t i = 0, set = 0; i < count; ++i)
    if (modes[i] == kMember) expandMembers(forest, i, members[set++], tracks[i] != 0);
  return forest;
}

Status addLeaves(const OnnxNode& node, Forest& forest, int64_t targets) {
  OPKIT_ASSIGN(const Reals weights, realsOf(node, "leaf_weights"));
  OPKIT_ASSIGN(const Integers ids, integersOf(node, "leaf_targetids", weights.size()));
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= targets)
      return Status::invalidArgument("{}: leaf_targetids must be in [0, {}), got {}", node.opType(), targets, ids[i]);
    forest.leaves.push_back({{ids[i], weights[i]}});
  }
  return Status::ok();
}

template <class Enum>
Result<Enum> numberAttribute(const OnnxNode& node, const std::string& name, int64_t fallback, Enum last) {
  const int64_t given = node.intAttribute(name, fallback), most = static_cast<int64_t>(last);
  if (given >= 0 && given <= most) return static_cast<Enum>(given);
  return Status::invalidArgument("{}: {} must be in [0, {}], got {}", node.opType(), name, most, given);
}

Result<Aggregate> aggregateOf(const OnnxNode& node) {
  enum class Number { Average, Sum, Min, Max };
  OPKIT_ASSIGN(const Number number, numberAttribute(node, "aggregate_function", 1, Number::Max));
  constexpr Aggregate kAggregates[] = {Aggregate::average, Aggregate::sum, Aggregate::min, Aggregate::max};
  return kAggregates[static_cast<size_t>(number)];
}

/// f16 computes in f32.
Status treeEnsemble(OnnxNode& node) {
  OPKIT_ASSIGN(TreeEnsembleParamsT params, targetsOf(node));
  OPKIT_ASSIGN(const Transform transform, numberAttribute(node, "post_transform", 0, Transform::Probit));
  OPKIT_ASSIGN(Forest forest, nodesOf(node));
  OPKIT_TRY(addLeaves(node, forest, params.targets));
  for (const int64_t root : node.intsAttribute("tree_roots")) forest.roots.push_back({false, root});
  OPKIT_ASSIGN(params.aggregate, aggregateOf(node));
  OPKIT_ASSIGN(const Tensor weights, node.tensorAttribute("leaf_weights"));
  const DType dtype = weights.desc.dtype;
  OPKIT_ASSIGN(TensorId scores, emitScores(node, forest, params, dtype == DType::Float64 ? dtype : DType::Float32));
  scores = features::emitTransform(node, transform, scores);
  return node.emit("CastLike", {scores, node.input(0)});
}

std::vector<OnnxAttribute> withNodes(std::vector<OnnxAttribute> attributes) {
  attributes.insert(attributes.end(), {"base_values",
                                       {"base_values_as_tensor", 3},
                                       "nodes_falsenodeids",
                                       "nodes_featureids",
                                       "nodes_hitrates",
                                       {"nodes_hitrates_as_tensor", 3},
                                       "nodes_missing_value_tracks_true",
                                       "nodes_modes",
                                       "nodes_nodeids",
                                       "nodes_treeids",
                                       "nodes_truenodeids",
                                       "nodes_values",
                                       {"nodes_values_as_tensor", 3},
                                       "post_transform"});
  return attributes;
}

/// A node of the form of kernels as one of ONNX: a mode and a split. A test that holds always, or never, compares with
/// an infinity.
std::pair<int64_t, double> modeOf(uint32_t outcomes, double split) {
  enum Number : int64_t { LessOrEqual, Less, GreaterOrEqual, Greater, Equal, NotEqual };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  outcomes &= kLess | kEqual | kGreater;
  if (std::isnan(split)) outcomes = outcomes & kGreater ? kLess | kEqual | kGreater : 0;
  switch (outcomes) {
    case 0: return {Less, -kInfinity};
    case kLess: return {Less, split};
    case kEqual: return {Equal, split};
    case kLess | kEqual: return {LessOrEqual, split};
    case kGreater: return {Greater, split};
    case kLess | kGreater: return {NotEqual, split};
    case kEqual | kGreater: return {GreaterOrEqual, split};
    default: return {LessOrEqual, kInfinity};
  }
}

int64_t numberOf(Aggregate aggregate) {
  switch (aggregate) {
    case Aggregate::average: return 0;
    case Aggregate::min: return 2;
    case Aggregate::max: return 3;
    default: return 1;
  }
}

/// The tensors behind x become attributes. In ONNX a leaf has one vote, and a root is no leaf.
Status writeTrees(const TreeEnsembleParamsT& params, const OpNode& node, OnnxForm& form) {
  for (size_t i = kTests; i <= kWeights; ++i)
    if (!valueOf(node, i)) return Status::unsupported("TreeEnsemble of ONNX has its trees as attributes");
  const Integers tests = toInt64(*valueOf(node, kTests)), children = toInt64(*valueOf(node, kChildren));
  const Reals splits = OracleTensor::fromTensor(*valueOf(node, kSplits)).real;
  const TensorDesc& targets = valueOf(node, kTargets)->desc;
  const int64_t count = std::ssize(tests);
  if (params.targets < 1) return Status::unsupported("TreeEnsemble has a target");
  if (targets.shape[1] != 1) return Status::unsupported("a leaf of TreeEnsemble has one vote");
  if (params.trees > count) return Status::unsupported("a root of TreeEnsemble is no leaf");
  Integers roots(static_cast<size_t>(params.trees)), features, modes, tracks, ids[2], leafs[2];
  std::iota(roots.begin(), roots.end(), int64_t{0});
  OracleTensor limits({valueOf(node, kSplits)->desc.dtype, {count}}), codes({DType::UInt8, {count}});
  for (size_t i = 0; i < tests.size(); ++i) {
    features.push_back(tests[i] >> kOutcomeBits);
    tracks.push_back((tests[i] & kMissing) != 0);
    std::tie(codes.integer[i], limits.real[i]) = modeOf(static_cast<uint32_t>(tests[i]), splits[i]);
    for (size_t side = 0; side < 2; ++side) {
      const int64_t slot = params.trees + children[2 * i + side];
      leafs[side].push_back(slot >= count);
      ids[side].push_back(slot >= count ? slot - count : slot);
    }
  }
  OPKIT_ASSIGN(Tensor splitValues, Tensor::onHost(limits.desc));
  OPKIT_ASSIGN(Tensor modeCodes, Tensor::onHost(codes.desc));
  limits.toTensor(splitValues);
  codes.toTensor(modeCodes);
  Tensor weights = *valueOf(node, kWeights);
  weights.desc.shape = {targets.shape[0]};
  form.attributes = {{"n_targets", int64_t{params.targets}},
                     {"aggregate_function", numberOf(params.aggregate)},
                     {"tree_roots", roots},
                     {"nodes_featureids", features},
                     {"nodes_missing_value_tracks_true", tracks},
                     {"nodes_modes", modeCodes},
                     {"nodes_splits", splitValues},
                     {"nodes_truenodeids", ids[0]},
                     {"nodes_falsenodeids", ids[1]},
                     {"nodes_trueleafs", leafs[0]},
                     {"nodes_falseleafs", leafs[1]},
                     {"leaf_targetids", toInt64(*valueOf(node, kTargets))},
                     {"leaf_weights", weights}};
  form.inputs.resize(1);
  return Status::ok();
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("ai.onnx.ml::TreeEnsemble",
            {"aggregate_function", "leaf_targetids", "leaf_weights", "membership_values", required("n_targets"),
             "nodes_falseleafs", "nodes_falsenodeids", "nodes_featureids", "nodes_hitrates",
             "nodes_missing_value_tracks_true", "nodes_modes", "nodes_splits", "nodes_trueleafs", "nodes_truenodeids",
             "post_transform", required("tree_roots")},
            {treeEnsemble, inverseOf<TreeEnsembleParamsT>({"TreeEnsemble"}, writeTrees)}, 5);
  rules.add("ai.onnx.ml::TreeEnsembleRegressor",
            withNodes({"aggregate_function",
                       "n_targets",
                       "target_ids",
                       "target_nodeids",
                       "target_treeids",
                       "target_weights",
                       {"target_weights_as_tensor", 3}}),
            treeEnsembleRegressor);
  rules.add("ai.onnx.ml::TreeEnsembleClassifier",
            withNodes({"class_ids",
                       "class_nodeids",
                       "class_treeids",
                       "class_weights",
                       {"class_weights_as_tensor", 3},
                       "classlabels_int64s",
                       "classlabels_strings"}),
            treeEnsembleClassifier);
  rules.note("ai.onnx.ml::TreeEnsemble", {"TreeEnsemble"});
  rules.note("ai.onnx.ml::TreeEnsembleRegressor", {"TreeEnsemble", "Softmax"});
  rules.note("ai.onnx.ml::TreeEnsembleClassifier", {"TreeEnsemble", "Softmax", "ArgMax", "Gather"},
             "post_transform is not PROBIT if two classes share a score");
}

}  // namespace opkit::ops::tree_ensemble
