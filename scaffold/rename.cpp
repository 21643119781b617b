#include "scaffold/rename.h"

#include <algorithm>
#include <cctype>
#include <functional>

#include "scaffold/kernel_records.h"
#include "scaffold/names.h"
#include "scaffold/record.h"
#include "scaffold/validate.h"

namespace opkit::scaffold {
namespace {

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Replaces `from` where `fits(before, after)` accepts the characters around it.
std::string replaced(const std::string& text, const std::string& from, const std::string& to,
                     const std::function<bool(char, char)>& fits) {
  std::string result;
  size_t done = 0;
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
    if (at < done) continue;
    const char before = at > 0 ? text[at - 1] : ' ';
    const char after = at + from.size() < text.size() ? text[at + from.size()] : ' ';
    if (!fits(before, after)) continue;
    result += text.substr(done, at - done) + to;
    done = at + from.size();
  }
  return result + text.substr(done);
}

struct Renaming {
  std::string fromType, toType, fromOp, toOp;

  std::string path(const std::string& old) const {
    return replaced(old, fromOp, toOp, [](char before, char after) { return before == '/' && !isWord(after); });
  }
  /// SoftmaxParams, kSoftmaxSchema, ops::softmax, softmax_cpu.cpp; never LogSoftmax or hard_softmax.
  std::string text(const std::string& old) const {
    const auto camel = [](char before, char after) {
      return (!isWord(before) && before != '_') || before == 'k'
                 ? !std::islower(static_cast<unsigned char>(after)) && !std::isdigit(static_cast<unsigned char>(after))
                 : false;
    };
    const auto snake = [](char before, char after) { return !isWord(before) && before != '_' && !isWord(after); };
    std::string result = replaced(old, fromType, toType, camel);
    const std::string fromCamel = upperCamel(fromOp);
    if (fromCamel != fromType) result = replaced(result, fromCamel, upperCamel(toOp), camel);
    return replaced(result, fromOp, toOp, snake);
  }
  /// What names a row in the source of a further kernel, a copy of the family's.
  std::string rowText(const std::string& old) const {
    const auto always = [](char, char) { return true; };
    return replaced(replaced(old, "\"" + fromType + "\"", "\"" + toType + "\"", always), "// " + fromType + " on ",
                    "// " + toType + " on ", always);
  }
  /// Like text(), except for the ONNX name of every `rules.add("..."`.
  std::string rules(const std::string& old) const {
    const std::string add = "rules.add(\"";
    std::string result;
    size_t done = 0;
    for (size_t at = old.find(add); at != std::string::npos; at = old.find(add, done)) {
      const size_t end = old.find('"', at + add.size());
      result += text(old.substr(done, at - done)) + old.substr(at, end - at);
      done = end;
    }
    return result + text(old.substr(done));
  }
};

Status checkEdited(const Tree& tree, const std::string& type, const std::optional<Record>& record,
                   const std::vector<KernelRecord>& kernels, bool force) {
  if (force) return Status::ok();
  if (!record) return Status::invalidArgument("{} was not scaffolded in this working copy; --force renames it", type);
  for (const auto& [path, hash] : record->files)
    if (const auto text = tree.read(path); text && hashOf(withoutKernelCases(kernels, path, *text)) != hash)
      return Status::invalidArgument("{} was edited since it was scaffolded; --force renames inside it, too", path);
  if (const Status edited = checkKernelsUnedited(tree, kernels); !edited.isOk())
    return Status::invalidArgument("{}; --force renames inside it, too", edited.message());
  return Status::ok();
}

/// Moves the records of the kernels to the new type; returns what they say then.
std::vector<KernelRecord> moveKernelRecords(const Tree& tree, const Renaming& renaming,
                                            const std::vector<KernelRecord>& kernels, const Rewrite& text, Plan& plan) {
  std::vector<KernelRecord> moved;
  const auto path = [&](const std::string& old) { return renaming.path(old); };
  for (const KernelRecord& kernel : kernels) {
    moved.push_back({kernel.key, renamedRecord(tree, kernel.record, path, text)});
    plan.push_back(recordChange(tree, kernelRecordName(renaming.fromType, kernel.key), std::nullopt));
    plan.push_back(recordChange(tree, kernelRecordName(renaming.toType, kernel.key), moved.back().record));
  }
  return moved;
}

Result<std::string> folderOf(const Tree& tree, const std::string& type) {
  const auto known = operatorsOf(tree);
  const auto found = std::find_if(known.begin(), known.end(), [&](const KnownOperator& op) { return op.type == type; });
  if (found == known.end()) return Status::invalidArgument("there is no operator {} in this tree", type);
  if (std::count_if(known.begin(), known.end(), [&](const KnownOperator& op) { return op.folder == found->folder; }) !=
      1)
    return Status::invalidArgument("{} shares ops/{} with other operators: rename it there by hand", type,
                                   found->folder);
  return found->folder;
}

/// The further kernels of a row: their files stay where they are, and name the row in strings.
Status renameKernelsOfRow(const Tree& tree, const Renaming& renaming, Plan& plan) {
  const std::vector<KernelRecord> kernels = kernelRecordsOf(tree, renaming.fromType);
  if (const Status edited = checkKernelsUnedited(tree, kernels); !edited.isOk())
    return Status::invalidArgument("{}: rename it there by hand", edited.message());
  const Rewrite text = [&](const std::string& old) { return renaming.rowText(old); };
  for (const KernelRecord& kernel : kernels) {
    for (const auto& [path, hash] : kernel.record.files)
      if (const auto before = tree.read(path)) plan.push_back({path, before, text(*before)});
    for (const Block& block : kernel.record.blocks)
      for (FileChange& change : plan)
        if (const size_t at = change.path == block.path ? change.after->find(block.text) : std::string::npos;
            at != std::string::npos)
          change.after->replace(at, block.text.size(), text(block.text));
  }
  moveKernelRecords(tree, renaming, kernels, text, plan);
  return Status::ok();
}

/// A row of a family that op-scaffold inserted: its blocks of text under the new name.
Result<Plan> renameRow(const Tree& tree, const Record& record, const std::string& from, const std::string& to) {
  const Renaming renaming{from, to, snakeCase(from), snakeCase(to)};
  OPKIT_TRY(checkClashes(tree, {.name = to, .kind = "custom", .onnx = "opkit.renamed::" + to}));
  Plan plan;
  Record renamed{record.spec, {}, {}};
  if (renamed.spec.is_object()) renamed.spec["name"] = to;
  for (const Block& block : record.blocks) {
    const auto before = tree.read(block.path);
    const size_t at = before ? before->rfind(block.text) : std::string::npos;
    if (at == std::string::npos)
      return Status::invalidArgument("the row of {} in {} was edited since it was scaffolded: rename it there by hand",
                                     from, block.path);
    const std::string text = block.path.ends_with("_onnx.cpp") ? renaming.rules(block.text) : renaming.text(block.text);
    plan.push_back({block.path, before, before->substr(0, at) + text + before->substr(at + block.text.size()), text});
    renamed.blocks.push_back({block.path, text});
  }
  OPKIT_TRY(renameKernelsOfRow(tree, renaming, plan));
  plan.push_back(recordChange(tree, from, std::nullopt));
  plan.push_back(recordChange(tree, to, renamed));
  return plan;
}

}  // namespace

