#include "scaffold/rows.h"

#include <regex>

#include "scaffold/names.h"

namespace opkit::scaffold {
namespace {

/// Insertion point for rows in a family's file: before the last occurrence of `anchor`, or at the end if it is empty.
struct Place {
  const char* file;  // after the family's name
  const char* anchor;
  const char* tmpl;
  const char* separator;  // between the existing text and the block
};

constexpr Place kPlaces[] = {
    {"_table.h", "\n// clang-format on\n", "row_table.h", ""},
    {"_reference.cpp", "\n  // clang-format on\n", "row_reference.cpp", ""},
    {"_onnx.cpp", "}\n\n}  // namespace opkit::ops::", "row_onnx.cpp", ""},
    {".cases.json", "\n  ],\n  \"errors\": [", "row.cases.json", ",\n"},
    {".md", "", "row.md", ""},
};

size_t placeOf(const std::string& text, const Place& place) {
  return *place.anchor ? text.rfind(place.anchor) : text.size();
}

/// The id of the row with this name, else the lowest free id above all ids of its kind.
int rowId(const std::string& table, const std::string& type) {
  static const std::regex row("^(\\w+)\\((\\d+), (\\w+),", std::regex::multiline);
  std::vector<int> taken;
  int next = 0;
  for (std::sregex_iterator match(table.begin(), table.end(), row), end; match != end; ++match) {
    const int id = std::stoi((*match)[2].str());
    if ((*match)[3].str() == type) return id;
    const std::string macro = (*match)[1].str();
    if (macro == "UNARY" || macro == "BINARY") next = std::max(next, id + 1);
    if (macro.rfind("UNARY", 0) == 0) taken.push_back(id);
  }
  while (std::find(taken.begin(), taken.end(), next) != taken.end()) ++next;
  return next;
}

/// Cases end without a newline: the anchor begins with it.
std::string blockText(const Place& place, std::string rendered) {
  if (*place.separator && !rendered.empty() && rendered.back() == '\n') rendered.pop_back();
  return place.separator + rendered;
}

/// Without the row of the table, or of the oracle's.
std::string withoutTableRow(const std::string& text, const std::string& type) {
  const std::regex row("( *// SCAFFOLD:[^\n]*\n)?^ *\\w+\\((\\d+, )?" + type + ",", std::regex::multiline);
  std::smatch match;
  if (!std::regex_search(text, match, row)) return text;
  const auto begin = static_cast<size_t>(match.position());
  size_t end = begin + static_cast<size_t>(match.length());
  for (int depth = 1; end < text.size() && (depth > 0 || text[end] != '\n'); ++end)
    depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
  return text.substr(0, begin) + text.substr(std::min(end + 1, text.size()));
}

/// Takes the type out of lists of several; its own entries stay.
std::string withoutListed(const std::string& text, const std::string& type) {
  const std::string name = "\"" + type + "\"";
  const std::regex first("(\"op\": \\[)" + name + ", *"), later("(\"op\": \\[[^\\]]*), *" + name + "(?=[,\\]])");
  return std::regex_replace(std::regex_replace(text, first, "$1"), later, "$1");
}

std::string withoutCases(const std::string& text, const std::string& type) {
  std::string result = withoutListed(text, type);
  const std::string op = "\"op\": \"" + type + "\"";
  for (size_t at; (at = result.find(op)) != std::string::npos;) {
    const size_t begin = result.rfind(",\n    {", at), end = result.find("\n    }", at);
    if (begin == std::string::npos || end == std::string::npos) break;
    result.erase(begin, end + 6 - begin);
  }
  return result;
}

std::string withoutLines(const std::string& text, const std::string& word) {
  std::string result;
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size() - 1) + 1;
    const std::string line = text.substr(from, end - from);
    if (line.find(word) == std::string::npos) result += line;
    from = end;
  }
  return result;
}

}  // namespace

Result<Plan> planRow(const Tree& tree, const Templates& templates, const Spec& spec, kainjow::mustache::data& context) {
  const std::string stem = "ops/" + spec.kind + "/" + spec.kind;
  context.set("id", std::to_string(rowId(tree.read(stem + "_table.h").value_or(""), spec.name)));
  Plan plan;
  size_t present = 0;
  for (const Place& place : kPlaces) {
    const std::string path = stem + place.file;
    const auto before = tree.read(path);
    if (!before || placeOf(*before, place) == std::string::npos)
      return Status::invalidArgument("{}: expected '{}' to put rows before", path, place.anchor);
    OPKIT_ASSIGN(const std::string rendered, templates.render(spec.kind, place.tmpl, context));
    const std::string block = blockText(place, rendered);
    FileChange change{path, before, before, block};
    if (before->find(block) != std::string::npos)
      ++present;
    else
      change.after->insert(placeOf(*before, place), block);
    plan.push_back(std::move(change));
  }
  if (present == 0 && tree.read(stem + "_table.h")->find(", " + spec.name + ",") == std::string::npos) return plan;
  if (present == std::size(kPlaces)) return plan;
  return Status::invalidArgument("{} has a row of another text in ops/{}; remove it first", spec.name, spec.kind);
}

std::optional<std::string> withoutBlock(const std::string& text, const std::string& block) {
  const size_t at = text.rfind(block);
  if (block.empty() || at == std::string::npos) return std::nullopt;
  return text.substr(0, at) + text.substr(at + block.size());
}

std::optional<std::string> withoutMentions(const std::string& path, const std::string& text, const std::string& type) {
  if (path.ends_with("_table.h") || path.ends_with("_reference.cpp")) return withoutTableRow(text, type);
  if (path.ends_with("_onnx.cpp")) return withoutLines(text, "passThrough(\"" + type + "\")");
  if (path.ends_with(".cases.json")) return withoutCases(text, type);
  if (path.ends_with(".md")) return withoutLines(text, "**" + type + "**");
  return std::nullopt;
}

}  // namespace opkit::scaffold
