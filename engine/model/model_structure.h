// checkStructure: the registry-free half of validateModel. Readers and importers call it on what they built.
#pragma once

#include "engine/model/model.h"

namespace opkit {

/// Corrupt when names, indices, roles, order or constants are inconsistent; the message names the culprit.
Status checkStructure(const Model& model);

}  // namespace opkit