Result<Plan> planRename(const Tree& tree, const std::string& from, const std::string& to, bool force) {
  OPKIT_TRY(checkTypeName(to));
  if (const auto row = readRecord(tree, from); row && !row->blocks.empty()) return renameRow(tree, *row, from, to);
  OPKIT_ASSIGN(const std::string op, folderOf(tree, from));
  const Renaming renaming{from, to, op, snakeCase(to)};
  OPKIT_TRY(checkClashes(tree, {.name = to, .kind = "custom", .onnx = "opkit.renamed::" + to}));
  for (const char* root : {"ops/", "shaders/"})
    if (tree.exists(root + renaming.toOp))
      return Status::invalidArgument("{}{} exists; choose another name", root, renaming.toOp);
  const auto record = readRecord(tree, from);
  const std::vector<KernelRecord> kernels = kernelRecordsOf(tree, from);
  OPKIT_TRY(checkEdited(tree, from, record, kernels, force));
  Plan plan;
  for (const char* root : {"ops/", "shaders/"})
    for (const std::string& path : tree.filesBelow(root + op)) {
      const auto before = tree.read(path);
      plan.push_back({path, before, std::nullopt});
      plan.push_back({renaming.path(path), std::nullopt,
                      path.ends_with("_onnx.cpp") ? renaming.rules(*before) : renaming.text(*before)});
    }
  const Plan files = plan;
  const auto text = [&](const std::string& old) { return renaming.text(old); };
  const std::vector<KernelRecord> moved = moveKernelRecords(tree, renaming, kernels, text, plan);
  if (!record) return plan;
  Record renamed{record->spec, {}, {}};
  if (renamed.spec.is_object()) renamed.spec["name"] = to;
  for (const FileChange& change : files)
    if (change.after && !isOfKernel(moved, change.path))
      renamed.files[change.path] = hashOf(withoutKernelCases(moved, change.path, *change.after));
  plan.push_back(recordChange(tree, from, std::nullopt));
  plan.push_back(recordChange(tree, to, renamed));
  return plan;
}

}  // namespace opkit::scaffold
