#include "engine/import/onnx/onnx_fields.h"
#include "ops/shape/eye_like_generated.h"
#include "ops/shape/shape_generated.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::shape {

void addOnnx(OnnxRules& rules) {
  using Eye = EyeLikeParamsT;
  const text::StringPorts measured{.made = text::Made::Numbers};
  const OnnxFields<ShapeParamsT> range{field({"start", 15}, &ShapeParamsT::start),
                                       field({"end", 15}, &ShapeParamsT::end)};
  rules.add("Shape", text::overStrings(nodeOf("Shape", range), measured));
  rules.add("Size", {}, text::overStrings(passThrough("Size"), measured));
  rules.add("EyeLike", nodeOf<Eye>("EyeLike", {elementType("dtype", &Eye::dtype), field("k", &Eye::k)}), 9);
}

}  // namespace opkit::ops::shape
