// Completion: shell scripts made from a program's own description of its commands and options, so they are never stale.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "engine/base/status.h"

namespace opkit::cli {

/// A script for `shell` (bash or zsh) that completes the app's subcommands and options; file names elsewhere. To be
/// sourced: `source <(op-run --completion bash)`. InvalidArgument for another shell.
Result<std::string> completionScript(const CLI::App& app, const std::string& shell);

}  // namespace opkit::cli
