#include "scaffold/remove.h"

#include <algorithm>
#include <set>

#include "scaffold/names.h"
#include "scaffold/record.h"
#include "scaffold/rows.h"
#include "scaffold/validate.h"

namespace opkit::scaffold {
namespace {

std::set<std::string> folderFiles(const Tree& tree, const std::string& op) {
  std::set<std::string> paths;
  for (const char* root : {"ops/", "shaders/"})
    for (const std::string& path : tree.filesBelow(root + op)) paths.insert(path);
  return paths;
}

std::set<std::string> backendFiles(const Tree& tree, const std::string& name) {
  const auto paths = tree.filesBelow("engine/backend/" + name);
  return {paths.begin(), paths.end()};
}

Status refuse(const std::string& path, const char* what) {
  return Status::invalidArgument("{} was {} since it was scaffolded; --force removes it all the same", path, what);
}

Status removeBlocks(const Tree& tree, const std::string& name, const Record& record, bool force, Plan& plan) {
  for (const Block& block : record.blocks) {
    const auto earlier = std::ranges::find(plan, block.path, &FileChange::path);  // two blocks of one file
    const auto before = earlier != plan.end() ? earlier->after : tree.read(block.path);
    if (!before) continue;
    auto after = withoutBlock(*before, block.text);
    if (!after && !force) return refuse(block.path, "edited");
    if (!after) after = withoutMentions(block.path, *before, name);
    if (earlier != plan.end())
      earlier->after = after ? after : before;
    else
      plan.push_back({block.path, before, after ? after : before});
  }
  return Status::ok();
}

/// Without a record: the folder of the operator, or its row.
Result<Plan> planUnrecorded(const Tree& tree, const std::string& name, bool force) {
  std::vector<KnownOperator> known = operatorsOf(tree);
  const auto found = std::find_if(known.begin(), known.end(), [&](const KnownOperator& op) { return op.type == name; });
  if (found == known.end()) return Status::invalidArgument("there is no operator {} in this tree", name);
  if (!force)
    return Status::invalidArgument("{} of ops/{} was not scaffolded in this working copy; --force removes it", name,
                                   found->folder);
  const auto sharing =
      std::count_if(known.begin(), known.end(), [&](const KnownOperator& op) { return op.folder == found->folder; });
  Plan plan;
  if (sharing == 1) {
    for (const std::string& path : folderFiles(tree, found->folder))
      plan.push_back({path, tree.read(path), std::nullopt});
    return plan;
  }
  for (const std::string& file : tree.list("ops/" + found->folder)) {
    const std::string path = "ops/" + found->folder + "/" + file;
    const auto before = tree.read(path);
    const auto after = before ? withoutMentions(path, *before, name) : std::nullopt;
    if (after && after != before) plan.push_back({path, before, after});
  }
  if (plan.empty())
    return Status::invalidArgument(
        "{} shares ops/{} with other operators but is not a row of a family; remove it by hand", name, found->folder);
  return plan;
}

}  // namespace

Result<Plan> planRemove(const Tree& tree, const std::string& name, bool force) {
  const bool backend = !readRecord(tree, name) && readRecord(tree, "backend-" + name);
  const std::string key = backend ? "backend-" + name : name;
  const auto record = readRecord(tree, key);
  if (!record) return planUnrecorded(tree, name, force);
  Plan plan;
  std::set<std::string> paths;
  for (const auto& [path, hash] : record->files) {
    const auto before = tree.read(path);
    if (!before) continue;
    if (!force && hashOf(*before) != hash) return refuse(path, "edited");
    paths.insert(path);
  }
  if (record->blocks.empty())
    for (const std::string& path : backend ? backendFiles(tree, name) : folderFiles(tree, snakeCase(name))) {
      if (!force && !record->files.contains(path)) return refuse(path, "added");
      paths.insert(path);
    }
  for (const std::string& path : paths) plan.push_back({path, tree.read(path), std::nullopt});
  OPKIT_TRY(removeBlocks(tree, name, *record, force, plan));
  plan.push_back(recordChange(tree, key, std::nullopt));
  return plan;
}

}  // namespace opkit::scaffold
