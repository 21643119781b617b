#include "engine/op/taps.h"

#include <gtest/gtest.h>

#include <bit>

namespace opkit {
namespace {

/// Three elements read as two: the middle between neighbours.
Taps middles() { return {3, 2, 2, {{0, 0.5}, {1, 0.5}, {1, 0.5}, {2, 0.5}}}; }

TEST(Taps, AxesMultiply) {
  const Taps reversed{2, 2, 1, {{1, 1}, {0, 1}}};
  const Taps plane = combineTaps(std::vector<Taps>{reversed, middles()});
  EXPECT_EQ(plane.inputs, 6);
  EXPECT_EQ(plane.outputs, 4);
  EXPECT_EQ(plane.count, 2);
  std::vector<int64_t> at;
  for (const Tap& tap : plane.list) {
    at.push_back(tap.at);
    EXPECT_EQ(tap.weight, 0.5);
  }
  EXPECT_EQ(at, (std::vector<int64_t>{3, 4, 4, 5, 0, 1, 1, 2}));
  EXPECT_EQ(plane.of(1)[1].at, 5);
  EXPECT_EQ(combineTaps(std::vector<Taps>{middles(), middles()}).of(3)[3].weight, 0.25);
}

TEST(Taps, NoAxesAreOneElement) {
  const Taps element = combineTaps({});
  EXPECT_EQ(element.outputs, 1);
  EXPECT_EQ(element.of(0)[0].at, 0);
  EXPECT_EQ(element.of(0)[0].weight, 1);
  EXPECT_EQ(combineTaps(std::vector<Taps>{{0, 0, 2, {}}}).outputs, 0);
}

TEST(Taps, PackAsPlacesAndFloats) {
  EXPECT_EQ(packTaps(middles())[6], 2u);
  EXPECT_EQ(packTaps(middles())[7], std::bit_cast<uint32_t>(0.5f));
}

}  // namespace
}  // namespace opkit
