// Inputs and outputs as the card, the shape rule, the kernels and the cases write them.
#include <algorithm>

#include "scaffold/context.h"
#include "scaffold/dtypes.h"
#include "scaffold/kinds.h"
#include "scaffold/names.h"

namespace opkit::scaffold {
namespace {

using kainjow::mustache::data;

/// The rest of a Port of the card, after its name: "kFloats", "kIndexTypes, Port::Kind::Required, true".
std::string portTail(const PortSpec& port) {
  const std::string kind = port.optional ? ", Port::Kind::Optional" : port.contents ? ", Port::Kind::Required" : "";
  return dtypeExpression(port.dtypes) + kind + (port.contents ? ", true" : "");
}

/// The element type of a port in cases: the first input's types vary, and so do those that follow it.
std::string caseType(const Spec& spec, size_t i) {
  const PortSpec& port = spec.inputs[i];
  return i == 0 || port.same == spec.inputs[0].name ? "T" : dtypeNames(port.dtypes).front();
}

/// How kernels get at an input: as it is, or guarded where it may be absent. `neutral` changes nothing in its place.
void setAccess(data& item, const PortSpec& port, size_t i, const char* neutral) {
  const std::string &name = port.name, place = std::to_string(i);
  const bool guarded = port.optional;
  const auto either = [&](const std::string& plain, const std::string& optional) { return guarded ? optional : plain; };
  item.set("referenceInput", either("const std::vector<double>& " + name + " = args.input(" + place + ").real;",
                                    "const double* " + name + " = args.hasInput(" + place + ") ? args.input(" + place +
                                        ").real.data() : nullptr;  // null when absent"));
  item.set("cpuInput", either("const auto " + name + " = inputs[" + place + "]->data<float>();",
                              "const float* " + name + " = has(inputs, " + place + ") ? inputs[" + place +
                                  "]->data<float>().data() : nullptr;  // null when absent"));
  item.set("tensor", either("inputs[" + place + "]", "has(inputs, " + place + ") ? inputs[" + place + "] : inputs[0]"));
  item.set("open", either("", "(" + name + " ? "));
  item.set("close", either("", std::string(" : ") + neutral + ")"));
  item.set("glslOpen", either("", "(push.has_" + name + " != 0u ? "));
  item.set("glslClose", either("", std::string(" : ") + neutral + ".0)"));
  item.set("glslClose4", either("", std::string(" : vec4(") + neutral + ".0))"));
}

/// A shape set whose input `i` alone, a parameter per column, has the wrong extent.
std::string wrongParameter(const Spec& spec, size_t i) {
  const std::string type = dtypeNames(spec.inputs[0].dtypes).front();
  std::vector<std::string> inputs{type + "[2,3]"};
  for (size_t k = 1; k < spec.inputs.size(); ++k)
    if (k <= i || !spec.inputs[k].optional) inputs.push_back(type + (k == i ? "[2]" : "[3]"));
  return quoted(inputs);
}

/// Of an f32 input behind the first: kind custom binds those alone.
int64_t bindingOf(const std::vector<PortSpec>& ports, size_t i) {
  return 1 + std::count_if(ports.begin() + 1, ports.begin() + static_cast<std::ptrdiff_t>(std::max<size_t>(i, 1)),
                           [](const PortSpec& port) { return port.dtypes == "f32"; });
}

data portData(const Spec& spec, const std::vector<PortSpec>& ports, size_t i) {
  const PortSpec& port = ports[i];
  const bool isInput = &ports == &spec.inputs;
  data item;
  item.set("name", port.name);
  item.set("Name", upperCamel(port.name));
  item.set("index", std::to_string(i));
  item.set("binding", std::to_string(bindingOf(ports, i)));
  item.set("first", i == 0);
  item.set("last", i + 1 == ports.size());
  item.set("optional", port.optional);
  item.set("contents", port.contents);
  if (!isInput) return item;
  item.set("dtypes", portTail(port));
  item.set("caseType", caseType(spec, i));
  // Of rowwise the second input multiplies and the others are added; of elementwise all multiply.
  const bool added = spec.kind == "rowwise" && i > 1;
  item.set("operation", added ? "+" : "*");
  item.set("wrongInputs", wrongParameter(spec, i));
  setAccess(item, port, i, added ? "0" : "1");
  return item;
}

template <class Wanted>
data portList(const Spec& spec, const std::vector<PortSpec>& ports, const Wanted& wanted) {
  data list = data::type::list;
  for (size_t i = 0; i < ports.size(); ++i)
    if (wanted(ports[i], i)) list << portData(spec, ports, i);
  return list;
}

/// Statements of the shape rule: types that must agree where the card does not say so, and lists of contents.
data checksOf(const Spec& spec) {
  const Kind& kind = *findKind(spec.kind);
  data list = data::type::list;
  for (size_t i = 1; i < spec.inputs.size(); ++i) {
    const PortSpec& port = spec.inputs[i];
    const std::string& name = port.name;
    data item;
    if (!port.same.empty() && (kind.anyDType || !kind.inputOf(i).dtypes.empty())) {
      const auto like = std::find_if(spec.inputs.begin(), spec.inputs.end(),
                                     [&](const PortSpec& each) { return each.name == port.same; });
      item.set("check",
               fmt::format("OPKIT_TRY(requireSameType(args, {}, \"{}\", {}));", i, name, like - spec.inputs.begin()));
      list << item;
    }
    if (port.contents) {
      item.set("check", fmt::format("// SCAFFOLD: what the shape takes from the values of {0}: args.integers({1})\n"
                                    "  OPKIT_TRY(requireList(args, {1}, \"{0}\"));",
                                    name, i));
      list << item;
    }
  }
  return list;
}

/// A line of the page: "`bias` may be absent; `axes` is read at resize and may be absent."
std::string notesOf(const Spec& spec) {
  std::vector<std::string> notes;
  for (const PortSpec& port : spec.inputs)
    if (port.optional || port.contents)
      notes.push_back(fmt::format("`{}` {}{}{}", port.name, port.contents ? "is read at resize" : "",
                                  port.contents && port.optional ? " and " : "", port.optional ? "may be absent" : ""));
  return notes.empty() ? "" : fmt::format("\n**Inputs.** {}.", fmt::join(notes, "; "));
}

/// The descriptions of contents in a shape set of a case, and the line of the entry that makes them constants.
void setContents(data& context, const Spec& spec, bool withOptional) {
  std::string descriptions;
  std::vector<std::string> places;
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const PortSpec& port = spec.inputs[i];
    if (!port.contents || (port.optional && !withOptional)) continue;
    descriptions += fmt::format(", \"{}[2]\"", dtypeNames(port.dtypes).front());
    places.push_back(std::to_string(i));
  }
  context.set(withOptional ? "rest" : "requiredRest", descriptions);
  context.set(withOptional ? "constant" : "requiredConstant",
              places.empty() ? "" : fmt::format("\n      \"constant\": [{}],", fmt::join(places, ", ")));
}

void setNames(data& context, const Spec& spec) {
  context.set("x", spec.inputs[0].name);
  context.set("y", spec.outputs[0].name);
  context.set("X", upperCamel(spec.inputs[0].name));
  context.set("Y", upperCamel(spec.outputs[0].name));
  if (spec.outputs.size() > 1) {
    context.set("second", spec.outputs[1].name);
    context.set("Second", upperCamel(spec.outputs[1].name));
  }
  if (spec.inputs.size() < 2) return;
  context.set("b", spec.inputs[1].name);
  context.set("B", upperCamel(spec.inputs[1].name));
}

/// Shape sets of an operator over rows of the first input: "3,5" gives it 3 rows of 5 elements, contents two elements
/// and every other input an element per row. `type` is the first input's.
data rowSets(const Spec& spec, const std::string& type, const std::vector<std::string>& shapes,
             bool withOptional = true) {
  data list = data::type::list;
  for (const std::string& shape : shapes) {
    const size_t comma = shape.rfind(',');
    const std::string rows = comma == std::string::npos ? "" : shape.substr(0, comma);
    std::vector<std::string> inputs;
    for (size_t i = 0; i < spec.inputs.size(); ++i) {
      const PortSpec& port = spec.inputs[i];
      const std::string element = caseType(spec, i) == "T" ? type : dtypeNames(port.dtypes).front();
      if (withOptional || !port.optional)
        inputs.push_back(fmt::format("{}[{}]", element, i == 0 ? shape : port.contents ? "2" : rows));
    }
    data item;
    item.set("descriptions", quoted(inputs));
    item.set("lastSet", &shape == &shapes.back());
    list << item;
  }
  return list;
}

void setRowSets(data& context, const Spec& spec) {
  const std::vector<std::string> planes{"3,5,7", "2,1", "9", "1,2,3,33", "2,3,0", "0,4"};
  context.set("planeSets", rowSets(spec, "T", planes));
  context.set("requiredPlaneSets", rowSets(spec, "T", planes, false));
  context.set("storedSets", rowSets(spec, "T", {"2,3,4", "5"}));
  context.set("rampSets", rowSets(spec, "T", {"3,19"}));
  context.set("benchSets", rowSets(spec, "T", {"64,56,56"}));
  context.set("errorSets", rowSets(spec, dtypeNames(spec.inputs[0].dtypes).front(), {"2,3"}));
}

/// The inputs by what templates do with them.
void setLists(data& context, const Spec& spec) {
  const auto list = [&](const char* name, const auto& wanted) {
    const data ports = portList(spec, spec.inputs, wanted);
    context.set(name, ports);
    return ports.list_value().size();
  };
  const bool rowwise = spec.kind == "rowwise";
  list("inputs", [](const PortSpec&, size_t) { return true; });
  list("readInputs", [](const PortSpec& port, size_t) { return !port.contents; });
  list("others", [](const PortSpec& port, size_t i) { return i > 0 && !port.contents; });
  list("optionals", [](const PortSpec& port, size_t) { return port.optional; });
  list("requiredInputs", [](const PortSpec& port, size_t) { return !port.optional; });
  const size_t factors =
      list("factors", [&](const PortSpec& port, size_t i) { return rowwise ? i == 1 : i > 0 && port.dtypes == "f32"; });
  context.set("tableBinding", std::to_string(1 + factors));
  context.set("outputBinding", std::to_string(2 + factors));
  const auto partial = [&](const PortSpec&, size_t i) { return rowwise && i > 1 && i + 1 < spec.inputs.size(); };
  context.set("hasPartial", list("partial", partial) > 0);
}

}  // namespace

void setPorts(data& context, const Spec& spec) {
  setNames(context, spec);
  setLists(context, spec);
  setRowSets(context, spec);
  setContents(context, spec, true);
  setContents(context, spec, false);
  context.set("outputs", portList(spec, spec.outputs, [](const PortSpec&, size_t) { return true; }));
  context.set("outputCount", std::to_string(spec.outputs.size()));
  context.set("single", spec.inputs.size() == 1);
  context.set("inputCount", std::to_string(spec.inputs.size()));
  context.set("readCount", std::to_string(std::count_if(spec.inputs.begin(), spec.inputs.end(),
                                                        [](const PortSpec& port) { return !port.contents; })));
  context.set("hasOptional", spec.inputs.back().optional);
  const data checks = checksOf(spec);
  context.set("hasChecks", checks.is_non_empty_list());
  context.set("checks", checks);
  std::string nulls;
  for (size_t i = 1; i < spec.inputs.size(); ++i) nulls += ", null";
  context.set("nulls", nulls);
  context.set("inputNotes", notesOf(spec));
}

}  // namespace opkit::scaffold
