#include "scaffold/templates.h"

namespace opkit::scaffold {

std::optional<Templates::Found> Templates::find(const std::string& kind, const std::string& file) const {
  for (const std::string& folder : {kind, std::string("common")}) {
    const std::string path = folder + "/" + file + ".mustache";
    if (!overrides_.empty())
      if (auto text = Tree(overrides_).read(path)) return Found{overrides_ + "/" + path, *std::move(text)};
    for (const EmbeddedTemplate& each : embeddedTemplates())
      if (each.path == path) return Found{path, std::string(each.text)};
  }
  return std::nullopt;
}

Result<std::string> Templates::render(const std::string& kind, const std::string& file,
                                      kainjow::mustache::data& context) const {
  const auto found = find(kind, file);
  if (!found) return Status::invalidArgument("there is no template {}/{}.mustache", kind, file);
  kainjow::mustache::mustache mustache("{{=<% %>=}}" + found->text);
  mustache.set_custom_escape([](const std::string& text) { return text; });
  std::string text = mustache.is_valid() ? mustache.render(context) : "";
  if (!mustache.is_valid()) return Status::invalidArgument("{}: {}", found->path, mustache.error_message());
  return text;
}

Plan ejectPlan(const Tree& folder) {
  Plan plan;
  for (const EmbeddedTemplate& each : embeddedTemplates()) {
    const std::string path(each.path);
    plan.push_back({path, folder.read(path), std::string(each.text)});
  }
  return plan;
}

}  // namespace opkit::scaffold
