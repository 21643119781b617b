// Chains of data-moving operators give the same elements with and without fused rasters, also if arithmetic between
// them reads parts of tensors in place. Random chains; RapidCheck shrinks a failure to the shortest chain.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "engine/runtime/session.h"
#include "ops/builtin_ops.h"
#include "ops/concat/concat_generated.h"
#include "ops/split/split_generated.h"
#include "ops/transpose/transpose_generated.h"

namespace opkit::ops {
namespace {

constexpr int64_t kMaxTestElements = 4096;
constexpr int kMoves = 7;  // kinds of operators that only move data
constexpr int kWithArithmetic = 12;

/// Only moves, on a small tensor; or with arithmetic, on rows as long as the alignment of partial views.
struct ChainKind {
  Shape start;
  int kinds;
};
const ChainKind kSmall{{2, 3, 4}, kMoves};
const ChainKind kRows{{4, 3, 64}, kWithArithmetic};

/// One operator of a chain; numbers are taken modulo the number of choices, so that every value is a valid operator.
struct Move {
  int kind = 0;
  uint32_t a = 0, b = 0, c = 0;
};

std::ostream& operator<<(std::ostream& out, const Move& move) {
  return out << fmt::format("{{{}, {}, {}, {}}}", move.kind, move.a, move.b, move.c);
}

class ChainBuilder {
 public:
  explicit ChainBuilder(const ChainKind& kind) : kinds_(kind.kinds) {
    live_.push_back({model_.addInput("x", {DType::Float32, kind.start}), kind.start});
  }

  Model build(const std::vector<Move>& moves) {
    for (const Move& move : moves) add(move);
    model_.outputs = {live_.back().tensor};
    if (live_.size() > 3 && moves.back().c % 5 == 0) model_.outputs.push_back(live_[live_.size() / 2].tensor);
    return std::move(model_);
  }

 private:
  struct Value {
    TensorId tensor;
    Shape shape;
  };

  int64_t number(uint32_t value, int64_t count) const {
    return static_cast<int64_t>(value) % std::max<int64_t>(count, 1);
  }

  TensorId list(const DimVector& values) {
    return model_.addConstant(
        fmt::format("c{}", count_++),
        *Tensor::fromValues({DType::Int64, {static_cast<int64_t>(values.size())}}, values.toVector()));
  }
  TensorId node(const char* type, std::vector<TensorId> inputs, ParamBytes params = {}) {
    return model_.addNode(type, fmt::format("n{}", count_++), std::move(inputs), std::move(params))[0];
  }
  void push(TensorId tensor, Shape shape) { live_.push_back({tensor, std::move(shape)}); }

  void add(const Move& move) {
    // Mostly the newest value; sometimes an older one, so that values have several readers.
    const Value x = move.c % 4 == 0 ? live_[static_cast<size_t>(number(move.c / 4, static_cast<int64_t>(live_.size())))]
                                    : live_.back();
    switch (move.kind % kinds_) {
      case 0: return reshape(x, move);
      case 1: return transpose(x, move);
      case 2: return slice(x, move);
      case 3: return concat(x, move);
      case 4: return pad(x, move);
      case 5: return expand(x, move);
      case 6: return split(x, move);
      case 7: return push(node("Neg", {x.tensor}), x.shape);
      case 8: return push(node("Relu", {x.tensor}), x.shape);
      case 9: return sum(x, move);
      default: return rows(x, move);
    }
  }

  void reshape(const Value& x, const Move& move) {
    Shape shape = x.shape;
    const auto axis = static_cast<size_t>(number(move.a, static_cast<int64_t>(shape.size())));
    const int64_t factor = 2 + number(move.b, 3);
    if (move.b % 2 == 0 && axis + 1 < shape.size()) {
      shape[axis] *= shape[axis + 1];
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
    } else if (shape[axis] % factor == 0 && shape.size() < 6) {
      shape[axis] /= factor;
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, factor);
    } else {
      shape = {elementCount(shape)};
    }
    push(node("Reshape", {x.tensor, list(shape)}), shape);
  }

