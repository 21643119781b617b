// Kinds of files that `op-scaffold` reads: specs, and the records that it keeps in a tree.
#include <memory>

#include "engine/base/check.h"
#include "fuzz/mutate_text.h"
#include "fuzz/text_kinds.h"
#include "scaffold/add_backend.h"
#include "scaffold/further_kernel.h"
#include "scaffold/kinds.h"
#include "scaffold/remove.h"
#include "scaffold/rename.h"
#include "scaffold/testing/forms.h"
#include "scaffold/testing/scratch_tree.h"

namespace opkit::fuzz {
namespace {

using namespace scaffold;

const FurtherKernel kFused{.type = "Softmax", .backend = "cpu", .name = "fused"};

/// A tree in which no program is found: clang-format takes 0.1 s for each file.
std::shared_ptr<ScratchTree> scratchTree() {
  setenv("PATH", "/nowhere", 1);
  return std::make_shared<ScratchTree>();  // shared with the attempts
}

/// As `new --spec` uses it; nothing is written.
Status useSpec(const std::string& text, const Tree& tree) {
  OPKIT_ASSIGN(const Spec spec, specFromJson(text));
  OPKIT_ASSIGN(const Spec whole, completed(spec));
  const std::string printed = specToJson(whole).dump(2);
  OPKIT_ASSIGN(const Spec again, specFromJson(printed));
  if (specToJson(again).dump(2) != printed) return Status::internal("FAULT: --print-spec prints another spec");
  OPKIT_ASSIGN(Plan plan, planNew(tree, Templates(), spec, false));
  plan.push_back(recordChange(tree, spec.name, recordOf(plan, specToJson(spec))));
  for (const FileChange& change : plan)
    if (change.path.find("..") != std::string::npos || change.path.starts_with('/'))
      return Status::internal("FAULT: a file outside of the tree: {}", change.path);
  static_cast<void>(unifiedDiff(plan));
  return Status::ok();
}

}  // namespace

TextKind specKind(const std::string&) {
  const auto scratch = scratchTree();
  std::vector<Bytes> seeds;
  for (const Form& form : everyForm()) seeds.push_back(bytesOf(specToJson(form.spec).dump(2)));
  const auto attempt = [scratch](const std::string& text) { return Trial{useSpec(text, scratch->tree()), {}}; };
  return {std::move(seeds), mutateText, attempt};
}

namespace {

/// A plan may change what lies in the tree alone.
Status checkInside(const Result<Plan>& plan) {
  if (!plan) return plan.error();
  for (const FileChange& change : *plan) {
    const std::filesystem::path path = std::filesystem::path(change.path).lexically_normal();
    if (path.is_absolute() || path.begin()->string() == "..")
      return Status::internal("FAULT: a file outside of the tree: {}", change.path);
  }
  static_cast<void>(unifiedDiff(*plan));
  return Status::ok();
}

/// The changes of each command that reads the record of `name`; the first one is `remove`.
std::vector<Status> plansOf(const Tree& tree, const std::string& name, bool force) {
  if (name.starts_with("kernel-"))
    return {checkInside(planRemoveFurtherKernel(tree, kFused, force)),
            checkInside(planRename(tree, kFused.type, "Other", force))};
  return {checkInside(planRemove(tree, name, force)), checkInside(planRename(tree, name, "Other", force)),
          checkInside(planAddBackend(tree, Templates(), name, "vulkan", ""))};
}

/// Nothing is written but the record.
Trial useRecord(const ScratchTree& scratch, const std::string& name, const std::string& text) {
  scratch.write(recordPath(name), text);
  Trial trial;
  for (const bool force : {true, false}) {
    const std::vector<Status> all = plansOf(scratch.tree(), name, force);
    trial.status = all.front();
    for (const Status& status : all)
      if (!status.isOk()) trial.notes.push_back(status.message());
  }
  return trial;
}

/// The record of an operator in its own folder, of a row of a family, or of a further kernel.
TextKind recordKind(const std::string& name) {
  const auto scratch = scratchTree();
  if (name.starts_with("kernel-")) {
    const auto plan = planFurtherKernel(scratch->tree(), Templates(), kFused);
    OPKIT_CHECK(plan && scratch->tree().apply(*plan).isOk());
  } else {
    const Spec spec = name == "Thing" ? Spec{.name = name, .kind = "rowwise", .backends = {"cpu"}}
                                      : Spec{.name = name, .kind = "unary"};
    OPKIT_CHECK(scaffold::scaffold(*scratch, spec).isOk());
  }
  const auto attempt = [scratch, name](const std::string& text) { return useRecord(*scratch, name, text); };
  return {{bytesOf(scratch->tree().read(recordPath(name)).value())}, mutateText, attempt};
}

}  // namespace

TextKind operatorRecordKind(const std::string&) { return recordKind("Thing"); }
TextKind rowRecordKind(const std::string&) { return recordKind("Row"); }
TextKind kernelRecordKind(const std::string&) { return recordKind("kernel-Softmax-cpu-fused"); }

}  // namespace opkit::fuzz
