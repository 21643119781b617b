#include "scaffold/validate.h"

#include <algorithm>
#include <regex>
#include <set>

#include "scaffold/dtypes.h"
#include "scaffold/kinds.h"
#include "scaffold/names.h"
#include "scaffold/record.h"

namespace opkit::scaffold {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Of the C++ name that a shader's path gives: equal for "a/my_op.comp" and "b/myOp.comp".
std::string shaderKey(const std::string& path) {
  const size_t slash = path.rfind('/');
  std::string stem = path.substr(slash + 1, path.rfind('.') - slash - 1);
  stem.erase(std::remove(stem.begin(), stem.end(), '_'), stem.end());
  return lower(stem);
}

Status checkOnnxName(const std::string& onnx) {
  static const std::regex pattern("([A-Za-z][A-Za-z0-9_.]*::)?[A-Za-z][A-Za-z0-9_]*");
  if (onnx.size() <= kLongestName && std::regex_match(onnx, pattern)) return Status::ok();
  return Status::invalidArgument("--onnx: expected an operator type such as HardSwish or com.acme::Foo, got '{}'",
                                 onnx);
}

Status checkComputable(const Kind& kind, const Spec& spec) {
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const PortSpec &port = spec.inputs[i], &own = kind.inputOf(i);
    const auto names = dtypeNames(port.dtypes);
    const auto isIndex = [](const std::string& name) { return name == "i64" || name == "i32"; };
    if (own.dtypes == "index" && !std::all_of(names.begin(), names.end(), isIndex))
      return Status::invalidArgument("--input {}: indices of kind {} are i64 or i32, got {}", port.name, kind.name,
                                     port.dtypes);
    if (own.dtypes == "same" && names != dtypeNames(spec.inputs[0].dtypes))
      return Status::invalidArgument("--input {}: kind {} gives it the types of {}, {}, got {}", port.name, kind.name,
                                     spec.inputs[0].name, spec.inputs[0].dtypes, port.dtypes);
  }
  if (kind.anyDType) return Status::ok();
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const PortSpec& port = spec.inputs[i];
    if (port.contents || !kind.inputOf(i).dtypes.empty()) continue;  // any that the card can name
    if (port.dtypes != spec.inputs[0].dtypes)
      return Status::invalidArgument("--input {}: inputs of kind {} are of one type, got {} and {}", port.name,
                                     kind.name, spec.inputs[0].dtypes, port.dtypes);
    const auto names = dtypeNames(port.dtypes);
    const bool floats = std::all_of(names.begin(), names.end(), [](const std::string& name) { return name[0] == 'f'; });
    const bool storable = std::find(names.begin(), names.end(), "f32") != names.end() ||
                          std::find(names.begin(), names.end(), "f16") != names.end();
    if (!floats || !storable)
      return Status::invalidArgument("--input {}: kind {} computes on f32 and f16, got {}", port.name, kind.name,
                                     port.dtypes);
  }
  return Status::ok();
}

/// The enum of an attribute is called after the operator and it, beside the operator's other names.
Status checkEnumName(const Attribute& attribute) {
  for (const char* taken : {"cpu", "params", "schema", "vulkan"})
    if (!attribute.choices.empty() && attribute.name == taken)
      return Status::invalidArgument("--attr {}: the enum's name is used by the generated code; choose another name",
                                     attribute.name);
  return Status::ok();
}

void addMatches(const std::string& text, const std::regex& pattern, const std::string& folder,
                std::vector<KnownOperator>& found) {
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
    found.push_back({(*match)[1].str(), folder});
}

/// Cards with computed types are recognised by their cases.
void addFromCases(const Tree& tree, const std::string& folder, std::vector<KnownOperator>& found) {
  static const std::regex op("\"op\": \"([A-Za-z0-9_.:]+)\""), name("\"([A-Za-z0-9_.:]+)\"");
  constexpr std::string_view kList = "\"op\": [";
  const std::string text = tree.read("ops/" + folder + "/" + folder + ".cases.json").value_or("");
  std::vector<KnownOperator> named;
  addMatches(text, op, folder, named);
  // Not by std::regex, which takes a stack frame for each character of a list.
  for (size_t at = text.find(kList); at != text.npos; at = text.find(kList, at + 1))
    addMatches(text.substr(at, text.find(']', at) - at), name, folder, named);
  std::set<std::string> seen;
  for (KnownOperator& known : named)
    if (seen.insert(known.type).second) found.push_back(std::move(known));
}

/// A folder belongs to one operator: folders of other operators, of families and shaders/include must not be written.
Status checkFolder(const Tree& tree, const std::string& type, const std::string& op) {
  bool own = readRecord(tree, type).has_value();
  for (const KnownOperator& known : operatorsOf(tree)) {
    if (known.folder == op && known.type != type)
      return Status::invalidArgument("ops/{} is the folder of operator {}; choose another name", op, known.type);
    own = own || known.folder == op;
  }
  for (const char* root : {"ops/", "shaders/"})
    if (!own && tree.exists(root + op))
      return Status::invalidArgument("{}{} exists but belongs to no operator; choose another name", root, op);
  return Status::ok();
}

}  // namespace

