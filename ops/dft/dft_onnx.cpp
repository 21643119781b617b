#include "engine/import/onnx/onnx_fields.h"
#include "ops/dft/dft_parts.h"

namespace opkit::ops::dft {

/// Up to version 19 the axis is an attribute, and its default counts from the front.
void addOnnx(OnnxRules& rules) {
  using Params = DftParamsT;
  OnnxFields<Params> fields{field("inverse", &Params::inverse), field("onesided", &Params::onesided)};
  OnnxDeclaration newest = nodeOf("DFT", fields);
  newest.rule.inverse = inverseOf<Params>({"DFT"}, [=](const Params& params, const OpNode&, OnnxForm& form) -> Status {
    form.inputs.resize(3);
    if (std::holds_alternative<std::monostate>(form.inputs[2]) && params.axis != Params{}.axis) {
      OPKIT_ASSIGN(form.inputs[2], Tensor::fromValues<int64_t>({DType::Int64, {}}, std::vector<int64_t>{params.axis}));
    }
    return writeFields(params, fields, form);
  });
  rules.add("DFT", newest, 20);
  fields.push_back(field("axis", &Params::axis, 1));
  rules.add("DFT", nodeOf("DFT", fields), 17, 19);
}

}  // namespace opkit::ops::dft
