#include "harness/guest/show_program.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <limits>
#include <utility>

#include "harness/export/case_folder.h"
#include "harness/guest/show_parts.h"

namespace opkit::harness {
namespace show {
namespace {

constexpr int64_t kMostLiterals = 64;

/// The first line of a comment: without line breaks, not too long, and no backslash that continues it.
std::string asOneLine(const std::string& text) {
  std::string line;
  for (const char c : text) line += std::iscntrl(static_cast<unsigned char>(c)) ? ' ' : c;
  if (line.size() > kMostColumns - 3) line = line.substr(0, kMostColumns - 6) + "...";
  while (!line.empty() && (line.back() == '\\' || line.back() == ' ')) line.pop_back();
  return line;
}

std::vector<double> boundsOf(const OracleTensor& expected, const Tolerance& tolerance) {
  if (tolerance.byClass) return {std::numeric_limits<double>::infinity()};
  std::vector<double> bounds = boundsOfRounded(expected, tolerance);
  if (bounds.empty()) return {0};
  if (std::ranges::all_of(bounds, [&](double bound) { return bound == bounds[0]; })) bounds.resize(1);
  return bounds;
}

Result<Output> outputOf(const OracleTensor& expected, const Tolerance& tolerance) {
  Output output;
  OPKIT_ASSIGN(output.expected.tensor, roundedOutput(expected));
  const std::vector<double> bounds = boundsOf(expected, tolerance);
  OPKIT_ASSIGN(output.bounds.tensor,
               Tensor::fromValues<double>({DType::Float64, {static_cast<int64_t>(bounds.size())}}, bounds));
  return output;
}

Result<Program> programOf(const ExportedModel& model, const std::string& title) {
  Program program{asOneLine(title), model.inputs, model.outputs, {}};
  int64_t literals = 0;
  for (const ExportedSet& one : model.sets) {
    Set& set = program.sets.emplace_back();
    for (const Tensor& input : one.inputs) {
      set.inputs.push_back({input, ""});
      literals += input.desc.elements();
    }
    for (size_t i = 0; i < one.expected.size(); ++i) {
      OPKIT_ASSIGN(set.outputs.emplace_back(), outputOf(one.expected[i], one.tolerances[i]));
      literals += one.expected[i].elements();
      program.signOfZero |= one.tolerances[i].signOfZero;
    }
  }
  program.readsFiles = literals > kMostLiterals;
  return program;
}

template <class Visit>
void visitValues(Program& program, Visit&& visit) {
  for (size_t k = 0; k < program.sets.size(); ++k) {
    Set& set = program.sets[k];
    const std::string end = program.sets.size() > 1 ? fmt::format("_of_set_{}.bin", k) : ".bin";
    for (size_t i = 0; i < set.inputs.size(); ++i) visit(set.inputs[i], fmt::format("input_{}{}", i, end));
    for (size_t i = 0; i < set.outputs.size(); ++i) {
      visit(set.outputs[i].expected, fmt::format("expected_{}{}", i, end));
      visit(set.outputs[i].bounds, fmt::format("bound_{}{}", i, end));
    }
  }
}

/// Moves the values into files.
std::vector<ShowFile> filesOf(Program& program, Language language) {
  std::vector<ShowFile> files;
  visitValues(program, [&](Values& values, const std::string& name) {
    if (language == Language::JavaScript && name.starts_with("bound") && values.tensor.desc.elements() == 1) return;
    values.file = name;
    const auto bytes = values.tensor.bytes();
    const auto* first = reinterpret_cast<const uint8_t*>(bytes.data());
    files.push_back({name, {first, first + bytes.size()}});
  });
  return files;
}

bool isForNode(Program& program, const GuestChoice& choice, const GuestInfo& info) {
  const std::string provider = plainProvider(info.provider);
  // The package takes only a few settings, by names of its own.
  bool isNode =
      choice.providerLibrary.empty() && choice.settings.empty() && (provider == "cpu" || provider == "webgpu");
  visitValues(program, [&](const Values& values, const std::string&) {
    isNode = isNode && javaScriptTypeOf(values.tensor.desc.dtype).has_value();
  });
  return isNode;
}

/// Whether C++ can have the program; says what has to be in files.
Status fitForCpp(Program& program) {
  Status status = Status::ok();
  visitValues(program, [&](const Values& values, const std::string& name) {
    const DType dtype = values.tensor.desc.dtype;
    const bool isInput = name.starts_with("input");
    if (!isComparedInCpp(dtype)) program.readsFiles = true;
    if (isInput ? isTypeOfCpp(dtype) : isComparedInCpp(dtype)) return;
    status = Status::unsupported("no program shows {}s of type {}", isInput ? "input" : "output", nameOf(dtype));
  });
  return status;
}

}  // namespace
}  // namespace show

Result<std::vector<ShowFile>> showProgram(const ExportedModel& model, const GuestChoice& choice, const GuestInfo& info,
                                          const std::string& title) {
  for (const ExportedSet& set : model.sets)
    for (const OracleTensor& output : set.expected)
      if (isObject(output.desc.dtype))
        return Status::unsupported("no program shows outputs of type {}", nameOf(output.desc.dtype));
  OPKIT_ASSIGN(show::Program program, show::programOf(model, title));
  using show::Language;
  const Language language = show::isForNode(program, choice, info) ? Language::JavaScript : Language::Cpp;
  if (language == Language::Cpp) OPKIT_TRY(show::fitForCpp(program));
  std::vector<ShowFile> files;
  if (program.readsFiles) files = show::filesOf(program, language);
  const bool isNode = language == Language::JavaScript;
  const std::string text = isNode ? show::writeJavaScript(program, info) : show::writeCpp(program, choice, info);
  files.insert(files.begin(), ShowFile{isNode ? "show.mjs" : "show.cpp", {text.begin(), text.end()}});
  return files;
}

}  // namespace opkit::harness