Status checkNames(const Spec& spec) {
  OPKIT_TRY(checkTypeName(spec.name));
  OPKIT_TRY(checkOnnxName(spec.onnxType()));
  std::vector<std::string> seen;
  const auto check = [&](const char* option, const std::string& name) -> Status {
    const std::string what = fmt::format("{} {}", option, name);
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      return Status::invalidArgument("{}: the name is used twice", what);
    seen.push_back(name);
    return checkVariableName(what, name);
  };
  for (const Attribute& attribute : spec.attributes) {
    OPKIT_TRY(check("--attr", attribute.name));
    OPKIT_TRY(checkEnumName(attribute));
  }
  for (const PortSpec& port : spec.inputs) {
    OPKIT_TRY(check("--input", port.name));
    OPKIT_TRY(checkDTypes("--input " + port.name, port.dtypes));
  }
  for (const PortSpec& port : spec.inputs)
    if (port.optional && std::find(seen.begin(), seen.end(), "has_" + port.name) != seen.end())
      return Status::invalidArgument("--input {}: the generated code says has_{} for an optional input; rename one",
                                     port.name, port.name);
  for (const PortSpec& port : spec.outputs) {
    OPKIT_TRY(check("--output", port.name));
    if (!port.dtypes.empty())
      return Status::invalidArgument("--output {}: outputs have the type of the first input, leave '{}' away",
                                     port.name, port.dtypes);
  }
  return checkComputable(*findKind(spec.kind), spec);
}

std::vector<KnownOperator> operatorsOf(const Tree& tree) {
  static const std::regex card("\\.type = \"([A-Za-z0-9_.:]+)\"");
  static const std::regex row("^(?:UNARY|UNARY_TEST|BINARY|COMPARE|LOGIC)\\(\\d+, (\\w+),", std::regex::multiline);
  static const std::regex reduction("^REDUCE\\(\\d+, (\\w+),", std::regex::multiline);
  std::vector<KnownOperator> found;
  for (const std::string& folder : tree.list("ops")) {
    if (!tree.exists("ops/" + folder + "/" + folder + ".cpp")) continue;
    const size_t others = found.size();
    for (const std::string& file : tree.list("ops/" + folder)) {
      const std::string text = tree.read("ops/" + folder + "/" + file).value_or("");
      if (file.ends_with(".cpp") && !file.ends_with("_test.cpp")) addMatches(text, card, folder, found);
      if (file.ends_with("_table.h")) addMatches(text, row, folder, found);
      if (file == "reduce_table.h") {
        const size_t before = found.size();
        addMatches(text, reduction, folder, found);
        for (size_t i = before; i < found.size(); ++i) found[i].type = "Reduce" + found[i].type;
      }
    }
    if (found.size() == others) addFromCases(tree, folder, found);
  }
  return found;
}

bool hasOnnxRule(const std::string& source, const std::string& onnxType) {
  return source.find("\"" + onnxType + "\"") != std::string::npos &&
         (source.find("rules.add(\"" + onnxType + "\"") != std::string::npos ||
          source.find("(rules, \"" + onnxType + "\"") != std::string::npos ||
          std::regex_search(source, std::regex("const char\\* type :[^)]*\"" + onnxType + "\"")));
}

Status checkClashes(const Tree& tree, const Spec& spec) {
  const std::string op = snakeCase(spec.name);
  const bool row = findKind(spec.kind)->row;
  const std::string home = row ? spec.kind : op;
  if (!row) OPKIT_TRY(checkFolder(tree, spec.name, op));
  for (const KnownOperator& known : operatorsOf(tree))
    if (lower(known.type) == lower(spec.name) && (known.folder != home || known.type != spec.name))
      return Status::invalidArgument("operator {} exists in ops/{}; choose another name", known.type, known.folder);
  for (const std::string& folder : tree.list("ops")) {
    if (folder == home) continue;
    if (lower(folder) == op)
      return Status::invalidArgument("ops/{} exists; folders may not differ in case alone, or be used by two operators",
                                     folder);
    const std::string rules = tree.read("ops/" + folder + "/" + folder + "_onnx.cpp").value_or("");
    if (hasOnnxRule(rules, spec.onnxType()))
      return Status::invalidArgument("ONNX {} is imported by ops/{}; give another --onnx", spec.onnxType(), folder);
  }
  return row ? Status::ok() : checkShaderStem(tree, "shaders/" + op + "/" + op + ".comp");
}

Status checkShaderStem(const Tree& tree, const std::string& path) {
  for (const std::string& other : tree.filesBelow("shaders"))
    if (other.ends_with(".comp") && other != path && shaderKey(other) == shaderKey(path))
      return Status::invalidArgument("the shader {} would give the same C++ name; choose another name", other);
  return Status::ok();
}

}  // namespace opkit::scaffold
