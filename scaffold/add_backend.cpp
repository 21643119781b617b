#include "scaffold/add_backend.h"

#include <algorithm>
#include <regex>

#include "scaffold/format.h"
#include "scaffold/generate.h"
#include "scaffold/names.h"
#include "scaffold/record.h"
#include "scaffold/validate.h"

namespace opkit::scaffold {
namespace {

Result<Spec> specFor(const Tree& tree, const KnownOperator& op, const std::string& kind) {
  const auto record = readRecord(tree, op.type);
  if (record && record->spec.is_object()) return specFromJson(record->spec.dump());
  return Spec{.name = op.type, .kind = kind.empty() ? "copy" : kind};
}

/// True if the kernel of a kind compiles in the folder of an operator that op-scaffold did not write.
Status checkForeign(const Tree& tree, const Templates& templates, const KnownOperator& op, const std::string& kind) {
  const std::string stem = "ops/" + op.folder + "/" + op.folder;
  if (op.folder != snakeCase(op.type))
    return Status::invalidArgument("{} shares ops/{} with other operators: add its kernel there by hand", op.type,
                                   op.folder);
  if (templates.has(findKind(kind)->folder(), "op.h") && !tree.exists(stem + ".h"))
    return Status::invalidArgument("{}.h is missing: kernels include it", stem);
  const std::string schema = tree.read(stem + ".fbs").value_or("");
  for (const Attribute& attribute : findKind(kind)->attributes)
    if (!std::regex_search(schema, std::regex("\\b" + attribute.name + "\\s*:")))
      return Status::invalidArgument(
          "the kernel of kind {} reads a parameter '{}', but {} has none of this name; try without --kind", kind,
          attribute.name, op.type);
  return Status::ok();
}

}  // namespace

Result<Plan> planAddBackend(const Tree& tree, const Templates& templates, const std::string& type,
                            const std::string& backend, const std::string& kind) {
  if (backend != "cpu" && backend != "vulkan")
    return Status::invalidArgument("kernels are written for cpu and vulkan, got '{}'", backend);
  const auto known = operatorsOf(tree);
  const auto op =
      std::find_if(known.begin(), known.end(), [&](const KnownOperator& each) { return each.type == type; });
  if (op == known.end()) return Status::invalidArgument("there is no operator {} in this tree", type);
  const std::string card = tree.read("ops/" + op->folder + "/" + op->folder + ".cpp").value_or("");
  if (card.find(".lower =") != std::string::npos || card.find(".decompose =") != std::string::npos)
    return Status::invalidArgument("{} is lowered to other work and runs on every backend already", type);
  if (tree.exists(targetOf(op->folder, "op_" + backend + ".cpp")))
    return Status::invalidArgument("{} has a kernel on {}: {}", type, backend,
                                   targetOf(op->folder, "op_" + backend + ".cpp"));
  OPKIT_ASSIGN(const Spec given, specFor(tree, *op, kind));
  OPKIT_ASSIGN(Spec spec, completed(given));
  if (findKind(spec.kind)->row || !findKind(spec.kind)->kernels)
    return Status::invalidArgument("kind {} has no kernel of its own", spec.kind);
  if (!readRecord(tree, type)) OPKIT_TRY(checkForeign(tree, templates, *op, spec.kind));
  if (!spec.has(backend)) spec.backends.push_back(backend);
  kainjow::mustache::data context = contextOf(spec);
  Plan plan;
  for (const std::string& file : {"op_" + backend + ".cpp", std::string("op.comp")}) {
    if (file == "op.comp" && backend != "vulkan") continue;
    OPKIT_ASSIGN(const std::string rendered, templates.render(findKind(spec.kind)->folder(), file, context));
    const std::string path = targetOf(op->folder, file);
    if (tree.exists(path)) return Status::invalidArgument("{} exists", path);
    plan.push_back({path, std::nullopt, formatted(tree, path, rendered)});
  }
  if (auto record = readRecord(tree, type)) {
    for (const FileChange& change : plan) record->files[change.path] = hashOf(*change.after);
    record->spec = specToJson(spec);
    plan.push_back(recordChange(tree, type, record));
  }
  return plan;
}

}  // namespace opkit::scaffold
