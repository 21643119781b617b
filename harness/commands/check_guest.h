// check --ort: OpKit's cases, asked of a provider of another engine. docs/foreign.md.
#pragma once

#include "harness/commands/check_options.h"

namespace opkit::harness {

/// Asks the engine of options.guest. Exit codes as of `check`. Unsupported in a partial build.
Result<int> checkGuest(const CheckArguments& options, const std::string& commandLine);

}  // namespace opkit::harness
