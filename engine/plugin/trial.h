// tryPlugin: what a plugin does to a process that loads it, found out in another process.
#pragma once

#include <string>

#include "engine/base/status.h"

namespace opkit {

/// Loads and unloads a plugin in a process of its own, without compiling its shaders. InvalidArgument names the plugin
/// if that ended the process or took longer than `mostSeconds`. OK for a file that PluginSet::load refuses, which says
/// why. Call it from a program with one thread.
Status tryPlugin(const std::string& path, double mostSeconds = 60);

}  // namespace opkit
