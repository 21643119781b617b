// The context of templates. Lists carry first and last marks, because Mustache cannot count.
#include <algorithm>

#include "scaffold/dtypes.h"
#include "scaffold/generate.h"
#include "scaffold/names.h"

namespace opkit::scaffold {
namespace {

using kainjow::mustache::data;

std::string quoted(const std::vector<std::string>& words) {
  std::vector<std::string> result;
  for (const std::string& word : words) result.push_back("\"" + word + "\"");
  return fmt::format("{}", fmt::join(result, ", "));
}

std::string fbsOf(const Attribute& attribute) {
  const auto& [name, type, initial] = attribute;
  if (type == "ints") return "[long]";
  if (type == "floats") return "[float]";
  if (type == "string") return "string";
  const std::string fbs = type == "int" ? "long" : type;
  return initial.empty() || initial == "false" ? fbs : fbs + " = " + initial;
}

std::string floatLiteral(const std::string& text) {
  const std::string value = text.empty() ? "0" : text;
  return value.find_first_of(".eEn") == std::string::npos ? value + ".0f" : value + "f";
}

std::string onnxReadOf(const Attribute& attribute) {
  const auto& [name, type, initial] = attribute;
  const std::string member = fmt::format("params.{} = ", name);
  if (type == "ints") return fmt::format("{}node.intsAttribute(\"{}\");", member, name);
  if (type == "floats") return fmt::format("{}node.floatsAttribute(\"{}\");", member, name);
  if (type == "string") return fmt::format("{}node.stringAttribute(\"{}\", \"{}\");", member, name, initial);
  if (type == "float") return fmt::format("{}node.floatAttribute(\"{}\", {});", member, name, floatLiteral(initial));
  // ONNX writes keep_dims as keepdims, and so on: the developer must check the name.
  const std::string fallback = type == "bool" ? (initial == "true" ? "1" : "0") : initial.empty() ? "0" : initial;
  return fmt::format("{}node.intAttribute(\"{}\", {}){};", member, name, fallback, type == "bool" ? " != 0" : "");
}

data attributeData(const Attribute& attribute) {
  data item;
  item.set("name", attribute.name);
  item.set("fbs", fbsOf(attribute));
  // FlatBuffers knows no defaults of strings.
  item.set("fbsNote", attribute.type == "string" && !attribute.initial.empty()
                          ? fmt::format("; empty stands for '{}'", attribute.initial)
                          : "");
  item.set("onnxRead", onnxReadOf(attribute));
  const bool boolean = attribute.type == "bool";
  item.set("glsl", boolean ? "uint" : attribute.type);
  item.set("pushValue", boolean                   ? "params_." + attribute.name + " ? 1u : 0u"
                        : attribute.type == "int" ? "static_cast<int32_t>(params_." + attribute.name + ")"
                                                  : "params_." + attribute.name);
  return item;
}

data portData(const PortSpec& port, size_t index, size_t count) {
  data item;
  item.set("name", port.name);
  item.set("Name", upperCamel(port.name));
  item.set("index", std::to_string(index));
  item.set("dtypes", dtypeExpression(port.dtypes));
  // In cases the first input's types vary; others keep their first one.
  if (!port.dtypes.empty()) item.set("caseType", index == 0 ? "T" : dtypeNames(port.dtypes).front());
  item.set("first", index == 0);
  item.set("last", index + 1 == count);
  return item;
}

data portList(const std::vector<PortSpec>& ports, size_t from = 0) {
  data list = data::type::list;
  for (size_t i = from; i < ports.size(); ++i) list << portData(ports[i], i, ports.size());
  return list;
}

/// Shape sets for cases, as {{shape}} of each set.
data shapeSets(const std::vector<std::string>& shapes) {
  data list = data::type::list;
  for (size_t i = 0; i < shapes.size(); ++i) {
    data item;
    item.set("shape", shapes[i]);
    item.set("lastSet", i + 1 == shapes.size());
    list << item;
  }
  return list;
}

/// For operators over rows of the first input: "3,5" gives it 3 rows of 5 elements, and every other input an element
/// per row. `type` is the first input's.
data rowSets(const Spec& spec, const std::string& type, const std::vector<std::string>& shapes) {
  data list = data::type::list;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const size_t comma = shapes[i].rfind(',');
    const std::string rows = comma == std::string::npos ? "" : shapes[i].substr(0, comma);
    data ports = data::type::list;
    for (size_t k = 0; k < spec.inputs.size(); ++k) {
      data port = portData(spec.inputs[k], k, spec.inputs.size());
      const std::string other = dtypeNames(spec.inputs[k].dtypes).front();
      port.set("description", fmt::format("{}[{}]", k == 0 ? type : other, k == 0 ? shapes[i] : rows));
      ports << port;
    }
    data item;
    item.set("ports", ports);
    item.set("lastSet", i + 1 == shapes.size());
    list << item;
  }
  return list;
}

/// The f32 inputs behind the first: factors, bound behind it in order.
void setFactors(data& context, const Spec& spec) {
  data factors = data::type::list;
  size_t binding = 1;
  for (size_t i = 1; i < spec.inputs.size(); ++i) {
    if (spec.inputs[i].dtypes != "f32") continue;
    data factor = portData(spec.inputs[i], i, spec.inputs.size());
    factor.set("binding", std::to_string(binding++));
    factors << factor;
  }
  context.set("factors", factors);
  context.set("tableBinding", std::to_string(binding));
  context.set("outputBinding", std::to_string(binding + 1));
}

/// Scalars go to the push constants, except those that only select a view of the tensor.
bool reachesShader(const Spec& spec, const Attribute& attribute) {
  if (attribute.type != "bool" && attribute.type != "int" && attribute.type != "float") return false;
  for (const Attribute& own : findKind(spec.kind)->attributes)
    if (own.name == attribute.name && own.type != "float") return false;
  return true;
}

void setAttributes(data& context, const Spec& spec) {
  data all = data::type::list, scalars = data::type::list;
  std::vector<std::string> names;
  for (const Attribute& attribute : spec.attributes) {
    all << attributeData(attribute);
    names.push_back(attribute.name);
    if (reachesShader(spec, attribute)) scalars << attributeData(attribute);
  }
  context.set("attrs", all);
  context.set("scalars", scalars);
  context.set("attrNames", quoted(names));
  context.set("hasParams", !spec.attributes.empty());
  const auto slope = std::find_if(spec.attributes.begin(), spec.attributes.end(),
                                  [](const Attribute& attribute) { return attribute.type == "float"; });
  const bool given = slope != spec.attributes.end();
  context.set("slope", given ? data(slope->name) : data(false));
  context.set("slopeParam", given ? "params." + slope->name : "0.5");
  context.set("slopeFloat", given ? slope->name : "0.5f");
  context.set("slopePush", given ? "push." + slope->name : "0.5");
}

void setTypes(data& context, const Spec& spec) {
  const std::vector<std::string> dtypes = dtypeNames(spec.inputs[0].dtypes);
  std::vector<std::string> storages, cases;
  for (const std::string& dtype : dtypes)
    if (dtype == "f32" || dtype == "f16") storages.push_back(dtype);
  for (const std::string& dtype : dtypes)
    if (dtype != "f64") cases.push_back(dtype);
  if (spec.inputs.size() > 1) {
    const std::vector<std::string> second = dtypeNames(spec.inputs[1].dtypes);
    context.set("secondTypes", quoted(second));
    context.set("secondType", second.front());
  }
  context.set("hasF32", std::find(cases.begin(), cases.end(), "f32") != cases.end());
  context.set("hasF16", std::find(cases.begin(), cases.end(), "f16") != cases.end());
  context.set("storages", fmt::format("{}", fmt::join(storages, " ")));
  context.set("caseTypes", quoted(cases));
  // Enough for arithmetic: floats, and an integer of each width that has kernels of its own.
  std::vector<std::string> numbers;
  for (const std::string& dtype : cases)
    if (dtype != "bool" && (numbers.size() < 3 || dtype == "u8" || dtype == "i64")) numbers.push_back(dtype);
  context.set("numberTypes", numbers.empty() ? data(false) : data(quoted(numbers)));
  context.set("firstType", cases.front());
  context.set("benchType", quoted({cases.front()}));
}

}  // namespace

