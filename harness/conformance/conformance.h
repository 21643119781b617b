// Conformance: folders of the ONNX backend-test form (model.onnx, test_data_set_N/input_K.pb, output_K.pb), with
// expected outputs from ONNX.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/import/onnx/onnx_rules.h"
#include "engine/runtime/session.h"
#include "harness/check/shader_log.h"
#include "harness/run/results.h"

namespace opkit::harness {

/// A folder with a model.onnx, and its path below the directory it was found in ("node/test_abs").
struct ConformanceFolder {
  std::string path;
  std::string id;
};

/// Every such folder below `directories`, sorted, without those that a run still writes. InvalidArgument names a
/// directory that does not exist.
Result<std::vector<ConformanceFolder>> findConformanceFolders(const std::vector<std::string>& directories);

/// The data folder of the Debian package libonnx-testdata, from dpkg. InvalidArgument explains how to install it.
Result<std::string> packagedTestData();

/// The registry without lowerings and parts of operators that have an oracle. Backend `reference` then runs oracles
/// alone, so that the data tests the oracles of operators that move data too.
OpRegistry withOraclesAlone(const OpRegistry& registry);

struct ConformanceSetup {
  const OpRegistry* registry = nullptr;
  const OnnxRules* rules = nullptr;
  std::string backend;
  std::shared_ptr<Runtime> runtime;    // shared: every case of a process uses it
  std::shared_ptr<ShaderLog> shaders;  // of the Runtime; null if none are recorded
  bool declared = false;  // refusals and fallbacks that declared.txt does not list fail, and its stale lines
};

/// Imports and runs the model on every data set and compares shapes, dtypes and values (|got - expected| <=
/// 1e-7 + 1e-3 |expected| for floats, or `atol` and `rtol` of a data.json beside the model, as ONNX's own runner reads
/// it; of a network, which has at least 65,536 weights, 1e-5 times the largest element of the output takes the place of
/// 1e-7 where it is larger; exactly for the rest; NaN only where expected). Of a model of one node that is no test of
/// ONNX's own, an element may differ by more if it and the expected one are both within the bound of the operator's
/// card about the oracle's value (NodeBound). Where a bound.json lies beside the model (harness/export/bound_file.h),
/// it alone says how each output is compared, and its data sets and outputs must be those of the folder. Fallbacks are
/// listed. Unsupported carries the importer's or the session's reason. The unjudgeable models of declared.txt are
/// Unproved, unless a check of declared.h fails.
CaseResult runConformance(const ConformanceFolder& folder, const ConformanceSetup& setup);

}  // namespace opkit::harness
