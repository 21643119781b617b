// The context of templates. Lists carry first and last marks, because Mustache cannot count.
#include <algorithm>

#include "scaffold/context.h"
#include "scaffold/dtypes.h"
#include "scaffold/generate.h"
#include "scaffold/names.h"

namespace opkit::scaffold {
namespace {

using kainjow::mustache::data;

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

void setTypes(data& context, const Spec& spec) {
  const std::vector<std::string> dtypes = dtypeNames(spec.inputs[0].dtypes);
  std::vector<std::string> storages, cases;
  for (const std::string& dtype : dtypes)
    if (dtype == "f32" || dtype == "f16") storages.push_back(dtype);
  // Kernels that move elements take f64; those that compute leave it to the oracle, in a case of its own.
  const bool takesF64 = findKind(spec.kind)->anyDType || spec.kind == "composite";
  for (const std::string& dtype : dtypes)
    if (takesF64 || dtype != "f64") cases.push_back(dtype);
  context.set("hasF64", !takesF64 && cases.size() < dtypes.size());
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
    if (dtype != "bool" && dtype != "f64" && (numbers.size() < 3 || dtype == "u8" || dtype == "i64"))
      numbers.push_back(dtype);
  context.set("numberTypes", numbers.empty() ? data(false) : data(quoted(numbers)));
  context.set("firstType", cases.front());
  context.set("benchType", quoted({cases.front()}));
}

}  // namespace

std::string quoted(const std::vector<std::string>& words) {
  std::vector<std::string> result;
  for (const std::string& word : words) result.push_back("\"" + word + "\"");
  return fmt::format("{}", fmt::join(result, ", "));
}

data contextOf(const Spec& spec) {
  const Kind& kind = *findKind(spec.kind);
  const std::string op = snakeCase(spec.name);
  data context;
  context.set("type", spec.name);
  context.set("op", op);
  context.set("Camel", upperCamel(op));
  context.set("onnx", spec.onnxType());
  context.set("renamed", spec.onnxType() != spec.name);
  context.set("tdd", spec.tdd);
  context.set("summary", spec.summary.empty() ? "SCAFFOLD: one sentence" : spec.summary);
  context.set("summarised", !spec.summary.empty());
  std::string sentence = spec.summary;
  if (!sentence.empty()) sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  context.set("Summary", sentence);
  context.set("formula", kind.formula);
  context.set("shapes", kind.shapes);
  context.set("error", kind.error);
  context.set("breaks", kind.breaks);
  setAttributes(context, spec);
  setTypes(context, spec);
  setPorts(context, spec);
  setRows(context, spec);
  context.set(spec.kind, true);
  context.set("sets3", shapeSets({"3,5,7", "1,1,1", "2,31,33", "2,3,68", "0,4,2"}));
  context.set("wide", "257");
  return context;
}

}  // namespace opkit::scaffold
