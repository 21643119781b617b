#include "engine/import/onnx/onnx_fields.h"
#include "ops/control_flow/scan_generated.h"

namespace opkit::ops::control_flow {
namespace {

Status loop(OnnxNode& node) {
  std::vector<TensorId> inputs = node.inputs();
  inputs.resize(std::max<size_t>(inputs.size(), 2));  // trip count and condition may be absent
  return node.emitControl("Loop", std::move(inputs), {"body"});
}

using Params = ScanParamsT;

const OnnxFields<Params>& scanFields() {
  static const OnnxFields<Params> fields{field(required("num_scan_inputs"), &Params::num_scan_inputs),
                                         field("scan_input_axes", &Params::scan_input_axes),
                                         field("scan_input_directions", &Params::scan_input_directions),
                                         field("scan_output_axes", &Params::scan_output_axes),
                                         field("scan_output_directions", &Params::scan_output_directions)};
  return fields;
}

Status scan(OnnxNode& node) {
  OPKIT_ASSIGN(const Params params, readFields(node, scanFields()));
  return node.emitControl("Scan", node.inputs(), {"body"}, packParams(params));
}

/// Its first input, the length of each sequence, is optional.
Status batchedScan(OnnxNode& node) {
  ScanParamsT params;
  params.num_scan_inputs = node.intAttribute("num_scan_inputs", 0);
  params.scan_input_directions = node.intsAttribute("directions");
  params.batched = true;
  std::vector<TensorId> inputs = node.inputs();
  params.has_lengths = node.input(0) != TensorId();
  if (!params.has_lengths && !inputs.empty()) inputs.erase(inputs.begin());
  return node.emitControl("Scan", std::move(inputs), {"body"}, packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("If", {"then_branch", "else_branch"}, [](OnnxNode& node) {
    return node.emitControl("If", node.inputs(), {"then_branch", "else_branch"});
  });
  rules.add("Loop", {"body"}, loop);
  rules.add("Scan", {"body", required("num_scan_inputs"), "directions"}, batchedScan, 8, 8);
  std::vector<OnnxAttribute> attributes = attributesOf(scanFields());
  attributes.emplace_back("body");
  rules.add("Scan", attributes, scan, 9);
}

}  // namespace opkit::ops::control_flow
