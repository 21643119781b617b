// The rule of hidden keys (attention.h), on every backend: attention that is drawn at random, whose hidden keys and
// values are NaN or infinite, against plain loops that never read them.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/backend/device_test_support.h"
#include "engine/op/oracle.h"
#include "engine/runtime/session.h"
#include "engine/testing/test_backends.h"
#include "ops/attention/attention_generated.h"
#include "ops/builtin_ops.h"

namespace opkit::ops::attention {
namespace {

enum class Hides { Bools, Infinities, Lengths, Causality, Window };

/// A node of Attention: q [batch, heads, queries, size], k and v [batch, kvHeads, keys, size].
struct Drawn {
  Hides by = Hides::Bools;
  DType dtype = DType::Float32;
  bool withScores = false;
  int64_t batch = 1, kvHeads = 1, group = 1, queries = 1, keys = 1, size = 1;
  int64_t left = -1, right = -1;
  OracleTensor q, k, v, mask, lengths;

  int64_t heads() const { return kvHeads * group; }
  bool hasMask() const { return by == Hides::Bools || by == Hides::Infinities; }
  size_t maskAt(int64_t b, int64_t query, int64_t key) const {
    return static_cast<size_t>((b * queries + query) * keys + key);
  }
  bool isSeen(int64_t b, int64_t query, int64_t key) const {
    if (by == Hides::Bools) return mask.integer[maskAt(b, query, key)] != 0;
    if (by == Hides::Infinities) return std::isfinite(mask.real[maskAt(b, query, key)]);
    if (by == Hides::Lengths) return key < lengths.integer[static_cast<size_t>(b)];
    return key <= query && (left < 0 || key >= query - left);
  }
  double added(int64_t b, int64_t query, int64_t key) const {
    return by == Hides::Infinities ? mask.real[maskAt(b, query, key)] : 0;
  }
};

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Drawn draw(Hides by, DType dtype) {
    Drawn drawn;
    drawn.by = by;
    drawn.dtype = dtype;
    drawn.withScores = between(0, 2) == 0;
    drawn.batch = between(1, 3);
    drawn.kvHeads = between(1, 2);
    drawn.group = between(1, 3);
    drawn.queries = between(1, 20);
    drawn.keys = between(2, 300);
    drawn.size = between(0, 1) == 0 ? 5 : 8;  // few, since each is a pipeline of its own
    if (by == Hides::Causality || by == Hides::Window) drawn.right = 0;
    if (by == Hides::Window) drawn.left = between(0, 9);
    drawn.q = normal({dtype, {drawn.batch, drawn.heads(), drawn.queries, drawn.size}});
    drawn.k = normal({dtype, {drawn.batch, drawn.kvHeads, drawn.keys, drawn.size}});
    drawn.v = normal(drawn.k.desc);
    drawMask(drawn);
    spoil(drawn);
    return drawn;
  }

 private:
  int64_t between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }

  OracleTensor normal(const TensorDesc& desc) {
    OracleTensor x(desc);
    for (double& value : x.real) value = static_cast<double>(between(-32, 32)) / 32;
    return x;
  }

  /// Two of five keys are hidden from all queries, others from some.
  void drawMask(Drawn& drawn) {
    const bool isBool = drawn.by == Hides::Bools;
    drawn.mask.reset({isBool ? DType::Bool : drawn.dtype, {drawn.batch, 1, drawn.queries, drawn.keys}});
    for (int64_t b = 0; b < drawn.batch; ++b)
      for (int64_t key = 0; key < drawn.keys; ++key) {
        const bool isGone = between(0, 4) < 2;
        for (int64_t query = 0; query < drawn.queries; ++query) {
          const bool isHidden = isGone || between(0, 9) == 0;
          const size_t at = drawn.maskAt(b, query, key);
          if (isBool)
            drawn.mask.integer[at] = isHidden ? 0 : 1;
          else
            drawn.mask.real[at] = isHidden ? -INFINITY : static_cast<double>(between(-16, 16)) / 16;
        }
      }
    drawn.lengths.reset({DType::Int64, {drawn.batch}});
    for (int64_t& length : drawn.lengths.integer) length = between(1, drawn.keys);
  }

  /// Fills the keys that no query sees, and one that some queries do not see.
  void spoil(Drawn& drawn) {
    const double kinds[] = {NAN, INFINITY, -INFINITY};
    const int64_t some = between(0, drawn.keys - 1);
    for (int64_t b = 0; b < drawn.batch; ++b)
      for (int64_t key = 0; key < drawn.keys; ++key) {
        int64_t seeing = 0;
        for (int64_t query = 0; query < drawn.queries; ++query) seeing += drawn.isSeen(b, query, key);
        if (seeing > 0 && (key != some || seeing == drawn.queries)) continue;
        for (int64_t head = 0; head < drawn.kvHeads; ++head)
          for (int64_t d = 0; d < drawn.size; ++d) {
            const auto at = static_cast<size_t>(((b * drawn.kvHeads + head) * drawn.keys + key) * drawn.size + d);
            drawn.k.real[at] = kinds[between(0, 2)];
            drawn.v.real[at] = kinds[between(0, 2)];
          }
      }
  }

  std::mt19937 random_;
};

