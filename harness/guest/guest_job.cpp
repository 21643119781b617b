#include "harness/guest/guest_job.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/base/child_process.h"
#include "engine/base/json_text.h"
#include "harness/cases/vary.h"
#include "harness/check/prepared.h"
#include "harness/run/isolated_jobs.h"
#include "harness/run/terminal.h"
#include "harness/run/worker_note.h"
#include "reports/results/record_json.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostStopBytes = 1 << 20;  // of a case that gets further shapes
constexpr double kDescribeSeconds = 120;    // until the guest is open

size_t bytesOfInputs(const Case& c) {
  size_t bytes = 0;
  for (const auto& input : c.inputs) bytes += input ? input->sizeBytes() : 0;
  return bytes;
}

/// A group of one case with further shapes for its session.
CaseGroup withStops(const CaseGroup& group) {
  CaseGroup all = group;
  if (group.cases.size() > 1 || bytesOfInputs(group.cases[0]) > kMostStopBytes) return all;
  for (Case& stop : walkStops(group.cases[0])) all.cases.push_back(std::move(stop));
  return all;
}

CaseResult unaskedResult(const Case& c, CaseStatus status, const std::string& reason) {
  CaseResult result;
  result.kind = "check", result.id = c.id(), result.name = c.name, result.op = c.op;
  for (const auto& input : c.inputs)
    if (input && result.dtype.empty()) result.dtype = nameOf(input->dtype);
  result.status = status, result.reason = reason;
  return result;
}

CaseStatus statusOf(GuestRefusal refusal) {
  return refusal == GuestRefusal::Refused ? CaseStatus::Refused : CaseStatus::Unsupported;
}

std::string reasonOf(const GuestLoad& load) {
  switch (load.refusal) {
    case GuestRefusal::NotClaimed: return "not claimed: " + load.reason;
    case GuestRefusal::NotLoaded: return "not loaded: " + load.reason;
    case GuestRefusal::Refused: return "claimed, then refused at load: " + load.reason;
  }
  return load.reason;
}

