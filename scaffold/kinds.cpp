#include "scaffold/kinds.h"

#include <algorithm>

#include "scaffold/ports.h"

namespace opkit::scaffold {
namespace {

constexpr const char* kRowForms[] = {"axis", "from-axis", "groups"};

std::vector<Kind> makeKinds() {
  std::vector<Kind> kinds;
  kinds.push_back(
      {.name = "unary",
       .summary = "one element to one element, as a row of ops/unary: expressions for the oracle, the CPU and GLSL",
       .formula = "y = x < 0 ? 0 : x * x",
       .example = "SquareRelu --kind unary",
       .row = true,
       .inputs = {{"x", ""}}});
  kinds.push_back({.name = "binary",
                   .summary = "two elements to one, broadcast, as a row of ops/binary",
                   .formula = "z = x * x + y * y",
                   .example = "SumOfSquares --kind binary",
                   .row = true,
                   .inputs = {{"x", ""}, {"y", ""}},
                   .outputs = {{"z", ""}},
                   .maxInputs = 2});
  kinds.push_back(
      {.name = "elementwise",
       .summary = "elements of inputs of one shape, in a folder of its own: own parameters, own kernels",
       .formula = "`y = x < 0 ? slope * x : x`, times the other inputs where there are any.",
       .shapes = "All inputs are alike; the output is like them.",
       .error = "1 ULP; 3 ULP with several inputs.",
       .breaks = "Sizes around the work group, a branch taken for granted, NaN and infinities, empty tensors.",
       .example = "HardShrink --kind elementwise --attr lambd:float=0.5",
       .attributes = {{"slope", "float", "0.01"}},
       .inputs = {{"x", ""}},
       .maxInputs = 4});
  kinds.push_back({.name = "reduce",
                   .summary = "the elements along an axis folded into one",
                   .formula = "`y = sum of x * x` along `axis`, which stays with extent 1 when `keep_dims`.",
                   .shapes = "Any rank of 1 or more; the axis becomes 1 or goes away.",
                   .error = "4u√n·Σx² (class Sum).",
                   .breaks = "Inner strides other than 1, lost large terms, long sums, rows of one element, no rows.",
                   .example = "EnergySum --kind reduce",
                   .attributes = {{"axis", "int", "-1"}, {"keep_dims", "bool", "true"}},
                   .inputs = {{"x", ""}},
                   .maxInputs = 4,
                   .contents = true,
                   .onlyContents = true});
  kinds.push_back(
      {.name = "rowwise",
       .summary =
           "rows normalised, as Softmax and the norms do: along an axis, from an axis on, or groups of channels; "
           "further inputs are parameters per column",
       .formula = "`y = (x - mean) / sqrt(variance + epsilon)` over each row, times the second input, plus the others.",
       .error = "8u√n·(1 + |μ|/σ) + 4 ULP (class Norm).",
       .breaks = "One-pass variance (rows near 1000), constant rows, one huge element, cancellation, rows around the "
                 "work group and of one element, empty tensors.",
       .example = "MyNorm --kind rowwise --rows from-axis --input x:T=floats --input scale:T --input 'bias:T?'",
       .attributes = {{"axis", "int", "-1"}, {"epsilon", "float", "1e-5"}},
       .inputs = {{"x", ""}},
       .maxInputs = 5});
  kinds.push_back(
      {.name = "pool",
       .summary = "a window that slides over one to three spatial axes of [batch, channels, ...]",
       .formula = "`y = mean of the window's elements`; padding does not count.",
       .shapes = "[batch, channels] and 1 to 3 spatial axes.",
       .error = "4u√n·Σ|x|/n (class Sum).",
       .breaks = "Windows, strides and padding that differ by axis, windows over the edge, planes of one element.",
       .example = "WindowMean --kind pool",
       .attributes = {{"kernel_shape", "ints", ""}, {"strides", "ints", ""}, {"pads", "ints", ""}},
       .inputs = {{"x", ""}}});
  kinds.push_back({.name = "argpool",
                   .summary = "a window that gives one of its elements, and on request its position, as MaxPool does",
                   .formula = "`y = the largest of the window's elements`, `indices` its offset in the input; padding "
                              "does not count.",
                   .shapes = "[batch, channels] and 1 to 3 spatial axes; both outputs are alike.",
                   .error = "exact.",
                   .breaks =
                       "Windows, strides and padding that differ by axis, equal elements, NaN, windows of padding "
                       "alone.",
                   .example = "WindowMax --kind argpool",
                   .attributes = {{"kernel_shape", "ints", ""}, {"strides", "ints", ""}, {"pads", "ints", ""}},
                   .inputs = {{"x", ""}},
                   .outputs = {{"y", ""}, {"indices", ""}},
                   .maxOutputs = 2,
                   .templates = "pool"});
  kinds.push_back(
      {.name = "gather",
       .summary = "slices of data chosen by the values of another input",
       .formula = "`y[.., k, ..] = data[.., indices[k], ..]` along `axis`; indices are limited to the axis.",
       .shapes = "The axis of the data is replaced by the axes of the indices.",
       .error = "exact.",
       .breaks = "Indices below and above the axis, repeated ones, every element size, scalar indices, no indices.",
       .example = "TakeClipped --kind gather",
       .attributes = {{"axis", "int", "0"}},
       .inputs = {{"data", "any"}, {"indices", "index"}},
       .maxInputs = 2,
       .anyDType = true});
  kinds.push_back(
      {.name = "scatter",
       .summary = "a copy of data into which updates are written, or folded, where the values of another input say",
       .formula =
           "`y = data`; then `y[.., indices[k], ..]` takes in `updates[.., k, ..]` along `axis`: `reduction` none "
           "replaces, and the last of several wins; add, mul, max and min fold all.",
       .shapes = "The output is like the data; updates are the data with the axis replaced by the axes of the indices.",
       .error = "exact; 4u√n·Σ|x| where a reduction adds or multiplies (class Sum).",
       .breaks =
           "Slices of every width, repeated indices and their order, every element size, no indices, indices out of "
           "range.",
       .example = "PutRows --kind scatter",
       .attributes = {{"axis", "int", "0"}, {"reduction", "string", "none", {"none", "add", "mul", "max", "min"}}},
       .inputs = {{"data", "any"}, {"indices", "index"}, {"updates", "same"}},
       .maxInputs = 3,
       .anyDType = true,
       .kernels = false});
  kinds.push_back(
      {.name = "matmul",
       .summary = "sums of products of two matrices",
       .formula = "`y[.., i, j] = sum over k of a[.., i, k] * b[.., k, j]`.",
       .shapes = "Rank 2 or more; the axes before the last two are equal.",
       .error = "u·Σ|a·b|·min(K, 4√K) (class Products).",
       .breaks = "Extents of 1 and 0, M, N and K that differ, cancellation, one huge element; the exact lane finds "
                 "swapped indices.",
       .example = "BatchProduct --kind matmul",
       .inputs = {{"a", ""}, {"b", ""}},
       .maxInputs = 2});
  kinds.push_back({.name = "layout",
                   .summary = "moves elements without computing: lowered to regions, no kernel on any backend",
                   .formula = "`y = x` with the elements along `axis` in reverse order.",
                   .shapes = "Any rank of 1 or more; the output has the input's shape.",
                   .error = "exact.",
                   .breaks = "An axis other than the last, extents of 1 and 0, every element size.",
                   .example = "Mirror --kind layout",
                   .attributes = {{"axis", "int", "-1"}},
                   .inputs = {{"x", "any"}},
                   .maxInputs = 4,
                   .anyDType = true,
                   .kernels = false,
                   .contents = true,
                   .onlyContents = true});
  kinds.push_back({.name = "composite",
                   .summary = "made of other operators: no kernel of its own on any backend",
                   .formula = "`y = x * sigmoid(x)`.",
                   .shapes = "Any; the output has the input's shape.",
                   .error = "4 ULP + min(4 ULP, 5e-7) (class Transcendental).",
                   .breaks = "Sizes around the work group, arguments where the exponential overflows, empty tensors.",
                   .example = "Silu --kind composite",
                   .inputs = {{"x", ""}},
                   .kernels = false});
  kinds.push_back({.name = "copy",
                   .summary = "every part there and nothing in it: a blank page for elements of any type",
                   .formula = "`y = x`, every output is a copy of the first input.",
                   .shapes = "Every output is like the first input.",
                   .error = "exact.",
                   .breaks = "Sizes around the work group, every element size, empty tensors.",
                   .example = "MyOperator --kind copy --input x --input scale:f32 --output y",
                   .inputs = {{"x", "any"}},
                   .maxInputs = 8,
                   .maxOutputs = 4,
                   .anyDType = true,
                   .contents = true});
  kinds.push_back(
      {.name = "custom",
       .summary = "none of the above: an output shape that parameters decide, a table made at resize, as for "
                  "Resize",
       .formula =
           "The last axis `factor` times as long: `y[.., o]` is a weighted sum of `x[.., p]` over the positions p "
           "that a table names for o, times each input of f32 alone.",
       .shapes = "The last axis is stretched; a factor has an element for each row along it.",
       .error = "4u√n·Σ|x| (class Sum).",
       .breaks = "The edge, rows of one element and none, planes that are mixed up, factors of 1 and 3.",
       .example = "Stretch --kind custom",
       .attributes = {{"factor", "int", "2"}},
       .inputs = {{"x", ""}, {"scale", "f32"}},
       .minInputs = 1,
       .maxInputs = 8,
       .maxOutputs = 4,
       .contents = true});
  return kinds;
}

bool samePorts(const std::vector<PortSpec>& given, const std::vector<PortSpec>& own) {
  return std::equal(given.begin(), given.end(), own.begin(), own.end(), [](const PortSpec& a, const PortSpec& b) {
    return a.name == b.name && (a.dtypes.empty() || b.dtypes.empty() || a.dtypes == b.dtypes);
  });
}

Status checkBackends(const Kind& kind, const Spec& spec) {
  for (const std::string& backend : spec.backends)
    if (backend != "cpu" && backend != "vulkan")
      return Status::invalidArgument("--backend: kernels are written for cpu and vulkan, got '{}'", backend);
  if (kind.row && !spec.has("vulkan"))
    return Status::invalidArgument("kind {} is a row that every backend reads; leave --backend away", kind.name);
  return Status::ok();
}

Status completeRows(Spec& spec) {
  if (spec.kind != "rowwise" && !spec.rows.empty())
    return Status::invalidArgument("--rows is for kind rowwise, got kind {}", spec.kind);
  if (spec.kind != "rowwise") return Status::ok();
  if (spec.rows.empty()) spec.rows = kRowForms[0];
  if (std::find(std::begin(kRowForms), std::end(kRowForms), spec.rows) != std::end(kRowForms)) return Status::ok();
  return Status::invalidArgument("--rows: expected one of {}, got '{}'", fmt::join(kRowForms, ", "), spec.rows);
}

/// A summary is one line of a C++ string and of a page.
Status checkSummary(const Kind& kind, const Spec& spec) {
  if (spec.summary.empty()) return Status::ok();
  if (kind.row)
    return Status::invalidArgument("--summary: kind {} is a row, its text is in ops/{}/{}.md", kind.name, kind.name,
                                   kind.name);
  const auto allowed = [](unsigned char c) { return c >= ' ' && c != '"' && c != '\\' && c != 0x7f; };
  if (std::all_of(spec.summary.begin(), spec.summary.end(), allowed) && !spec.summary.ends_with('.'))
    return Status::ok();
  return Status::invalidArgument("--summary: expected one line without quotes, backslashes or a full stop, got '{}'",
                                 spec.summary);
}

/// A kind's own attributes come first, with the defaults that were given.
Status completeAttributes(Spec& spec) {
  std::vector<Attribute> attributes = ownAttributes(spec);
  for (auto given = spec.attributes.begin(); given != spec.attributes.end(); ++given)
    if (std::any_of(spec.attributes.begin(), given, [&](const Attribute& a) { return a.name == given->name; }))
      return Status::invalidArgument("--attr {}: given twice", given->name);
  for (const Attribute& given : spec.attributes) {
    const auto own =
        std::find_if(attributes.begin(), attributes.end(), [&](const Attribute& a) { return a.name == given.name; });
    if (own == attributes.end()) {
      attributes.push_back(given);
      continue;
    }
    if (own->type != given.type)
      return Status::invalidArgument("--attr {}: kind {} needs it as {}, got {}", given.name, spec.kind, own->type,
                                     given.type);
    if (!own->choices.empty() && own->choices != given.choices)
      return Status::invalidArgument(
          "--attr {}: kind {} needs the choices {}, got '{}'", given.name, spec.kind, fmt::join(own->choices, "|"),
          given.choices.empty() ? given.initial : fmt::format("{}", fmt::join(given.choices, "|")));
    if (!given.initial.empty()) own->initial = given.initial;
  }
  spec.attributes = std::move(attributes);
  return Status::ok();
}

}  // namespace

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> table = makeKinds();
  return table;
}

