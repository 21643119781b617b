// The form of a case in ONNX: the newest version of its operator that can say it.
#pragma once

#include "harness/export/exported_case.h"

namespace opkit::harness {

/// A case as a node, with its data: `node` points into `inputs`.
struct CaseNode {
  OpNode node;
  const HostInputs* inputs = nullptr;
  std::vector<TensorDesc> outputs;
};

/// REQUIRES that the inputs outlive the result. Returns errors of the parameters.
Result<CaseNode> nodeOf(const Case& c, const OpDef& def, const HostInputs& inputs, std::vector<TensorDesc> outputs);

/// The forms that the specification allows, in the order in which they are to be tried: names of ONNX first, newest
/// versions first, each with the first opset that has the version, or options.opset. Unsupported: there is none, and
/// why, for the newest; the text before ": " is the kind of the reason.
Result<std::vector<OnnxForm>> allowedForms(const CaseNode& node, const OnnxRules& rules, const ExportOptions& options);

}  // namespace opkit::harness
