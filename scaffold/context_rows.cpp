// Kind rowwise: rows along an axis, from an axis on or of groups of channels, and parameters per column.
#include "scaffold/context.h"
#include "scaffold/dtypes.h"

namespace opkit::scaffold {
namespace {

using kainjow::mustache::data;
using kainjow::mustache::lambda;

/// A section {{#perColumn}}5,7{{/perColumn}} as the descriptions of the parameters in a shape set: `, "T[5,7]"` each.
data parameters(const Spec& spec, const std::string& dtype, bool withOptional) {
  size_t count = 0;
  for (size_t i = 1; i < spec.inputs.size(); ++i) count += withOptional || !spec.inputs[i].optional;
  return data(lambda([=](const std::string& shape) {
    std::string text;
    for (size_t i = 0; i < count; ++i) text += ", \"" + dtype + "[" + shape + "]\"";
    return text;
  }));
}

struct RowForm {
  const char* name;
  const char* type;       // of the rows in C++
  const char* make;       // the function that gives them
  const char* parameter;  // its second argument
  const char* extent;     // the shape of a parameter
  const char* column;     // of element `i` of a row, in C++
  const char* glslColumn;
  const char* shapes;
  const char* formula;
};

constexpr RowForm kForms[] = {
    {"axis", "Rows", "rowsAlong", "axis", "Shape{shape[static_cast<size_t>(axis)]}", "static_cast<size_t>(i)", "i",
     "Any rank of 1 or more; the output has the input's shape, and a parameter the extent of the axis.",
     "along `axis`"},
    {"from-axis", "Rows", "rowsFrom", "axis", "Shape(shape.begin() + axis, shape.end())", "static_cast<size_t>(i)", "i",
     "Any rank of 1 or more; the output has the input's shape, and a parameter the axes from `axis` on.",
     "over all axes from `axis` on"},
    {"groups", "GroupRows", "rowsOfGroups", "num_groups", "Shape{shape[1]}", "rows.channelAt(row, i)",
     "(row.first + i) / push.channelSize % push.channelCount",
     "[batch, channels, ...]; the output has the input's shape, and a parameter an element per channel.",
     "over each of `num_groups` groups of channels with their spatial axes"}};

}  // namespace

void setRows(data& context, const Spec& spec) {
  for (const RowForm& form : kForms) {
    if (form.name != spec.rows) continue;
    context.set("rowsType", form.type);
    context.set("rowsMake", form.make);
    context.set("rowsParameter", form.parameter);
    context.set("columnShape", form.extent);
    context.set("column", form.column);
    context.set("glslColumn", form.glslColumn);
    context.set("shapes", form.shapes);
    std::string formula =
        fmt::format("`y = (x - mean) / sqrt(variance + epsilon)`, mean and variance {}", form.formula);
    for (size_t i = 1; i < spec.inputs.size(); ++i)
      formula += fmt::format("; {} `{}`", i == 1 ? "times" : "plus", spec.inputs[i].name);
    context.set("formula", formula + ".");
  }
  context.set("alongAxis", spec.rows == "axis");
  context.set("fromAxis", spec.rows == "from-axis");
  context.set("ofGroups", spec.rows == "groups");
  context.set("perColumn", parameters(spec, "T", true));
  context.set("perColumnRequired", parameters(spec, "T", false));
  context.set("perColumnFirst", parameters(spec, dtypeNames(spec.inputs[0].dtypes).front(), true));
  context.set("columns", spec.kind == "rowwise" && spec.inputs.size() > 1);
  context.set("ruled", spec.rows == "groups" || spec.inputs.size() > 1);
  context.set("channels", spec.rows == "groups" && spec.inputs.size() > 1);
}

}  // namespace opkit::scaffold
