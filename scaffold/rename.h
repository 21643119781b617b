// Rename: gives an operator another type, folder and namespace.
#pragma once

#include "scaffold/plan.h"

namespace opkit::scaffold {

/// The changes that turn operator `from`, which has its own folder, into `to`: files move, and inside them the type,
/// the namespace and names derived from them change; ONNX names stay. A row of a family that op-scaffold inserted is
/// renamed in place. Further kernels go along, with their records. Without `force`, InvalidArgument names a file that
/// was edited since op-scaffold wrote it, or says that op-scaffold did not write it.
Result<Plan> planRename(const Tree& tree, const std::string& from, const std::string& to, bool force);

}  // namespace opkit::scaffold
