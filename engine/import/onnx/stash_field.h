// stash_type of normalisations, the type in which they compute statistics. OpKit's are f64 if x is, else f32.
#pragma once

#include "engine/import/onnx/onnx_fields.h"

namespace opkit {

constexpr int64_t kStashF32 = 1, kStashF64 = 11;

/// Takes 1, by which f64 is computed more precisely than asked for, and 11 of x in f64.
template <class Params>
OnnxField<Params> stashType(int firstOpset = 1) {
  return {{{"stash_type", firstOpset}},
          [](const OnnxNode& node, Params&) -> Status {
            if (node.intAttribute("stash_type", kStashF32) != kStashF64)
              return requireOnly(node, "stash_type", kStashF32);
            const Result<DType> type = node.declaredType(0);
            if (type && *type == DType::Float64) return Status::ok();
            return Status::unsupported("{}: stash_type may be {} only if the model declares x as f64", node.opType(),
                                       kStashF64);
          },
          [](const Params&, OnnxForm&) { return Status::ok(); }};
}

/// The inverse of a rule of the fields, one of which is stashType.
template <class Params>
OnnxInverse inverseWithStash(const std::string& type, const OnnxFields<Params>& fields) {
  return inverseOf<Params>({type}, [=](const Params& params, const OpNode& node, OnnxForm& form) -> Status {
    if (node.inputs[0]->dtype == DType::Float64) form.attributes["stash_type"] = kStashF64;
    return writeFields(params, fields, form);
  });
}

}  // namespace opkit
