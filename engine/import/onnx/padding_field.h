// The padding of a window (engine/op/window.h), as attributes of ONNX.
#pragma once

#include "engine/import/onnx/onnx_fields.h"
#include "engine/op/window.h"

namespace opkit {

/// auto_pad and pads. VALID and SAME exclude explicit pads, but exporters write them anyway.
template <class Params, class Pad>
OnnxField<Params> padding(Pad Params::*autoPad, std::vector<int64_t> Params::*pads) {
  return {{"auto_pad", "pads"}, [=](const OnnxNode& node, Params& params) -> Status {
            OPKIT_ASSIGN(const AutoPad rule, parseAutoPad(node.stringAttribute("auto_pad", "NOTSET")));
            params.*autoPad = static_cast<Pad>(rule);
            if (rule == AutoPad::NotSet) params.*pads = node.intsAttribute("pads");
            return Status::ok();
          }};
}

}  // namespace opkit
