// Cases as models of ONNX: what `op-harness export` writes and `conformance` reads back.
#pragma once

#include <climits>
#include <string>
#include <vector>

#include "engine/import/onnx/onnx_form.h"
#include "engine/import/onnx/onnx_rules.h"
#include "harness/cases/case_file.h"
#include "harness/check/op_model.h"
#include "harness/compare/tolerance.h"

namespace opkit::harness {

/// The data of one case: a test_data_set_N.
struct ExportedSet {
  Case description;
  std::vector<Tensor> inputs;             // of the model, in its order
  std::vector<OracleTensor> expected;     // the oracle's outputs as the form has them, not rounded
  std::vector<Tolerance> tolerances;      // about `expected`, per output
  std::vector<std::vector<bool>> hidden;  // per input of the model the elements on which no output depends; empty: none
};

/// Cases that one model computes: those of a group, or one.
struct ExportedModel {
  OnnxForm form;
  std::vector<uint8_t> bytes;       // of model.onnx
  std::vector<std::string> inputs;  // names of the model's inputs
  std::vector<std::string> outputs;
  bool returnsAsCase = true;      // false if it is imported as other nodes, or an input as a constant
  std::vector<ExportedSet> sets;  // at least one
};

struct ExportOptions {
  int opset = 0;         // of ONNX itself; 0: the oldest that has the newest form
  int newest = INT_MAX;  // no forms of ONNX's later opsets
};

/// The cases of a group as models. Cases whose constants differ have models of their own. `left` gets the cases
/// without a form, each with the reason.
struct ExportedGroup {
  std::vector<ExportedModel> models;
  std::vector<std::pair<Case, std::string>> left;
};
ExportedGroup exportGroup(const CaseGroup& group, const OpRegistry& registry, const OnnxRules& rules,
                          const ExportOptions& options);

}  // namespace opkit::harness
