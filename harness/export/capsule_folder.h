// The folder beside a capsule: its failing case as a model of ONNX, for whoever has an engine but no OpKit.
#pragma once

#include <string>

#include "engine/import/onnx/onnx_rules.h"
#include "harness/cases/case_file.h"

namespace opkit::harness {

/// The folder beside a capsule.
struct CapsuleFolder {
  std::string path;    // empty: there is no folder
  size_t cases = 0;    // of the capsule that the folder has
  std::string reason;  // why there is none
};

/// Writes the first case of the capsule X.opcase, with the further cases that its model computes, as the folder X. It
/// takes the place of an older one, which is also removed if the case has no form. Only a folder with a bound.json is
/// replaced. A process of its own does the work, so that an oracle that crashes ends nothing else.
CapsuleFolder writeCapsuleFolder(const std::string& capsule, const CaseGroup& group, const OpRegistry& registry,
                                 const OnnxRules& rules);

}  // namespace opkit::harness
