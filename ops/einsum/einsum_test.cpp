// Einsum with constant operands in a Session that keeps few plans: products of one node must not exchange their
// weights.
#include <gtest/gtest.h>

#include <random>

#include "engine/op/params.h"
#include "engine/runtime/session.h"
#include "engine/testing/test_backends.h"
#include "ops/builtin_ops.h"
#include "ops/einsum/einsum_generated.h"

namespace opkit::ops::einsum {
namespace {

/// ib,ij,jk->bk with constants ij and jk. Its parts and their number depend on b: a column needs no transposition.
struct Chain {
  int64_t i, j, k;
  std::string order;  // of the letters of the first operand
};

Tensor drawn(const Shape& shape, std::mt19937& random) {
  std::vector<float> values(static_cast<size_t>(elementCount(shape)));
  std::uniform_real_distribution<float> draw(-1, 1);
  for (float& value : values) value = draw(random);
  return *Tensor::fromValues<float>({DType::Float32, shape}, values);
}

Model modelOf(const Chain& chain, std::mt19937& random) {
  Model model;
  const bool isIb = chain.order == "ib";
  const TensorId x = model.addInput("x", {DType::Float32, isIb ? Shape{chain.i, kDynamic} : Shape{kDynamic, chain.i}});
  const TensorId first = model.addConstant("first", drawn({chain.i, chain.j}, random));
  const TensorId second = model.addConstant("second", drawn({chain.j, chain.k}, random));
  EinsumParamsT params;
  params.equation = chain.order + ",ij,jk->bk";
  model.outputs = model.addNode("Einsum", "chain", {x, first, second}, packParams(params));
  return model;
}

std::vector<float> runOn(Session& session, const Tensor& x) {
  EXPECT_TRUE(session.resizeInput("x", x.desc.shape).isOk());
  convertElements(x, *session.fillInput("x"));
  const Status status = session.run();
  EXPECT_TRUE(status.isOk()) << status.toString();
  const std::span<float> values = session.outputs()[0].data<float>();
  return {values.begin(), values.end()};
}

void expectFreshResults(const Chain& chain, std::mt19937& random) {
  const Model model = modelOf(chain, random);
  const auto interpreter = *Interpreter::create(model, builtinOps());
  for (const std::string& backend : testBackends())
    for (const size_t plans : {size_t{1}, size_t{4}}) {
      const auto session = *interpreter->createSession({.backend = backend, .threads = 1, .planCacheSize = plans});
      for (const int64_t b : {1, 2, 3, 4, 5, 1, 5}) {
        const Tensor x = drawn(chain.order == "ib" ? Shape{chain.i, b} : Shape{b, chain.i}, random);
        const auto fresh = *interpreter->createSession({.backend = backend, .threads = 1});
        EXPECT_EQ(runOn(*session, x), runOn(*fresh, x)) << backend << ", " << plans << " plans, " << chain.order << ' '
                                                        << b << ": " << chain.i << ' ' << chain.j << ' ' << chain.k;
      }
    }
}

TEST(Einsum, PartsKeepTheirConstantsFromShapeToShape) {
  std::mt19937 random(31);
  expectFreshResults({64, 64, 64, "ib"}, random);
  expectFreshResults({64, 512, 16, "ib"}, random);
  for (int draw = 0; draw < 6; ++draw) {
    const auto extent = [&] { return 1 + static_cast<int64_t>(random() % 70); };
    expectFreshResults({extent(), extent(), extent(), draw % 2 == 0 ? "ib" : "bi"}, random);
  }
}

}  // namespace
}  // namespace opkit::ops::einsum
