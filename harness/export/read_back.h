// A form, read back by the importer: whether it is the case that was written.
#pragma once

#include "harness/export/choose_form.h"

namespace opkit::harness {

/// The kind of the reason of a form that a rule has wrong.
inline constexpr const char* kOtherMeaning = "ONNX means something else";

enum class Return {
  Case,    // one node of the same operator with the same parameters and inputs
  Values,  // other nodes or further constants, which give the expected values on backend `reference`
};

/// Whether two forms are the same node, constants included.
bool sameForm(const OnnxForm& a, const OnnxForm& b);

/// Imports `bytes`, the file of `form`, and compares it with the node that was written. Parameters that differ as bytes
/// are the same if they have the same form and the same outputs. Unsupported says what the file means instead.
/// `expected` and `tolerances` are those of the case's outputs.
Result<Return> readBack(const std::vector<uint8_t>& bytes, const OnnxForm& form, const CaseNode& node,
                        const OpRegistry& registry, const OnnxRules& rules, const ExportedSet& set);

}  // namespace opkit::harness
