// The attribute that Range has from opset 27 on.
#include <algorithm>

#include "ops/features/onnx_ml_node.h"

namespace opkit::ops::range {
namespace {

TEST(RangeOnnx, HalvesAreStashedAsF32) {
  const auto node = [](int64_t stashType) {
    features::Node made("Range", {{DType::Float16, {}}, {DType::Float16, {}}, {DType::Float16, {}}});
    made.domain = "";
    made.version = 27;
    made.integer["stash_type"] = stashType;
    return made;
  };
  const OnnxRules::Entry* entry = builtinOnnxRules().find("Range", 27);
  ASSERT_TRUE(entry);
  EXPECT_TRUE(entry->attribute("stash_type", 27));
  EXPECT_FALSE(builtinOnnxRules().find("Range", 26)->attribute("stash_type", 26));
  features::Node stashed = node(1);
  EXPECT_TRUE(stashed.import().isOk());
  features::Node inHalves = node(10);
  EXPECT_NE(features::refusalOf(inHalves).find("stash_type"), std::string::npos) << features::refusalOf(inHalves);
}

}  // namespace
}  // namespace opkit::ops::range
