// Graph passes on drawn graphs of 3 to 12 nodes. Half of them hold the pattern of a pass; the others nearly do: other
// ranks, broadcasting, constants, further readers, operands of a run, extreme values. With all passes the outputs must
// be those without any, on every backend. The same 12 graphs per pass each time; the part drawn-passes of the night
// asks for more (OPKIT_PASS_DRAWS) and for others each day (OPKIT_DAY).
#include <cstdlib>
#include <random>
#include <set>

#include "engine/graph/pass.h"
#include "ops/batch_norm/batch_norm_generated.h"
#include "ops/binary/binary_generated.h"
#include "ops/concat/concat_generated.h"
#include "ops/conv/conv_generated.h"
#include "ops/gemm/gemm_generated.h"
#include "ops/pass_test_support.h"
#include "ops/softmax/softmax_generated.h"
#include "ops/split/split_generated.h"
#include "ops/transpose/transpose_generated.h"
#include "ops/unary/unary_generated.h"

namespace opkit::ops::drawn_passes {
namespace {

uint32_t fromEnvironment(const char* name, uint32_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : otherwise;
}

/// A graph that grows by chance.
struct Sketch : PassNet {
  explicit Sketch(uint32_t seed) : random(seed), deviates(seed % 2 == 1) {}

  std::mt19937 random;
  bool deviates;  // some of its parts are not those of the pattern
  DType dtype = DType::Float32;
  double tolerance = 1e-6;  // of the largest element
  double absolute = 0;

