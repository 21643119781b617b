#include "harness/export/capsule_folder.h"

#include <filesystem>

#include "engine/base/json_text.h"
#include "harness/export/case_folder.h"
#include "harness/export/folder_lock.h"
#include "harness/run/build_facts.h"
#include "harness/run/isolated_jobs.h"
#include "harness/run/worker_note.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;
using AnswerJson = nlohmann::json;

constexpr double kCapsuleFolderSeconds = 60;

/// Why the first case has no model; empty if it has one.
std::string reasonOf(const CaseGroup& group, const ExportedGroup& exported) {
  if (*kBuildFacts.operators)
    return "a partial build has no rules of ONNX; `export --capsule` of another build writes it";
  const std::string first = group.cases.front().id();
  for (const auto& [c, reason] : exported.left)
    if (c.id() == first) return reason;
  return "";
}

/// The number of cases in the folder. Unsupported: the first case has no form, and the older folder is removed.
Result<size_t> replaceFolder(const fs::path& folder, const CaseGroup& group, const OpRegistry& registry,
                             const OnnxRules& rules) {
  noteWork(group.cases.front().id());
  const std::string parent = folder.parent_path().string(), name = folder.filename().string();
  const ExportedGroup exported = exportGroup(group, registry, rules, {});
  const std::string reason = reasonOf(group, exported);
  if (!reason.empty()) {
    OPKIT_TRY(removeCaseFolder(parent, name));
    return Status::unsupported("{}", reason);
  }
  const ExportedModel& model = exported.models.at(0);  // that of the first case
  const auto bytes = replaceCaseFolder(parent, name, model);
  if (!bytes) return bytes.error();
  return model.sets.size();
}

}  // namespace

CapsuleFolder writeCapsuleFolder(const std::string& capsule, const CaseGroup& group, const OpRegistry& registry,
                                 const OnnxRules& rules) {
  const fs::path folder = fs::path(capsule).replace_extension();
  const std::string parent = folder.has_parent_path() ? folder.parent_path().string() : ".";
  CapsuleFolder written{{}, 0, "interrupted"};
  const auto lock = FolderLock::take(parent);
  if (!lock) return {{}, 0, lock.error().message()};
  const Status status = runIsolated(
      1, 1, kCapsuleFolderSeconds,
      [&](size_t) {
        const auto cases = replaceFolder(fs::path(parent) / folder.filename(), group, registry, rules);
        const AnswerJson answer =
            cases ? AnswerJson{{"cases", *cases}} : AnswerJson{{"reason", cases.error().message()}};
        return answer.dump(-1, ' ', false, AnswerJson::error_handler_t::replace);
      },
      [&](size_t, const JobOutcome& outcome) {
        const AnswerJson answer = parseJson(outcome.answer);
        if (outcome.kind != JobOutcome::Kind::Answered)
          written.reason = lossText(outcome, kCapsuleFolderSeconds);
        else if (answer.contains("cases"))
          written = {folder.string(), answer["cases"].get<size_t>(), {}};
        else
          written.reason = answer.value("reason", "");
      });
  removePartsOf(parent, folder.filename().string());
  if (!status.isOk()) written.reason = status.message();
  return written;
}

}  // namespace opkit::harness
