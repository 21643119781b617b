#include "engine/base/index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_set>

namespace opkit {
namespace {

using RowId = Index<struct RowTag>;
using ColumnId = Index<struct ColumnTag>;
using Rows = IndexedVector<RowId, std::string>;

template <class List, class Key>
constexpr bool kTakes = requires(List list, Key key) {
  list[key];
};
template <class A, class B>
constexpr bool kCompares = requires(A a, B b) {
  a == b;
};

static_assert(kTakes<Rows, RowId> && !kTakes<Rows, ColumnId> && !kTakes<Rows, int> && !kTakes<Rows, size_t>);
static_assert(kCompares<RowId, RowId> && !kCompares<RowId, ColumnId> && !kCompares<RowId, int>);
static_assert(!std::is_convertible_v<int, RowId> && !std::is_convertible_v<RowId, int>);
static_assert(!std::is_convertible_v<RowId, bool> && !std::is_constructible_v<RowId, ColumnId>);
static_assert(!std::is_constructible_v<RowId, double> && !std::is_constructible_v<size_t, RowId>);
static_assert(sizeof(RowId) == sizeof(int) && std::is_trivially_copyable_v<RowId>);

TEST(Index, IsAbsentUntilItIsGiven) {
  EXPECT_FALSE(RowId());
  EXPECT_FALSE(RowId(-1));  // as files and the C ABI write it
  EXPECT_TRUE(RowId(0));
  EXPECT_EQ(RowId().number(), -1);
  EXPECT_EQ(RowId(7).number(), 7);
  EXPECT_EQ(RowId(7).value(), 7u);
}

TEST(Index, ComparesAndHashesAsItsNumber) {
  EXPECT_EQ(RowId(size_t{3}), RowId(3));
  EXPECT_NE(RowId(3), RowId(4));
  EXPECT_LT(RowId(), RowId(0));
  EXPECT_LT(RowId(9), RowId(10));
  const std::unordered_set<RowId> set{RowId(1), RowId(2), RowId(1)};
  EXPECT_EQ(set.size(), 2u);
  EXPECT_TRUE(set.contains(RowId(2)));
}

TEST(Index, IsWrittenAsItsNumber) {
  EXPECT_EQ(fmt::format("{} {}", RowId(12), RowId()), "12 -1");
  EXPECT_EQ(fmt::format("{:>4}", ColumnId(5)), "   5");
}

TEST(IndexDeathTest, NumbersBeyondAnIntAreAMistake) {
  EXPECT_DEATH(RowId(size_t{1} << 31), "check failed");
  EXPECT_DEATH(RowId(int64_t{-1} << 40), "check failed");
}

TEST(IndexedVector, GivesTheIndexOfWhatIsAdded) {
  Rows rows;
  EXPECT_EQ(rows.nextId(), RowId(0));
  const RowId first = rows.push_back("first"), second = rows.push_back("second");
  EXPECT_EQ(rows[first], "first");
  EXPECT_EQ(rows[second], "second");
  EXPECT_EQ(rows.lastId(), second);
  EXPECT_EQ(rows.idOf(rows[second]), second);
  rows[first] += "!";
  EXPECT_EQ(rows.front(), "first!");
}

TEST(IndexedVector, ContainsWhatLiesInBounds) {
  const Rows rows(2);
  EXPECT_TRUE(rows.contains(RowId(0)));
  EXPECT_TRUE(rows.contains(RowId(1)));
  EXPECT_FALSE(rows.contains(RowId(2)));
  EXPECT_FALSE(rows.contains(RowId()));
  EXPECT_FALSE(rows.contains(RowId(-5)));
}

TEST(IndexedVector, CountsItsIndices) {
  std::string text;
  const Rows rows{"a", "b", "c"};
  for (const RowId id : rows.ids()) text += fmt::format("{}{}", id, rows[id]);
  EXPECT_EQ(text, "0a1b2c");
  EXPECT_EQ(std::ranges::count(rows, "b"), 1);
  for (const RowId id : Rows().ids()) ADD_FAILURE() << id.number();
}

TEST(IndexedVector, HoldsFlagsAndWhatOnlyMoves) {
  IndexedVector<RowId, bool> flags(3, false);
  flags[RowId(1)] = true;
  EXPECT_TRUE(flags[RowId(1)]);
  EXPECT_FALSE(flags[RowId(2)]);
  IndexedVector<RowId, std::unique_ptr<int>> owners;
  const RowId id = owners.push_back(std::make_unique<int>(4));
  EXPECT_EQ(*owners[id], 4);
}

}  // namespace
}  // namespace opkit
