#include "engine/backend/cpu/long_runs.h"

#include <gtest/gtest.h>

namespace opkit::cpu {
namespace {

/// Where each output element of the loops finds its operand, by plain division.
std::vector<int64_t> positions(const Loops& loops, size_t operand) {
  std::vector<int64_t> result;
  forEachIndex(loops.size, [&](const DimVector& index) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * loops.strides[operand][d];
    result.push_back(at);
  });
  return result;
}

/// Elements whose bytes all differ from those of their neighbours.
template <class T>
std::vector<T> numbered(int64_t count) {
  std::vector<T> result(static_cast<size_t>(count));
  for (size_t i = 0; i < result.size(); ++i) result[i] = static_cast<T>(i * 0x9e3779b97f4a7c15 >> 7);
  return result;
}

/// Overwrites the stack below: what an earlier walk left in its tiles would hide elements that nobody wrote.
[[gnu::noinline]] void clearStack() {
  std::array<volatile uint8_t, 32768> bytes;
  for (volatile uint8_t& byte : bytes) byte = 0xa5;
}

/// Three operands of three sizes, in one walk.
struct Operands {
  explicit Operands(const Loops& walked) : loops(walked) {
    for (size_t k = 0; k < 3; ++k) {
      at[k] = positions(loops, k);
      most = std::max(most, *std::ranges::max_element(at[k]));
    }
    x = numbered<uint8_t>(most + 1);
    y = numbered<uint32_t>(most + 1);
    z = numbered<uint64_t>(most + 1);
  }

  /// Walks [begin, end); returns the number of runs.
  int64_t check(int64_t begin, int64_t end) const {
    clearStack();
    int64_t runs = 0, next = begin, wrong = 0;
    const std::array operands{Operand::of(x.data()), Operand::of(y.data()), Operand::of(z.data())};
    forEachLongRun<3>(loops, operands, begin, end, [&](int64_t first, int64_t count, const auto& from) {
      wrong += first != next || count <= 0;
      next = first + count;
      ++runs;
      for (int64_t i = 0; i < count; ++i) {
        const auto element = static_cast<size_t>(first + i);
        wrong += from[0].template as<uint8_t>()[i * from[0].stride] != x[static_cast<size_t>(at[0][element])];
        wrong += from[1].template as<uint32_t>()[i * from[1].stride] != y[static_cast<size_t>(at[1][element])];
        wrong += from[2].template as<uint64_t>()[i * from[2].stride] != z[static_cast<size_t>(at[2][element])];
      }
    });
    EXPECT_EQ(next, std::max(begin, end));
    EXPECT_EQ(wrong, 0) << "in [" << begin << ", " << end << ")";
    return runs;
  }
  int64_t elements() const { return static_cast<int64_t>(at[0].size()); }

  const Loops& loops;
  int64_t most = 0;
  std::array<std::vector<int64_t>, 3> at;
  std::vector<uint8_t> x;
  std::vector<uint32_t> y;
  std::vector<uint64_t> z;
};

/// Every way in which three operands of two to four axes repeat: bit d of a number is whether axis d does.
template <class Body>
void forEachPattern(const Shape& shape, const Body& body) {
  const auto repeated = [&](size_t bits) {
    Shape result = shape;
    for (size_t d = 0; d < shape.size(); ++d)
      if (bits >> d & 1) result[d] = 1;
    return result;
  };
  const size_t all = size_t{1} << shape.size();
  for (size_t a = 0; a < all; ++a)
    for (size_t b = 0; b < all; ++b) {
      const size_t c = (a * 5 + b * 3) % all;
      SCOPED_TRACE(toString(repeated(a)) + toString(repeated(b)) + toString(repeated(c)));
      body(loopsOver(shape, {repeated(a), repeated(b), repeated(c)}));
    }
}

TEST(LongRuns, ReadWhatPlainLoopsRead) {
  for (int64_t inner = 1; inner <= 17; ++inner)
    for (const Shape& shape : {Shape{7, inner}, Shape{4500 / inner, inner}, Shape{3, 5, inner},
                               Shape{2, 2300 / inner, inner}, Shape{2, 5, 30, inner}})
      forEachPattern(shape, [](const Loops& loops) { Operands(loops).check(0, elementCount(loops.size)); });
  for (const int64_t inner : {31, 39, 40, 65, 127, 128, 1500})
    forEachPattern({3, 33, inner}, [](const Loops& loops) { Operands(loops).check(0, elementCount(loops.size)); });
}

TEST(LongRuns, BeginAndEndAnywhere) {
  for (int64_t inner = 1; inner <= 17; ++inner)
    for (const Shape& shape : {Shape{40, inner}, Shape{3, 200, inner}})
      forEachPattern(shape, [](const Loops& loops) {
        const Operands operands(loops);
        const int64_t count = operands.elements();
        for (const int64_t begin : {int64_t{0}, int64_t{1}, int64_t{16}, count / 3, count / 2 + 1, count - 1}) {
          operands.check(begin, count);
          operands.check(0, begin);
          operands.check(begin, std::min(begin + 16, count));
        }
      });
}

TEST(LongRuns, NothingIsNoRun) {
  for (const Shape& shape : {Shape{0, 3}, Shape{5, 0}, Shape{2, 0, 3}}) {
    const Loops loops = loopsOver(shape, {shape, {shape.back()}});
    const std::array<Operand, 2> operands;
    forEachLongRun<2>(loops, operands, 0, 0, [](int64_t, int64_t, const auto&) { FAIL(); });
  }
}

/// Each call gets hundreds of elements, also where the inner loops are short.
TEST(LongRuns, AreLong) {
  for (const int64_t inner : {2, 3, 4, 5, 7, 16, 17, 33, 39})
    for (const auto& [shape, other] :
         {std::pair{Shape{3000, inner}, Shape{inner}}, std::pair{Shape{30, 100, inner}, Shape{30, 100, 1}},
          std::pair{Shape{10, 300, inner}, Shape{10, 1, inner}},
          std::pair{Shape{2, 4, 400, inner}, Shape{4, 1, inner}}}) {
      const Loops loops = loopsOver(shape, {shape, other, {1}});
      const Operands operands(loops);
      EXPECT_LT(operands.check(0, operands.elements()) * 250, operands.elements()) << toString(shape);
    }
}

}  // namespace
}  // namespace opkit::cpu
