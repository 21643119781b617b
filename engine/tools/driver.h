// The Vulkan driver of a program, and the vector width of a software one. Both are settings of the environment, which
// drivers read when they are loaded: call these before anything loads Vulkan.
#pragma once

#include <string>

#include "engine/base/status.h"

namespace opkit::cli {

/// Uses the driver that the Vulkan manifest `file` (JSON) names, and no other. Executes the program anew with `argv`,
/// because libraries beside the driver are found only by a new process; OK in that one. InvalidArgument names what is
/// wrong with the manifest or its library.
Status useDriver(const std::string& file, char** argv);

/// Makes a software device of Mesa compute with vectors of `bits`: 128, 256 or 512. Its subgroups have bits / 32
/// invocations. Its shader cache, which ignores the width, is off.
void useVectorWidth(int bits);

/// "--driver FILE --vector-width BITS" as this process was started, quoted for a shell; empty if neither was given.
std::string driverOptions();
/// True if the process runs with --vector-width.
bool hasVectorWidth();

/// Arguments of env(1) that undo both options.
std::string undoDriverOptions();

}  // namespace opkit::cli
