#include "ops/pool/pool_onnx.h"

#include "engine/import/onnx/padding_field.h"
#include "ops/pool/global_lp_pool_generated.h"

namespace opkit::ops::pool {
namespace {

using Params = PoolParamsT;

/// The attributes of every pool, and those of one.
OnnxFields<Params> with(const OnnxFields<Params>& more,
                        std::vector<OnnxAttribute> kernel = {required("kernel_shape")}) {
  OnnxFields<Params> fields{field("kernel_shape", &Params::kernel_shape), field("strides", &Params::strides),
                            padding("auto_pad", &Params::auto_pad, "pads", &Params::pads)};
  fields[0].attributes = std::move(kernel);
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

/// The power of LpPool and its global form: a float in opset 1, whole since.
template <class Of>
OnnxField<Of> power(float Of::*member) {
  const auto read = [=](const OnnxNode& node, Of& params) {
    if (node.hasAttribute("p"))
      params.*member = node.opset() < 2 ? node.floatAttribute("p", 0) : static_cast<float>(node.intAttribute("p", 0));
    return Status::ok();
  };
  const auto write = [=](const Of& params, OnnxForm& form) -> Status {
    const float p = params.*member;
    if (form.opset < 2)
      form.attributes["p"] = p;
    else if (p == std::floor(p) && std::fabs(p) < 1e9f)
      form.attributes["p"] = static_cast<int64_t>(p);
    else
      return Status::unsupported("p of {} must be whole from opset 2 on", form.type);
    return Status::ok();
  };
  return {{"p"}, read, write};
}

}  // namespace

OnnxFields<Params> averageFields() {
  return with({field({"ceil_mode", 10}, &Params::ceil_mode),
               field({"count_include_pad", 7}, &Params::count_include_pad),
               field({"dilations", 19}, &Params::dilations)});
}

void addOnnx(OnnxRules& rules) {
  using Global = GlobalLpPoolParamsT;
  rules.add("MaxPool", nodeOf("MaxPool", with({field({"ceil_mode", 10}, &Params::ceil_mode),
                                               field({"dilations", 10}, &Params::dilations),
                                               field({"storage_order", 8}, &Params::column_major)})));
  rules.add("AveragePool", nodeOf("AveragePool", averageFields()));
  rules.add("LpPool", nodeOf("LpPool", with({field({"ceil_mode", 18}, &Params::ceil_mode),
                                             field({"dilations", 18}, &Params::dilations), power(&Params::p)},
                                            {{"kernel_shape", 1, 1}, required("kernel_shape", 2)})));
  rules.add("GlobalLpPool", nodeOf<Global>("GlobalLpPool", {power(&Global::p)}));
  rules.add("GlobalMaxPool", {}, passThrough("GlobalMaxPool"));
  rules.add("GlobalAveragePool", {}, passThrough("GlobalAveragePool"));
}

}  // namespace opkit::ops::pool
