// The JSON form of a spec.
#include <algorithm>

#include "scaffold/spec.h"

#include "engine/base/json_text.h"

namespace opkit::scaffold {
namespace {

using nlohmann::json;

/// Members of `object` that must be strings, read by key; the first complaint is kept.
struct Reader {
  Status status;

  void fail(Status error) {
    if (status.isOk()) status = std::move(error);
  }
  void knownKeys(const json& object, const std::string& where, const std::vector<std::string>& known) {
    if (!object.is_object()) return fail(Status::invalidArgument("spec: {} must be an object", where));
    for (const auto& item : object.items())
      if (std::find(known.begin(), known.end(), item.key()) == known.end())
        fail(Status::invalidArgument("spec: unknown key '{}' in {}; expected one of {}", item.key(), where,
                                     fmt::join(known, ", ")));
  }
  std::string text(const json& object, const char* key, bool required) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (found == object.end()) {
      if (required) fail(Status::invalidArgument("spec: '{}' is missing", key));
      return "";
    }
    if (!found->is_string()) {
      fail(Status::invalidArgument("spec: '{}' must be a string, got {}", key, found->dump()));
      return "";
    }
    return found->get<std::string>();
  }
  bool flag(const json& object, const char* key) {
    const json found = object.is_object() ? object.value(key, json(false)) : json(false);
    if (!found.is_boolean())
      fail(Status::invalidArgument("spec: '{}' must be true or false, got {}", key, found.dump()));
    return found == true;
  }
  std::vector<std::string> texts(const json& object, const char* key) {
    std::vector<std::string> words;
    for (const json& item : list(object, key))
      words.push_back(item.is_string() ? item.get<std::string>() : item.dump());
    return words;
  }
  json list(const json& object, const char* key) {
    const json found = object.value(key, json::array());
    if (!found.is_array()) fail(Status::invalidArgument("spec: '{}' must be a list, got {}", key, found.dump()));
    return found.is_array() ? found : json::array();
  }
};

std::vector<PortSpec> portsOf(Reader& reader, const json& document, const char* key) {
  std::vector<PortSpec> ports;
  for (const json& item : reader.list(document, key)) {
    if (std::string(key) == "inputs")
      reader.knownKeys(item, key, {"name", "dtypes", "variable", "same", "optional", "contents"});
    else
      reader.knownKeys(item, key, {"name", "dtypes"});
    PortSpec port{reader.text(item, "name", true), reader.text(item, "dtypes", false)};
    port.variable = reader.text(item, "variable", false);
    port.same = reader.text(item, "same", false);
    port.optional = reader.flag(item, "optional");
    port.contents = reader.flag(item, "contents");
    if (!port.variable.empty() && (port.variable.size() != 1 || port.variable[0] < 'A' || port.variable[0] > 'Z'))
      reader.fail(Status::invalidArgument("spec: 'variable' must be one capital letter, got '{}'", port.variable));
    ports.push_back(std::move(port));
  }
  return ports;
}

/// Only what is not the default, so that a plain port stays a name and its types.
json jsonOf(const PortSpec& port) {
  json item{{"name", port.name}, {"dtypes", port.dtypes}};
  if (!port.variable.empty()) item["variable"] = port.variable;
  if (!port.same.empty()) item["same"] = port.same;
  if (port.optional) item["optional"] = true;
  if (port.contents) item["contents"] = true;
  return item;
}

json jsonOf(const Attribute& attribute) {
  json item{{"name", attribute.name}, {"type", attribute.type}, {"default", attribute.initial}};
  if (!attribute.choices.empty()) item["choices"] = attribute.choices;
  return item;
}

/// Through the grammar of the command line, so that both refuse the same.
Result<Attribute> attributeOf(Reader& reader, const json& item) {
  reader.knownKeys(item, "attrs", {"name", "type", "default", "choices"});
  std::string initial = reader.text(item, "default", false);
  const std::string typed = reader.text(item, "name", true) + ":" + reader.text(item, "type", true);
  const std::vector<std::string> choices =
      item.is_object() ? reader.texts(item, "choices") : std::vector<std::string>();
  OPKIT_TRY(reader.status);
  if (!choices.empty()) {
    const std::string joined = fmt::format("{}", fmt::join(choices, ""));
    if (choices.size() < 2 || !typed.ends_with(":string") || joined.find('|') != std::string::npos)
      return Status::invalidArgument("spec: 'choices' are two words or more of a string, got {}", item.dump());
    if (!initial.empty() && initial != choices.front())
      return Status::invalidArgument("spec: the default is the first of 'choices', expected '{}', got '{}'",
                                     choices.front(), initial);
    initial = fmt::format("{}", fmt::join(choices, "|"));
  }
  return parseAttribute(typed + (initial.empty() ? "" : "=" + initial));
}

}  // namespace

json specToJson(const Spec& spec) {
  json document{{"version", kSpecVersion}, {"name", spec.name},         {"kind", spec.kind},
                {"onnx", spec.onnxType()}, {"backends", spec.backends}, {"tdd", spec.tdd}};
  document["attrs"] = json::array();
  for (const Attribute& attribute : spec.attributes) document["attrs"].push_back(jsonOf(attribute));
  for (const auto& [key, ports] : {std::pair{"inputs", &spec.inputs}, std::pair{"outputs", &spec.outputs}}) {
    document[key] = json::array();
    for (const PortSpec& port : *ports) document[key].push_back(jsonOf(port));
  }
  if (!spec.rows.empty()) document["rows"] = spec.rows;
  if (!spec.summary.empty()) document["summary"] = spec.summary;
  return document;
}

Result<Spec> specFromJson(const std::string& text) {
  OPKIT_TRY(checkJsonDepth(text).withContext("spec"));
  const json document = parseJson(text);
  if (document.is_discarded()) return Status::invalidArgument("spec: the file is not JSON");
  Reader reader;
  reader.knownKeys(
      document, "the spec",
      {"version", "name", "kind", "summary", "onnx", "backends", "tdd", "rows", "attrs", "inputs", "outputs"});
  OPKIT_TRY(reader.status);
  const json version = document.value("version", json(0));
  if (version != kSpecVersion)
    return Status::invalidArgument("spec: expected \"version\": {}, got {}", kSpecVersion, version.dump());
  Spec spec;
  spec.name = reader.text(document, "name", true);
  spec.kind = reader.text(document, "kind", true);
  spec.onnx = reader.text(document, "onnx", false);
  if (spec.onnx == spec.name) spec.onnx.clear();
  spec.rows = reader.text(document, "rows", false);
  spec.summary = reader.text(document, "summary", false);
  if (document.contains("backends")) spec.backends = reader.texts(document, "backends");
  spec.tdd = reader.flag(document, "tdd");
  for (const json& item : reader.list(document, "attrs")) {
    OPKIT_ASSIGN(Attribute attribute, attributeOf(reader, item));
    spec.attributes.push_back(std::move(attribute));
  }
  spec.inputs = portsOf(reader, document, "inputs");
  spec.outputs = portsOf(reader, document, "outputs");
  OPKIT_TRY(reader.status);
  return spec;
}

}  // namespace opkit::scaffold
