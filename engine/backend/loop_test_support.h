// For tests of loop kernels: random loops, their expected results, and an operator that runs any loop.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "engine/backend/combined.h"
#include "engine/backend/loop_lowering.h"
#include "engine/op/op_registry.h"

namespace opkit::testing {

/// A loop over input 0, for products and scatters also input 1, with indices in the last input.
struct LoopCase {
  LoopRegion loop;
  int64_t outputCount = 0;
  std::vector<int64_t> operandCounts;  // elements of each operand
  std::vector<int64_t> indices;
};

class LoopMaker {
 public:
  explicit LoopMaker(unsigned seed) : random_(seed) {}

  LoopCase make(LoopRegion::Command command) {
    LoopCase made;
    LoopRegion& loop = made.loop;
    loop.command = command;
    for (size_t n = below(4); n > 0; --n) loop.iterations.push_back(1 + below(4));
    const size_t commandRank = movesBoxes(command) ? below(3) : command == LoopRegion::Command::Product ? 3 : 1;
    for (size_t d = 0; d < commandRank; ++d)
      loop.size.push_back(1 + below(command == LoopRegion::Command::Product ? 20 : 6));
    if (command == LoopRegion::Command::Product && below(8) == 0) loop.size[2] = 0;
    if (command == LoopRegion::Command::RunningSum) {
      loop.exclusive = below(2) == 0;
      loop.combine = below(2) == 0 ? Combine::Add : Combine::Multiply;
    }
    if (command == LoopRegion::Command::Scatter) return makeScatter(std::move(made));
    makeTarget(made);
    const size_t operands = command == LoopRegion::Command::Product ? 2 : 1;
    for (size_t k = 0; k < operands; ++k) makeOperand(static_cast<int>(k), made);
    if (command == LoopRegion::Command::Copy && below(4) > 0) makeIndices(made);
    return made;
  }
  int64_t below(int64_t end) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(end)); }

 private:
  /// Every element once, the dimensions in any order.
  void makeTarget(LoopCase& made) {
    LoopRegion& loop = made.loop;
    const size_t outer = loop.iterations.size();
    Shape all = loop.iterations;
    all.insert(all.end(), loop.size.begin(), loop.size.end());
    if (loop.command == LoopRegion::Command::Product) all.back() = 1;
    std::vector<size_t> order(all.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (below(2) == 0) std::shuffle(order.begin(), order.end(), random_);
    DimVector strides(all.size());
    int64_t stride = 1;
    for (size_t i = order.size(); i-- > 0;) {
      strides[order[i]] = stride;
      stride *= all[order[i]];
    }
    if (loop.command == LoopRegion::Command::Product) strides.back() = 0;
    loop.target.steps.assign(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(outer));
    loop.target.strides.assign(strides.begin() + static_cast<std::ptrdiff_t>(outer), strides.end());
    made.outputCount = elementCount(all);
  }

  /// Elements of the base that no update meets, that one meets and that several meet.
  LoopCase makeScatter(LoopCase made) {
    LoopRegion& loop = made.loop;
    loop.combine = static_cast<Combine>(below(5));
    if (loop.combine == Combine::Multiply) {  // few factors: exact in every dtype
      loop.iterations.resize(std::min<size_t>(loop.iterations.size(), 1));
      loop.size.clear();
    }
    loop.base = 1;
    makeOperand(0, made);
    makeOperand(0, made);
    loop.target = std::move(loop.operands.back());
    loop.operands.pop_back();
    if (below(4) > 0) makeIndices(made);
    made.outputCount = made.operandCounts[1] += below(3);
    return made;
  }

  /// Dense, repeated and mirrored dimensions.
  void makeOperand(int source, LoopCase& made) {
    LoopRegion& loop = made.loop;
    LoopView view{.source = source, .offset = below(3)};
    int64_t reach = 0, stride = 1;
    const auto next = [&](int64_t size) -> int64_t {
      const int64_t kind = below(6), mine = stride;
      if (kind == 0) return 0;
      stride *= std::max<int64_t>(size, 1);
      reach += mine * std::max<int64_t>(size - 1, 0);
      if (kind > 1) return mine;
      view.offset += mine * std::max<int64_t>(size - 1, 0);
      return -mine;
    };
    view.strides.resize(loop.size.size());
    view.steps.resize(loop.iterations.size());
    // The left matrix has no columns of the product, the right one no rows.
    const auto isAbsent = [&](size_t d) {
      return loop.command == LoopRegion::Command::Product && d == (source == 0 ? 1u : 0u);
    };
    for (size_t d = loop.size.size(); d-- > 0;) view.strides[d] = isAbsent(d) ? 0 : next(loop.size[d]);
    for (size_t d = loop.iterations.size(); d-- > 0;) view.steps[d] = next(loop.iterations[d]);
    made.operandCounts.push_back(view.offset + reach + 1);
    loop.operands.push_back(std::move(view));
  }

  void makeIndices(LoopCase& made) {
    LoopRegion& loop = made.loop;
    const size_t terms = 1 + static_cast<size_t>(below(3));
    const size_t moves = loop.command == LoopRegion::Command::Scatter ? 1 : 0;
    loop.indices.source = 1 + static_cast<int>(moves);
    loop.indices.steps = contiguousStrides(loop.iterations);
    for (int64_t& step : loop.indices.steps) step *= static_cast<int64_t>(terms);
    if (!loop.indices.steps.empty() && below(3) == 0) loop.indices.steps[0] = 0;
    for (size_t t = 0; t < terms; ++t) {
      loop.indices.terms.push_back(
          {.offset = static_cast<int64_t>(t), .extent = 1 + below(4), .stride = below(2) == 0 ? 1 : 4});
      made.operandCounts[moves] += (loop.indices.terms[t].extent - 1) * loop.indices.terms[t].stride;
    }
    made.indices.resize(static_cast<size_t>(elementCount(loop.iterations)) * terms);
    for (size_t i = 0; i < made.indices.size(); ++i) {
      const int64_t extent = loop.indices.terms[i % terms].extent;
      made.indices[i] = below(2 * extent) - extent;
    }
  }

  std::mt19937 random_;
};

