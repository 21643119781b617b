// Remove: takes an operator out of the tree again.
#pragma once

#include "scaffold/plan.h"

namespace opkit::scaffold {

/// The changes that undo `new NAME` or `backend NAME`. Without `force`, InvalidArgument names later edits and
/// additions, or says that op-scaffold did not make the operator; with it, the operator is removed regardless of edits.
Result<Plan> planRemove(const Tree& tree, const std::string& name, bool force);

}  // namespace opkit::scaffold
