// Siblings: nodes that share constants in one Session. Kernels keep constants in packed or uploaded forms, found by the
// constant and a name; a name that lacks a parameter, or another constant, gives one node the form of another.
#pragma once

#include "harness/check/variants.h"

namespace opkit::harness {

/// Part of the message of a node that is right alone.
inline constexpr const char* kBesideSiblings = "beside nodes that share its constants";

/// The case's node beside nodes of the same constants with one parameter changed, and with one constant changed: each
/// must be within the bounds of its oracle. Unsupported if no input is a constant that a kernel may keep, or no
/// alteration is accepted. `config` and `runtime`: of the Session; the context's own, or those of a variant.
Status checkSiblings(const VariantContext& context, const SessionConfig& config,
                     const std::shared_ptr<Runtime>& runtime);

}  // namespace opkit::harness
