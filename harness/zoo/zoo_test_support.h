// Shared by the tests of the zoo.
#pragma once

#include "engine/runtime/session.h"

namespace opkit {

/// Gives every input values that depend on their place: floats in [-1, 1), integers in [0, 10).
inline void fillInputs(Session& session) {
  for (const std::string& name : session.inputNames()) {
    Tensor& tensor = *session.fillInput(name);
    if (tensor.desc.dtype == DType::Int64) {
      const std::span<int64_t> x = tensor.data<int64_t>();
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int64_t>(i * 7919 % 10);
    } else {
      const std::span<float> x = tensor.data<float>();
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1000) / 500 - 1;
    }
  }
}

}  // namespace opkit