  void transpose(const Value& x, const Move& move) {
    transpose::TransposeParamsT params;
    for (size_t d = 0; d < x.shape.size(); ++d) params.perm.push_back(static_cast<int>(d));
    const auto count = static_cast<int64_t>(x.shape.size());
    std::rotate(params.perm.begin(), params.perm.begin() + number(move.a, count), params.perm.end());
    std::swap(params.perm[0], params.perm[static_cast<size_t>(number(move.b, count))]);
    Shape shape;
    for (int d : params.perm) shape.push_back(x.shape[static_cast<size_t>(d)]);
    push(node("Transpose", {x.tensor}, packParams(params)), shape);
  }

  void slice(const Value& x, const Move& move) {
    Shape shape = x.shape;
    const auto axis = static_cast<size_t>(number(move.a, static_cast<int64_t>(shape.size())));
    const int64_t extent = shape[axis], step = 1 + number(move.b, 3);
    const int64_t first = number(move.b / 3, extent);
    const int64_t count = (extent - 1 - first) / step + 1;
    const bool backwards = move.c % 3 == 1;
    const int64_t last = first + (count - 1) * step;
    const auto at = static_cast<int64_t>(axis);
    shape[axis] = count;
    push(backwards ? node("Slice", {x.tensor, list({last}), list({first - 1 - extent}), list({at}), list({-step})})
                   : node("Slice", {x.tensor, list({first}), list({last + 1}), list({at}), list({step})}),
         shape);
  }

  void concat(const Value& x, const Move& move) {
    const auto axis = static_cast<size_t>(number(move.a, static_cast<int64_t>(x.shape.size())));
    Value other = live_[static_cast<size_t>(number(move.b, static_cast<int64_t>(live_.size())))];
    Shape aligned = other.shape;
    if (aligned.size() == x.shape.size()) aligned[axis] = x.shape[axis];
    if (aligned != x.shape) other = x;
    Shape shape = x.shape;
    shape[axis] += other.shape[axis];
    if (elementCount(shape) > kMaxTestElements) return;
    concat::ConcatParamsT params;
    params.axis = static_cast<int>(axis);
    push(node("Concat", {x.tensor, other.tensor}, packParams(params)), shape);
  }

  void pad(const Value& x, const Move& move) {
    const size_t rank = x.shape.size();
    const auto axis = static_cast<size_t>(number(move.a, static_cast<int64_t>(rank)));
    std::vector<int64_t> pads(2 * rank, 0);
    pads[axis] = number(move.b, 3);
    pads[rank + axis] = number(move.b / 3, 3);
    Shape shape = x.shape;
    shape[axis] += pads[axis] + pads[rank + axis];
    if (elementCount(shape) > kMaxTestElements) return;
    std::vector<TensorId> inputs{x.tensor, list(pads)};
    if (move.c % 2 == 1)
      inputs.push_back(
          model_.addConstant(fmt::format("c{}", count_++), *Tensor::fromValues<float>({DType::Float32, {}}, {-7})));
    push(node("Pad", std::move(inputs)), shape);
  }

  void expand(const Value& x, const Move& move) {
    Shape shape = x.shape;
    const int64_t repeat = 1 + number(move.a, 3);
    if (shape.size() >= 6 || elementCount(shape) * repeat > kMaxTestElements) return;
    shape.insert(shape.begin(), repeat);
    push(node("Expand", {x.tensor, list(shape)}), shape);
  }

  void split(const Value& x, const Move& move) {
    const auto axis = static_cast<size_t>(number(move.a, static_cast<int64_t>(x.shape.size())));
    if (x.shape[axis] < 2) return;
    const int64_t first = 1 + number(move.b, x.shape[axis] - 1);
    split::SplitParamsT params;
    params.axis = static_cast<int>(axis);
    const std::vector<TensorId> made = model_.addNode(
        "Split", fmt::format("n{}", count_++), {x.tensor, list({first, x.shape[axis] - first})}, packParams(params), 2);
    for (size_t i = 0; i < 2; ++i) {
      Shape shape = x.shape;
      shape[axis] = i == 0 ? first : x.shape[axis] - first;
      push(made[i], shape);
    }
  }

  /// A run of elements: a view if it begins on a boundary.
  void rows(const Value& x, const Move& move) {
    const int64_t first = number(move.a, x.shape[0]), last = first + 1 + number(move.b, x.shape[0] - first);
    Shape shape = x.shape;
    shape[0] = last - first;
    push(node("Slice", {x.tensor, list({first}), list({last}), list({0})}), shape);
  }

