#include "scaffold/doctor.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "engine/base/json_text.h"
#include "harness/cases/case_rules.h"
#include "scaffold/names.h"
#include "scaffold/validate.h"

namespace opkit::scaffold {
namespace {

using nlohmann::json;

const std::string kMark = "SCAFFOLD:";

std::vector<std::string> matches(const std::string& text, const char* pattern) {
  const std::regex regex(pattern, std::regex::multiline);
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match)
    found.push_back((*match)[1].str());
  return found;
}

/// The text of every C++ source and header of a folder.
std::string sourcesOf(const Tree& tree, const std::string& folder) {
  std::string text;
  for (const std::string& path : tree.filesBelow(folder))
    if (path.ends_with(".cpp") || path.ends_with(".h")) text += *tree.read(path);
  return text;
}

/// True if the operator needs no kernel: its card has another form, or it is computed at resize because its inputs'
/// values must be known then.
bool needsNoKernel(const std::string& card) {
  for (const char* form : {".lower =", ".decompose =", ".loop =", ".control =", ".shapeOnly = true", ".fold ="})
    if (card.find(form) != card.npos) return true;
  return false;
}

/// The operators of an entry of a case file: its "op", or each of them.
std::vector<std::string> typesOf(const json& entry) {
  const json op = entry.is_object() ? entry.value("op", json()) : json();
  std::vector<std::string> names;
  for (const json& name : op.is_array() ? op : json::array({op}))
    if (name.is_string()) names.push_back(name.get<std::string>());
  return names;
}

struct Examination {
  const Tree& tree;
  std::string op;  // the folder
  OnnxAttributes attributes;
  std::vector<Finding> findings = {};

  std::string file(const std::string& suffix) const { return "ops/" + op + "/" + op + suffix; }
  void report(std::string where, std::string message) { findings.push_back({std::move(where), std::move(message)}); }

  void parts() {
    const std::string card = tree.read(file(".cpp")).value_or("");
    if (!tree.exists(file(".md"))) report(file(".md"), "missing: expected a page beside every card");
    if (card.find("define(OpRegistry&) {}") != std::string::npos) {  // rules made of other operators
      if (!tree.exists(file("_onnx.cpp"))) report(file("_onnx.cpp"), "missing: the folder has neither card nor rule");
      return;
    }
    // Cases are models of one node; control flow brings subgraphs and is tested by models.
    if (!tree.exists(file(".cases.json")) && card.find(".control =") == std::string::npos)
      report(file(".cases.json"), "missing: expected cases beside every card");
    if (card.find(".oracle =") == std::string::npos && card.find(".control") == std::string::npos)
      report(file(".cpp"), "the card has no oracle");
    if (!tree.exists(file("_onnx.cpp")))
      report(file("_onnx.cpp"), "missing: expected the rule that imports it from ONNX, under a domain if need be");
    if (std::regex_search(card, std::regex("\\.oracle = reference\\b")) &&
        sourcesOf(tree, "ops/" + op).find("Status reference(const OracleArgs& args) {") == std::string::npos)
      report(file("_reference.cpp"), "missing: the card names an oracle that no C++ of its folder defines");
    if (!needsNoKernel(card) && !tree.exists(file("_cpu.cpp")) && !tree.exists(file("_vulkan.cpp")))
      report(file("_cpu.cpp"), "missing: expected a kernel on one backend at least, or a lowering");
  }

