// SVMRegressor and SVMClassifier as networks of other operators: products with the support vectors, the kernel's
// function, and a product with the coefficients.
#include "ops/concat/concat_generated.h"
#include "ops/features/rules.h"
#include "ops/features/scores.h"
#include "ops/gemm/gemm_generated.h"
#include "ops/reduce/reduce_generated.h"
#include "ops/transpose/transpose_generated.h"
#include "ops/unary/unary_generated.h"

namespace opkit::ops::features {
namespace {

using Floats = std::vector<float>;
enum class Kernel { Linear, Poly, Rbf, Sigmoid };

/// alpha * a b^T + c; c may be absent.
TensorId emitProduct(OnnxNode& node, TensorId a, TensorId b, TensorId c, float alpha = 1) {
  gemm::GemmParamsT params;
  params.trans_b = true;
  params.alpha = alpha;
  return node.emitIntermediate("Gemm", c ? std::vector{a, b, c} : std::vector{a, b}, packParams(params));
}

/// e^(-gamma d), d the squared distances of rows and vectors. |x|^2 + |v|^2 - 2 x v cancels, so it is computed in f64.
Result<TensorId> emitRbf(OnnxNode& node, TensorId x, const Floats& vectors, int64_t count, float gamma) {
  const int64_t features = static_cast<int64_t>(vectors.size()) / count;
  std::vector<double> squares(static_cast<size_t>(count)), twice;
  for (size_t i = 0; i < vectors.size(); ++i) {
    squares[i / static_cast<size_t>(features)] += double{vectors[i]} * vectors[i];
    twice.push_back(-2.0 * vectors[i]);
  }
  OPKIT_ASSIGN(Tensor squareTensor, Tensor::fromValues<double>({DType::Float64, {count}}, squares));
  OPKIT_ASSIGN(Tensor twiceTensor, Tensor::fromValues<double>({DType::Float64, {count, features}}, twice));
  const TensorId wide = emitCast(node, x, DType::Float64);
  const TensorId ofVectors = node.addConstant("squares", std::move(squareTensor));
  const TensorId products = emitProduct(node, wide, node.addConstant("vectors", std::move(twiceTensor)), ofVectors);
  const TensorId axes = node.addConstant("axes", std::vector<int64_t>{1});
  const TensorId ofRows = node.emitIntermediate("ReduceSumSquare", {wide, axes}, packParams(reduce::ReduceParamsT{}));
  const TensorId distances = node.emitIntermediate("Relu", {node.emitIntermediate("Add", {products, ofRows})});
  const TensorId scaled = node.emitIntermediate("Mul", {emitFloat(node, distances), node.addConstant("gamma", -gamma)});
  return node.emitIntermediate("Exp", {scaled});
}

/// The kernel's values [rows, count] in f32 for `count` support vectors, or rows of coefficients.
Result<TensorId> emitKernel(OnnxNode& node, Kernel kernel, const Floats& vectors, int64_t count) {
  if (count <= 0 || vectors.empty() || static_cast<int64_t>(vectors.size()) % count != 0)
    return Status::invalidArgument("{}: {} elements must divide into {} support vectors", node.opType(), vectors.size(),
                                   count);
  const Floats given = node.floatsAttribute("kernel_params");
  if (kernel != Kernel::Linear && given.size() != 3)
    return Status::invalidArgument("{}: kernel_params must be gamma, coef0 and degree, got {} values", node.opType(),
                                   given.size());
  const int64_t features = static_cast<int64_t>(vectors.size()) / count;
  const TensorId x = emitRows(node, node.input(0), features);
  if (kernel == Kernel::Rbf) return emitRbf(node, x, vectors, count, given[0]);
  OPKIT_ASSIGN(const TensorId rows, addFloats(node, "vectors", vectors, {count, features}));
  if (kernel == Kernel::Linear) return emitProduct(node, x, rows, {});
  const TensorId line = emitProduct(node, x, rows, node.addConstant("coef0", given[1]), given[0]);
  if (kernel == Kernel::Sigmoid) return node.emitIntermediate("Tanh", {line});
  return node.emitIntermediate("Pow", {line, node.addConstant("degree", given[2])});
}

Result<Kernel> kernelOf(const OnnxNode& node) {
  return choiceAttribute<Kernel>(
      node, "kernel_type",
      {{"LINEAR", Kernel::Linear}, {"POLY", Kernel::Poly}, {"RBF", Kernel::Rbf}, {"SIGMOID", Kernel::Sigmoid}});
}

/// 1 where the value is above 0, else 0, in f32.
TensorId emitIsPositive(OnnxNode& node, TensorId x) { return emitFloat(node, emitIsAbove(node, x, 0)); }

/// The matrices of a classifier with support vectors over its pairs of classes, in the order (0, 1), (0, 2), ..., (1,
/// 2), ...
struct Pairs {
  int64_t classes;
  std::vector<std::pair<int64_t, int64_t>> pairs;

