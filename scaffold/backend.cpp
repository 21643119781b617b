#include "scaffold/backend.h"

#include <regex>

#include "scaffold/names.h"

namespace opkit::scaffold {
namespace {

const std::string kBackendFolder = "engine/backend/";

Status checkBackendName(const Tree& tree, const std::string& name) {
  if (!std::regex_match(name, std::regex("[a-z][a-z0-9_]{1,30}")) || isKeyword(name))
    return Status::invalidArgument("a backend's name is a lower-case word such as my_npu, and no keyword, got '{}'",
                                   name);
  for (const char* taken : {"host", "cpu", "gpu", "vulkan", "null", "reference", "plugin"})
    if (name == taken) return Status::invalidArgument("backend {} exists; choose another name", name);
  if (tree.exists(kBackendFolder + name) && !tree.exists(kBackendFolder + name + "/" + name + "_backend.cpp"))
    return Status::invalidArgument("{}{} exists but is not a backend; choose another name", kBackendFolder, name);
  return Status::ok();
}

/// The null backend's text with the new name, and its list of steps as marks.
std::string renamed(std::string text, const std::string& name) {
  const auto replace = [&](const std::string& pattern, const std::string& by) {
    text = std::regex_replace(text, std::regex(pattern), by);
  };
  replace("\\bnull\\b", name);
  replace("\\bnull_backend", name + "_backend");
  replace("\\bnullDevice", "thisDevice");
  replace("\\bNull(?=[A-Z])", upperCamel(name));
  replace("// The " + std::string("\\w+") + " backend: the smallest[^\n]*\n//\n", "// The " + name + " backend.\n//\n");
  replace("To make a real backend of a copy:", "It began as a copy of engine/backend/null; the steps from there:");
  replace("//   (\\d)\\. ",
          "//   SCAFFOLD"
          ": $1. ");
  return text;
}

}  // namespace

Result<Plan> planBackend(const Tree& tree, const std::string& name, bool force) {
  OPKIT_TRY(checkBackendName(tree, name));
  Plan plan;
  for (const char* suffix : {"_backend.h", "_backend.cpp"}) {
    const auto source = tree.read(kBackendFolder + "null/null" + suffix);
    if (!source) return Status::invalidArgument("{}null/null{} is not there to be copied", kBackendFolder, suffix);
    const std::string path = kBackendFolder + name + "/" + name + suffix;
    FileChange change{path, tree.read(path), renamed(*source, name)};
    if (change.before && !change.isNoOp() && !force)
      return Status::invalidArgument("{} exists and differs from the new text; --force overwrites it", path);
    plan.push_back(std::move(change));
  }
  return plan;
}

}  // namespace opkit::scaffold
