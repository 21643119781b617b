#include "scaffold/ports.h"

#include <algorithm>

#include "scaffold/dtypes.h"

namespace opkit::scaffold {
namespace {

Status checkCount(const Kind& kind, const char* what, size_t given, size_t least, size_t most) {
  if (given >= least && given <= most) return Status::ok();
  return Status::invalidArgument("kind {} takes {} {}, got {}", kind.name,
                                 least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most), what,
                                 given);
}

std::string kindsWithContents() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds())
    if (kind.contents) names.push_back(kind.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The types of an input that names none.
std::string standardTypes(const Kind& kind, const PortSpec& port, size_t i) {
  if (port.contents) return "index";
  const std::string& own = kind.inputOf(i).dtypes;
  if (!own.empty()) return own;
  return kind.anyDType ? "any" : "floats";
}

/// The input before `i` that is called `word` or declares the type variable `word`; null if there is none.
const PortSpec* earlier(const std::vector<PortSpec>& inputs, size_t i, const std::string& word) {
  for (size_t k = 0; k < i; ++k)
    if (inputs[k].name == word || inputs[k].variable == word) return &inputs[k];
  return nullptr;
}

Status completeType(const Kind& kind, std::vector<PortSpec>& inputs, size_t i) {
  PortSpec& port = inputs[i];
  if (!port.variable.empty())
    if (const PortSpec* declared = earlier(inputs, i, port.variable)) {
      if (!port.dtypes.empty())
        return Status::invalidArgument("--input {}: {} is the type of {} already, write {}:{}", port.name,
                                       port.variable, declared->name, port.name, port.variable);
      port.same = std::exchange(port.variable, "");
    }
  if (port.dtypes.empty() && port.same.empty() && kind.inputOf(i).dtypes == "same") port.same = inputs[0].name;
  if (!port.same.empty()) {
    const PortSpec* like = earlier(inputs, i, port.same);
    if (!like)
      return Status::invalidArgument("--input {}: '={}' expects an input before it, or its type variable", port.name,
                                     port.same);
    if (!port.dtypes.empty() && port.dtypes != like->dtypes)
      return Status::invalidArgument("--input {}: has the type of {}, {}, got {}", port.name, like->name, like->dtypes,
                                     port.dtypes);
    port.dtypes = like->dtypes;
    port.same = like->same.empty() ? like->name : like->same;
  }
  if (port.dtypes.empty()) port.dtypes = standardTypes(kind, port, i);
  return Status::ok();
}

Status checkContents(const Kind& kind, const PortSpec& port, size_t i) {
  if (port.contents && (!kind.contents || i < kind.least()))
    return Status::invalidArgument("--input {}: contents are for further inputs of the kinds {}, got {} of kind {}",
                                   port.name, kindsWithContents(), i == 0 ? "the first" : "one", kind.name);
  if (kind.onlyContents && i >= kind.least() && !port.contents)
    return Status::invalidArgument("--input {}: further inputs of kind {} are read at resize, write {}:i64:contents",
                                   port.name, kind.name, port.name);
  if (!port.contents) return Status::ok();
  for (const std::string& name : dtypeNames(port.dtypes))
    if (name != "i64" && name != "i32")
      return Status::invalidArgument("--input {}: contents are i64 or i32, got {}", port.name, port.dtypes);
  return Status::ok();
}

Status checkOptional(const Kind& kind, const std::vector<PortSpec>& inputs, size_t i) {
  if (inputs[i].optional && i < kind.least())
    return Status::invalidArgument("--input {}: kind {} needs this input, leave '?' away", inputs[i].name, kind.name);
  if (!inputs[i].optional && i > 0 && inputs[i - 1].optional)
    return Status::invalidArgument("--input {}: follows an optional input, so it must be optional: add '?'",
                                   inputs[i].name);
  return Status::ok();
}

}  // namespace

Status completePorts(const Kind& kind, Spec& spec) {
  if (spec.inputs.empty())
    for (const PortSpec& own : kind.inputs) spec.inputs.push_back({own.name, ""});
  if (spec.outputs.empty()) spec.outputs = kind.outputs;
  OPKIT_TRY(checkCount(kind, "inputs", spec.inputs.size(), kind.least(), kind.maxInputs));
  OPKIT_TRY(checkCount(kind, "outputs", spec.outputs.size(), kind.outputs.size(), kind.maxOutputs));
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    OPKIT_TRY(completeType(kind, spec.inputs, i));
    OPKIT_TRY(checkContents(kind, spec.inputs[i], i));
    OPKIT_TRY(checkOptional(kind, spec.inputs, i));
  }
  for (PortSpec& port : spec.inputs) port.variable.clear();
  return Status::ok();
}

}  // namespace opkit::scaffold
