// Contents for the backend suite: deterministic, different for every seed, exact in every dtype.
#pragma once

#include <string>

#include "engine/backend/backend.h"

namespace opkit::harness::backend_suite {

/// Host tensor of small whole numbers (bool: 0 and 1) that depend on `seed`.
Result<Tensor> pattern(const TensorDesc& desc, int seed);
/// OK if the device tensor downloads as `expected`, bit for bit; `what` is for the message.
Status expectHolds(Backend& backend, const Tensor& device, const Tensor& expected, const std::string& what);
/// Device memory for `host` with its contents, in the backend's storage dtype, in `layout`.
Result<Tensor> toDevice(Backend& backend, const Tensor& host, Layout layout = Layout::NCHW);

}  // namespace opkit::harness::backend_suite
