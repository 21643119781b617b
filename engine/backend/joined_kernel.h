// joinedKernel: several kernels of an operator as one Creator with a name of its own. For the source of a further
// kernel that began as a copy of another one (`op-scaffold new-kernel`): the copied function adds its kernels under
// their old names, which the table has already.
#pragma once

#include <functional>
#include <string>

#include "engine/op/op_registry.h"

namespace opkit {

/// The kernels that `add` adds to `type` on `backend`, as one: a node that `supports` accepts goes to the first of them
/// that takes it. Kernels of another layout than NCHW are left out, because a Creator has one layout. REQUIRES that one
/// is left; `registry` has the cards.
Creator joinedKernel(const OpRegistry& registry, const std::string& backend, const std::string& type,
                     void (*add)(OpRegistry&), const std::string& name,
                     std::function<Status(const CreateArgs&)> supports);

}  // namespace opkit
