// The ONNX rule of operators with Conv's attributes.
#pragma once

#include "engine/import/onnx/onnx_rules.h"

namespace opkit::ops::conv {

/// The attributes that emitConv reads.
inline const std::vector<OnnxAttribute> kConvAttributes{"auto_pad",     "dilations", "group",
                                                        "kernel_shape", "pads",      "strides"};
/// The attributes as ConvParams.
Result<ParamBytes> convParams(const OnnxNode& node);
/// Emits the node with ConvParams; its type keeps its name.
Status emitConv(OnnxNode& node);

}  // namespace opkit::ops::conv