  /// Of two values of one shape, often parts of the same tensor.
  void sum(const Value& x, const Move& move) {
    std::vector<TensorId> same;
    for (const Value& value : live_)
      if (value.shape == x.shape) same.push_back(value.tensor);
    push(node("Add", {x.tensor, same[static_cast<size_t>(number(move.b, static_cast<int64_t>(same.size())))]}),
         x.shape);
  }

  Model model_;
  std::vector<Value> live_;
  int count_ = 0;
  int kinds_;
};

struct Outcome {
  std::vector<std::vector<float>> outputs;
  SessionStatistics statistics;
  size_t steps = 0;
};

Outcome runChain(const ChainKind& kind, const std::vector<Move>& moves, bool fused, const SessionConfig& config,
                 const std::shared_ptr<Runtime>& runtime) {
  InterpreterOptions options;
  if (!fused) options.disabledPasses = {kAllPasses};
  auto interpreter = Interpreter::create(ChainBuilder(kind).build(moves), builtinOps(), options);
  RC_ASSERT(interpreter.has_value());
  auto session = (*interpreter)->createSession(config, runtime);
  RC_ASSERT(session.has_value());
  const std::span<float> x = (*session)->fillInput("x")->data<float>();
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
  const Status status = (*session)->run();
  if (!status.isOk()) RC_FAIL(status.toString());
  Outcome outcome;
  for (const std::string& name : (*session)->outputNames()) {
    const std::span<float> y = (*session)->output(name)->data<float>();
    outcome.outputs.emplace_back(y.begin(), y.end());
  }
  outcome.statistics = (*session)->statistics();
  outcome.steps = (*session)->placement().size();
  return outcome;
}

/// From all of [0, end): RapidCheck's size keeps chains short and would keep numbers small too.
template <class T>
rc::Gen<T> below(T end) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(0, end));
}

std::vector<Move> anyMoves(int kinds) {
  return *rc::gen::resize(14, rc::gen::container<std::vector<Move>>(rc::gen::build<Move>(
                                  rc::gen::set(&Move::kind, below(kinds)), rc::gen::set(&Move::a, below(12u)),
                                  rc::gen::set(&Move::b, below(24u)), rc::gen::set(&Move::c, below(24u)))));
}

struct Totals {
  size_t removed = 0, views = 0, inPlace = 0;
};

void compareOn(const ChainKind& kind, const SessionConfig& config, const std::shared_ptr<Runtime>& runtime,
               Totals& totals) {
  const std::vector<Move> moves = anyMoves(kind.kinds);
  const Outcome fused = runChain(kind, moves, true, config, runtime);
  const Outcome plain = runChain(kind, moves, false, config, runtime);
  RC_ASSERT(fused.outputs == plain.outputs);
  RC_ASSERT(fused.steps + fused.statistics.removedRasters + fused.statistics.partialViews <= plain.steps);
  totals.removed += fused.statistics.removedRasters;
  totals.views += fused.statistics.partialViews;
  totals.inPlace += fused.statistics.inPlace;
}

Totals checkProperty(const ChainKind& kind, const char* backend, int cases) {
  Totals totals;
  const auto runtime = createRuntime(backend);
  EXPECT_TRUE(runtime) << runtime.error().toString();
  rc::detail::TestParams params;
  params.seed = 20;
  params.maxSuccess = cases;
  const auto result = rc::detail::checkTestable(
      [&] { compareOn(kind, {.backend = backend, .threads = 1, .allowFallback = false}, *runtime, totals); },
      rc::detail::TestMetadata(), params);
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  EXPECT_TRUE(result.is<rc::detail::SuccessResult>()) << text.str();
  EXPECT_GT(totals.removed, static_cast<size_t>(cases) / 4) << "too few chains were fused for this to mean much";
  return totals;
}

/// Views were made, and kernels overwrote inputs while views existed.
void checkViews(const char* backend, int cases) {
  const Totals totals = checkProperty(kRows, backend, cases);
  EXPECT_GT(totals.views, static_cast<size_t>(cases) / 10);
  EXPECT_GT(totals.inPlace, static_cast<size_t>(cases) / 4);
}