  void cases() {
    const std::string text = tree.read(file(".cases.json")).value_or("{}");
    if (const Status status = checkJsonDepth(text); !status.isOk())
      return report(file(".cases.json"), status.message());
    const json document = parseJson(text);
    if (!document.is_object()) return report(file(".cases.json"), "not a JSON object");
    std::set<std::string> all, broken, stored;
    for (const json& entry : document.value("cases", json::array())) {
      if (!entry.is_object()) return report(file(".cases.json"), "a case is not a JSON object");
      const std::vector<std::string> types = typesOf(entry);
      all.insert(types.begin(), types.end());
      if (entry.contains("shapes")) stored.insert(types.begin(), types.end());
      const std::string lanes = entry.value("lanes", json::array()).dump();
      if (entry.contains("data") || lanes.find("exact") != std::string::npos ||
          lanes.find("specials") != std::string::npos)
        broken.insert(types.begin(), types.end());
    }
    // Families share their kernels: one operator's designed cases test them all. Shapes have no data to break.
    const bool shapeOnly = tree.read(file(".cpp")).value_or("").find(".shapeOnly = true") != std::string::npos;
    if (!all.empty() && broken.empty() && !shapeOnly)
      report(file(".cases.json"), "no designed breakers: expected an entry with \"data\", or lane exact or specials");
    for (const json& entry : document.value("shapes", json::array()))
      for (const std::string& type : typesOf(entry)) stored.insert(type);
    shapes(all, stored);
    for (const harness::BrokenRule& rule : harness::brokenCaseRules(document.dump()))
      report(file(".cases.json"), rule.op + ": " + rule.message);
  }

  /// A shape rule agrees with itself: without stored shapes no check finds it wrong.
  void shapes(const std::set<std::string>& all, const std::set<std::string>& stored) {
    if (sourcesOf(tree, "ops/" + op).find("inferShapes") == std::string::npos) return;
    for (const std::string& type : all)
      if (!stored.contains(type))
        report(file(".cases.json"), type + ": no entry with \"shapes\" (harness/cases.md) for its shape rule");
  }

  /// Bindings and push constants are written as `.name =` in a list or `push.name =` by a statement.
  void shader(const std::string& path, const std::string& sources) {
    const std::string text = tree.read(path).value_or("");
    const auto set = [&](const std::string& name) {
      return std::regex_search(sources, std::regex("\\." + name + "\\b(\\[\\w+\\])? *="));
    };
    static const std::regex binding("^layout\\(binding = (\\d+)\\)[^{;]*\\{ *\\w+ (\\w+)\\[", std::regex::multiline);
    std::map<std::string, std::string> names;  // of the first binding with a number
    for (std::sregex_iterator match(text.begin(), text.end(), binding), end; match != end; ++match) {
      const auto [first, isFirst] = names.try_emplace((*match)[1].str(), (*match)[2].str());
      const bool isView = !isFirst && (*match)[2].str() == first->second + "4";  // the same buffer, by fours
      if (!isView && !set((*match)[2].str()))
        report(path, fmt::format("binding '{}' is set by no C++ of ops/{}", (*match)[2].str(), op));
    }
    const size_t begin = text.find("uniform Push {");
    if (begin != std::string::npos && sources.find("packWindow(") == std::string::npos)
      for (const std::string& name :
           matches(text.substr(begin, text.find('}', begin) - begin), "^ +\\w+ (\\w+)(?:\\[\\d+\\])?;"))
        if (!set(name)) report(path, fmt::format("push constant '{}' is set by no C++ of ops/{}", name, op));
    static const std::regex axis("^//! variant (\\w+): (.*)$", std::regex::multiline);
    for (std::sregex_iterator match(text.begin(), text.end(), axis), end; match != end; ++match)
      variants(path, (*match)[1].str(), (*match)[2].str(), sources);
  }

  void variants(const std::string& path, const std::string& axis, const std::string& values,
                const std::string& sources) {
    std::string lower = axis;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    const std::string camel = upperCamel(lower);
    const std::string member = snakeCase(camel).substr(0, 1) + camel.substr(1);
    if (sources.find(member + "Of(") != std::string::npos || sources.find(member + "OfBytes(") != std::string::npos)
      return;
    for (const std::string& value : matches(values + " ", "(\\w+) ")) {
      const std::string enumerator = upperCamel(value);
      if (std::isalpha(static_cast<unsigned char>(value[0])) && sources.find("::" + enumerator) == std::string::npos)
        report(path, fmt::format("variant {} = {} is selected by no C++ of ops/{}", axis, value, op));
    }
  }

