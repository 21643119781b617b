#include "scaffold/further_kernel.h"

#include <algorithm>
#include <regex>

#include "harness/cases/case_text.h"
#include "scaffold/dtypes.h"
#include "scaffold/format.h"
#include "scaffold/kernel_case.h"
#include "scaffold/kernel_records.h"
#include "scaffold/kernel_source.h"
#include "scaffold/names.h"
#include "scaffold/record.h"
#include "scaffold/rows.h"
#include "scaffold/validate.h"

namespace opkit::scaffold {
namespace {

constexpr const char* kPage = "docs/ops.md";

std::string recordName(const FurtherKernel& kernel) {
  return kernelRecordName(kernel.type, kernel.backend + "-" + kernel.name);
}

/// The cells of kernels in the rows of the page of operators, joined; nothing without a row.
std::optional<std::string> kernelsOnPage(const std::string& page, const FurtherKernel& kernel) {
  const std::regex row("^\\| \\[" + kernel.type + "\\]\\([^|]*(\\|[^\n]*)$", std::regex::multiline);
  std::optional<std::string> cells;
  for (std::sregex_iterator match(page.begin(), page.end(), row), end; match != end; ++match) {
    const std::vector<std::string> columns = splitAt((*match)[1].str(), '|');
    const size_t at = kernel.backend == "cpu" ? 3 : 6;  // after the name: class, dtypes, kernels, error, rate, kernels
    if (columns.size() > at) cells = cells.value_or("") + columns[at];
  }
  return cells;
}

bool isOwn(const std::string& cells) { return cells.find("opkit") != std::string::npos; }

/// The kernel of a family serves every row: all other operators of the folder that are on the page have a kernel of
/// their own there.
bool servesFamily(const Tree& tree, const std::string& page, const FurtherKernel& kernel, const std::string& folder) {
  size_t served = 0;
  for (const KnownOperator& other : operatorsOf(tree)) {
    if (other.folder != folder || other.type == kernel.type) continue;
    const auto cells = kernelsOnPage(page, {other.type, kernel.backend, kernel.name});
    if (cells && !isOwn(*cells)) return false;
    served += cells.has_value();
  }
  return served > 0;
}

/// The operator has a kernel of its own on the backend, to begin from. An operator that is not on the page yet must be
/// named in its source, or be a row of a family.
Status checkHasKernel(const Tree& tree, const FurtherKernel& kernel, const KernelCopy& copy,
                      const std::string& source) {
  const std::string page = tree.read(kPage).value_or(""), &folder = copy.folder;
  const auto cells = kernelsOnPage(page, kernel);
  const bool named = source.find("\"" + kernel.type + "\"") != std::string::npos;
  if (!source.empty() && (cells ? isOwn(*cells) : named || servesFamily(tree, page, kernel, folder)))
    return Status::ok();
  if (!source.empty() && !cells)
    return Status::invalidArgument(
        "{0} does not list {1}, and ops/{2}/{3} does not name it, so its kernels are not known: op-harness check --op "
        "{1} --json FILE, then op-report ops FILE --update {0}",
        kPage, kernel.type, folder, copy.original());
  std::string how = cells.value_or("");
  how.erase(0, how.find_first_not_of(' '));
  how = how.substr(0, how.find_last_not_of(' ') + 1);
  if (how == "parts")
    return Status::invalidArgument(
        "{0} has no kernel of its own on {1} to copy ({2} has 'parts'): a card with .decompose is always made of other "
        "operators; take it out of ops/{3}, and write the first kernels by hand",
        kernel.type, kernel.backend, kPage, folder);
  return Status::invalidArgument("{} has no kernel of its own on {} to copy{}; see ops/{}", kernel.type, kernel.backend,
                                 how.empty() || how == "–" ? "" : fmt::format(" ({} has '{}')", kPage, how), folder);
}

Status checkKernelName(const Tree& tree, const FurtherKernel& kernel, const std::string& folder) {
  OPKIT_TRY(checkSnakeName("--name", kernel.name));
  const std::string other = kernel.backend == "cpu" ? "_vulkan.cpp" : "_cpu.cpp";  // kernels there may have any name
  for (const std::string& file : tree.list("ops/" + folder)) {
    const std::string path = "ops/" + folder + "/" + file;
    if (!file.ends_with(".cpp") || file.ends_with("_test.cpp") || file.ends_with(other)) continue;
    if (tree.read(path).value_or("").find("\"" + kernel.name + "\"") != std::string::npos)
      return Status::invalidArgument("{} says \"{}\" already; choose another --name", path, kernel.name);
  }
  return Status::ok();
}

/// The copies of the shaders that the kernel's source includes, beside the originals.
Status addShaders(const Tree& tree, const KernelCopy& copy, const std::vector<std::string>& stems, Plan& plan) {
  for (const std::string& stem : stems) {
    const std::string from = fmt::format("shaders/{}/{}.comp", copy.folder, stem);
    const std::string path = fmt::format("shaders/{}/{}_{}.comp", copy.folder, stem, copy.name);
    if (tree.exists(path)) return Status::invalidArgument("{} exists; choose another --name", path);
    OPKIT_TRY(checkShaderStem(tree, path));
    const auto text = tree.read(from);
    if (!text)
      return Status::invalidArgument("{} is missing, but ops/{}/{} includes it", from, copy.folder, copy.original());
    plan.push_back({path, std::nullopt, std::regex_replace(*text, std::regex("\\b" + copy.original()), copy.file())});
  }
  return Status::ok();
}

kainjow::mustache::data contextOf(const FurtherKernel& kernel, const KernelCopy& copy, const KernelCase& made) {
  kainjow::mustache::data context;
  context.set("type", kernel.type);
  context.set("backend", kernel.backend);
  context.set("name", kernel.name);
  context.set("camel", upperCamel(kernel.name));
  context.set("original", copy.original());
  context.set("guarded", made.input >= 0);
  if (made.input < 0) return context;
  context.set("input", std::to_string(made.input));
  context.set("dtype", enumeratorOf(nameOf(made.desc.dtype)));
  context.set("shape", fmt::format("{}", fmt::join(made.desc.shape, ", ")));
  return context;
}

Result<KnownOperator> knownOperator(const Tree& tree, const std::string& type) {
  for (KnownOperator& known : operatorsOf(tree))
    if (known.type == type) return std::move(known);
  return Status::invalidArgument("there is no operator {} in this tree", type);
}

Status checkBackend(const std::string& backend) {
  if (backend == "cpu" || backend == "vulkan") return Status::ok();
  return Status::invalidArgument("kernels are written for cpu and vulkan, got '{}'", backend);
}

}  // namespace

Result<Plan> planFurtherKernel(const Tree& tree, const Templates& templates, const FurtherKernel& kernel) {
  OPKIT_TRY(checkBackend(kernel.backend));
  OPKIT_ASSIGN(const KnownOperator op, knownOperator(tree, kernel.type));
  const KernelCopy copy{op.folder, kernel.backend, kernel.name};
  const std::string folder = "ops/" + op.folder + "/";
  const std::string source = tree.read(folder + copy.original()).value_or("");
  OPKIT_TRY(checkHasKernel(tree, kernel, copy, source));
  if (tree.exists(folder + copy.file()))
    return Status::invalidArgument("{} exists; choose another --name", folder + copy.file());
  OPKIT_TRY(checkKernelName(tree, kernel, op.folder));
  const std::string cases = folder + op.folder + ".cases.json";
  const std::string before = tree.read(cases).value_or("");
  OPKIT_ASSIGN(const KernelCase made, kernelCaseOf(before, kernel.type, kernel.backend, kernel.name));
  const auto after = harness::withCases(before, made.block);
  if (!after) return after.error().withContext(cases);
  kainjow::mustache::data context = contextOf(kernel, copy, made);
  OPKIT_ASSIGN(const std::string head, templates.render("further_kernel", "head.cpp", context));
  OPKIT_ASSIGN(const std::string tail, templates.render("further_kernel", "tail.cpp", context));
  const std::vector<std::string> shaders = shadersOf(copy, source);
  OPKIT_ASSIGN(const std::string text, copiedSource(copy, source, shaders, head, tail));
  Plan plan{{folder + copy.file(), std::nullopt, formatted(tree, folder + copy.file(), text)}};
  OPKIT_TRY(addShaders(tree, copy, shaders, plan));
  plan.push_back({cases, before, *after, made.block});
  plan.push_back(recordChange(tree, recordName(kernel), recordOf(plan, nullptr)));
  return plan;
}

Result<Plan> planRemoveFurtherKernel(const Tree& tree, const FurtherKernel& kernel, bool force) {
  OPKIT_TRY(checkBackend(kernel.backend));
  const auto record = readRecord(tree, recordName(kernel));
  if (!record)
    return Status::invalidArgument("a kernel {} of {} on {} was not scaffolded in this working copy", kernel.name,
                                   kernel.type, kernel.backend);
  Plan plan;
  for (const auto& [path, hash] : record->files) {
    const auto before = tree.read(path);
    if (before && !force && hashOf(*before) != hash)
      return Status::invalidArgument("{} was edited since it was scaffolded; --force removes it all the same", path);
    if (before) plan.push_back({path, before, std::nullopt});
  }
  for (const Block& block : record->blocks) {
    const auto before = tree.read(block.path);
    const auto after = before ? withoutBlock(*before, block.text) : std::nullopt;
    if (before && !after && !force)
      return Status::invalidArgument(
          "{}: the case of the kernel {} was edited since; delete it by hand and add --force", block.path, kernel.name);
    if (after) plan.push_back({block.path, before, after});
  }
  plan.push_back(recordChange(tree, recordName(kernel), std::nullopt));
  return plan;
}

}  // namespace opkit::scaffold