  explicit Pairs(int64_t count) : classes(count) {
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = i + 1; j < count; ++j) pairs.emplace_back(i, j);
  }
  int64_t count() const { return static_cast<int64_t>(pairs.size()); }
};

/// The coefficients of each pair, [pairs, vectors]: row j - 1 of those given for the vectors of class i, row i for
/// those of class j, 0 for others.
Floats coefficientsOf(const Pairs& pairs, const Floats& given, const std::vector<int64_t>& perClass, int64_t vectors) {
  Floats rows(static_cast<size_t>(pairs.count() * vectors), 0.0f);
  for (size_t pair = 0; pair < pairs.pairs.size(); ++pair) {
    const auto [first, second] = pairs.pairs[pair];
    for (int64_t owner = 0, vector = 0; owner < pairs.classes; ++owner)
      for (const int64_t end = vector + perClass[static_cast<size_t>(owner)]; vector < end; ++vector) {
        if (owner != first && owner != second) continue;
        const int64_t source = owner == first ? second - 1 : first;
        rows[pair * static_cast<size_t>(vectors) + static_cast<size_t>(vector)] =
            given[static_cast<size_t>(source * vectors + vector)];
      }
  }
  return rows;
}

/// How many pairs each class wins, [rows, classes]: the first class of a pair wins if its score is above 0.
Result<TensorId> emitVotes(OnnxNode& node, const Pairs& pairs, TensorId scores) {
  Floats wins(static_cast<size_t>(pairs.classes * pairs.count()), 0.0f), losses(static_cast<size_t>(pairs.classes));
  for (size_t pair = 0; pair < pairs.pairs.size(); ++pair) {
    const auto [first, second] = pairs.pairs[pair];
    wins[static_cast<size_t>(first) * pairs.pairs.size() + pair] = 1;
    wins[static_cast<size_t>(second) * pairs.pairs.size() + pair] = -1;
    losses[static_cast<size_t>(second)] += 1;
  }
  OPKIT_ASSIGN(const TensorId change, addFloats(node, "wins", wins, {pairs.classes, pairs.count()}));
  OPKIT_ASSIGN(const TensorId base, addFloats(node, "losses", losses, {pairs.classes}));
  return emitProduct(node, emitIsPositive(node, scores), change, base);
}

/// The probability that the first class of each pair wins, [rows, pairs]: kept away from 0 and 1.
Result<TensorId> emitPairShares(OnnxNode& node, const Pairs& pairs, TensorId scores) {
  Floats a = node.floatsAttribute("prob_a"), b = node.floatsAttribute("prob_b");
  if (static_cast<int64_t>(a.size()) != pairs.count() || a.size() != b.size())
    return Status::invalidArgument("SVMClassifier: prob_a and prob_b must have {} values, got {} and {}", pairs.count(),
                                   a.size(), b.size());
  for (float& value : a) value = -value;
  OPKIT_ASSIGN(const TensorId slope, addFloats(node, "prob_a", a, {pairs.count()}));
  OPKIT_ASSIGN(const TensorId offset, addFloats(node, "prob_b", b, {pairs.count()}));
  const TensorId line = node.emitIntermediate("Sub", {node.emitIntermediate("Mul", {scores, slope}), offset});
  unary::UnaryParamsT limits;
  limits.alpha = 1e-7f;
  limits.beta = 1 - 1e-7f;
  return node.emitIntermediate("Clip", {node.emitIntermediate("Sigmoid", {line})}, packParams(limits));
}

/// r[row, i, j], the probability that class i wins against class j, in f64; 0 for i = j.
Result<TensorId> emitShareMatrices(OnnxNode& node, const Pairs& pairs, TensorId shares) {
  const int64_t n = pairs.classes;
  Floats places(static_cast<size_t>(n * n * pairs.count()), 0.0f), base(static_cast<size_t>(n * n), 0.0f);
  for (size_t pair = 0; pair < pairs.pairs.size(); ++pair) {
    const auto [i, j] = pairs.pairs[pair];
    places[static_cast<size_t>(i * n + j) * pairs.pairs.size() + pair] = 1;
    places[static_cast<size_t>(j * n + i) * pairs.pairs.size() + pair] = -1;
    base[static_cast<size_t>(j * n + i)] = 1;
  }
  OPKIT_ASSIGN(const TensorId placeRows, addFloats(node, "places", places, {n * n, pairs.count()}));
  OPKIT_ASSIGN(const TensorId baseRow, addFloats(node, "base", base, {n * n}));
  const TensorId flat = emitProduct(node, emitCast(node, shares, DType::Float64),
                                    emitCast(node, placeRows, DType::Float64), emitCast(node, baseRow, DType::Float64));
  return node.emitIntermediate("Reshape", {flat, node.addConstant("square", std::vector<int64_t>{-1, n, n})});
}

/// A constant of f64; element [t, i, j] of n^3 is value(t, i, j).
template <class Value>
Result<TensorId> addCube(OnnxNode& node, const std::string& name, Shape shape, int64_t n, const Value& value) {
  std::vector<double> elements;
  for (int64_t t = 0; t < elementCount(shape) / (n * n); ++t)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) elements.push_back(value(t, i, j) ? 1 : 0);
  OPKIT_ASSIGN(Tensor tensor, Tensor::fromValues<double>({DType::Float64, std::move(shape)}, elements));
  return node.addConstant(name, std::move(tensor));
}

