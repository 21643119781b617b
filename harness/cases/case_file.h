// Case files: ops/<op>/<op>.cases.json expanded into groups of cases. The format is harness/cases.md.
#pragma once

#include <string>
#include <vector>

#include "engine/op/op_registry.h"
#include "harness/cases/case.h"

namespace opkit::harness {

/// Cases that one Session can walk through: same operator, parameters, dtypes, ranks, constants and lane.
struct CaseGroup {
  std::vector<Case> cases;  // at least one
};

/// Input that must be refused with a message containing `error`.
struct ErrorCase {
  std::string op;
  std::string params = "{}";
  std::vector<std::optional<TensorDesc>> inputs;
  std::vector<size_t> constants;
  size_t outputs = 0;
  std::vector<std::string> data;
  std::string error;

  /// The same input as a case; its id names the error case too.
  Case asCase() const;
};

struct Catalogue {
  std::vector<CaseGroup> groups;
  std::vector<CaseGroup> sized;   // entries with a "size": timed, and checked when they are
  std::vector<CaseGroup> shapes;  // cases for the shape rule alone, all with stored shapes; a group per operator
  std::vector<ErrorCase> errors;
  std::vector<Departure> departures;  // for cases made later; those of files are already marked
  std::vector<std::string> notes;     // notes about the cases for readers of the results

  void append(Catalogue other);
};

/// Expands the text of one case file. InvalidArgument names the file, the entry and the expected form.
Result<Catalogue> parseCaseFile(const std::string& fileName, const std::string& text, const OpRegistry& registry);

struct EmbeddedFile {
  std::string_view name;  // "softmax.cases.json"
  std::string_view text;
};
/// The case files of ops/, embedded by the build.
std::span<const EmbeddedFile> builtinCaseFiles();
/// Those that name one of `ops`, or all if there are none, expanded.
Result<Catalogue> builtinCatalogue(const OpRegistry& registry, const std::vector<std::string>& ops = {});

/// Narrows a catalogue. Empty fields let everything through.
struct CaseFilter {
  std::vector<std::string> ops;
  std::string text;  // part of an id or a name
  std::string id;    // exactly this case; the other shapes of its group remain for the resize walk
  std::optional<uint64_t> seed;
};
/// InvalidArgument for an operator that the registry lacks.
Status checkOperators(const std::vector<std::string>& ops, const OpRegistry& registry);
/// The groups that contain a chosen case. For `id`, the group starts with that case. InvalidArgument for an
/// unknown operator or an id that does not parse; an id that is in no file becomes a separate group.
Result<Catalogue> applyFilter(Catalogue catalogue, const CaseFilter& filter, const OpRegistry& registry);

}  // namespace opkit::harness
