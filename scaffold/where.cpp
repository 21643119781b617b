#include "scaffold/where.h"

#include <algorithm>
#include <regex>
#include <set>

#include "scaffold/names.h"
#include "scaffold/validate.h"

namespace opkit::scaffold {
namespace {

/// How a part of an operator is found: files by their ending, and the line that begins the part for a whole folder.
struct Part {
  const char* name;
  const char* files;   // regular expression of the path
  const char* begins;  // of a line that defines the part, where no line names the operator
};

constexpr Part kParts[] = {{"row", "_table\\.h$", nullptr},
                           {"card", "/(\\w+)/\\1\\.cpp$", "^void define\\("},
                           {"parameters", "\\.fbs$", "^table "},
                           {"oracle", "_reference\\.cpp$", "^Status reference\\("},
                           {"ONNX rule", "_(onnx|rules)\\.cpp$", "^void addOnnx\\("},
                           {"CPU kernel", "_cpu\\.cpp$", "^void addCpu\\("},
                           {"oneDNN kernel", "_onednn\\.cpp$", "^void addOnednn\\("},
                           {"Vulkan kernel", "_vulkan\\.cpp$", "^void addVulkan\\("},
                           {"shader", "\\.comp$", "^void main\\("},
                           {"graph pass", "(_passes|fuse_\\w+)\\.cpp$", "^void addPasses\\("},
                           {"cases", "\\.cases\\.json$", nullptr},
                           {"page", "ops/\\w+/\\w+\\.md$", "^# "}};

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string trimmed(const std::string& line) {
  const size_t begin = line.find_first_not_of(' ');
  return begin == std::string::npos ? "" : line.substr(begin);
}

/// A string in quotes, or the argument of a row: UNARY(0, Relu, Exact.
std::regex mentionOf(const std::string& name) {
  return std::regex("(\"|::)" + name + "\"|^ *[A-Z_]+\\((\\d+, )?" + name + "[,)]");
}

std::string withoutDomain(const std::string& name) {
  const size_t end = name.rfind("::");
  return end == std::string::npos ? name : name.substr(end + 2);
}

/// Whether a file is the rules of ONNX, which name operators of other folders too.
bool isRule(const Part& part) { return std::string_view(part.name) == "ONNX rule"; }

struct Search {
  const Tree& tree;
  std::string name;
  std::regex mention;
  std::vector<Place> places = {};

  bool add(const std::string& part, const std::string& path, const std::regex& wanted) {
    const std::vector<std::string> lines = linesOf(tree.read(path).value_or(""));
    const auto found = std::ranges::find_if(lines, [&](const auto& line) { return std::regex_search(line, wanted); });
    if (found == lines.end()) return false;
    places.push_back({part, path, static_cast<size_t>(found - lines.begin()) + 1, trimmed(*found)});
    return true;
  }

  /// The parts in the operator's own folder: named there, or made for the whole folder.
  void inFolder(const Part& part, const std::string& folder) {
    for (const std::string& root : {"ops/" + folder, "shaders/" + folder})
      for (const std::string& path : tree.filesBelow(root)) {
        if (!std::regex_search(path, std::regex(part.files)) || path.ends_with("_test.cpp")) continue;
        if (add(part.name, path, mention) || !part.begins) continue;
        add(part.name, path, std::regex(part.begins));
      }
  }

  /// Rules and passes of other folders that name it.
  void elsewhere(const Part& part, const std::string& folder) {
    const bool isPass = std::string_view(part.name) == "graph pass";
    if (!isRule(part) && !isPass) return;
    for (const std::string& path : tree.filesBelow("ops"))
      if (path.rfind("ops/" + folder + "/", 0) != 0 && std::regex_search(path, std::regex(part.files)))
        add(isPass ? "pass elsewhere" : "rule elsewhere", path, mention);
  }
};

/// The folder whose rules take a name of ONNX that is no operator's type; empty if there is none.
std::string folderOfRule(const Tree& tree, const std::string& name) {
  const std::regex added("(add|note)\\((qualified\\(|domain \\+ )?\"([\\w.]+::)?" + withoutDomain(name) + "\"");
  for (const std::string& path : tree.filesBelow("ops"))
    if (std::regex_search(path, std::regex("_(onnx|rules)\\.cpp$")) &&
        std::regex_search(tree.read(path).value_or(""), added))
      return path.substr(4, path.find('/', 4) - 4);
  return "";
}

std::string withoutCase(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// "; similar: Softmax, Softplus": operators that contain the name, or begin as it does.
std::string similarTo(const std::vector<KnownOperator>& known, const std::string& name) {
  const std::string asked = withoutCase(name);
  std::vector<std::string> similar;
  for (const KnownOperator& op : known)
    if (const std::string type = withoutCase(op.type);
        type.find(asked) != std::string::npos || type.substr(0, 4) == asked.substr(0, 4))
      similar.push_back(op.type);
  std::ranges::sort(similar);
  return similar.empty() ? "" : fmt::format("; similar: {}", fmt::join(similar, ", "));
}

}  // namespace

Result<std::vector<Place>> placesOf(const Tree& tree, const std::string& name) {
  const std::vector<KnownOperator> known = operatorsOf(tree);
  const auto op = std::ranges::find(known, name, &KnownOperator::type);
  const std::string type = withoutDomain(name);
  if (type.empty() || name.size() > kLongestName ||
      !std::ranges::all_of(type, [](unsigned char c) { return std::isalnum(c) || c == '_'; }))
    return Status::invalidArgument("expected an operator such as Softmax or com.microsoft::FusedConv, got '{}'", name);
  const std::string folder = op != known.end() ? op->folder : folderOfRule(tree, name);
  if (folder.empty())
    return Status::invalidArgument("no operator and no ONNX rule of this tree is named {}{}", name,
                                   similarTo(known, type));
  Search search{tree, name, mentionOf(type)};
  for (const Part& part : kParts) {
    if (op != known.end() || isRule(part)) search.inFolder(part, folder);
    search.elsewhere(part, folder);
  }
  return std::move(search.places);
}

}  // namespace opkit::scaffold
