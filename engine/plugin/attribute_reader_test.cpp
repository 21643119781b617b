#include "engine/plugin/attribute_reader.h"

#include <gtest/gtest.h>

#include <cmath>

namespace opkit::plugin {
namespace {

/// One field of each kind that parameters of operators have.
const ParamsSchema kSchema = {
    "enum Mode : byte { Constant, Reflect, Edge }\n"
    "table Inner { x: int; }\n"
    "table Every { axis: int = -1; keep: bool = true; bytes: ubyte = 7; wide: ulong; low: float = -inf; fine: double;\n"
    "  mode: Mode = Reflect; text: string; perm: [int]; pads: [long]; scales: [float]; sizes: [double];\n"
    "  maybe: float = null; inner: Inner; old: int (deprecated); }\n"
    "root_type Every;\n",
    [](std::span<const uint8_t>) { return true; }};

Attributes read(const std::string& json) {
  const auto bytes = paramsFromJson(kSchema, json);
  EXPECT_TRUE(bytes) << bytes.error().toString();
  return readerOf(kSchema)->read(*bytes);
}

const Attribute& find(const Attributes& all, const std::string& name, int32_t type) {
  static const Attribute none;
  for (const Attribute& one : all)
    if (one.name == name && one.type == type) return one;
  ADD_FAILURE() << "no " << name << " of type " << type;
  return none;
}

TEST(AttributeReader, Defaults) {
  for (const Attributes& all : {read("{}"), read("{ }")}) {
    EXPECT_EQ(all.size(), 12u) << "an optional number, a table and a deprecated field are left out";
    EXPECT_EQ(find(all, "axis", OPKIT_INT).integer, -1);
    EXPECT_EQ(find(all, "keep", OPKIT_INT).integer, 1);
    EXPECT_EQ(find(all, "bytes", OPKIT_INT).integer, 7);
    EXPECT_EQ(find(all, "low", OPKIT_FLOAT).number, -INFINITY);
    EXPECT_EQ(find(all, "mode", OPKIT_STRING).text, "Reflect");
    EXPECT_EQ(find(all, "text", OPKIT_STRING).text, "");
    EXPECT_TRUE(find(all, "pads", OPKIT_INTS).integers.empty());
  }
}

TEST(AttributeReader, StoredValues) {
  const Attributes all = read(
      R"({"axis": -3, "keep": false, "bytes": 200, "wide": 5000000000, "low": 0.5, "fine": 0.25, "mode": "Edge",
          "text": "a", "perm": [2, -1], "pads": [1, -5000000000], "scales": [0.5], "sizes": [1.5, 2.5], "maybe": 4})");
  EXPECT_EQ(all.size(), 13u);
  EXPECT_EQ(find(all, "axis", OPKIT_INT).integer, -3);
  EXPECT_EQ(find(all, "keep", OPKIT_INT).integer, 0);
  EXPECT_EQ(find(all, "bytes", OPKIT_INT).integer, 200);
  EXPECT_EQ(find(all, "wide", OPKIT_INT).integer, 5000000000);
  EXPECT_EQ(find(all, "low", OPKIT_FLOAT).number, 0.5f);
  EXPECT_EQ(find(all, "fine", OPKIT_FLOAT).number, 0.25f);
  EXPECT_EQ(find(all, "mode", OPKIT_STRING).text, "Edge");
  EXPECT_EQ(find(all, "text", OPKIT_STRING).text, "a");
  EXPECT_EQ(find(all, "perm", OPKIT_INTS).integers, (std::vector<int64_t>{2, -1}));
  EXPECT_EQ(find(all, "pads", OPKIT_INTS).integers, (std::vector<int64_t>{1, -5000000000}));
  EXPECT_EQ(find(all, "scales", OPKIT_FLOATS).numbers, (std::vector<float>{0.5f}));
  EXPECT_EQ(find(all, "sizes", OPKIT_FLOATS).numbers, (std::vector<float>{1.5f, 2.5f}));
  EXPECT_EQ(find(all, "maybe", OPKIT_FLOAT).number, 4);
}

TEST(AttributeReader, AnOperatorWithoutParametersHasNone) { EXPECT_TRUE(readerOf({})->read({}).empty()); }

}  // namespace
}  // namespace opkit::plugin
