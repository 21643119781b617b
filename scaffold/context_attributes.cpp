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

/// `choice("mode", &Params::mode, {{"nearest", ThingMode::Nearest}, ..})`. Defaults are those of the .fbs.
std::string onnxFieldOf(const Spec& spec, const Attribute& attribute) {
  const std::string member = "&Params::" + attribute.name;
  if (attribute.name == "num_groups" && isOwn(spec, attribute))
    return fmt::format("field(required(\"{}\"), {})", attribute.name, member);
  if (attribute.type == "string" && !attribute.initial.empty() && attribute.choices.empty())
    return fmt::format("field(\"{}\", {}, \"{}\")", attribute.name, member, attribute.initial);
  if (attribute.choices.empty()) return fmt::format("field(\"{}\", {})", attribute.name, member);
  std::vector<std::string> rows;
  for (const std::string& choice : attribute.choices)
    rows.push_back(fmt::format("{{\"{}\", {}::{}}}", choice, enumTypeOf(spec, attribute), choiceName(choice)));
  return fmt::format("choice(\"{}\", {}, {{{}}})", attribute.name, member, fmt::join(rows, ", "));
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
  std::vector<std::string> fields;
  for (const Attribute& attribute : spec.attributes) {
    all << attributeData(spec, attribute);
    fields.push_back(onnxFieldOf(spec, attribute));
    if (reachesShader(spec, attribute)) scalars << attributeData(spec, attribute);
    if (!attribute.choices.empty()) enums << attributeData(spec, attribute);
  }
  context.set("attrs", all);
  context.set("scalars", scalars);
  context.set("enums", enums);
  context.set("hasParams", !spec.attributes.empty());
  // ONNX's norms have stash_type, the type of the statistics; those of other domains need not.
  const bool stash = spec.kind == "rowwise" && spec.onnxType().find("::") == std::string::npos &&
                     std::ranges::find(spec.attributes, "stash_type", &Attribute::name) == spec.attributes.end();
  if (stash) fields.push_back("only<Params>(\"stash_type\", 1)");
  context.set("stash", stash);
  context.set("onnxFields", fmt::format("{}", fmt::join(fields, ", ")));
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