  size_t below(size_t limit) { return random() % limit; }
  bool oneIn(size_t n) { return below(n) == 0; }
  /// Whether a part differs from the pattern.
  bool differs(size_t oneOf = 4) { return oneIn(oneOf) && deviates; }
  template <class T>
  T pick(std::initializer_list<T> from) {
    return from.begin()[below(from.size())];
  }
  int64_t extent(size_t most) { return static_cast<int64_t>(1 + below(most)); }
  Shape shape(size_t rank, size_t most) {
    Shape drawn(rank);
    for (int64_t& one : drawn) one = extent(most);
    return drawn;
  }
  /// f16 and f64 now and then.
  void drawType() {
    dtype = oneIn(4) ? pick({DType::Float16, DType::Float64}) : DType::Float32;
    if (dtype == DType::Float16) tolerance = 2e-3;
  }
  Tensor values(const Shape& of, double low, double high) {
    return drawnTensor(of, low, high, static_cast<uint32_t>(random()), dtype);
  }
  /// An input of the model; `extremes` stand at its first elements now and then.
  TensorId data(const Shape& of, double magnitude, const std::vector<double>& extremes = {}) {
    Tensor drawn = values(of, -magnitude, magnitude);
    const Tensor wide = *Tensor::onHost({DType::Float64, of});
    convertElements(drawn, wide);
    for (size_t i = 0; i < std::min(extremes.size(), wide.data<double>().size()) && oneIn(2); ++i)
      wide.data<double>()[i] = extremes[below(extremes.size())];
    convertElements(wide, drawn);
    return input(drawn, differs());
  }
  /// A constant, or an input of the model instead.
  TensorId operand(const Shape& of, double low, double high) {
    Tensor drawn = values(of, low, high);
    return differs() ? input(std::move(drawn)) : constant(std::move(drawn));
  }
  /// Perhaps somebody else reads the tensor.
  TensorId shown(TensorId tensor) {
    if (!differs(6)) return tensor;
    const size_t reader = below(3);
    model.outputs.push_back(reader == 0 ? tensor : reader == 1 ? node("Neg", {tensor}) : negatedInBranch(tensor));
    return tensor;
  }
  /// Up to two elementwise nodes.
  TensorId around(TensorId x) {
    for (size_t i = below(3); i > 0; --i) x = node(pick({"Neg", "Abs", "Relu", "Tanh"}), {x});
    return x;
  }
  TensorId transposed(TensorId x, size_t rank) {
    transpose::TransposeParamsT params;
    for (size_t d = 0; d < rank; ++d) params.perm.push_back(static_cast<int>(d));
    std::shuffle(params.perm.begin(), params.perm.end(), random);
    return node("Transpose", {x}, packParams(params));
  }
  /// Rows `first` to `last` of axis 0.
  TensorId rows(TensorId x, int64_t first, int64_t last) {
    return node("Slice", {x, list({first}), list({last}), list({0})});
  }
  /// Relu or Clip.
  TensorId activation(TensorId x) {
    if (oneIn(2)) return node("Relu", {x});
    unary::UnaryParamsT params;
    if (!oneIn(4)) params.alpha = pick({-0.5f, 0.0f, 0.1f, -70000.0f, -INFINITY});
    if (!oneIn(4)) params.beta = pick({6.0f, 1.5f, 0.25f, 70000.0f, INFINITY});
    if (differs()) params.alpha = pick({NAN, 8.0f});
    return node("Clip", {x}, packParams(params));
  }
  void finish(TensorId y) { model.outputs.push_back(y); }
};

void deadCode(Sketch& s) {
  s.drawType();
  const TensorId x = s.around(s.data(s.shape(2, 5), 3));
  TensorId unread = s.around(s.node("Exp", {x}));
  if (s.oneIn(2)) unread = s.node("Add", {unread, s.operand({1}, -1, 1)});
  if (s.differs(2)) s.model.outputs.push_back(s.negatedInBranch(unread));
  s.finish(s.node("Neg", {x}));
}

/// One of two nodes that are equal or differ in one parameter, operand or output.
TensorId twin(Sketch& s, TensorId x, TensorId y, size_t kind, bool differs) {
  if (kind == 0) {
    softmax::SoftmaxParamsT params;
    params.axis = differs ? 0 : -1;
    return s.node("Softmax", {x}, packParams(params));
  }
  if (kind == 1) return s.node("Sub", differs ? std::vector{y, x} : std::vector{x, y});
  if (kind == 2) {
    concat::ConcatParamsT params;
    params.axis = differs ? 1 : 0;
    return s.node("Concat", {x, y}, packParams(params));
  }
  if (kind == 3) return s.nodes("Split", {x}, differs ? 3 : 2)[1];
  if (kind == 4) {
    unary::UnaryParamsT params;
    params.alpha = differs ? 0.25f : 0.5f;
    return s.node("LeakyRelu", {x}, packParams(params));
  }
  return s.node(differs ? "Exp" : "Tanh", {x});
}

void equalNodes(Sketch& s) {
  s.drawType();
  const TensorId x = s.around(s.data({6, 6}, 2)), y = s.node("Neg", {s.data({6, 6}, 2)});
  const size_t kind = s.below(6);
  const TensorId first = s.shown(twin(s, x, y, kind, false)), second = s.shown(twin(s, x, y, kind, s.differs(2)));
  s.finish(s.around(first));
  s.finish(s.node("Abs", {second}));
}

/// Operators that move data, one after the other.
void regions(Sketch& s) {
  s.tolerance = 0;
  const int64_t extent = 2 * s.extent(4);
  TensorId x = s.node("Neg", {s.data({extent, extent, extent}, 9)});  // each step keeps the cube
  for (size_t i = 2 + s.below(4); i > 0; --i) {
    const size_t kind = s.below(5);
    if (kind == 0) x = s.transposed(x, 3);
    if (kind == 1) x = s.node("Reshape", {s.node("Reshape", {x, s.list({-1, extent})}), s.list({extent, extent, -1})});
    if (kind == 2) {
      concat::ConcatParamsT params;
      const TensorId half = s.rows(x, 0, extent / 2);
      x = s.node("Concat", {s.oneIn(2) ? half : s.rows(x, extent / 2, extent), half}, packParams(params));
    }
    if (kind == 3) x = s.rows(s.node("Pad", {x, s.list({1, 0, 0, 1, 0, 0})}), 2, extent + 2);
    if (kind == 4)
      x = s.node("Slice", {x, s.list({-1}), s.list({-99}), s.list({static_cast<int64_t>(s.below(3))}), s.list({-1})});
    x = s.shown(x);
  }
  s.finish(s.node("Neg", {x}));
}

/// Runs of elements of a tensor that others read or overwrite.
void views(Sketch& s) {
  const int64_t count = s.extent(6) + 2, row = s.differs(2) ? 3 : s.pick<int64_t>({64, 128});
  const TensorId given = s.data({count, row}, 3);
  const TensorId x = s.differs(2) ? given : s.node("Neg", {given});
  for (size_t i = 1 + s.below(3); i > 0; --i) {
    const auto first = static_cast<int64_t>(s.below(static_cast<size_t>(count - 1)));
    const TensorId part =
        s.rows(x, first, first + 1 + static_cast<int64_t>(s.below(static_cast<size_t>(count - first))));
    const char* const reader = s.pick({"Relu", "Exp", "Neg"});
    s.finish(s.node(reader, {s.shown(part)}));
  }
  if (s.oneIn(2)) s.finish(s.node("Relu", {x}));
}

/// A convolution over 1 to 3 axes, perhaps in groups.
TensorId convolution(Sketch& s, int64_t& channels) {
  const size_t axes = 1 + s.below(3);
  const int64_t groups = s.oneIn(3) ? 2 : 1, in = groups * s.extent(3);
  channels = groups * s.extent(3);
  Shape x = s.shape(axes + 2, 5), w = s.shape(axes + 2, 2);
  x[1] = in, w[0] = channels, w[1] = in / groups;
  for (size_t d = 2; d < x.size(); ++d) x[d] += 1;
  conv::ConvParamsT params;
  params.group = groups;
  if (s.oneIn(3)) params.strides.assign(axes, 2);
  if (s.oneIn(3)) params.pads.assign(2 * axes, 1);
  std::vector<TensorId> operands{s.around(s.data(x, 2)), s.operand(w, -1, 1)};
  if (s.oneIn(2)) operands.push_back(s.operand({channels}, -2, 2));
  if (s.differs()) params.clamp_low = -0.5f;
  return s.node("Conv", operands, packParams(params));
}

void foldedNorm(Sketch& s) {
  s.tolerance = 2e-5;
  int64_t channels = 0;
  const TensorId conv = s.shown(convolution(s, channels));
  std::vector<TensorId> inputs{conv};
  const bool isRunTime = s.differs(2);
  const auto statistic = [&](double low, double high) {
    const Tensor drawn = s.values({channels}, low, high);
    inputs.push_back(isRunTime && s.oneIn(2) ? s.input(drawn) : s.constant(drawn));
  };
  statistic(-2, 2);
  statistic(-1, 1);
  statistic(-1, 1);
  statistic(0.05, 4);
  batch_norm::BatchNormParamsT params;
  params.epsilon = s.pick({1e-5f, 1e-3f, 0.5f, 4.0f});
  s.finish(s.around(s.node("BatchNormalization", inputs, packParams(params))));
}

void clampedConv(Sketch& s) {
  s.drawType();
  s.tolerance *= 10;
  int64_t channels = 0;
  s.finish(s.around(s.activation(s.shown(convolution(s, channels)))));
}

void clampedGemm(Sketch& s) {
  s.drawType();
  s.tolerance *= 10;
  const int64_t rows = s.extent(6), depth = s.extent(9), columns = s.extent(6);
  gemm::GemmParamsT params;
  params.trans_a = s.oneIn(3), params.trans_b = s.oneIn(3);
  params.alpha = s.pick({1.0f, 0.5f, -2.0f}), params.beta = s.pick({1.0f, 0.25f});
  std::vector<TensorId> operands{s.around(s.data(params.trans_a ? Shape{depth, rows} : Shape{rows, depth}, 2)),
                                 s.operand(params.trans_b ? Shape{columns, depth} : Shape{depth, columns}, -1, 1)};
  if (s.oneIn(2))
    operands.push_back(s.operand(s.pick({Shape{columns}, Shape{rows, 1}, Shape{}, Shape{1, columns}}), -1, 1));
  s.finish(s.around(s.activation(s.shown(s.node("Gemm", operands, packParams(params))))));
}

void clampedProduct(Sketch& s) {
  s.drawType();
  s.tolerance *= 10;
  const int64_t rows = s.extent(6), depth = s.extent(9), columns = s.extent(6), batch = s.extent(3);
  const Shape a = s.pick({Shape{rows, depth}, Shape{batch, rows, depth}, Shape{depth}, Shape{2, 1, rows, depth}});
  const Shape b = s.pick({Shape{depth, columns}, Shape{batch, depth, columns}, Shape{depth}});
  s.finish(s.around(s.activation(s.shown(s.node("MatMul", {s.around(s.data(a, 2)), s.operand(b, -1, 1)})))));
}

/// Operands that broadcast in either direction, with infinities and NaN.
void clampedArithmetic(Sketch& s) {
  s.drawType();
  const Shape shape = s.shape(1 + s.below(4), 4);
  Shape other(shape.end() - static_cast<std::ptrdiff_t>(1 + s.below(shape.size())), shape.end());
  for (int64_t& extent : other)
    if (s.oneIn(4)) extent = 1;
  const TensorId x = s.data(shape, 3, {INFINITY, -INFINITY, NAN, -0.0, 60000, -60000});
  const TensorId y = s.operand(other, 0.25, 3);
  const char* const type = s.pick({"Add", "Sub", "Mul", "Div", "Max", "Min"});
  const TensorId made = s.node(type, s.oneIn(2) ? std::vector{x, y} : std::vector{y, x});
  s.finish(s.around(s.activation(s.shown(made))));
}

void identities(Sketch& s) {
  s.drawType();
  TensorId x = s.data(s.shape(1 + s.below(3), 5), 3, {NAN, -0.0, INFINITY});
  const bool copies = s.differs(2);  // an input to an output
  if (!copies) x = s.around(x);
  for (size_t i = copies ? 1 : 1 + s.below(3); i > 0; --i) {
    if (s.oneIn(3)) {
      const Tensor kept = tensorOf(s.oneIn(2) ? Shape{} : Shape{1}, {0.5}, s.dtype);
      const std::vector<TensorId> made = s.nodes("Dropout", {x, s.constant(kept)}, 1 + s.below(2));
      if (made.size() > 1 && s.differs(2)) s.model.outputs.push_back(made[1]);
      x = made[0];
    } else {
      x = s.node("Identity", {x});
    }
    x = s.shown(x);
  }
  s.finish(copies || s.oneIn(3) ? x : s.node("Abs", {x}));
}

void layerNorm(Sketch& s) {
  s.drawType();
  if (s.dtype == DType::Float16) s.tolerance = 2e-2;
  if (s.dtype == DType::Float32) s.tolerance = 2e-5;
  const int64_t row = s.extent(8) + 1;
  Shape shape = s.shape(s.below(3), 3);
  shape.push_back(row);
  const auto scalar = [&](double value) {
    return s.constant(tensorOf(s.differs(6) ? Shape(1 + s.below(4), 1) : Shape{}, {value}, s.dtype));
  };
  const auto factor = [&](double low, double high) {
    return s.operand(s.differs(6) ? Shape{1} : Shape{row}, low, high);
  };
  const TensorId x = s.around(s.data(shape, 3)),
                 axes = s.list({s.differs(6) ? static_cast<int64_t>(shape.size()) - 1 : -1});
  const TensorId centred = s.shown(s.node("Sub", {x, s.node("ReduceMean", {x, axes})}));
  const TensorId square = s.node("Pow", {centred, scalar(s.differs(6) ? 4 : 2)});
  const TensorId sum =
      s.shown(s.node("Add", {s.node("ReduceMean", {square, axes}), scalar(s.pick({0.0009765625, 0.5}))}));
  const TensorId ratio = s.node("Div", {centred, s.node("Sqrt", {sum})});
  s.finish(s.node("Add", {s.node("Mul", {ratio, factor(0.5, 2)}), factor(-1, 1)}));
}

void gelu(Sketch& s) {
  s.drawType();
  s.tolerance = std::max(s.tolerance, 5e-7);
  // For x near -6, 1 + erf is 1 ULP of 1 or less, which the pattern multiplies by x.
  if (s.dtype != DType::Float64) s.absolute = s.dtype == DType::Float16 ? 3e-3 : 7.2e-7;
  const bool multiplies = s.oneIn(2);
  const TensorId x = s.around(s.data(s.shape(1 + s.below(4), 4), 6, {-INFINITY, NAN, -0.0, 1000, -1000}));
  const auto scalar = [&](double value) {
    return s.constant(tensorOf(s.differs(6) ? Shape(1 + s.below(4), 1) : Shape{}, {value}, s.dtype));
  };
  const double root = s.differs() ? 1.5 : M_SQRT2;
  const TensorId scaled = s.shown(multiplies ? s.node("Mul", {scalar(1 / root), x}) : s.node("Div", {x, scalar(root)}));
  const TensorId sum = s.shown(s.node("Add", {s.node("Erf", {scaled}), scalar(s.differs() ? 2 : 1)}));
  const TensorId half = scalar(s.differs() ? 0.25 : 0.5);
  const size_t order = s.below(3);
  s.finish(order == 0   ? s.node("Mul", {half, s.node("Mul", {sum, x})})
           : order == 1 ? s.node("Mul", {s.node("Mul", {x, half}), sum})
                        : s.node("Mul", {x, s.node("Mul", {half, sum})}));
}

/// Scales and zero points of bytes around an operator of floats.
struct Bytes {
  Sketch& s;

