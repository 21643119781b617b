// Guard bytes around single tensors in device memory: for constants and the parts of a kernel's scratch, which no arena
// surrounds with canaries. Harnesses only (BackendConfig::guardBytes); without guards these are plain uploads.
//
// A kernel that writes into a guard is found by checkGuard; one that reads it computes with what nobody would call
// zero. Plain functions; a Backend is used by one thread at a time.
#pragma once

#include <string_view>

#include "engine/backend/backend.h"

namespace opkit {

/// `device` (a description and layout) in memory of its own on `backend`, holding the values of `host`, with at least
/// `guardBytes` of guard on either side. Errors are those of allocating and uploading.
Result<Tensor> uploadGuarded(Backend& backend, const Tensor& host, Tensor device, size_t guardBytes);

/// OK, or Internal saying how far from `tensor` a guard changed; `what` names it: "the constant 'w'".
Status checkGuard(Backend& backend, const Tensor& tensor, std::string_view what);

/// The same for bytes that held poison since before the run, as those between the parts of a scratch memory do.
Status checkGap(Backend& backend, const Tensor& gap, std::string_view what);

}  // namespace opkit
