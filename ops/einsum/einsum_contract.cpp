// Einsum as parts. Of each operand diagonals are taken and axes are summed that nothing else has; then it is contracted
// with what those before it became. A pair that sums axes is a MatMul of [batch, rows, sums] and [batch, sums,
// columns], any other a Mul that broadcasts.
#include <algorithm>
#include <optional>

#include "ops/einsum/einsum.h"
#include "ops/matmul/matmul_generated.h"
#include "ops/parts.h"
#include "ops/transpose/transpose_generated.h"

namespace opkit::ops::einsum {
namespace {

using Value = Decomposition::Value;

bool contains(const Labels& labels, Label label) { return std::ranges::find(labels, label) != labels.end(); }

/// A value of the parts with one label per axis.
struct Operand {
  Value value;
  Labels labels;
  Shape shape;

  size_t axisOf(Label label) const { return static_cast<size_t>(std::ranges::find(labels, label) - labels.begin()); }
  int64_t extentOf(Label label) const { return shape[axisOf(label)]; }
  bool has(Label label) const { return contains(labels, label); }
};

class Contraction {
 public:
  Contraction(Decomposition& parts, DType dtype) : parts_(parts), dtype_(dtype) {}

  /// `x` with its axes in this order of labels, all of which it has.
  Operand inOrder(const Operand& x, const Labels& labels) {
    if (x.labels == labels) return x;
    transpose::TransposeParamsT params;
    Operand y{.value = x.value, .labels = labels, .shape = {}};
    for (const Label label : labels) {
      params.perm.push_back(static_cast<int>(x.axisOf(label)));
      y.shape.push_back(x.extentOf(label));
    }
    y.value = parts_.add("Transpose", {x.value}, packParams(params));
    return y;
  }

  Result<Value> reshaped(Value value, const Shape& from, const Shape& to) {
    if (from == to) return value;
    OPKIT_ASSIGN(const Value shape, listOf(parts_, to));
    return parts_.add("Reshape", {value, shape});
  }

  /// Each label once: of the axes [n, n] of a label every (n + 1)th element is taken.
  Result<Operand> diagonalOf(Operand x) {
    for (size_t d = 0; d < x.labels.size(); ++d) {
      const Label label = x.labels[d];
      while (std::ranges::count(x.labels, label) > 1) {
        OPKIT_ASSIGN(x, withOneLess(x, label));
      }
    }
    return x;
  }

  /// `x` without these labels, which it has.
  Operand summed(Operand x, const Labels& labels) {
    if (labels.empty()) return x;
    std::vector<int64_t> axes;
    for (const Label label : labels) axes.push_back(static_cast<int64_t>(x.axisOf(label)));
    x.value = reduced(parts_, "ReduceSum", x.value, axes, false);
    for (const Label label : labels) {
      x.shape.erase(x.shape.begin() + static_cast<std::ptrdiff_t>(x.axisOf(label)));
      std::erase(x.labels, label);
    }
    return x;
  }

  /// The products of `a` and `b` with the axes `kept`, summed over the others. Labels that one of them alone has are
  /// kept.
  Result<Operand> product(Operand a, Operand b, const Labels& kept) {
    Labels batch, sums, rows, columns;
    for (const Label label : a.labels) (!b.has(label) ? rows : contains(kept, label) ? batch : sums).push_back(label);
    for (const Label label : b.labels)
      if (!a.has(label)) columns.push_back(label);
    OPKIT_TRY(sumRepeated(a, b, sums));
    if (sums.empty()) return multiplied(a, b, batch, rows, columns);
    if (isElementwise(a, b, batch, rows, columns, sums)) {
      OPKIT_ASSIGN(Operand products, multiplied(a, b, columns.empty() ? a.labels : b.labels, {}, {}));
      return summed(std::move(products), sums);
    }
    Labels labels = batch;
    for (const Labels& more : {rows, columns}) labels.insert(labels.end(), more.begin(), more.end());
    matmul::MatMulParamsT params;
    params.trans_a = isStored(a, batch, sums, rows);
    params.trans_b = isStored(b, batch, columns, sums);
    const Operand left = inOrder(a, params.trans_a ? joined(batch, sums, rows) : joined(batch, rows, sums));
    const Operand right = inOrder(b, params.trans_b ? joined(batch, columns, sums) : joined(batch, sums, columns));
    const auto size = [](const Operand& x, const Labels& list) {
      int64_t count = 1;
      for (const Label label : list) count *= x.extentOf(label);
      return count;
    };
    const auto [batchOfA, batchOfB] = batches(a, b, batch);
    const int64_t depth = size(a, sums), m = size(a, rows), n = size(b, columns);
    OPKIT_ASSIGN(const Value x, reshaped(left.value, left.shape,
                                         params.trans_a ? with(batchOfA, depth, m) : with(batchOfA, m, depth)));
    OPKIT_ASSIGN(const Value y, reshaped(right.value, right.shape,
                                         params.trans_b ? with(batchOfB, n, depth) : with(batchOfB, depth, n)));
    Operand result{.value = parts_.add("MatMul", {x, y}, packParams(params)), .labels = labels, .shape = {}};
    for (const Label label : labels) result.shape.push_back(longest(a, b, label));
    Shape made = batchOfA;
    for (size_t d = 0; d < made.size(); ++d) made[d] = std::max(batchOfA[d], batchOfB[d]);
    OPKIT_ASSIGN(result.value, reshaped(result.value, with(made, m, n), result.shape));
    return result;
  }

