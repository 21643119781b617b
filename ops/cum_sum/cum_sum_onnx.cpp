#include "engine/import/onnx/onnx_fields.h"
#include "ops/cum_sum/cum_sum_parts.h"

namespace opkit::ops::cum_sum {

void addOnnx(OnnxRules& rules) {
  using Params = CumSumParamsT;
  const OnnxFields<Params> fields{field("exclusive", &Params::exclusive), field("reverse", &Params::reverse)};
  // An axis that is a parameter becomes a constant.
  const auto write = [=](const Params& params, const OpNode& node, OnnxForm& form) -> Status {
    if (node.inputs.size() < 2 || !node.inputs[1]) {
      form.inputs.resize(2);
      OPKIT_ASSIGN(form.inputs[1], Tensor::fromValues<int64_t>({DType::Int64, {}}, std::vector<int64_t>{params.axis}));
    }
    return writeFields(params, fields, form);
  };
  for (const char* type : {"CumProd", "CumSum"}) {
    OnnxDeclaration rule = nodeOf(type, fields);
    rule.rule.inverse = inverseOf<Params>({type}, write);
    rules.add(type, std::move(rule), std::string_view(type) == "CumProd" ? 26 : 11);
  }
}

}  // namespace opkit::ops::cum_sum
