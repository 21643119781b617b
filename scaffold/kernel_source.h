// Copies of a kernel's source and shaders under another name, as the start of a further kernel. Pure functions on text.
#pragma once

#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::scaffold {

/// Where a copy comes from and what it is called.
struct KernelCopy {
  std::string folder;   // "softmax"
  std::string backend;  // "vulkan"
  std::string name;     // "fused"

  std::string original() const { return folder + "_" + backend + ".cpp"; }
  /// "fused_vulkan": the namespace inside the operator's.
  std::string inner() const { return name + "_" + backend; }
  std::string file() const { return folder + "_" + inner() + ".cpp"; }
};

/// The stems of the shaders of the operator's own folder that the source includes: "softmax" of
/// #include "shaders/softmax/softmax.h".
std::vector<std::string> shadersOf(const KernelCopy& copy, const std::string& source);

/// The source in a namespace of its own, with `addCopied` for addCpu or addVulkan and the names of the copied shaders;
/// `head` before it and `tail` at its end, inside the namespace. InvalidArgument if the source has another form.
Result<std::string> copiedSource(const KernelCopy& copy, const std::string& source,
                                 const std::vector<std::string>& shaders, const std::string& head,
                                 const std::string& tail);

}  // namespace opkit::scaffold
