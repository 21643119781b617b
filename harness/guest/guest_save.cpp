#include "harness/guest/guest_save.h"

#include <algorithm>
#include <filesystem>

#include "engine/base/interrupt.h"
#include "engine/model/model.h"
#include "harness/check/shrink.h"
#include "harness/export/case_folder.h"
#include "harness/guest/show_program.h"
#include "harness/run/isolated_jobs.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostTrials = 100;
constexpr size_t kMostHangs = 8;  // among the trials

/// "fail values", "crash": what stays the same while a case shrinks.
std::string kindOf(const CaseRecord& one) {
  const size_t end = one.reason.find(": ");
  const std::string question = end == std::string::npos ? "" : one.reason.substr(0, end);
  const bool isQuestion = std::ranges::find(guestQuestions(), question) != guestQuestions().end();
  return isQuestion ? fmt::format("{} {}", nameOf(one.status), question) : nameOf(one.status);
}

class Saving {
 public:
  explicit Saving(const GuestSetup& setup) : setup_(setup) {}

  /// How the first case of a group fails; nothing if it does not.
  std::optional<std::string> failure(const CaseGroup& group) {
    std::optional<std::string> kind;
    if (hangs_ > kMostHangs) return kind;
    GuestJob job(setup_.choice, setup_.registry, setup_.rules, setup_.opset);
    static_cast<void>(runIsolated(
        1, 1, setup_.timeoutSeconds,
        [&](size_t) {
          return job.run({&group, std::nullopt, true}, "/dev/null").toText();
        },
        [&](size_t, const JobOutcome& outcome) {
          if (outcome.kind == JobOutcome::Kind::Crashed) kind = "crash";
          if (outcome.kind == JobOutcome::Kind::TimedOut) kind = "hang", ++hangs_;
          if (outcome.kind != JobOutcome::Kind::Answered) return;
          for (const auto& one : GuestReports::fromText(outcome.answer).reports)
            if (one.record.id == group.cases.front().id() && isFailure(one.record.status)) kind = kindOf(one.record);
        }));
    return kind;
  }

  /// The model that holds the first case, in the newest form that the guest claims.
  Result<ExportedModel> modelOf(const CaseGroup& group) const {
    ExportOptions options{.opset = setup_.opset, .newest = setup_.info.newestOpset};
    for (int tries = 0; tries < kMostForms; ++tries) {
      ExportedGroup exported = exportGroup(group, setup_.registry, setup_.rules, options);
      const auto model = std::ranges::find(exported.models, group.cases.front().id(), [](const ExportedModel& each) {
        return each.sets.front().description.id();
      });
      if (model == exported.models.end()) break;
      if (isClaimed(model->bytes)) return std::move(*model);
      options.newest = model->form.opset - 1;
    }
    return Status::unsupported("it has no form in ONNX that the provider claims");
  }

  Status write(const ExportedModel& model, const std::string& title, const fs::path& parent, const std::string& name) {
    OPKIT_TRY(replaceCaseFolder(parent.string(), name, model).error());
    const auto files = showProgram(model, setup_.choice, setup_.info, title);
    OPKIT_TRY(files.error());
    for (const ShowFile& file : *files) OPKIT_TRY(writeFile((parent / name / file.name).string(), file.bytes));
    return Status::ok();
  }

 private:
  /// Also if the provider fails, or ends the process.
  bool isClaimed(const std::vector<uint8_t>& bytes) const {
    bool claimed = true;
    static_cast<void>(runIsolated(
        1, 1, setup_.timeoutSeconds,
        [&](size_t) -> std::string {
          printInto("/dev/null");
          const auto guest = openOnnxRuntime(setup_.choice);
          const bool takes = guest && [&] {
            const GuestLoad load = (*guest)->load(bytes);
            return load.session || load.refusal == GuestRefusal::Refused;
          }();
          return takes ? "yes" : "no";
        },
        [&](size_t, const JobOutcome& outcome) { claimed = outcome.answer != "no"; }));
    return claimed;
  }

  const GuestSetup& setup_;
  size_t hangs_ = 0;
};

}  // namespace

Result<SavedFailure> saveGuestFailure(const GuestSetup& setup, const std::vector<CaseGroup>& groups,
                                      const CaseRecord& one, const std::string& parent) {
  SavedFailure saved;
  const auto group = groupBeginningWith(one.id, groups);
  if (!group) return Status::internal("no case '{}'", one.id);
  Saving saving(setup);
  const auto kind = saving.failure(*group);
  if (!kind) {
    saved.reason = "it does not fail when it is run again";
    return saved;
  }
  const Shrunk small = shrinkGroup(
      *group, *kind, setup.registry, [&](const CaseGroup& candidate) { return saving.failure(candidate); },
      kMostTrials);
  saved.trials = small.trials;
  saved.id = small.group.cases.front().id();
  saved.elementsBefore = inputElements(group->cases.front());
  saved.elementsAfter = inputElements(small.group.cases.front());
  const auto model = saving.modelOf(small.group);
  if (!model) {
    saved.reason = model.error().message();
    return saved;
  }
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) return Status::invalidArgument("cannot make the folder '{}': {}", parent, error.message());
  const std::string name = fmt::format("{}-{}", folderName(small.group.cases.front()), setup.choice.name());
  const std::string title = fmt::format("{} of {} {}, {}: {}", model->form.type, setup.info.engine, setup.info.version,
                                        setup.info.provider, *kind);
  OPKIT_TRY(saving.write(*model, title, parent, name));
  saved.path = (fs::path(parent) / name).string();
  return saved;
}

}  // namespace opkit::harness