data contextOf(const Spec& spec) {
  const Kind& kind = *findKind(spec.kind);
  const std::string op = snakeCase(spec.name);
  data context;
  context.set("type", spec.name);
  context.set("op", op);
  context.set("Camel", upperCamel(op));
  context.set("onnx", spec.onnxType());
  context.set("tdd", spec.tdd);
  context.set("summary", "SCAFFOLD: one sentence");
  context.set("formula", kind.formula);
  context.set("shapes", kind.shapes);
  context.set("error", kind.error);
  context.set("breaks", kind.breaks);
  setAttributes(context, spec);
  setTypes(context, spec);
  context.set("inputs", portList(spec.inputs));
  context.set("others", portList(spec.inputs, 1));
  context.set("outputs", portList(spec.outputs));
  context.set("outputCount", std::to_string(spec.outputs.size()));
  context.set("single", spec.inputs.size() == 1);
  context.set("inputCount", std::to_string(spec.inputs.size()));
  context.set("x", spec.inputs[0].name);
  context.set("y", spec.outputs[0].name);
  if (spec.outputs.size() > 1) {
    context.set("second", spec.outputs[1].name);
    context.set("Second", upperCamel(spec.outputs[1].name));
  }
  context.set("X", upperCamel(spec.inputs[0].name));
  context.set("Y", upperCamel(spec.outputs[0].name));
  if (spec.inputs.size() > 1) {
    context.set("b", spec.inputs[1].name);
    context.set("B", upperCamel(spec.inputs[1].name));
  }
  setFactors(context, spec);
  context.set("planeSets", rowSets(spec, "T", {"3,5,7", "2,1", "9", "1,2,3,33", "2,3,0", "0,4"}));
  context.set("rampSets", rowSets(spec, "T", {"3,19"}));
  context.set("benchSets", rowSets(spec, "T", {"64,56,56"}));
  context.set("errorSets", rowSets(spec, dtypeNames(spec.inputs[0].dtypes).front(), {"2,3"}));
  context.set(spec.kind, true);
  context.set("sets3", shapeSets({"3,5,7", "1,1,1", "2,31,33", "2,3,68", "0,4,2"}));
  context.set("wide", "257");
  return context;
}

}  // namespace opkit::scaffold
