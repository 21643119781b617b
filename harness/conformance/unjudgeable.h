// Models of backend tests whose expected values nobody can reproduce. unjudgeable.txt lists them, with what is checked
// instead and the reason.
#pragma once

#include <optional>
#include <string>

#include "engine/op/oracle.h"

namespace opkit::harness {

/// The text of unjudgeable.txt, embedded by the build.
const char* unjudgeableModels();

/// A line of the list.
struct Unjudgeable {
  bool checksZeros = false;
  bool contradictsModel = false;  // it has data that the model refuses
  std::string reason;
};

/// The line of a model's folder, by the folder's name alone; nothing if it has none.
std::optional<Unjudgeable> unjudgeable(const std::string& folder);

/// Whether an output of such a model has the expected description and, if zeros are checked, elements that are zero or
/// as expected and about as many zeros as expected. InvalidArgument names the first difference.
Status checkUnjudgeable(const Unjudgeable& model, const OracleTensor& expected, const Tensor& got);

}  // namespace opkit::harness