/// The definition in loop_region.h, one element at a time.
template <class T>
std::vector<T> runPlainly(const LoopCase& c, const std::vector<std::vector<T>>& operands) {
  const LoopRegion& loop = c.loop;
  const bool scatters = loop.command == LoopRegion::Command::Scatter;
  std::vector<T> output =
      scatters ? operands[static_cast<size_t>(loop.base)] : std::vector<T>(static_cast<size_t>(c.outputCount), T(-1));
  const auto dot = [](const DimVector& a, const DimVector& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), int64_t{0});
  };
  forEachIndex(loop.iterations, [&](const DimVector& i) {
    int64_t moved = 0;
    for (const LoopIndices::Term& term : loop.indices.terms) {
      const int64_t v = c.indices[static_cast<size_t>(dot(i, loop.indices.steps) + term.offset)];
      moved += (v < 0 ? v + term.extent : v) * term.stride;
    }
    const auto read = [&](size_t k, const DimVector& b) {
      const LoopView& view = loop.operands[k];
      return operands[k][static_cast<size_t>(view.offset + dot(i, view.steps) + dot(b, view.strides) +
                                             (k > 0 || scatters ? 0 : moved))];
    };
    const auto write = [&](const DimVector& b) -> T& {
      return output[static_cast<size_t>(loop.target.offset + dot(i, loop.target.steps) + dot(b, loop.target.strides) +
                                        (scatters ? moved : 0))];
    };
    T sum(loop.combine == Combine::Multiply ? 1 : 0);
    if (loop.command == LoopRegion::Command::Product)
      forEachIndex({loop.size[0], loop.size[1]}, [&](const DimVector& at) {
        T& y = write({at[0], at[1], 0}) = T{};
        for (int64_t d = 0; d < loop.size[2]; ++d)
          y = static_cast<T>(y + read(0, {at[0], at[1], d}) * read(1, {at[0], at[1], d}));
      });
    else
      forEachIndex(loop.size, [&](const DimVector& b) {
        if (movesBoxes(loop.command)) {
          write(b) = combined(loop.combine, write(b), read(0, b));
          return;
        }
        const T before = sum;
        sum = combined(loop.combine == Combine::Multiply ? Combine::Multiply : Combine::Add, sum, read(0, b));
        write(b) = loop.exclusive ? before : sum;
      });
  });
  return output;
}

/// Small whole numbers: exact in every dtype and order.
template <class T>
std::vector<T> smallValues(int64_t count, LoopMaker& maker) {
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) value = static_cast<T>(maker.below(5));
  return values;
}

/// A card "Looped" with the loop `*loop` and the output `*output`, read at each call.
inline OpDef loopedDef(const LoopRegion* loop, const TensorDesc* output) {
  return {.type = "Looped",
          .inputs = {{"x", kAnyDType, Port::Kind::Variadic}},
          .outputs = {{"y"}},
          .inferShapes = [output](const ShapeArgs&) -> Result<std::vector<TensorDesc>> { return std::vector{*output}; },
          .loop = [loop](const ShapeArgs&, std::span<const TensorDesc>) -> Result<LoopRegion> { return *loop; }};
}

}  // namespace opkit::testing