const Kind* findKind(const std::string& name) {
  for (const Kind& kind : kinds())
    if (kind.name == name) return &kind;
  return nullptr;
}

std::string kindChoices() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) names.push_back(kind.name);
  return fmt::format("{{{}}}", fmt::join(names, ","));
}

std::vector<Attribute> ownAttributes(const Spec& spec) {
  if (spec.rows == "groups") return {{"num_groups", "int", "1"}, {"epsilon", "float", "1e-5"}};
  // Elementwise takes the first float it is given instead of its own.
  if (spec.kind == "elementwise" && !spec.attributes.empty()) return {};
  return findKind(spec.kind)->attributes;
}

Result<Spec> completed(const Spec& spec) {
  const Kind* kind = findKind(spec.kind);
  if (!kind) {
    std::string known;
    for (const Kind& each : kinds()) known += (known.empty() ? "" : ", ") + each.name;
    return Status::invalidArgument("--kind: expected one of {}, got '{}'", known, spec.kind);
  }
  OPKIT_TRY(checkBackends(*kind, spec));
  Spec result = spec;
  OPKIT_TRY(checkSummary(*kind, spec));
  OPKIT_TRY(completeRows(result));
  OPKIT_TRY(completePorts(*kind, result));
  if (kind->row && (!spec.attributes.empty() || !samePorts(result.inputs, kind->inputs) ||
                    !samePorts(result.outputs, kind->outputs)))
    return Status::invalidArgument(
        "kind {} is a row of a family with fixed parameters, inputs and outputs; "
        "--kind elementwise makes a folder that has its own",
        kind->name);
  OPKIT_TRY(completeAttributes(result));
  return result;
}

}  // namespace opkit::scaffold
