// The passes fuse-conv-clamp, fuse-gemm-clamp, fuse-matmul-clamp and fuse-binary-clamp: activations that are nearly the
// clamp of the operator before them.
#include "ops/conv/conv_generated.h"
#include "ops/gemm/gemm_generated.h"
#include "ops/pass_test_support.h"
#include "ops/unary/unary_generated.h"

namespace opkit::ops::unary {
namespace {

using FuseClamp = PassTest;

struct Bounds {
  const char* name;
  std::optional<float> low, high;
  bool isFused = true;
};

const Bounds kBounds[] = {{"both", -0.75f, 1.5f},
                          {"neither", {}, {}},
                          {"a low one that f16 does not hold", 0.1f, {}},
                          {"a high one beyond f16", -70000.0f, 66000.0f},
                          {"one value", 0.5f, 0.5f},
                          {"infinite ones of one sign", INFINITY, INFINITY},
                          {"the low one above the high one", 2, 1, false},
                          {"no number", NAN, 1, false},
                          {"no number above", -1, NAN, false}};

/// Clip, or Relu without bounds.
TensorId activation(PassNet& net, TensorId x, const Bounds* bounds) {
  if (!bounds) return net.node("Relu", {x});
  UnaryParamsT params;
  if (bounds->low) params.alpha = *bounds->low;
  if (bounds->high) params.beta = *bounds->high;
  return net.node("Clip", {x}, packParams(params));
}

/// Infinities, a NaN, sums that overflow f16, and plain numbers.
Tensor specials(const Shape& shape, DType dtype) {
  std::vector<double> values(static_cast<size_t>(elementCount(shape)), 0);
  const double kinds[] = {0.25, -3, 60000, NAN, INFINITY, -0.0, 1, -INFINITY, 0.1, -60000, 2, 0.0999};
  for (size_t i = 0; i < values.size(); ++i) values[i] = kinds[i % std::size(kinds)];
  return tensorOf(shape, values, dtype);
}

/// A product of each operator; x has special values. The depth may be 0.
struct Product {
  const char* name;
  const char* type;
  Shape x, w;
  Shape bias{};
  bool hasBias = false;
};

const Product kProducts[] = {{"Conv", "Conv", {1, 2, 4, 3}, {3, 2, 1, 1}, {3}, true},
                             {"Conv in 3x3", "Conv", {2, 2, 5, 6}, {4, 2, 3, 3}},
                             {"depthwise Conv", "Conv", {1, 4, 3, 5}, {4, 1, 1, 1}, {4}, true},
                             {"Conv over one axis", "Conv", {1, 2, 7}, {3, 2, 2}},
                             {"Conv over three axes", "Conv", {1, 1, 2, 3, 4}, {2, 1, 1, 2, 2}},
                             {"Conv of no images", "Conv", {0, 2, 4, 3}, {3, 2, 1, 1}},
                             {"Gemm", "Gemm", {4, 3}, {3, 5}, {5}, true},
                             {"Gemm without c", "Gemm", {4, 3}, {3, 5}},
                             {"Gemm of depth 0", "Gemm", {4, 0}, {0, 5}, {5}, true},
                             {"Gemm of depth 0 without c", "Gemm", {4, 0}, {0, 5}},
                             {"Gemm of no rows", "Gemm", {0, 3}, {3, 5}},
                             {"MatMul", "MatMul", {4, 3}, {3, 5}},
                             {"MatMul of batches", "MatMul", {2, 1, 4, 3}, {3, 3, 5}},
                             {"MatMul of depth 0", "MatMul", {4, 0}, {0, 5}},
                             {"MatMul of batches of depth 0", "MatMul", {2, 4, 0}, {2, 0, 5}},
                             {"MatMul of a row", "MatMul", {3}, {3, 5}},
                             {"MatMul of a column", "MatMul", {4, 3}, {3}},
                             {"MatMul of two vectors", "MatMul", {3}, {3}},
                             {"Add", "Add", {4, 3}, {3}},
                             {"Mul by a column", "Mul", {4, 3}, {4, 1}},
                             {"Div", "Div", {4, 3}, {4, 3}},
                             {"Pow", "Pow", {4, 3}, {1}},
                             {"FMod", "FMod", {4, 3}, {3}},
                             {"Max", "Max", {4, 3}, {3}},
                             {"PRelu", "PRelu", {4, 3}, {3}},
                             {"Sub of nothing", "Sub", {0, 3}, {3}}};

PassNet productNet(const Product& product, DType dtype, const Bounds* bounds) {
  PassNet net;
  std::vector<TensorId> operands{net.input(specials(product.x, dtype)),
                                 net.constant(drawnTensor(product.w, 0.25, 1, 3, dtype))};
  if (product.hasBias) operands.push_back(net.constant(drawnTensor(product.bias, -1, 1, 4, dtype)));
  conv::ConvParamsT params;
  const bool isConv = std::string_view(product.type) == "Conv";
  if (isConv) params.group = product.x[1] / product.w[1];
  const TensorId y = net.node(product.type, operands, isConv ? packParams(params) : ParamBytes());
  net.model.outputs = {activation(net, y, bounds)};
  return net;
}

TEST_F(FuseClamp, NearMissesKeepTheirMeaning) {
  for (const Product& product : kProducts) {
    for (const DType dtype : {DType::Float32, DType::Float16, DType::Float64}) {
      for (size_t b = 0; b <= std::size(kBounds); ++b) {
        const Bounds* bounds = b < std::size(kBounds) ? &kBounds[b] : nullptr;
        const std::string name =
            fmt::format("{} in {}, {}", product.name, nameOf(dtype), bounds ? bounds->name : "Relu");
        const Outcome after =
            expectMeaning(productNet(product, dtype, bounds), dtype == DType::Float16 ? 1e-3 : 1e-6, name);
        const auto isActivation = [](const std::string& type) { return type == "Relu" || type == "Clip"; };
        EXPECT_EQ(std::ranges::none_of(after.commands, isActivation), !bounds || bounds->isFused) << name;
      }
    }
  }
}

/// One value of bf16 is widened, computed and rounded by nodes of its own.
TEST_F(FuseClamp, CodedFloatsKeepTheirMeaning) {
  for (const Product& product : kProducts)
    for (const Bounds& bounds : {kBounds[0], kBounds[2], kBounds[6]})
      expectMeaning(productNet(product, DType::BFloat16, &bounds), 1e-2, product.name);
}

TEST_F(FuseClamp, ChainsAreOneClamp) {
  const Bounds first{"", -1, 1}, above{"", 2, 3}, below{"", -3, -2}, across{"", 0.5f, 4};
  for (const char* type : {"Gemm", "Add"}) {
    for (const Bounds& second : {above, below, across}) {
      PassNet net;
      const TensorId x = net.input(specials({3, 3}, DType::Float32));
      const TensorId w = net.constant(drawnTensor({3, 3}, 0.25, 1, 3));
      const TensorId y = net.node(type, {x, w});
      net.model.outputs = {activation(net, activation(net, y, &first), &second)};
      EXPECT_EQ(expectMeaning(net, 1e-6, type).commands, Types{type});
    }
  }
}

TEST_F(FuseClamp, RefusedClampsStayRefused) {
  const Bounds valid{"", -10, 0};
  for (const auto& [low, high] : {std::pair(5.0f, 1.0f), std::pair(NAN, 1.0f)}) {
    PassNet net;
    gemm::GemmParamsT params;
    params.clamp_low = low;
    params.clamp_high = high;
    const TensorId x = net.input(specials({4, 3}, DType::Float32));
    const TensorId y = net.node("Gemm", {x, net.constant(drawnTensor({3, 3}, 0.25, 1, 3))}, packParams(params));
    net.model.outputs = {activation(net, y, &valid)};
    expectRefused(net);
  }
}

TEST_F(FuseClamp, OperatorsWithoutAClamp) {
  PassNet net;
  const TensorId x = net.input(specials({12}, DType::Float32));
  for (const char* type : {"Tanh", "Softplus"})
    net.model.outputs.push_back(activation(net, net.node(type, {x}), &kBounds[0]));
  net.model.outputs.push_back(net.node("Relu", {net.node("Sum", {x, net.node("Neg", {x})})}));
  expectMeaning(net, 1e-6);
}

TEST_F(FuseClamp, AViewOfAnotherShapeInBetween) {
  for (const char* type : {"Gemm", "Add"}) {
    PassNet net;
    const TensorId x = net.input(specials({3, 3}, DType::Float32));
    const TensorId y = net.node(type, {x, net.constant(drawnTensor({3, 3}, -1, 1, 3))});
    net.model.outputs = {net.node("Relu", {net.node("Reshape", {y, net.list({9})})})};
    EXPECT_EQ(expectMeaning(net, 1e-6, type).commands, (Types{type, "Relu"}));
  }
}

/// What else reads the value before the activation, and operands without a known type.
TEST_F(FuseClamp, OtherReadersAndUnknownTypesKeepTheActivation) {
  for (const char* type : {"Gemm", "MatMul", "Add"}) {
    for (const char* reader : {"output", "branch", "node", "reshaped output", "nobody"}) {
      PassNet net;
      const std::string_view kind = reader;
      const TensorId x = net.input(specials({3, 3}, DType::Float32));
      const TensorId y = net.node(type, {x, net.constant(drawnTensor({3, 3}, -1, 1, 3))});
      net.model.outputs = {net.node("Relu", {y})};
      if (kind == "output") net.model.outputs.push_back(y);
      if (kind == "branch") net.model.outputs.push_back(net.negatedInBranch(y));
      if (kind == "node") net.model.outputs.push_back(net.node("Neg", {y}));
      if (kind == "reshaped output") net.model.outputs.push_back(net.node("Reshape", {y, net.list({9})}));
      const Outcome after = expectMeaning(net, 1e-6, fmt::format("{} read by {}", type, reader));
      EXPECT_EQ(std::ranges::count(after.commands, "Relu"), kind == "nobody" ? 0 : 1) << type << " read by " << reader;
    }
  }
  for (const DType dtype : {DType::Int32, DType::Float32}) {
    PassNet net;
    const TensorId x = net.input(drawnTensor({3, 3}, -9, 9, 1, dtype)),
                   y = net.input(drawnTensor({3, 3}, -9, 9, 2, dtype));
    net.model.outputs = {net.node("Relu", {net.node("MatMul", {x, y})})};
    EXPECT_EQ(expectMeaning(net, 1e-6).commands, (Types{"MatMul", "Relu"}));
  }
  PassNet integers;
  const TensorId x = integers.input(drawnTensor({3}, -9, 9, 1, DType::Int32));
  const TensorId y = integers.constant(drawnTensor({3}, -9, 9, 2, DType::Int32));
  integers.model.outputs = {integers.node("Relu", {integers.node("Add", {x, y})}),
                            integers.node("Relu", {integers.node("MatMul", {x, y})})};
  EXPECT_EQ(std::ranges::count(expectMeaning(integers, 0).commands, "Relu"), 2);
}

/// The exponent has another type than the base; the result is in floats.
TEST_F(FuseClamp, PowersOfTwoTypes) {
  for (const DType base : {DType::Float32, DType::Float16, DType::Float64, DType::Int32}) {
    PassNet net;
    const TensorId x = net.input(drawnTensor({12}, -3, 3, 5, base));
    const TensorId y = net.node("Pow", {x, net.constant(tensorOf({1}, {3}, DType::Int64))});
    net.model.outputs = {net.node("Relu", {y})};
    expectMeaning(net, base == DType::Float16 ? 1e-3 : 1e-6, nameOf(base));
  }
}

}  // namespace
}  // namespace opkit::ops::unary
