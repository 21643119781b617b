#include "harness/export/bound_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "engine/base/json_text.h"
#include "engine/import/onnx/onnx_importer.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;
using BoundJson = nlohmann::json;

constexpr int kBoundVersion = 1;
constexpr int kMostOpset = 1 << 20;
constexpr const char* kByValues = "values";
constexpr const char* kByClass = "class";

OrderedJson jsonOfOutput(const OutputBound& output) {
  OrderedJson json;
  json["name"] = output.name;
  json["compare"] = output.byClass ? kByClass : kByValues;
  json["signOfZero"] = output.signOfZero;
  if (output.file.empty())
    json["bound"] = output.bound;  // printed so that the same double is read
  else
    json["bound"] = output.file;
  return json;
}

OrderedJson jsonOfSet(const BoundSet& set) {
  OrderedJson json;
  json["set"] = set.set;
  json["case"] = set.id;
  json["lane"] = set.lane;
  json["ask"] = set.ask;
  json["hidden"] = set.hidden;
  json["outputs"] = OrderedJson::array();
  for (const OutputBound& output : set.outputs) json["outputs"].push_back(jsonOfOutput(output));
  return json;
}

/// Files lie in the data set's folder, nowhere else.
bool isPlainName(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find_first_of(std::string("/\\\0", 3)) == std::string::npos;
}

/// An object of the file, and its place in it.
class BoundObject {
 public:
  static Result<BoundObject> of(const BoundJson& json, std::string place) {
    if (json.is_object()) return BoundObject(json, std::move(place));
    return Status::invalidArgument("{}expected an object, got {}", place.empty() ? "" : place + ": ", cut(json));
  }

  Result<std::string> text(const char* key) const {
    OPKIT_ASSIGN(const BoundJson* value, field(key, "a text"));
    return value->is_string() ? Result<std::string>(value->get<std::string>()) : wrong(key, "a text", *value);
  }
  Result<std::string> choice(const char* key, const std::vector<std::string>& choices) const {
    OPKIT_ASSIGN(std::string value, text(key));
    if (std::ranges::find(choices, value) != choices.end()) return value;
    return wrong(key, fmt::format("\"{}\"", fmt::join(choices, "\" or \"")), value);
  }
  Result<std::string> fileName(const char* key) const {
    OPKIT_ASSIGN(std::string value, text(key));
    return isPlainName(value) ? Result<std::string>(value) : wrong(key, "the name of a file", value);
  }
  Result<bool> flag(const char* key) const {
    OPKIT_ASSIGN(const BoundJson* value, field(key, "true or false"));
    return value->is_boolean() ? Result<bool>(value->get<bool>()) : wrong(key, "true or false", *value);
  }
  Result<int> whole(const char* key) const {
    OPKIT_ASSIGN(const BoundJson* value, field(key, "a whole number"));
    const bool isWhole = value->is_number_integer() && *value >= 1 && *value <= kMostOpset;
    return isWhole ? Result<int>(value->get<int>()) : wrong(key, "a whole number from 1 on", *value);
  }
  Result<const BoundJson*> list(const char* key) const {
    OPKIT_ASSIGN(const BoundJson* value, field(key, "a list"));
    return value->is_array() ? Result<const BoundJson*>(value) : wrong(key, "a list", *value);
  }
  Result<std::vector<std::string>> texts(const char* key, bool areFiles) const {
    OPKIT_ASSIGN(const BoundJson* values, list(key));
    std::vector<std::string> all;
    for (const BoundJson& value : *values) {
      if (!value.is_string() || (areFiles && !isPlainName(value.get<std::string>())))
        return wrong(key, areFiles ? "names of files" : "texts", value);
      all.push_back(value.get<std::string>());
    }
    return all;
  }
  Result<const BoundJson*> field(const char* key, const char* expected) const {
    const auto found = json_->find(key);
    if (found != json_->end()) return &*found;
    return Status::invalidArgument("{}: expected {}, found no such field", placeOf(key), expected);
  }
  Status wrong(const char* key, const std::string& expected, const BoundJson& got) const {
    return Status::invalidArgument("{}: expected {}, got {}", placeOf(key), expected, cut(got));
  }
  std::string placeOf(const char* key) const { return place_.empty() ? key : place_ + "." + key; }

 private:
  BoundObject(const BoundJson& json, std::string place) : json_(&json), place_(std::move(place)) {}
  static std::string cut(const BoundJson& json) {
    std::string text = json.dump(-1, ' ', true, BoundJson::error_handler_t::replace);
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return text;
  }

  const BoundJson* json_;
  std::string place_;
};

Result<OutputBound> outputFrom(const BoundObject& object) {
  OutputBound output;
  OPKIT_ASSIGN(output.name, object.text("name"));
  OPKIT_ASSIGN(const std::string compare, object.choice("compare", {kByValues, kByClass}));
  output.byClass = compare == kByClass;
  OPKIT_ASSIGN(output.signOfZero, object.flag("signOfZero"));
  constexpr const char* kExpected = "a number of at least 0 or the name of a file";
  OPKIT_ASSIGN(const BoundJson* bound, object.field("bound", kExpected));
  if (bound->is_string()) {
    OPKIT_ASSIGN(output.file, object.fileName("bound"));
  } else if (bound->is_number() && bound->get<double>() >= 0) {
    output.bound = bound->get<double>();
  } else {
    return object.wrong("bound", kExpected, *bound);
  }
  return output;
}