  TensorId zero(int value, DType dtype = DType::UInt8) {
    Tensor tensor = *Tensor::onHost({dtype, {}});
    tensor.bytes()[0] = static_cast<std::byte>(value);
    return s.constant(tensor);
  }
  TensorId scale(double value) { return s.constant(tensorOf(s.oneIn(8) ? Shape{1} : Shape{}, {value})); }
  TensorId real(const Shape& shape, double step, int zeroPoint) {
    const TensorId codes = s.input(drawnTensor(shape, 0, 255.99, static_cast<uint32_t>(s.random()), DType::UInt8));
    return s.shown(s.node("DequantizeLinear", {codes, scale(step), zero(zeroPoint)}));
  }
  /// A second operand: quantised too, or floats, which keep the node from computing in integers.
  TensorId operand(const Shape& shape, double step, int zeroPoint) {
    if (!s.oneIn(6)) return real(shape, step, zeroPoint);
    return s.input(drawnTensor(shape, -4, 4, static_cast<uint32_t>(s.random())));
  }
  TensorId weights(const Shape& shape) {
    const Tensor codes = drawnTensor(shape, -100, 100, static_cast<uint32_t>(s.random()), DType::Int8);
    return s.node("DequantizeLinear", {s.constant(codes), scale(0.01), zero(0, DType::Int8)});
  }
  TensorId quantized(TensorId x, double step, int zeroPoint) {
    return s.node("QuantizeLinear", {s.shown(x), scale(step), zero(zeroPoint)});
  }
};

void integers(Sketch& s) {
  s.tolerance = 0, s.absolute = 1;  // step of the output
  Bytes bytes{s};
  const double step = s.pick({0.05, 0.02}), other = s.pick({0.05, 0.03});
  const int zeroPoint = static_cast<int>(s.below(256));
  const size_t kind = s.below(6);
  const Shape shape = kind == 3 ? Shape{s.extent(3), 2, 4, 5} : s.shape(2, 6);
  const TensorId x = bytes.real(shape, step, zeroPoint);
  TensorId y;
  if (kind == 0) y = s.node("MatMul", {x, bytes.weights({shape[1], s.extent(5)})});
  if (kind == 1) y = s.node("Add", {x, bytes.operand(s.oneIn(2) ? shape : Shape{shape[1]}, other, 90)});
  if (kind == 2) y = s.node("Mul", {x, bytes.operand(shape, other, 128)});
  if (kind == 3) y = s.node("Conv", {x, bytes.weights({3, 2, 2, 2})});
  if (kind == 4) y = s.transposed(x, 2);
  if (kind == 5) y = s.node("Gemm", {x, bytes.weights({shape[1], 4})});
  const bool moves = kind == 4;
  if (!moves && s.oneIn(3)) y = s.node("Relu", {y});
  const bool same = moves && !s.differs();  // the scale before is the scale after
  const int after = same ? zeroPoint : s.pick({0, 120});
  s.finish(bytes.quantized(y, same ? step : 0.1, after));
}

struct Pattern {
  const char* pass;
  void (*draw)(Sketch&);
};

const Pattern kPatterns[] = {{"remove-dead-code", deadCode},
                             {"join-equal-nodes", equalNodes},
                             {"fuse-regions", regions},
                             {"view-ranges", views},
                             {"fold-batch-norm", foldedNorm},
                             {"fuse-binary-clamp", clampedArithmetic},
                             {"fuse-conv-clamp", clampedConv},
                             {"fuse-gemm-clamp", clampedGemm},
                             {"remove-identities", identities},
                             {"fuse-layer-norm", layerNorm},
                             {"fuse-matmul-clamp", clampedProduct},
                             {"integer-qdq", integers},
                             {"fuse-gelu", gelu}};

class DrawnPasses : public PassTest {
 protected:
  /// Whether the pass changed the graph.
  static bool fired(const std::string& pass, const PassNet& net, const Outcome& after) {
    if (const auto count = after.changes.find(pass); count != after.changes.end()) return count->second > 0;
    const Outcome without = runWith(net, "cpu", {pass}), with = runWith(net, "cpu", {});
    return with.commands != without.commands || with.statistics.removedRasters != without.statistics.removedRasters ||
           with.statistics.partialViews != without.statistics.partialViews;
  }
};

TEST_F(DrawnPasses, KeepTheMeaning) {
  const uint32_t draws = fromEnvironment("OPKIT_PASS_DRAWS", 12), day = fromEnvironment("OPKIT_DAY", 0);
  for (const Pattern& pattern : kPatterns) {
    uint32_t fires = 0;
    for (uint32_t i = 0; i < draws; ++i) {
      Sketch sketch(day * 100000 + i);
      pattern.draw(sketch);
      const std::string name = fmt::format("{}, OPKIT_DAY={} draw {}", pattern.pass, day, i);
      const Outcome after = expectMeaning(sketch, sketch.tolerance, name, sketch.absolute);
      fires += fired(pattern.pass, sketch, after);
    }
    fmt::print("{} fired in {} of {} graphs\n", pattern.pass, fires, draws);
    EXPECT_GE(2 * fires, draws) << pattern.pass << " hardly fires";
    EXPECT_LT(fires, draws) << pattern.pass << " has no near miss";
  }
}

/// Every pass of OpKit has a pattern here.
TEST_F(DrawnPasses, AreAll) {
  std::set<std::string> drawn, known;
  for (const Pattern& pattern : kPatterns) drawn.insert(pattern.pass);
  for (const auto& pass : builtinOps().passes()) known.insert(pass->name);
  EXPECT_EQ(drawn, known);
}

}  // namespace
}  // namespace opkit::ops::drawn_passes
