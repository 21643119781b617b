#include "scaffold/generate.h"

#include <algorithm>

#include "scaffold/format.h"
#include "scaffold/names.h"
#include "scaffold/record.h"
#include "scaffold/rows.h"
#include "scaffold/validate.h"

namespace opkit::scaffold {
namespace {

using kainjow::mustache::data;

constexpr const char* kFiles[] = {"op.fbs",     "op.h",          "op.cpp",      "op_reference.cpp",
                                  "op_cpu.cpp", "op_vulkan.cpp", "op_onnx.cpp", "op.cases.json",
                                  "op.md",      "op.comp"};

bool wanted(const Spec& spec, const std::string& file) {
  if (file == "op.fbs") return !spec.attributes.empty();
  const bool kernels = findKind(spec.kind)->kernels;
  if (file == "op_cpu.cpp") return kernels && spec.has("cpu");
  if (file == "op_vulkan.cpp" || file == "op.comp") return kernels && spec.has("vulkan");
  return true;
}

/// Files that an earlier command line wrote and this one does not: the kernel of another kind would not compile.
void dropStale(const Tree& tree, const std::string& type, Plan& plan) {
  const auto record = readRecord(tree, type);
  if (!record) return;
  for (const auto& file : record->files) {
    const std::string& path = file.first;
    const bool kept =
        std::any_of(plan.begin(), plan.end(), [&](const FileChange& change) { return change.path == path; });
    if (!kept) plan.push_back({path, tree.read(path), std::nullopt});
  }
}

}  // namespace

std::string targetOf(const std::string& op, const std::string& file) {
  const bool shader = file == "op.comp";
  return (shader ? "shaders/" : "ops/") + op + "/" + op + file.substr(2);
}

Result<Plan> planNew(const Tree& tree, const Templates& templates, const Spec& given, bool force) {
  OPKIT_ASSIGN(const Spec spec, completed(given));
  OPKIT_TRY(checkNames(spec));
  const std::string op = snakeCase(spec.name);
  OPKIT_TRY(checkClashes(tree, spec));
  data context = contextOf(spec);
  if (findKind(spec.kind)->row) return planRow(tree, templates, spec, context);
  const std::string& folder = findKind(spec.kind)->folder();
  Plan plan;
  for (const std::string file : kFiles) {
    if (!wanted(spec, file) || !templates.has(folder, file)) continue;
    OPKIT_ASSIGN(const std::string rendered, templates.render(folder, file, context));
    const std::string path = targetOf(op, file);
    std::string text = formatted(tree, path, rendered);
    FileChange change{path, tree.read(path), std::move(text)};
    if (change.before && !change.isNoOp() && !force)
      return Status::invalidArgument("{} exists and differs from the new text; --force overwrites it", path);
    plan.push_back(std::move(change));
  }
  if (force) dropStale(tree, spec.name, plan);
  return plan;
}

}  // namespace opkit::scaffold
