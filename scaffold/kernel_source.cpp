#include "scaffold/kernel_source.h"

#include <regex>

#include "scaffold/names.h"

namespace opkit::scaffold {
namespace {

/// Every `from`; returns their number.
size_t replaceAll(std::string& text, const std::string& from, const std::string& to) {
  size_t count = 0;
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()), ++count)
    text.replace(at, from.size(), to);
  return count;
}

/// The class of "Result<Scales> Scales::of(const Roles& roles," if the line begins the definition of a member.
std::string classOfMember(const std::string& line) {
  static const std::regex member("^[A-Za-z][^(;]* (\\w+)::\\w+\\(.*");
  std::smatch match;
  return std::regex_match(line, match, member) ? match[1].str() : "";
}

/// Without the members of classes that a header of the operator declares: they exist once. A definition ends at a line
/// "}".
std::string withoutForeignMembers(const std::string& text) {
  std::string result;
  bool inside = false;
  for (const std::string& line : splitAt(text, '\n')) {
    const std::string type = inside ? "" : classOfMember(line);
    if (!type.empty() && !std::regex_search(text, std::regex("\\b(class|struct) " + type + "\\b"))) inside = true;
    if (!inside) result += line + "\n";
    inside = inside && line != "}" && (type.empty() || !line.ends_with('}'));
  }
  result.pop_back();  // the text ends with a line break
  return result;
}

}  // namespace

std::vector<std::string> shadersOf(const KernelCopy& copy, const std::string& source) {
  const std::regex include("#include \"shaders/" + copy.folder + "/(\\w+)\\.h\"");
  std::vector<std::string> stems;
  for (std::sregex_iterator match(source.begin(), source.end(), include), end; match != end; ++match)
    stems.push_back((*match)[1].str());
  return stems;
}

Result<std::string> copiedSource(const KernelCopy& copy, const std::string& source,
                                 const std::vector<std::string>& shaders, const std::string& head,
                                 const std::string& tail) {
  std::string text = withoutForeignMembers(source);
  const std::string outer = "namespace opkit::ops::" + copy.folder, inner = outer + "::" + copy.inner();
  const std::string add = copy.backend == "cpu" ? "addCpu" : "addVulkan";
  const bool fits = replaceAll(text, outer + " {\n", inner + " {\n") == 1 &&
                    replaceAll(text, "}  // " + outer + "\n", "}  // " + inner + "\n") == 1 &&
                    replaceAll(text, "\nvoid " + add + "(OpRegistry& registry) {",
                               "\nstatic void addCopied(OpRegistry& registry) {") == 1;
  if (!fits)
    return Status::invalidArgument(
        "ops/{}/{} is not in the form that can be copied: expected one '{} {{' and one 'void {}(OpRegistry& registry) "
        "{{'",
        copy.folder, copy.original(), outer, add);
  for (const std::string& stem : shaders) {
    const std::string path = "shaders/" + copy.folder + "/" + stem;
    replaceAll(text, "\"" + path + ".h\"", "\"" + path + "_" + copy.name + ".h\"");
    text = std::regex_replace(text, std::regex("\\bshaders::" + upperCamel(stem) + "\\b"),
                              "shaders::" + upperCamel(stem + "_" + copy.name));
  }
  text.insert(text.find("#include \""), "#include \"engine/backend/joined_kernel.h\"\n");
  text.insert(text.rfind("}  // " + inner), tail + "\n");
  return head + text;
}

}  // namespace opkit::scaffold