/// One row of the result; nothing where the query sees a spoilt key.
std::optional<std::vector<double>> rowOf(const Drawn& drawn, int64_t b, int64_t head, int64_t query) {
  const int64_t size = drawn.size, kvHead = b * drawn.kvHeads + head / drawn.group;
  const double* q = drawn.q.real.data() + ((b * drawn.heads() + head) * drawn.queries + query) * size;
  std::vector<double> sum(static_cast<size_t>(size));
  double total = 0;
  for (int64_t key = 0; key < drawn.keys; ++key) {
    if (!drawn.isSeen(b, query, key)) continue;
    const double* k = drawn.k.real.data() + (kvHead * drawn.keys + key) * size;
    const double* v = drawn.v.real.data() + (kvHead * drawn.keys + key) * size;
    double score = 0;
    for (int64_t d = 0; d < size; ++d) {
      if (!std::isfinite(k[d]) || !std::isfinite(v[d])) return std::nullopt;
      score += q[d] * k[d];
    }
    const double weight = std::exp(score / std::sqrt(static_cast<double>(size)) + drawn.added(b, query, key));
    total += weight;
    for (size_t d = 0; d < sum.size(); ++d) sum[d] += weight * v[d];
  }
  for (double& value : sum) value = total > 0 ? value / total : 0;
  return sum;
}

Model modelOf(const Drawn& drawn) {
  Model model;
  const TensorId q = model.addInput("q", drawn.q.desc), k = model.addInput("k", drawn.k.desc);
  const TensorId v = model.addInput("v", drawn.v.desc);
  const TensorId mask = drawn.hasMask() ? model.addInput("mask", drawn.mask.desc) : TensorId();
  const TensorId lengths = drawn.by == Hides::Lengths ? model.addInput("lengths", drawn.lengths.desc) : TensorId();
  AttentionParamsT params;
  params.left = drawn.left;
  params.right = drawn.right;
  params.scores = Scores::Softmax;
  const size_t outputs = drawn.withScores ? 4 : 1;
  model.outputs = model.addNode("Attention", "node", {q, k, v, mask, {}, {}, lengths}, packParams(params), outputs);
  return model;
}

void set(Session& session, const char* name, const OracleTensor& values) { values.toTensor(*session.fillInput(name)); }

/// The number of rows that were compared.
int64_t compare(const Drawn& drawn, const Tensor& y, const std::string& where) {
  const OracleTensor got = OracleTensor::fromTensor(y);
  const double tolerance = drawn.dtype == DType::Float16 ? 2e-3 : 2e-5;
  int64_t compared = 0;
  for (int64_t b = 0; b < drawn.batch; ++b)
    for (int64_t head = 0; head < drawn.heads(); ++head)
      for (int64_t query = 0; query < drawn.queries; ++query) {
        const auto row = rowOf(drawn, b, head, query);
        if (!row) continue;
        ++compared;
        const int64_t first = ((b * drawn.heads() + head) * drawn.queries + query) * drawn.size;
        for (size_t d = 0; d < row->size(); ++d) {
          const double value = got.real[static_cast<size_t>(first) + d];
          if (std::fabs(value - (*row)[d]) <= tolerance) continue;
          ADD_FAILURE() << where << " [" << b << "," << head << "," << query << "," << d << "]: expected " << (*row)[d]
                        << ", got " << value;
          return compared;
        }
      }
  return compared;
}

void expectHidden(Hides by, DType dtype) {
  int64_t compared = 0;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    const Drawn drawn = Generator(seed).draw(by, dtype);
    const auto interpreter = Interpreter::create(modelOf(drawn), builtinOps());
    ASSERT_TRUE(interpreter) << interpreter.error().toString();
    for (const std::string& backend : testBackends()) {
      const auto session = (*interpreter)->createSession({.backend = backend, .threads = 1});
      if (!session && backend == "vulkan" && !devicesArePromised()) continue;
      ASSERT_TRUE(session) << session.error().toString();
      set(**session, "q", drawn.q);
      set(**session, "k", drawn.k);
      set(**session, "v", drawn.v);
      if (drawn.hasMask()) set(**session, "mask", drawn.mask);
      if (drawn.by == Hides::Lengths) set(**session, "lengths", drawn.lengths);
      const Status ran = (*session)->run();
      ASSERT_TRUE(ran.isOk()) << ran.toString();
      compared += compare(drawn, (*session)->outputs()[0], fmt::format("{} seed {}", backend, seed));
    }
  }
  EXPECT_GT(compared, 0);
}

class HiddenKeys : public testing::TestWithParam<DType> {};

TEST_P(HiddenKeys, ByAMaskOfBool) { expectHidden(Hides::Bools, GetParam()); }
TEST_P(HiddenKeys, ByAMaskOfMinusInfinity) { expectHidden(Hides::Infinities, GetParam()); }
TEST_P(HiddenKeys, ByLengths) { expectHidden(Hides::Lengths, GetParam()); }
TEST_P(HiddenKeys, ByCausality) { expectHidden(Hides::Causality, GetParam()); }
TEST_P(HiddenKeys, ByAWindow) { expectHidden(Hides::Window, GetParam()); }

INSTANTIATE_TEST_SUITE_P(Attention, HiddenKeys, testing::Values(DType::Float32, DType::Float16, DType::Float64));

}  // namespace
}  // namespace opkit::ops::attention