TEST(RegionFusion, ChainsAgreeWithUnfusedOnCpu) { checkProperty(kSmall, "cpu", 400); }
TEST(RegionFusion, ChainsWithPartialViewsAgreeOnCpu) { checkViews("cpu", 400); }

#ifdef OPKIT_HAS_VULKAN
TEST(RegionFusion, ChainsAgreeWithUnfusedOnVulkan) { checkProperty(kSmall, "vulkan", 60); }
TEST(RegionFusion, ChainsWithPartialViewsAgreeOnVulkan) { checkViews("vulkan", 60); }
#endif

Outcome runFixed(const std::vector<Move>& moves) { return runChain(kSmall, moves, true, {}, *createRuntime("cpu")); }

TEST(RegionFusion, ChainsBecomeOneRaster) {
  // Transpose, reshape, slice, pad: one raster; the input and the output are all there is.
  const Outcome outcome = runFixed({{1, 1, 0, 1}, {0, 0, 0, 1}, {2, 0, 4, 2}, {4, 0, 4, 1}});
  EXPECT_EQ(outcome.steps, 1u);
  EXPECT_EQ(outcome.statistics.removedRasters, 2u);
  EXPECT_GE(outcome.statistics.fusedRegions, 1u);
}

TEST(RegionFusion, InverseTransposesCostNothing) {
  const Outcome outcome = runFixed({{1, 1, 0, 1}, {1, 2, 0, 1}});
  EXPECT_EQ(outcome.steps, 0u);
  EXPECT_EQ(outcome.outputs[0][7], 8);
}

/// y = Neg of rows [first, last) of x, a matrix of 4 rows of `columns`; how many copies that took.
size_t commandsForRows(int64_t first, int64_t last, int64_t columns, const std::vector<std::string>& disabled) {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {4, columns}});
  const auto list = [&](const char* name, int64_t value) {
    return model.addConstant(name, *Tensor::fromValues<int64_t>({DType::Int64, {1}}, {value}));
  };
  const TensorId rows =
      model.addNode("Slice", "rows", {x, list("first", first), list("last", last), list("axis", 0)}, {})[0];
  model.outputs = model.addNode("Neg", "neg", {rows}, {});
  const auto interpreter = Interpreter::create(std::move(model), builtinOps(), {disabled});
  const auto session = (*interpreter)->createSession({});
  const std::span<float> values = (*session)->fillInput("x")->data<float>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  EXPECT_TRUE((*session)->run().isOk());
  const Tensor& y = *(*session)->output((*session)->outputNames()[0]);
  EXPECT_EQ(y.data<float>()[0], static_cast<float>(-first * columns));
  EXPECT_EQ((*session)->statistics().partialViews, 2 - (*session)->placement().size());
  return (*session)->placement().size();
}

TEST(RegionFusion, AlignedRowsAreViews) {
  EXPECT_EQ(commandsForRows(1, 3, 16, {}), 1u);
  EXPECT_EQ(commandsForRows(0, 2, 5, {}), 1u);  // begins where the tensor does
  EXPECT_EQ(commandsForRows(1, 3, 5, {}), 2u);
  EXPECT_EQ(commandsForRows(1, 3, 16, {"view-ranges"}), 2u);
}

TEST(RegionFusion, ASplitThatIsJoinedAgainCostsNothing) {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {2, 6}});
  const TensorId sizes = model.addConstant("sizes", *Tensor::fromValues<int64_t>({DType::Int64, {2}}, {2, 4}));
  split::SplitParamsT params;
  params.axis = 1;
  const std::vector<TensorId> parts = model.addNode("Split", "split", {x, sizes}, packParams(params), 2);
  concat::ConcatParamsT join;
  join.axis = 1;
  model.outputs = model.addNode("Concat", "join", parts, packParams(join));
  const auto interpreter = Interpreter::create(std::move(model), builtinOps());
  const auto session = (*interpreter)->createSession({});
  (*session)->fillInput("x");  // zeros suffice
  ASSERT_TRUE((*session)->run().isOk());
  EXPECT_TRUE((*session)->placement().empty());
  EXPECT_EQ((*session)->statistics().removedRasters, 3u);
}

}  // namespace
}  // namespace opkit::ops
