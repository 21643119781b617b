// Models of ONNX's backend tests that do not simply pass: declared.txt lists them, with what is checked instead and the
// reason.
#pragma once

#include <optional>
#include <string>

#include "engine/op/oracle.h"

namespace opkit::harness {

/// The text of declared.txt, embedded by the build.
const char* declaredModels();

/// A line of the list.
struct DeclaredModel {
  bool unjudgeable = false;  // nobody can reproduce its values
  bool checksZeros = false;  // of an unjudgeable one
  bool refusal = false;      // it is unsupported
  bool fallback = false;     // a GPU backend leaves a node to the CPU
  std::string reason;
};

/// The line of a model's folder, by the folder's name alone; nothing if it has none.
std::optional<DeclaredModel> declaredModel(const std::string& folder);

/// Whether an output of an unjudgeable model has the expected description and, if zeros are checked, elements that are
/// zero or as expected and about as many zeros as expected. InvalidArgument names the first difference.
Status checkUnjudgeable(const DeclaredModel& model, const OracleTensor& expected, const Tensor& got);

}  // namespace opkit::harness
