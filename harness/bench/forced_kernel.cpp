#include "harness/bench/forced_kernel.h"

#include <set>

#include "engine/backend/extra_creators.h"
#include "engine/op/takes_kernels.h"
#include "reports/results/kernel_names.h"

namespace opkit::harness {
namespace {

std::string nameOfCopy(const std::string& kernel) {
  return kernel.find('/') == std::string::npos ? kernel + "/unnamed" : kernel;
}

/// The same name, but another key (provider and kernel) than that of the original.
void rename(Creator& copy, const std::string& name) {
  if (copy.kernel.empty())
    copy.kernel = "unnamed";
  else
    copy.provider = name, copy.kernel = "";
}

Status putFirst(const std::string& kernel, const std::string& backend, const OpDef& op, OpRegistry& registry) {
  bool found = false;
  for (Creator creator : creatorTable(registry, backend, op)) {
    if (kernelName(creator.provider, creator.kernel) != kernel) continue;
    found = true;
    rename(creator, kernel);
    OPKIT_TRY(registry.tryAddCreator(backend, op.type, std::move(creator), OpRegistry::Place::First));
  }
  if (found) return Status::ok();
  if (const std::string_view why = takesNoKernels(op); !why.empty())
    return Status::invalidArgument("--kernel {}: {} has no kernels: {}", kernel, op.type, why);
  return Status::invalidArgument("--kernel {}: {} has no such kernel on {}; it has {}", kernel, op.type, backend,
                                 fmt::join(kernelNames(registry, backend, op), ", "));
}

}  // namespace

Result<OpRegistry> forceKernel(const std::string& kernel, const std::vector<std::string>& backends,
                               const OpRegistry& registry, Catalogue& catalogue) {
  OpRegistry forced = registry;
  std::set<std::string> types;
  for (CaseGroup& group : catalogue.groups)
    for (Case& c : group.cases) {
      types.insert(c.op);
      for (const std::string& backend : backends) c.kernel[backend] = nameOfCopy(kernel);
    }
  for (const std::string& type : types)
    for (const std::string& backend : backends) OPKIT_TRY(putFirst(kernel, backend, *registry.find(type), forced));
  return forced;
}

}  // namespace opkit::harness