 private:
  /// Whether one operand has all labels, in an order in which it is no batch of matrices: their products, as many as it
  /// has elements, cost less than its transposition. Halves would be rounded twice.
  bool isElementwise(const Operand& a, const Operand& b, const Labels& batch, const Labels& rows, const Labels& columns,
                     const Labels& sums) const {
    if (dtype_ != DType::Float32 || !(rows.empty() || columns.empty())) return false;
    const Operand& whole = columns.empty() ? a : b;
    for (const Label label : batch)
      if (whole.extentOf(label) != longest(a, b, label)) return false;  // one row for many products
    const Labels& all = whole.labels;
    const Labels& own = columns.empty() ? rows : columns;
    return all != joined(batch, own, sums) && all != joined(batch, sums, own);
  }

  /// Whether the axes of `x` stand in this order, with something to exchange.
  bool isStored(const Operand& x, const Labels& batch, const Labels& first, const Labels& second) const {
    const bool hasTiles = dtype_ == DType::Float32 || dtype_ == DType::Float16;  // other products are loops over rows
    return hasTiles && !first.empty() && !second.empty() && x.labels == joined(batch, first, second);
  }
  static Labels joined(const Labels& a, const Labels& b, const Labels& c) {
    Labels all = a;
    all.insert(all.end(), b.begin(), b.end());
    all.insert(all.end(), c.begin(), c.end());
    return all;
  }
  static Shape with(Shape shape, int64_t rows, int64_t columns) {
    shape.push_back(rows);
    shape.push_back(columns);
    return shape;
  }
  static int64_t longest(const Operand& a, const Operand& b, Label label) {
    return std::max(a.has(label) ? a.extentOf(label) : 1, b.has(label) ? b.extentOf(label) : 1);
  }

  /// The batch axes as MatMul sees them: one, unless an operand repeats its matrices along a part of them.
  static std::pair<Shape, Shape> batches(const Operand& a, const Operand& b, const Labels& batch) {
    Shape ofA, ofB;
    for (const Label label : batch) {
      ofA.push_back(a.extentOf(label));
      ofB.push_back(b.extentOf(label));
    }
    if (ofA != ofB || ofA.empty()) return {ofA, ofB};
    return {{elementCount(ofA)}, {elementCount(ofB)}};
  }

  Result<Operand> withOneLess(const Operand& x, Label label) {
    const size_t first = x.axisOf(label);
    const auto second = static_cast<size_t>(
        std::find(x.labels.begin() + static_cast<std::ptrdiff_t>(first) + 1, x.labels.end(), label) - x.labels.begin());
    transpose::TransposeParamsT params;
    Operand y{.value = x.value, .labels = {}, .shape = {}};
    for (size_t d = 0; d < x.labels.size(); ++d) {
      if (d == first || d == second) continue;
      params.perm.push_back(static_cast<int>(d));
      y.labels.push_back(x.labels[d]);
      y.shape.push_back(x.shape[d]);
    }
    const int64_t extent = x.shape[first];
    Shape flat = y.shape;
    flat.push_back(extent * extent);
    for (const size_t d : {first, second}) params.perm.push_back(static_cast<int>(d));
    y.labels.push_back(label);
    y.shape.push_back(extent);
    const Value moved = parts_.add("Transpose", {x.value}, packParams(params));
    OPKIT_ASSIGN(const Value shape, listOf(parts_, flat));
    const Value square = parts_.add("Reshape", {moved, shape});
    OPKIT_ASSIGN(const Value start, listOf(parts_, {0}));
    OPKIT_ASSIGN(const Value end, listOf(parts_, {extent * extent}));
    OPKIT_ASSIGN(const Value axis, listOf(parts_, {-1}));
    OPKIT_ASSIGN(const Value step, listOf(parts_, {extent + 1}));
    y.value = parts_.add("Slice", {square, start, end, axis, step});
    return y;
  }