  void shaders() {
    // Helpers of one operator may be driven by another: the including files count.
    std::string sources = sourcesOf(tree, "ops/" + op);
    for (const std::string& folder : tree.list("ops"))
      if (folder != op)
        if (const std::string text = sourcesOf(tree, "ops/" + folder);
            text.find("\"ops/" + op + "/") != std::string::npos)
          sources += text;
    for (const std::string& path : tree.filesBelow("shaders/" + op))
      if (path.ends_with(".comp") && sources.find("\"" + path.substr(0, path.size() - 5) + ".h\"") != std::string::npos)
        shader(path, sources);
  }

  /// Attributes count as handled when the rules' file names them at all, or the page says that they are not.
  void onnx() {
    const std::string rules = tree.read(file("_onnx.cpp")).value_or("");
    const std::string page = tree.read(file(".md")).value_or("");
    std::set<std::string> seen;
    for (const std::string& type : matches(rules, "rules\\.add\\(\\s*\"([\\w.:]+)\""))
      for (const std::string& name : attributes(type))
        if (rules.find("\"" + name + "\"") == std::string::npos && page.find("`" + name + "`") == std::string::npos &&
            seen.insert(type + name).second)
          report(file("_onnx.cpp"),
                 fmt::format("no rule of {} reads the ONNX attribute '{}'; read it, or name it in backticks on the "
                             "operator's page as not supported",
                             type, name));
  }
};

}  // namespace

std::vector<Finding> examineOperator(const Tree& tree, const std::string& folder, OnnxAttributes attributes) {
  Examination examination{tree, folder, attributes};
  examination.parts();
  examination.cases();
  examination.shaders();
  examination.onnx();
  return std::move(examination.findings);
}

std::vector<Finding> orphanShaders(const Tree& tree) {
  const std::string sources = sourcesOf(tree, "ops") + sourcesOf(tree, "engine") + sourcesOf(tree, "harness");
  std::vector<Finding> findings;
  for (const std::string& path : tree.filesBelow("shaders"))
    if (path.ends_with(".comp") && sources.find(path.substr(0, path.size() - 5) + ".h\"") == std::string::npos)
      findings.push_back({path, "orphan: no C++ includes the header that the build makes of it"});
  return findings;
}

std::vector<Finding> leftoverMarks(const Tree& tree) {
  std::vector<Finding> findings;
  for (const char* folder : {"ops", "shaders", "engine"})
    for (const std::string& path : tree.filesBelow(folder)) {
      const std::string text = *tree.read(path);
      for (size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at + 1)) {
        const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
        findings.push_back(
            {fmt::format("{}:{}", path, line), "mark left: " + text.substr(at, text.find_first_of("\n\"", at) - at)});
      }
    }
  return findings;
}

Result<std::vector<Finding>> examine(const Tree& tree, const std::string& op, bool marksOnly) {
  std::string only;
  for (const KnownOperator& known : operatorsOf(tree))
    if (!op.empty() && (known.type == op || known.folder == op)) only = known.folder;
  if (!op.empty() && only.empty()) return Status::invalidArgument("there is no operator {} in this tree", op);
  std::vector<Finding> findings;
  if (!marksOnly) {
    for (const std::string& folder : tree.list("ops"))
      if ((only.empty() || folder == only) && tree.exists("ops/" + folder + "/" + folder + ".cpp"))
        for (Finding& finding : examineOperator(tree, folder)) findings.push_back(std::move(finding));
    for (Finding& finding : orphanShaders(tree)) findings.push_back(std::move(finding));
  }
  for (Finding& finding : leftoverMarks(tree)) findings.push_back(std::move(finding));
  if (!only.empty())
    std::erase_if(findings, [&](const Finding& finding) {
      return finding.where.rfind("ops/" + only + "/", 0) != 0 && finding.where.rfind("shaders/" + only + "/", 0) != 0;
    });
  return findings;
}

}  // namespace opkit::scaffold
