// Cases whose answer ONNX leaves open (open.skips): OpKit decides for its own kernels, and does not ask another engine.
#pragma once

#include <string>
#include <vector>

#include "harness/run/expectations.h"

namespace opkit::harness {

/// The lines of this build, in order.
const std::vector<Expectation>& openQuestions();

/// The first line that names the case; null if none does.
const Expectation* openQuestion(const std::string& id);

}  // namespace opkit::harness
