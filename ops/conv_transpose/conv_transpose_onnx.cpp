#include "engine/import/onnx/padding_field.h"
#include "ops/conv_transpose/conv_transpose.h"

namespace opkit::ops::conv_transpose {
namespace {

using Params = ConvTransposeParamsT;

const OnnxFields<Params>& fields() {
  static const OnnxFields<Params> fields{field("kernel_shape", &Params::kernel_shape),
                                         field("strides", &Params::strides),
                                         field("dilations", &Params::dilations),
                                         field("group", &Params::group),
                                         field("output_padding", &Params::output_padding),
                                         field("output_shape", &Params::output_shape),
                                         padding("auto_pad", &Params::auto_pad, "pads", &Params::pads)};
  return fields;
}

/// ONNX ignores explicit pads beside an output shape; exporters write them anyway.
Status convTranspose(OnnxNode& node) {
  OPKIT_ASSIGN(Params params, readFields(node, fields()));
  if (!params.output_shape.empty()) params.pads.clear();
  return node.emit("ConvTranspose", node.inputs(), packParams(params));
}

/// An output shape beyond what the kernel covers would need negative pads, which ONNX does not have.
Status write(const Params& params, const OpNode& node, OnnxForm& form) {
  const auto at = [](const std::vector<int64_t>& list, size_t d, int64_t absent) {
    return d < list.size() ? list[d] : absent;
  };
  for (size_t d = 0; d < params.output_shape.size() && d + 2 < node.inputs[0]->shape.size(); ++d) {
    const int64_t positions = node.inputs[0]->shape[d + 2], kernel = node.inputs[1]->shape[d + 2];
    const int64_t covered = at(params.strides, d, 1) * (positions - 1) + at(params.output_padding, d, 0) +
                            (kernel - 1) * at(params.dilations, d, 1) + 1;
    if (params.output_shape[d] > covered)
      return Status::unsupported("pads of ONNX are at least 0: output_shape may be {} at most, not {}", covered,
                                 params.output_shape[d]);
  }
  return writeFields(params, fields(), form);
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  using Image = Col2ImParamsT;
  rules.add("ConvTranspose", attributesOf(fields()), {convTranspose, inverseOf<Params>({"ConvTranspose"}, write)});
  rules.add("Col2Im",
            nodeOf<Image>("Col2Im", {field("strides", &Image::strides), field("pads", &Image::pads),
                                     field("dilations", &Image::dilations)}),
            18);
}

}  // namespace opkit::ops::conv_transpose
