// Guard bytes around single tensors in device memory: constants and parts of a kernel's scratch, around which no arena
// places canaries. Harnesses only (BackendConfig::guardBytes); without guards these are plain uploads.
//
// checkGuard finds a kernel that writes into a guard. A kernel that reads a guard computes with values that differ from
// zero. Plain functions; a Backend is used by one thread at a time.
#pragma once

#include <string_view>

#include "engine/backend/backend.h"

namespace opkit {

/// Allocates `device` (a description and layout) on `backend`, with the values of `host` and at least `guardBytes` of
/// guard on either side. Returns the errors of allocation and upload.
Result<Tensor> uploadGuarded(Backend& backend, const Tensor& host, Tensor device, size_t guardBytes);

/// Internal if a guard changed, with the distance from `tensor`. `what` names the tensor: "the constant 'w'".
Status checkGuard(Backend& backend, const Tensor& tensor, std::string_view what);

/// The same for bytes that held poison before the run, such as those between parts of scratch memory.
Status checkGap(Backend& backend, const Tensor& gap, std::string_view what);

}  // namespace opkit
