#include "engine/runtime/min_cut.h"

#include <gtest/gtest.h>

#include <random>

namespace opkit {
namespace {

struct Wire {
  size_t from, to;
  double weight;
};

double weightOf(const std::vector<Wire>& wires, const std::vector<bool>& side) {
  double sum = 0;
  for (const Wire& wire : wires) sum += side[wire.from] && !side[wire.to] ? wire.weight : 0;
  return sum;
}

TEST(MinCut, IsAsCheapAsTheBestOfAllSplits) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const size_t nodes = 3 + random() % 7;
    std::vector<Wire> wires;
    MinCut cut;
    for (size_t n = 2; n < nodes; ++n) cut.addNode();
    for (size_t i = 0; i < 3 * nodes; ++i) {
      const Wire wire{random() % nodes, random() % nodes, static_cast<double>(random() % 100)};
      if (wire.from == wire.to) continue;
      wires.push_back(wire);
      cut.addEdge(wire.from, wire.to, wire.weight);
    }
    double best = MinCut::kInfinity;
    for (size_t bits = 0; bits < size_t{1} << (nodes - 2); ++bits) {
      std::vector<bool> side = {true, false};
      for (size_t n = 2; n < nodes; ++n) side.push_back((bits >> (n - 2)) & 1);
      best = std::min(best, weightOf(wires, side));
    }
    const std::vector<bool> found = cut.solve();
    ASSERT_TRUE(found[MinCut::kSource]);
    ASSERT_FALSE(found[MinCut::kSink]);
    EXPECT_EQ(weightOf(wires, found), best) << "round " << round;
  }
}

TEST(MinCut, PathsMayBeAsLongAsTheModel) {
  MinCut cut;
  size_t last = cut.addNode();
  cut.addEdge(MinCut::kSource, last, 9);
  for (size_t i = 1; i < 500000; ++i) {
    const size_t next = cut.addNode();
    cut.addEdge(last, next, i == 400000 ? 1 : 2);
    last = next;
  }
  cut.addEdge(last, MinCut::kSink, 5);
  const std::vector<bool> side = cut.solve();
  EXPECT_TRUE(side[2 + 399999]);
  EXPECT_FALSE(side[2 + 400000]);
}

TEST(MinCut, InfiniteEdgesAreNeverCut) {
  MinCut cut;
  const size_t a = cut.addNode(), b = cut.addNode();
  cut.addEdge(MinCut::kSource, a, MinCut::kInfinity);
  cut.addEdge(a, b, 3);
  cut.addEdge(b, MinCut::kSink, 5);
  const std::vector<bool> side = cut.solve();
  EXPECT_TRUE(side[a]);
  EXPECT_FALSE(side[b]);
}

}  // namespace
}  // namespace opkit
