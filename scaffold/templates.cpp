#include "scaffold/templates.h"

#include <regex>

namespace opkit::scaffold {
namespace {

/// Around a tag it keeps the renderer from taking line breaks away on its own, which it does by turns.
const std::string kFence = "\x01";

/// A tag of a section that is alone on its line leaves no line behind, whether the section is shown or not.
std::string withoutTagLines(const std::string& text) {
  static const std::regex tag("[ \t]*<%[#^/][^%]*%>[ \t]*");
  std::string joined;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string each = text.substr(at, end - at);
    at = end + 1;
    if (std::regex_match(each, tag))
      joined += kFence + each + kFence;
    else
      joined += each + (end < text.size() ? "\n" : "");
  }
  return joined;
}

}  // namespace

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
  kainjow::mustache::mustache mustache("{{=<% %>=}}" + withoutTagLines(found->text));
  mustache.set_custom_escape([](const std::string& text) { return text; });
  std::string text = mustache.is_valid() ? mustache.render(context) : "";
  if (!mustache.is_valid()) return Status::invalidArgument("{}: {}", found->path, mustache.error_message());
  std::erase(text, kFence[0]);
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
