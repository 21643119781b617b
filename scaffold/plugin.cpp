#include "scaffold/plugin.h"

#include <regex>

#include "scaffold/names.h"

namespace opkit::scaffold {

Result<Plan> planPlugin(const Tree& folder, const Templates& templates, const std::string& name,
                        const std::string& domain, const std::string& language, bool force) {
  if (name.size() > kLongestName || !std::regex_match(name, std::regex("[a-z][a-z0-9_]{1,40}")) || isKeyword(name))
    return Status::invalidArgument("a plugin's name is a lower-case word such as hard_shrink, and no keyword, got '{}'",
                                   name);
  if (domain.size() > kLongestName || !std::regex_match(domain, std::regex("[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)+")))
    return Status::invalidArgument("--domain: expected a reversed domain such as com.acme, got '{}'", domain);
  if (language != "c" && language != "cpp")
    return Status::invalidArgument("--language: expected c or cpp, got '{}'", language);
  const bool cpp = language == "cpp";
  kainjow::mustache::data context;
  context.set("name", name);
  context.set("type", domain + "::" + upperCamel(name));
  context.set("LANGUAGE", cpp ? "CXX" : "C");
  context.set("extension", language);
  context.set("cpp", cpp);
  Plan plan;
  for (const auto& [file, path] : {std::pair{"CMakeLists.txt", std::string("CMakeLists.txt")},
                                   {"plugin.cpp", name + "." + language},
                                   {"plugin.cases.json", name + ".cases.json"}}) {
    OPKIT_ASSIGN(std::string text, templates.render("plugin", file, context));
    FileChange change{path, folder.read(path), std::move(text)};
    if (change.before && !change.isNoOp() && !force)
      return Status::invalidArgument("{} exists and differs from the new text; --force overwrites it",
                                     folder.absolute(path));
    plan.push_back(std::move(change));
  }
  return plan;
}

}  // namespace opkit::scaffold
