#include "engine/tensor/dim_vector.h"

#include <gtest/gtest.h>

#include <list>
#include <numeric>
#include <random>

namespace opkit {
namespace {

constexpr size_t kRanks[] = {0, 1, 7, 8, 9, 16, 17, 20};  // 8 is the last rank inside, 16 the first capacity outside

std::vector<int64_t> counted(size_t rank) {
  std::vector<int64_t> values(rank);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

TEST(DimVector, HoldsAnyRank) {
  for (const size_t rank : kRanks) {
    const std::vector<int64_t> values = counted(rank);
    const DimVector dims = values;
    ASSERT_EQ(dims.size(), rank);
    EXPECT_EQ(dims.empty(), rank == 0);
    EXPECT_EQ(dims.toVector(), values);
    EXPECT_EQ(DimVector(values.begin(), values.end()), dims);
    EXPECT_TRUE(std::equal(dims.rbegin(), dims.rend(), values.rbegin(), values.rend()));
    EXPECT_EQ(DimVector(rank), DimVector(std::vector<int64_t>(rank, 0)));
    EXPECT_EQ(DimVector(rank, 5), DimVector(std::vector<int64_t>(rank, 5)));
    const std::list<int> apart(values.begin(), values.end());
    EXPECT_EQ(DimVector(apart.begin(), apart.end()), dims);
  }
  EXPECT_EQ((DimVector{1, 2, 3, 4, 5, 6, 7, 8, 9}), counted(9));
  EXPECT_EQ((DimVector{3, 4}), (std::vector<int64_t>{3, 4}));  // extents, not three times 4
}

TEST(DimVector, CopiesAreIndependent) {
  for (const size_t from : kRanks)
    for (const size_t to : kRanks) {
      const DimVector original = counted(from);
      DimVector copy = original;
      EXPECT_EQ(copy, original);
      DimVector assigned(to, 7);
      assigned = original;
      EXPECT_EQ(assigned, original);
      copy.push_back(1), assigned.push_back(1);
      EXPECT_EQ(original, counted(from)) << from << " " << to;
    }
}

TEST(DimVector, AMoveLeavesNothing) {
  for (const size_t from : kRanks)
    for (const size_t to : kRanks) {
      DimVector original = counted(from);
      DimVector moved = std::move(original);
      EXPECT_EQ(moved, counted(from));
      EXPECT_TRUE(original.empty());  // NOLINT(bugprone-use-after-move)
      DimVector assigned(to, 7);
      assigned = std::move(moved);
      EXPECT_EQ(assigned, counted(from)) << from << " " << to;
      EXPECT_TRUE(moved.empty());  // NOLINT(bugprone-use-after-move)
      moved.push_back(3);
      EXPECT_EQ(moved, DimVector{3});
    }
}

TEST(DimVector, AssignsItself) {
  for (const size_t rank : kRanks) {
    DimVector dims = counted(rank);
    DimVector& same = dims;
    dims = same;
    EXPECT_EQ(dims, counted(rank));
  }
}

TEST(DimVector, AShortOneOnTheHeapCopies) {
  DimVector dims = counted(9);
  dims.resize(3);
  const DimVector copy = dims;
  dims.front() = 100;
  EXPECT_EQ(copy, counted(3));
  EXPECT_EQ(dims, (DimVector{100, 2, 3}));
}

TEST(DimVector, ComparesLikeAVector) {
  std::vector<std::vector<int64_t>> all{{-1}, {2, 1}, {2, 1, 0}};
  for (const size_t rank : kRanks) all.push_back(counted(rank));
  for (const auto& a : all)
    for (const auto& b : all) {
      EXPECT_EQ(DimVector(a) == DimVector(b), a == b);
      EXPECT_EQ(DimVector(a) <=> DimVector(b), a <=> b);
    }
}

/// One random change, alike for a vector and a DimVector.
template <class Values>
void change(Values& values, std::mt19937& random) {
  const auto upTo = [&](size_t most) { return static_cast<std::ptrdiff_t>(random() % (most + 1)); };
  const auto first = upTo(values.size());
  const auto last = first + upTo(values.size() - static_cast<size_t>(first));
  const std::vector<int64_t> more = counted(random() % 5);
  switch (random() % 10) {
    case 0: return values.push_back(5);
    case 1: return values.empty() ? values.push_back(6) : values.pop_back();
    case 2: return static_cast<void>(values.insert(values.begin() + first, 7));
    case 3: return static_cast<void>(values.insert(values.begin() + first, more.begin(), more.end()));
    case 4: return static_cast<void>(values.insert(values.begin() + first, {8, 9}));
    case 5: return static_cast<void>(values.erase(values.begin() + first, values.begin() + last));
    case 6: return static_cast<void>(last > first ? values.erase(values.begin() + first) : values.end());
    case 7: return values.resize(random() % 12, 10);
    case 8: return values.assign(more.begin(), more.end());
    case 9: return values.assign(random() % 12, 11);
  }
}

TEST(DimVector, ChangesLikeAVector) {
  std::mt19937 random(1);
  for (int walk = 0; walk < 200; ++walk) {
    std::vector<int64_t> expected;
    DimVector dims;
    for (int step = 0; step < 60; ++step) {
      std::mt19937 same = random;
      change(expected, random);
      change(dims, same);
      ASSERT_EQ(dims.toVector(), expected) << "walk " << walk << ", step " << step;
    }
  }
}

TEST(DimVector, InsertAndEraseSayWhere) {
  DimVector dims = counted(8);
  EXPECT_EQ(dims.insert(dims.begin() + 3, 0) - dims.begin(), 3);  // moves to the heap
  EXPECT_EQ(dims, (DimVector{1, 2, 3, 0, 4, 5, 6, 7, 8}));
  EXPECT_EQ(dims.erase(dims.begin() + 1, dims.begin() + 4) - dims.begin(), 1);
  EXPECT_EQ(dims, (DimVector{1, 4, 5, 6, 7, 8}));
  EXPECT_EQ(*dims.erase(dims.begin()), 4);
  EXPECT_EQ(dims.erase(dims.end(), dims.end()), dims.end());
  dims.clear();
  EXPECT_TRUE(dims.empty());
}

}  // namespace
}  // namespace opkit
