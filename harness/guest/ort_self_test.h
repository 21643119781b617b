// proveTable: whether a library's functions are those of ort_api.h.
#pragma once

#include "engine/base/status.h"
#include "harness/guest/ort_library.h"

namespace opkit::harness::ort {

/// Calls the functions in a forked child, where wrong ones may crash or hang: what they give back must be what went in,
/// and a model of one node must have the right values. Unsupported says what did not.
Status proveTable(const OrtLibrary& library);

}  // namespace opkit::harness::ort
