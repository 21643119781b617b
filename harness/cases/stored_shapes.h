// Stored shapes: what an independent source says of a case's outputs, in the keys `shapes` and `source` of its file
// (harness/cases.md). Plain functions; thread-safe.
#pragma once

#include <span>

#include "engine/op/op_def.h"
#include "harness/cases/case.h"

namespace opkit::harness {

/// OK if the case stores no shapes, or those of each of its outputs; else InvalidArgument.
Status checkShapeCount(const Case& c, const OpDef& def);

/// OK if the case stores no shapes, or `outputs` have them. Internal names the first output that differs.
Status compareShapes(const Case& c, std::span<const TensorDesc> outputs);

/// Runs the shape rule and compares. Returns its errors too.
Status checkShapes(const Case& c, const OpDef& def);

}  // namespace opkit::harness