/// Q + E of the next function, [rows, 1, classes, classes].
Result<TensorId> emitSystem(OnnxNode& node, int64_t n, TensorId r) {
  transpose::TransposeParamsT swap;
  swap.perm = {0, 2, 1};
  const TensorId swapped = node.emitIntermediate("Transpose", {r}, packParams(swap));
  const TensorId axis = node.addConstant("axis", std::vector<int64_t>{1});
  const TensorId squares = node.emitIntermediate("ReduceSumSquare", {r, axis}, packParams(reduce::ReduceParamsT{}));
  OPKIT_ASSIGN(const TensorId diagonal,
               addCube(node, "diagonal", {n, n}, n, [](auto, auto i, auto j) { return i == j; }));
  OPKIT_ASSIGN(const TensorId ones, addCube(node, "ones", {n, n}, n, [](auto, auto, auto) { return true; }));
  const TensorId outer = node.emitIntermediate("Sub", {ones, node.emitIntermediate("Mul", {r, swapped})});
  const TensorId system = node.emitIntermediate("Add", {node.emitIntermediate("Mul", {squares, diagonal}), outer});
  return node.emitIntermediate("Unsqueeze", {system, axis});
}

/// The probabilities p of the classes, [rows, classes]: those that minimise the sum over i != j of
/// (r[j, i] p[i] - r[i, j] p[j])^2 (Wu, Lin and Weng 2004). With the matrix Q of that form and a matrix of ones E, p is
/// proportional to the solution of (Q + E) p = 1; Cramer's rule gives it by determinants. Two classes need none of
/// this.
Result<TensorId> emitProbabilities(OnnxNode& node, const Pairs& pairs, TensorId shares) {
  const int64_t n = pairs.classes;
  if (n == 2) {
    concat::ConcatParamsT columns;
    columns.axis = 1;
    const TensorId other = node.emitIntermediate("Sub", {node.addConstant("whole", 1.0f), shares});
    return node.emitIntermediate("Concat", {shares, other}, packParams(columns));
  }
  OPKIT_ASSIGN(const TensorId r, emitShareMatrices(node, pairs, shares));
  OPKIT_ASSIGN(const TensorId system, emitSystem(node, n, r));
  OPKIT_ASSIGN(const TensorId column,
               addCube(node, "column", {n, n, n}, n, [](auto t, auto, auto j) { return j == t; }));
  OPKIT_ASSIGN(const TensorId others,
               addCube(node, "others", {n, n, n}, n, [](auto t, auto, auto j) { return j != t; }));
  const TensorId replaced = node.emitIntermediate("Add", {node.emitIntermediate("Mul", {system, others}), column});
  const TensorId minors = node.emitIntermediate("Det", {replaced});
  const TensorId axis = node.addConstant("classes", std::vector<int64_t>{1});
  const TensorId sum = node.emitIntermediate("ReduceSum", {minors, axis}, packParams(reduce::ReduceParamsT{}));
  return emitFloat(node, node.emitIntermediate("Div", {minors, sum}));
}

/// Without support vectors: a row of coefficients per class, and one offset for all.
Status linearSvm(OnnxNode& node, const Tensor& labels, Transform transform) {
  const Floats rho = node.floatsAttribute("rho");
  if (rho.empty()) return Status::invalidArgument("SVMClassifier: expected a value in rho");
  OPKIT_ASSIGN(const TensorId products,
               emitKernel(node, Kernel::Linear, node.floatsAttribute("coefficients"), labels.desc.elements()));
  const TensorId scores = node.emitIntermediate("Add", {products, node.addConstant("rho", rho[0])});
  return emitClasses(node, labels, scores, emitTransform(node, transform, scores));
}

