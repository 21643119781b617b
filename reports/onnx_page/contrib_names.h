// What ONNX Runtime 1.30 has in the domain com.microsoft, and who writes it: for the end of docs/onnx.md. Static data.
#pragma once

#include <span>
#include <vector>

namespace opkit::reports {

/// Names that the same tools write. A name is with the first tool that writes it.
struct ContribNames {
  const char* writtenBy;
  std::vector<const char*> names;
};

/// By the tools, in the order in which we expect their models.
const std::vector<ContribNames>& contribNames();

}  // namespace opkit::reports
