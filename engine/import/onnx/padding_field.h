// The padding of a window (engine/op/window.h), as attributes of ONNX.
#pragma once

#include "engine/import/onnx/onnx_fields.h"
#include "engine/op/window.h"

namespace opkit {

/// auto_pad and pads. VALID and SAME exclude explicit pads, but exporters write them anyway.
template <class Params, class Pad>
OnnxField<Params> padding(const char* autoPad, Pad Params::*rule, const char* pads,
                          std::vector<int64_t> Params::*given) {
  return {{autoPad, pads},
          [=](const OnnxNode& node, Params& params) -> Status {
            OPKIT_ASSIGN(const AutoPad parsed, parseAutoPad(node.stringAttribute(autoPad, "NOTSET")));
            params.*rule = static_cast<Pad>(parsed);
            if (parsed == AutoPad::NotSet) params.*given = node.intsAttribute(pads);
            return Status::ok();
          },
          [=](const Params& params, OnnxForm& form) -> Status {
            const auto chosen = static_cast<AutoPad>(params.*rule);
            if (chosen != AutoPad::NotSet)
              form.attributes[autoPad] = std::string(nameOf(chosen));
            else if (!(params.*given).empty())
              form.attributes[pads] = params.*given;
            return Status::ok();
          }};
}

}  // namespace opkit
