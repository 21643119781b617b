// Parameters as the schema, the ONNX rule, the kernels and the push constants write them.
#include <algorithm>

#include "scaffold/context.h"
#include "scaffold/kinds.h"
#include "scaffold/names.h"

namespace opkit::scaffold {
namespace {

using kainjow::mustache::data;

/// The C++ type of an enum: TryResizeMode, which no other name of the folder can be.
std::string enumTypeOf(const Spec& spec, const Attribute& attribute) {
  return upperCamel(snakeCase(spec.name)) + upperCamel(attribute.name);
}

std::string fbsOf(const Spec& spec, const Attribute& attribute) {
  const std::string &type = attribute.type, &initial = attribute.initial;
  if (!attribute.choices.empty()) return enumTypeOf(spec, attribute) + " = " + choiceName(initial);
  if (type == "ints") return "[long]";
  if (type == "floats") return "[float]";
  if (type == "string") return "string";
  const std::string fbs = type == "int" ? "long" : type;
  return initial.empty() || initial == "false" ? fbs : fbs + " = " + initial;
}

bool isOwn(const Spec& spec, const Attribute& attribute) {
  const std::vector<Attribute> own = ownAttributes(spec);
  return std::any_of(own.begin(), own.end(), [&](const Attribute& each) { return each.name == attribute.name; });
}

/// Attributes that a kind brings mean the same in each of its operators.
std::string meaningOf(const Spec& spec, const Attribute& attribute) {
  constexpr std::pair<const char*, const char*> kMeanings[] = {
      {"axis", "counted from the end when negative"},
      {"epsilon", "added to the variance"},
      {"keep_dims", "the folded axis stays, with extent 1"},
      {"num_groups", "how many groups the channels divide into"},
      {"reduction", "what an update does to the element that it meets"}};
  for (const auto& [name, meaning] : kMeanings)
    if (attribute.name == name && isOwn(spec, attribute)) return meaning;
  // FlatBuffers knows no defaults of strings.
  const bool hidden = attribute.type == "string" && !attribute.initial.empty() && attribute.choices.empty();
  return "SCAFFOLD: its meaning, unit and range" +
         (hidden ? fmt::format("; empty stands for '{}'", attribute.initial) : "");
}

std::string floatLiteral(const std::string& text) {
  const std::string value = text.empty() ? "0" : text;
  return value.find_first_of(".eEn") == std::string::npos ? value + ".0f" : value + "f";
}

/// "OPKIT_ASSIGN(params.mode, choiceAttribute<ThingMode>(node, "mode", {{"nearest", ThingMode::Nearest}, ..}));"
std::string choiceReadOf(const Spec& spec, const Attribute& attribute) {
  const std::string type = enumTypeOf(spec, attribute);
  std::vector<std::string> rows;
  for (const std::string& choice : attribute.choices)
    rows.push_back(fmt::format("{{\"{}\", {}::{}}}", choice, type, choiceName(choice)));
  return fmt::format("OPKIT_ASSIGN(params.{}, choiceAttribute<{}>(node, \"{}\", {{{}}}));", attribute.name, type,
                     attribute.name, fmt::join(rows, ", "));
}

std::string onnxReadOf(const Spec& spec, const Attribute& attribute) {
  const std::string &name = attribute.name, &type = attribute.type, &initial = attribute.initial;
  if (!attribute.choices.empty()) return choiceReadOf(spec, attribute);
  const std::string member = fmt::format("params.{} = ", name);
  if (type == "ints") return fmt::format("{}node.intsAttribute(\"{}\");", member, name);
  if (type == "floats") return fmt::format("{}node.floatsAttribute(\"{}\");", member, name);
  if (type == "string") return fmt::format("{}node.stringAttribute(\"{}\", \"{}\");", member, name, initial);
  if (type == "float") return fmt::format("{}node.floatAttribute(\"{}\", {});", member, name, floatLiteral(initial));
  if (name == "num_groups" && isOwn(spec, attribute))
    return fmt::format("OPKIT_ASSIGN({}requiredInt(node, \"{}\"));", "params." + name + ", ", name);
  // ONNX writes keep_dims as keepdims, and so on: the developer must check the name.
  const std::string fallback = type == "bool" ? (initial == "true" ? "1" : "0") : initial.empty() ? "0" : initial;
  return fmt::format("{}node.intAttribute(\"{}\", {}){};", member, name, fallback, type == "bool" ? " != 0" : "");
}

/// A push constant: its type and comment in GLSL, its value in C++.
void setPush(data& item, const Attribute& attribute) {
  const std::string member = "params_." + attribute.name;
  const bool boolean = attribute.type == "bool", choice = !attribute.choices.empty();
  item.set("glsl", boolean || choice ? "uint" : attribute.type);
  item.set("pushValue", boolean ? member + " ? 1u : 0u" : choice ? "static_cast<int64_t>(" + member + ")" : member);
  std::vector<std::string> numbered;
  for (const std::string& word : attribute.choices) numbered.push_back(fmt::format("{} {}", numbered.size(), word));
  item.set("glslNote", choice ? fmt::format("  // {}", fmt::join(numbered, ", ")) : "");
}

data attributeData(const Spec& spec, const Attribute& attribute) {
  data item;
  item.set("name", attribute.name);
  item.set("fbs", fbsOf(spec, attribute));
  item.set("meaning", meaningOf(spec, attribute));
  item.set("onnxRead", onnxReadOf(spec, attribute));
  setPush(item, attribute);
  item.set("enumType", enumTypeOf(spec, attribute));
  item.set("enumNote", isOwn(spec, attribute) ? "" : "  // SCAFFOLD: what each choice does");
  data choices = data::type::list;
  for (const std::string& choice : attribute.choices) {
    data each;
    each.set("enumerator", choiceName(choice));
    choices << each;
  }
  item.set("choices", choices);
  return item;
}

/// Scalars go to the push constants, except those that only select a view of the tensor.
bool reachesShader(const Spec& spec, const Attribute& attribute) {
  if (attribute.type == "string") return !attribute.choices.empty();
  if (attribute.type != "bool" && attribute.type != "int" && attribute.type != "float") return false;
  for (const Attribute& own : ownAttributes(spec))
    if (own.name == attribute.name && own.type != "float") return false;
  return true;
}

}  // namespace

void setAttributes(data& context, const Spec& spec) {
  data all = data::type::list, scalars = data::type::list, enums = data::type::list;
  std::vector<std::string> names;
  for (const Attribute& attribute : spec.attributes) {
    all << attributeData(spec, attribute);
    names.push_back(attribute.name);
    if (reachesShader(spec, attribute)) scalars << attributeData(spec, attribute);
    if (!attribute.choices.empty()) enums << attributeData(spec, attribute);
  }
  context.set("attrs", all);
  context.set("scalars", scalars);
  context.set("enums", enums);
  context.set("attrNames", quoted(names));
  context.set("hasParams", !spec.attributes.empty());
  // ONNX's norms have stash_type, the type of the statistics.
  context.set("stash", spec.kind == "rowwise" && std::find(names.begin(), names.end(), "stash_type") == names.end());
  // The norms of ONNX call these parameters the same and have the same defaults.
  context.set("onnxMark", spec.kind != "rowwise" || spec.attributes.size() > ownAttributes(spec).size());
  const auto slope = std::find_if(spec.attributes.begin(), spec.attributes.end(),
                                  [](const Attribute& attribute) { return attribute.type == "float"; });
  const bool given = slope != spec.attributes.end();
  context.set("slope", given ? data(slope->name) : data(false));
  context.set("slopeParam", given ? "params." + slope->name : "0.5");
  context.set("slopeFloat", given ? slope->name : "0.5f");
  context.set("slopePush", given ? "push." + slope->name : "0.5");
}

}  // namespace opkit::scaffold
