#include "reports/results/kernel_names.h"

#include <algorithm>

#include "engine/backend/extra_creators.h"
#include "engine/backend/loop_lowering.h"

namespace opkit {

std::string kernelName(const std::string& provider, const std::string& kernel) {
  return kernel.empty() ? provider : provider + "/" + kernel;
}

std::vector<std::string> kernelNames(const OpRegistry& registry, std::string_view backend, const OpDef& def) {
  if (def.lower) return {"raster"};
  if (def.control) return {"control"};
  if (def.decompose) return {"parts"};
  const bool known = !def.inputs.empty() && std::ranges::all_of(def.inputs, &Port::contents);
  if (def.shapeOnly || known) return {"folded"};
  std::vector<std::string> names;
  for (const Creator& creator : creatorTable(registry, backend, def))
    names.push_back(kernelName(creator.provider, creator.kernel));
  if (def.loop) names.push_back(kLoopProvider);
  if (names.empty() && backend == "cpu" && def.oracle) names.push_back("reference");
  return names;
}

}  // namespace opkit