/// InvalidArgument unless the lists fit the classes; returns the number of support vectors.
Result<int64_t> vectorsOf(const OnnxNode& node, const Pairs& pairs) {
  int64_t vectors = 0;
  const std::vector<int64_t> perClass = node.intsAttribute("vectors_per_class");
  if (static_cast<int64_t>(perClass.size()) != pairs.classes)
    return Status::invalidArgument("SVMClassifier: vectors_per_class must have {} values, got {}", pairs.classes,
                                   perClass.size());
  for (const int64_t count : perClass) {
    if (count < 0)
      return Status::invalidArgument("SVMClassifier: vectors_per_class must not be negative, got {}", count);
    vectors += count;
  }
  const auto require = [](const char* name, int64_t expected, size_t count) {
    return static_cast<int64_t>(count) == expected
               ? Status::ok()
               : Status::invalidArgument("SVMClassifier: {} must have {} values, got {}", name, expected, count);
  };
  OPKIT_TRY(require("coefficients", (pairs.classes - 1) * vectors, node.floatsAttribute("coefficients").size()));
  OPKIT_TRY(require("rho", pairs.count(), node.floatsAttribute("rho").size()));
  return vectors;
}

}  // namespace

Status svmRegressor(OnnxNode& node) {
  OPKIT_ASSIGN(Kernel kernel, kernelOf(node));
  OPKIT_ASSIGN(const Transform transform, transformOf(node));
  const Floats coefficients = node.floatsAttribute("coefficients"), rho = node.floatsAttribute("rho");
  const int64_t supports = node.intAttribute("n_supports", 0);
  if (rho.empty()) return Status::invalidArgument("SVMRegressor: expected a value in rho");
  TensorId scores;
  if (supports == 0) {
    OPKIT_ASSIGN(const TensorId products, emitKernel(node, Kernel::Linear, coefficients, 1));
    scores = node.emitIntermediate("Add", {products, node.addConstant("rho", rho[0])});
  } else {
    if (static_cast<int64_t>(coefficients.size()) != supports)
      return Status::invalidArgument("SVMRegressor: coefficients must have {} values, got {}", supports,
                                     coefficients.size());
    OPKIT_ASSIGN(const TensorId values, emitKernel(node, kernel, node.floatsAttribute("support_vectors"), supports));
    OPKIT_ASSIGN(const TensorId row, addFloats(node, "coefficients", coefficients, {1, supports}));
    scores = emitProduct(node, values, row, node.addConstant("rho", rho[0]));
  }
  if (node.intAttribute("one_class", 0) == 0) return node.emit("Identity", {emitTransform(node, transform, scores)});
  const TensorId twice = node.emitIntermediate("Mul", {emitIsPositive(node, scores), node.addConstant("two", 2.0f)});
  return node.emit("Sub", {twice, node.addConstant("one", 1.0f)});
}

/// Scores are those of pairs of classes, or probabilities of classes. The label is the class that wins most pairs.
Status svmClassifier(OnnxNode& node) {
  OPKIT_ASSIGN(const Tensor labels, labelsOf(node, "classlabels_ints"));
  OPKIT_ASSIGN(const Kernel kernel, kernelOf(node));
  OPKIT_ASSIGN(const Transform transform, transformOf(node));
  if (labels.desc.elements() < 2)
    return Status::unsupported("SVMClassifier: expected two class labels or more, got one");
  if (node.intsAttribute("vectors_per_class").empty()) return linearSvm(node, labels, transform);
  const Pairs pairs(labels.desc.elements());
  OPKIT_ASSIGN(const int64_t vectors, vectorsOf(node, pairs));
  OPKIT_ASSIGN(const TensorId values, emitKernel(node, kernel, node.floatsAttribute("support_vectors"), vectors));
  OPKIT_ASSIGN(const TensorId rows, addFloats(node, "coefficients",
                                              coefficientsOf(pairs, node.floatsAttribute("coefficients"),
                                                             node.intsAttribute("vectors_per_class"), vectors),
                                              {pairs.count(), vectors}));
  OPKIT_ASSIGN(const TensorId rho, addFloats(node, "rho", node.floatsAttribute("rho"), {pairs.count()}));
  TensorId scores = emitProduct(node, values, rows, rho);
  const bool hasShares = !node.floatsAttribute("prob_a").empty();
  if (pairs.classes == 2 && !hasShares) {
    const TensorId isSecond = node.emitIntermediate("Not", {emitIsAbove(node, scores, 0)});
    return emitTwoClasses(node, labels, transform, {scores, isSecond, transform != Transform::None});
  }
  OPKIT_ASSIGN(const TensorId votes, emitVotes(node, pairs, scores));
  if (hasShares) {
    OPKIT_ASSIGN(const TensorId shares, emitPairShares(node, pairs, scores));
    OPKIT_ASSIGN(scores, emitProbabilities(node, pairs, shares));
  }
  return emitClasses(node, labels, votes, emitTransform(node, transform, scores));
}

}  // namespace opkit::ops::features
