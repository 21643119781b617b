#include "engine/import/onnx/onnx_fields.h"
#include "ops/arg_reduce/arg_reduce_generated.h"

namespace opkit::ops::arg_reduce {

void addOnnx(OnnxRules& rules) {
  using Params = ArgReduceParamsT;
  const OnnxFields<Params> fields{field("axis", &Params::axis), field("keepdims", &Params::keep_dims),
                                  field({"select_last_index", 12}, &Params::select_last_index)};
  for (const char* type : {"ArgMax", "ArgMin"}) rules.add(type, nodeOf(type, fields));
}

}  // namespace opkit::ops::arg_reduce
