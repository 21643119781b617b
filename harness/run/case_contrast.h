// CaseContrast: what the failing cases of an operator have in common and its passing cases do not have. It names the
// branch of a kernel that is wrong: a parameter, a dtype, an extent.
#pragma once

#include <string>
#include <vector>

#include "engine/op/op_registry.h"

namespace opkit::harness {

/// "axis -1 of 'X' is no multiple of 4: so in all 7 cases that fail, and in none of 31 that pass". The property, or the
/// pair of two, holds for at most one of twenty of `passing`. Empty if there is none, or if fewer than two fail or six
/// pass. Ids that do not parse are left out.
std::string contrastOf(const OpDef& def, const std::vector<std::string>& failing,
                       const std::vector<std::string>& passing);

}  // namespace opkit::harness
