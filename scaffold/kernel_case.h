// KernelCase: an entry of a case file that a further kernel must run, made from an entry that the operator has.
#pragma once

#include <string>

#include "engine/tensor/tensor.h"
#include "scaffold/plan.h"

namespace opkit::scaffold {

struct KernelCase {
  std::string block;  // the entry, as text for the top of "cases"
  int input = -1;     // the first input that is no constant; -1 without such an input
  TensorDesc desc;    // of this input
};

/// From the entry of `text`, a case file, that suits best: one that the backend neither refuses nor leaves to the
/// oracle, with f32 and several shapes if there is one. The seed is its own, so the id is, too. InvalidArgument if the
/// text has no such entry, or if the other kernels would be left without a case.
Result<KernelCase> kernelCaseOf(const std::string& text, const std::string& type, const std::string& backend,
                                const std::string& name);

}  // namespace opkit::scaffold
