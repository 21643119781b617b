// Ports: which inputs and outputs a kind takes, and the types of those that name none.
#pragma once

#include "scaffold/kinds.h"

namespace opkit::scaffold {

/// Fills in the kind's ports and types, and resolves type variables to the input that declares them. InvalidArgument
/// says which input does not fit the kind, and what was expected.
Status completePorts(const Kind& kind, Spec& spec);

}  // namespace opkit::scaffold