  /// Along a summed label one operand may repeat its only element: then the other one is summed alone, and the label is
  /// gone from both and from `sums`.
  Status sumRepeated(Operand& a, Operand& b, Labels& sums) {
    Labels repeated;
    for (const Label label : sums)
      if (a.extentOf(label) == 1 || b.extentOf(label) == 1) repeated.push_back(label);
    for (const Label label : repeated) std::erase(sums, label);
    a = summed(a, repeated);
    b = summed(b, repeated);
    return Status::ok();
  }

  Result<Operand> multiplied(const Operand& a, const Operand& b, const Labels& batch, const Labels& rows,
                             const Labels& columns) {
    Operand result{.value = a.value, .labels = joined(batch, rows, columns), .shape = {}};
    for (const Label label : result.labels) result.shape.push_back(longest(a, b, label));
    Value factors[2];
    for (size_t i = 0; i < 2; ++i) {
      const Operand& operand = i == 0 ? a : b;
      Labels own;
      Shape spread;
      for (const Label label : result.labels) {
        spread.push_back(operand.has(label) ? operand.extentOf(label) : 1);
        if (operand.has(label)) own.push_back(label);
      }
      const Operand ordered = inOrder(operand, own);
      OPKIT_ASSIGN(factors[i], reshaped(ordered.value, ordered.shape, spread));
    }
    result.value = parts_.add("Mul", {factors[0], factors[1]});
    return result;
  }

  Decomposition& parts_;
  DType dtype_;
};

bool isAlone(const Equation& equation, size_t operand, Label label) {
  for (size_t k = 0; k < equation.operands.size(); ++k)
    if (k != operand && contains(equation.operands[k], label)) return false;
  return !contains(equation.output, label);
}

/// Whether an operand is summed before it meets another one.
bool sumsFirst(const Equation& equation, const ShapeArgs& args) {
  for (size_t i = 0; i < equation.operands.size(); ++i)
    for (size_t d = 0; d < equation.operands[i].size(); ++d) {
      const Label label = equation.operands[i][d];
      const bool repeats = equation.extentOf(label) != args.shape(i)[d] && !contains(equation.output, label);
      if (repeats || isAlone(equation, i, label)) return true;
    }
  return false;
}

/// The labels that the output or an operand from `next` on has.
Labels neededFrom(const Equation& equation, size_t next) {
  Labels needed = equation.output;
  for (size_t i = next; i < equation.operands.size(); ++i)
    needed.insert(needed.end(), equation.operands[i].begin(), equation.operands[i].end());
  return needed;
}

/// The type to compute in. Half precision stays where one part alone rounds.
DType computedIn(const Equation& equation, const ShapeArgs& args) {
  const DType given = args.input(0).dtype;
  if (!isFloat(given)) return sizeOf(given) < sizeOf(DType::Int32) ? DType::Int32 : given;
  return equation.operands.size() + (sumsFirst(equation, args) ? 1 : 0) > 2 ? widened(given) : given;
}

}  // namespace

Status contract(const Equation& equation, const ShapeArgs& args, Decomposition& parts) {
  const DType given = args.input(0).dtype, dtype = computedIn(equation, args);
  Contraction contraction(parts, dtype);
  std::optional<Operand> result;
  for (size_t i = 0; i < equation.operands.size(); ++i) {
    Operand x{
        .value = castTo(parts, parts.input(i), given, dtype), .labels = equation.operands[i], .shape = args.shape(i)};
    OPKIT_ASSIGN(x, contraction.diagonalOf(x));
    Labels alone;
    for (const Label label : x.labels)
      if (isAlone(equation, i, label)) alone.push_back(label);
    x = contraction.summed(x, alone);
    if (result) {
      OPKIT_ASSIGN(x, contraction.product(*result, x, neededFrom(equation, i + 1)));
    }
    result = x;
  }
  const Operand y = contraction.inOrder(*result, equation.output);
  const Value last = castTo(parts, y.value, dtype, given);
  parts.setOutput(0, last == parts.input(0) ? parts.add("Identity", {last}) : last);
  return Status::ok();
}

}  // namespace opkit::ops::einsum