Result<BoundSet> setFrom(const BoundObject& object) {
  BoundSet set;
  OPKIT_ASSIGN(set.set, object.fileName("set"));
  OPKIT_ASSIGN(set.id, object.text("case"));
  OPKIT_ASSIGN(set.lane, object.text("lane"));
  OPKIT_ASSIGN(set.ask, object.texts("ask", false));
  OPKIT_ASSIGN(set.hidden, object.texts("hidden", true));
  OPKIT_ASSIGN(const BoundJson* outputs, object.list("outputs"));
  for (size_t i = 0; i < outputs->size(); ++i) {
    const std::string place = fmt::format("{}[{}]", object.placeOf("outputs"), i);
    OPKIT_ASSIGN(const BoundObject output, BoundObject::of((*outputs)[i], place));
    OPKIT_ASSIGN(set.outputs.emplace_back(), outputFrom(output));
  }
  return set;
}

Result<std::vector<double>> boundsInFile(const std::string& path, const TensorDesc& desc) {
  OPKIT_ASSIGN(const auto bytes, readFile(path));
  const auto tensor = tensorFromProto(bytes);
  if (!tensor) return tensor.error().withContext(path);
  const TensorDesc wanted{DType::Float64, desc.shape};
  if (tensor->desc != wanted)
    return Status::invalidArgument("{}: expected {}, a bound per element, got {}", path, wanted.toString(),
                                   tensor->desc.toString());
  const std::span<const double> bounds = tensor->data<double>();
  for (const double bound : bounds)
    if (!(bound >= 0)) return Status::invalidArgument("{}: expected bounds of at least 0, got {}", path, bound);
  return std::vector<double>(bounds.begin(), bounds.end());
}

}  // namespace

const BoundSet* BoundFile::find(const std::string& set) const {
  const auto found = std::ranges::find(sets, set, &BoundSet::set);
  return found == sets.end() ? nullptr : &*found;
}

std::string toText(const BoundFile& file) {
  OrderedJson json;
  json["opkit"] = kBoundVersion;
  json["operator"] = file.op;
  json["onnx"] = file.onnx;
  json["domain"] = file.domain;
  json["opset"] = file.opset;
  json["catches"] = file.catches;
  json["sets"] = OrderedJson::array();
  for (const BoundSet& set : file.sets) json["sets"].push_back(jsonOfSet(set));
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

Result<BoundFile> parseBoundFile(const std::string& text) {
  OPKIT_ASSIGN(const BoundJson json, jsonOf(text));
  OPKIT_ASSIGN(const BoundObject object, BoundObject::of(json, ""));
  OPKIT_ASSIGN(const int version, object.whole("opkit"));
  if (version > kBoundVersion)
    return Status::unsupported("opkit: version {} is newer than this build, which knows {}", version, kBoundVersion);
  BoundFile file;
  OPKIT_ASSIGN(file.op, object.text("operator"));
  OPKIT_ASSIGN(file.onnx, object.text("onnx"));
  OPKIT_ASSIGN(file.domain, object.text("domain"));
  OPKIT_ASSIGN(file.opset, object.whole("opset"));
  OPKIT_ASSIGN(file.catches, object.text("catches"));
  OPKIT_ASSIGN(const BoundJson* sets, object.list("sets"));
  for (size_t i = 0; i < sets->size(); ++i) {
    OPKIT_ASSIGN(const BoundObject set, BoundObject::of((*sets)[i], fmt::format("sets[{}]", i)));
    OPKIT_ASSIGN(BoundSet read, setFrom(set));
    if (file.find(read.set)) return Status::invalidArgument("sets[{}].set: '{}' is there twice", i, read.set);
    file.sets.push_back(std::move(read));
  }
  return file;
}

Result<std::optional<BoundFile>> readBoundFile(const std::string& folder) {
  const std::string path = (fs::path(folder) / "bound.json").string();
  std::error_code error;  // a link that leads nowhere is there, and refused
  if (fs::symlink_status(path, error).type() == fs::file_type::not_found) return std::optional<BoundFile>();
  OPKIT_ASSIGN(const auto bytes, readFile(path));
  auto file = parseBoundFile({bytes.begin(), bytes.end()});
  if (!file) return file.error().withContext(path);
  return std::optional<BoundFile>(*std::move(file));
}

Result<Tolerance> toleranceFrom(const OutputBound& output, const std::string& setFolder, const OracleTensor& expected) {
  Tolerance tolerance;
  tolerance.nmseGate = std::numeric_limits<double>::infinity();
  tolerance.byClass = output.byClass;
  tolerance.signOfZero = output.signOfZero;
  if (!expected.isReal()) {
    if (output.file.empty() && output.bound == 0 && !output.byClass) return tolerance;
    return Status::invalidArgument("bound.json: output '{}' is {}: expected \"values\" with the bound 0", output.name,
                                   expected.desc.toString());
  }
  if (output.file.empty()) {
    tolerance.bound.assign(expected.real.size(), output.bound);
    return tolerance;
  }
  OPKIT_ASSIGN(tolerance.bound, boundsInFile((fs::path(setFolder) / output.file).string(), expected.desc));
  return tolerance;
}

}  // namespace opkit::harness
