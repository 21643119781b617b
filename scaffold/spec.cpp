#include "scaffold/spec.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

namespace opkit::scaffold {
namespace {

using nlohmann::json;

constexpr const char* kTypes[] = {"bool", "int", "float", "string", "ints", "floats"};

bool isNumber(const std::string& text, bool whole) {
  if (text.empty()) return false;
  char* end = nullptr;
  errno = 0;
  if (whole)
    static_cast<void>(std::strtoll(text.c_str(), &end, 10));
  else if (!std::isfinite(std::strtof(text.c_str(), &end)) || text.find_first_not_of("+-.0123456789eE") != text.npos)
    return false;
  return *end == '\0' && errno == 0;
}

Status checkInitial(const Attribute& attribute) {
  const auto& [name, type, initial] = attribute;
  if (initial.empty()) return Status::ok();
  if (type == "ints" || type == "floats")
    return Status::invalidArgument("--attr {}: a default is for bool, int, float and string, got '{}' for {}", name,
                                   initial, type);
  const bool fits = type == "bool"    ? initial == "true" || initial == "false"
                    : type == "int"   ? isNumber(initial, true)
                    : type == "float" ? isNumber(initial, false)
                                      : initial.find_first_of("\"\\\n") == std::string::npos;
  if (fits) return Status::ok();
  return Status::invalidArgument("--attr {}: expected a default of type {}, got '{}'", name, type, initial);
}

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
  json list(const json& object, const char* key) {
    const json found = object.value(key, json::array());
    if (!found.is_array()) fail(Status::invalidArgument("spec: '{}' must be a list, got {}", key, found.dump()));
    return found.is_array() ? found : json::array();
  }
};

std::vector<PortSpec> portsOf(Reader& reader, const json& document, const char* key) {
  std::vector<PortSpec> ports;
  for (const json& item : reader.list(document, key)) {
    reader.knownKeys(item, key, {"name", "dtypes"});
    ports.push_back({reader.text(item, "name", true), reader.text(item, "dtypes", false)});
  }
  return ports;
}

}  // namespace

bool Spec::has(const std::string& backend) const {
  return std::find(backends.begin(), backends.end(), backend) != backends.end();
}

Result<Attribute> parseAttribute(const std::string& text) {
  const size_t colon = text.find(':');
  const size_t equals = text.find('=');
  if (colon == std::string::npos || colon == 0 || equals < colon)
    return Status::invalidArgument("--attr expects NAME:TYPE=DEFAULT, such as alpha:float=0.5, got '{}'", text);
  Attribute attribute{text.substr(0, colon), text.substr(colon + 1, equals - colon - 1),
                      equals == std::string::npos ? "" : text.substr(equals + 1)};
  if (std::find(std::begin(kTypes), std::end(kTypes), attribute.type) == std::end(kTypes))
    return Status::invalidArgument("--attr {}: expected a type of {}, got '{}'", attribute.name,
                                   fmt::join(kTypes, ", "), attribute.type);
  OPKIT_TRY(checkInitial(attribute));
  return attribute;
}

Result<PortSpec> parsePort(const std::string& text) {
  const size_t colon = text.find(':');
  PortSpec port{text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1)};
  if (port.name.empty() || (colon != std::string::npos && port.dtypes.empty()))
    return Status::invalidArgument("an input or output is NAME or NAME:DTYPES, such as x:f32, got '{}'", text);
  return port;
}

json specToJson(const Spec& spec) {
  json document{{"version", kSpecVersion}, {"name", spec.name},         {"kind", spec.kind},
                {"onnx", spec.onnxType()}, {"backends", spec.backends}, {"tdd", spec.tdd}};
  document["attrs"] = json::array();
  for (const Attribute& attribute : spec.attributes)
    document["attrs"].push_back({{"name", attribute.name}, {"type", attribute.type}, {"default", attribute.initial}});
  for (const auto& [key, ports] : {std::pair{"inputs", &spec.inputs}, std::pair{"outputs", &spec.outputs}}) {
    document[key] = json::array();
    for (const PortSpec& port : *ports) document[key].push_back({{"name", port.name}, {"dtypes", port.dtypes}});
  }
  return document;
}

Result<Spec> specFromJson(const std::string& text) {
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded()) return Status::invalidArgument("spec: the file is not JSON");
  Reader reader;
  reader.knownKeys(document, "the spec",
                   {"version", "name", "kind", "onnx", "backends", "tdd", "attrs", "inputs", "outputs"});
  OPKIT_TRY(reader.status);
  const json version = document.value("version", json(0));
  if (version != kSpecVersion)
    return Status::invalidArgument("spec: expected \"version\": {}, got {}", kSpecVersion, version.dump());
  Spec spec;
  spec.name = reader.text(document, "name", true);
  spec.kind = reader.text(document, "kind", true);
  spec.onnx = reader.text(document, "onnx", false);
  if (spec.onnx == spec.name) spec.onnx.clear();
  if (document.contains("backends")) {
    spec.backends.clear();
    for (const json& item : reader.list(document, "backends"))
      spec.backends.push_back(item.is_string() ? item.get<std::string>() : item.dump());
  }
  const json tdd = document.value("tdd", json(false));
  if (!tdd.is_boolean()) reader.fail(Status::invalidArgument("spec: 'tdd' must be true or false, got {}", tdd.dump()));
  spec.tdd = tdd == true;
  for (const json& item : reader.list(document, "attrs")) {
    reader.knownKeys(item, "attrs", {"name", "type", "default"});
    const std::string initial = reader.text(item, "default", false);
    const std::string typed = reader.text(item, "name", true) + ":" + reader.text(item, "type", true);
    OPKIT_TRY(reader.status);
    OPKIT_ASSIGN(Attribute attribute, parseAttribute(typed + (initial.empty() ? "" : "=" + initial)));
    spec.attributes.push_back(std::move(attribute));
  }
  spec.inputs = portsOf(reader, document, "inputs");
  spec.outputs = portsOf(reader, document, "outputs");
  OPKIT_TRY(reader.status);
  return spec;
}

}  // namespace opkit::scaffold