std::string infoText(const GuestInfo& info) {
  return Json{{"engine", info.engine},
              {"version", info.version},
              {"provider", info.provider},
              {"device", info.device},
              {"opset", info.newestOpset}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<GuestInfo> infoFromText(const std::string& text) {
  const Json json = parseJson(text);
  if (!json.is_object()) return Status::internal("a worker gave no answer");
  if (json.contains("error")) return Status::invalidArgument("{}", json.value("error", ""));
  return GuestInfo{json.value("engine", ""), json.value("version", ""), json.value("provider", ""),
                   json.value("device", ""), json.value("opset", 0)};
}

}  // namespace

void printInto(const std::filesystem::path& path) {
  std::fflush(nullptr);
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  close(file);
}

std::string GuestReports::toText() const {
  Json list = Json::array();
  for (const One& one : reports) list.push_back({{"record", toJson(one.record)}, {"block", one.block}});
  return Json{{"reports", list}, {"error", error}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

GuestReports GuestReports::fromText(const std::string& text) {
  GuestReports read;
  const Json json = parseJson(text);
  if (!json.is_object()) return read;
  for (const Json& one : json.value("reports", Json::array()))
    read.reports.push_back({reports::caseFromJson(one.value("record", Json::object())), one.value("block", "")});
  read.error = json.value("error", "");
  return read;
}

GuestReports GuestJob::run(const GuestUnit& unit, const std::filesystem::path& log) {
  printInto(log);
  GuestReports answer;
  noteWork("opening the engine");
  if (!guest_) {
    auto opened = openOnnxRuntime(choice_);
    if (!opened) {
      answer.error = opened.error().message();
      return answer;
    }
    guest_ = *std::move(opened);
  }
  for (CaseResult& result : ask(unit)) {
    result.backend = choice_.name();
    result.device = guest_->info().provider;
    result.provider = guest_->info().version;
    result.repro = repeatGuest(choice_, result.id, opset_);
    answer.reports.push_back(
        {toRecord(result), isFailure(result.status) ? failureBlock(result, result.repro) : std::string()});
  }
  std::fflush(nullptr);
  return answer;
}

std::optional<GuestJob::Claimed> GuestJob::claimed(const CaseGroup& group, std::string& refusal) {
  ExportOptions options{.opset = opset_, .newest = guest_->info().newestOpset};
  for (int tries = 0; tries < kMostForms; ++tries) {
    ExportedGroup exported = exportGroup(group, registry_, rules_, options);
    if (exported.models.empty()) return tries == 0 ? std::optional(Claimed{std::move(exported), {}}) : std::nullopt;
    const ExportedModel& first = exported.models.front();
    noteWork(fmt::format("{} (load)", first.sets.front().description.id()));
    GuestLoad load = guest_->load(first.bytes);
    const bool isOlderPossible = opset_ == 0 && first.form.type.find("::") == std::string::npos;
    if (load.session || load.refusal == GuestRefusal::Refused) return Claimed{std::move(exported), std::move(load)};
    if (refusal.empty()) refusal = reasonOf(load);
    if (!isOlderPossible || first.form.opset <= 1) return std::nullopt;
    options.newest = first.form.opset - 1;
  }
  return std::nullopt;
}

std::vector<CaseResult> GuestJob::ask(const GuestUnit& unit) {
  CaseGroup group = *unit.group;
  if (unit.only) group.cases = {group.cases[*unit.only]};
  std::vector<CaseResult> results;
  std::string refusal;
  const auto taken = claimed(withStops(group), refusal);
  if (!taken) {
    for (const Case& c : group.cases) results.push_back(unaskedResult(c, CaseStatus::Unsupported, refusal));
    return results;
  }
  std::set<std::string> asked;  // ids: the cases of the group, without further shapes
  for (const Case& c : group.cases) asked.insert(c.id());
  for (const auto& [c, reason] : taken->group.left)
    if (asked.contains(c.id())) results.push_back(unaskedResult(c, CaseStatus::Unsupported, "no form: " + reason));
  bool leak = unit.leak;
  for (const ExportedModel& model : taken->group.models) {
    const auto isAsked = [&](const ExportedSet& set) { return asked.contains(set.description.id()); };
    if (std::ranges::none_of(model.sets, isAsked)) continue;
    const bool isFirst = &model == &taken->group.models.front();
    if (!isFirst) noteWork(fmt::format("{} (load)", model.sets.front().description.id()));
    const GuestLoad load = isFirst ? GuestLoad() : guest_->load(model.bytes);
    for (CaseResult& result : askModel(model, isFirst ? taken->first : load, group, leak))
      results.push_back(std::move(result));
    leak = false;
  }
  return results;
}

/// The results of the group's own cases. A further shape that fails is a failure of the first.
std::vector<CaseResult> GuestJob::askModel(const ExportedModel& model, const GuestLoad& load, const CaseGroup& group,
                                           bool leak) {
  const auto isOwn = [&](const std::string& id) {
    return std::ranges::any_of(group.cases, [&](const Case& c) { return c.id() == id; });
  };
  std::vector<CaseResult> own;
  if (!load.session) {
    for (const ExportedSet& set : model.sets)
      if (isOwn(set.description.id()))
        own.push_back(unaskedResult(set.description, statusOf(load.refusal), reasonOf(load)));
    return own;
  }
  for (CaseResult& result : askGuest(*guest_, *load.session, model, registry_, leak)) {
    result.kernel = fmt::format("{}-{}", model.form.type, model.form.opset);
    if (isOwn(result.id)) {
      own.push_back(std::move(result));
    } else if (!own.empty() && own[0].status == CaseStatus::Pass && isFailure(result.status)) {
      const auto failed = std::ranges::find(result.subChecks, false, &SubCheck::ok);
      own[0].check(failed->name, Status::internal("at {}: {}", result.id, failed->message));
      own[0].status = result.status;
    }
  }
  return own;
}

Result<GuestInfo> describeGuest(const GuestChoice& choice) {
  Result<GuestInfo> info = Status::internal("a worker gave no answer");
  OPKIT_TRY(runIsolated(
      1, 1, kDescribeSeconds,
      [&](size_t) -> std::string {
        printInto("/dev/null");
        const auto guest = openOnnxRuntime(choice);
        return guest ? infoText((*guest)->info()) : Json{{"error", guest.error().message()}}.dump();
      },
      [&](size_t, const JobOutcome& outcome) {
        if (outcome.kind == JobOutcome::Kind::Answered)
          info = infoFromText(outcome.answer);
        else
          info = Status::invalidArgument("cannot open '{}': {}", choice.library, lossText(outcome, kDescribeSeconds));
      }));
  return info;
}

std::string repeatGuest(const GuestChoice& choice, const std::string& id, int opset) {
  std::string command =
      fmt::format("op-harness check --ort {} --ep {}", shellQuoted(choice.library), shellQuoted(choice.provider));
  if (!choice.providerLibrary.empty()) command += " --ep-library " + shellQuoted(choice.providerLibrary);
  for (const auto& [key, value] : choice.settings) command += " --ep-option " + shellQuoted(key + "=" + value);
  if (opset > 0) command += fmt::format(" --opset {}", opset);
  return command + " --case " + shellQuoted(id);
}

}  // namespace opkit::harness
