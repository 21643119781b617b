#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/base/json_text.h"
#include "engine/model/model.h"
#include "harness/cases/data.h"
#include "harness/cases/rng.h"
#include "harness/cases/stored_values.h"
#include "harness/check/check.h"
#include "harness/check/shrink.h"
#include "harness/run/build_facts.h"
#include "harness/run/isolated_jobs.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

constexpr double kTrialSeconds = 60;
constexpr int kFormat = 1;

/// "Conv-vulkan-exact.opcase"; characters that a shell would mind are left out.
std::string fileName(const Case& c, const std::string& backend, const std::string& check) {
  std::string name = fmt::format("{}-{}-{}.opcase", c.op, backend, check);
  for (char& letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter)) && letter != '-' && letter != '.') letter = '_';
  return name;
}

std::string answerOf(const CaseGroup& group, const std::string& backend, const RuntimeOptions& options,
                     const OpRegistry& registry) {
  auto runtime = createRuntime(backend, options);
  if (!runtime) return Json{{"check", "session"}, {"reason", runtime.error().message()}}.dump();
  Checker checker(registry, backend, *runtime);
  checker.setRuntimeOptions(options);
  PreparedGroup prepared = prepareGroup(group, registry);
  prepared.coldCaches = true;
  for (const PreparedCase& c : prepared.cases)
    if (!c.status.isOk()) return "{}";  // no valid case any more: nothing fails
  const CaseResult result = checker.checkGroup(prepared).front();
  if (!isFailure(result.status)) return "{}";
  for (const SubCheck& sub : result.subChecks)
    if (!sub.ok) {
      const bool ofVariation = sub.message.starts_with("at ");  // of a walk: the case itself may be right
      return Json{{"check", sub.name + (ofVariation ? "-variation" : "")}, {"reason", result.reason}}.dump();
    }
  return Json{{"check", nameOf(result.status)}, {"reason", result.reason}}.dump();
}

}  // namespace

std::optional<CaseGroup> groupBeginningWith(const std::string& id, const std::vector<CaseGroup>& groups) {
  for (const CaseGroup& group : groups)
    for (size_t i = 0; i < group.cases.size(); ++i)
      if (group.cases[i].id() == id) {
        CaseGroup found = group;
        std::rotate(found.cases.begin(), found.cases.begin() + static_cast<std::ptrdiff_t>(i), found.cases.end());
        return found;
      }
  return std::nullopt;
}

int64_t inputElements(const Case& c) {
  int64_t count = 0;
  for (const auto& input : c.inputs) count += input ? input->elements() : 0;
  return count;
}

std::optional<std::string> failsIsolated(const CaseGroup& group, const std::string& backend,
                                         const RuntimeOptions& options, const OpRegistry& registry,
                                         std::string* reason) {
  std::optional<std::string> failed;
  const Status status = runIsolated(
      1, 1, kTrialSeconds, [&](size_t) { return answerOf(group, backend, options, registry); },
      [&](size_t, const JobOutcome& outcome) {
        if (outcome.kind == JobOutcome::Kind::Crashed) failed = "crash";
        if (outcome.kind == JobOutcome::Kind::TimedOut) failed = "hang";
        const Json answer = parseJson(outcome.answer);
        if (answer.is_object() && answer.contains("check")) failed = answer.value("check", "");
        if (reason) *reason = answer.is_object() ? answer.value("reason", "") : outcome.answer;
      });
  return status.isOk() ? failed : std::nullopt;
}

std::string dataHashOf(const CaseGroup& group, const OpRegistry& registry) {
  uint64_t hash = 0;
  for (const Case& c : group.cases) {
    const auto inputs = makeInputs(c, *registry.find(c.op));
    if (!inputs) continue;
    for (const auto& input : *inputs) {
      if (!input) continue;
      const auto bytes = input->bytes();
      hash = hash * 31 + hashText({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
  }
  return fmt::format("{:016x}", hash);
}

Status writeCapsule(const std::string& path, const Capsule& capsule) {
  Json cases = Json::array();
  for (const Case& c : capsule.group.cases) cases.push_back(c.id());
  const Json document = {{"opcase", kFormat},
                         {"backend", capsule.backend},
                         {"check", capsule.check},
                         {"reason", capsule.reason},
                         {"mask", capsule.mask},
                         {"commit", capsule.commit},
                         {"dataHash", capsule.dataHash},
                         {"cases", cases},
                         {"expected", capsule.group.cases.front().expected},
                         {"source", capsule.group.cases.front().source},
                         {"boundScale", capsule.group.cases.front().boundScale}};
  const std::string text = document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  return writeFile(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

/// The stored values of the first case; other versions wrote none.
static Status readStored(const Json& document, const OpRegistry& registry, Case& c) {
  const Json forms = document.value("expected", Json::array());
  for (const Json& form : forms) {
    c.expected.push_back(form.is_string() ? form.get<std::string>() : form.dump());
    if (!c.expected.back().empty()) OPKIT_TRY(checkStoredForm(c.expected.back()));
  }
  if (document.contains("source") && document["source"].is_string()) c.source = document["source"].get<std::string>();
  return checkStored(c, *registry.find(c.op));
}

Result<Capsule> readCapsule(const std::string& path, const OpRegistry& registry) {
  OPKIT_ASSIGN(const auto bytes, readFile(path));
  OPKIT_TRY(checkJsonDepth({reinterpret_cast<const char*>(bytes.data()), bytes.size()}).withContext(path));
  const Json document = parseJson(bytes);
  if (!document.is_object() || document.value("opcase", Json()) != kFormat || !document.contains("cases") ||
      !document["cases"].is_array() || document["cases"].empty())
    return Status::corrupt("{}: expected a capsule {{\"opcase\": {}, \"cases\": [..], ..}}", path, kFormat);
  Capsule capsule;
  const auto text = [&](const char* key) { return textField(document, key); };
  capsule.backend = text("backend");
  capsule.check = text("check");
  capsule.reason = text("reason");
  capsule.mask = text("mask");
  capsule.commit = text("commit");
  capsule.dataHash = text("dataHash");
  for (const Json& id : document["cases"]) {
    auto parsed = parseCaseId(id.is_string() ? id.get<std::string>() : id.dump());
    if (!parsed) return parsed.error().withContext(path);
    Case c = *std::move(parsed);
    if (!registry.find(c.op)) return Status::invalidArgument("{}: unknown operator '{}'", path, c.op);
    const Json scale = document.value("boundScale", Json(1));
    if (!scale.is_number() || !(scale.get<double>() >= 0))
      return Status::invalidArgument("{}: \"boundScale\" must be a number of at least 0, got {}", path, scale.dump());
    c.boundScale = scale.get<double>();
    capsule.group.cases.push_back(std::move(c));
  }
  OPKIT_TRY(readStored(document, registry, capsule.group.cases.front()).withContext(path));
  return capsule;
}

Result<CapsuleFile> shrinkToFile(const Catalogue& catalogue, const std::string& id, const std::string& backend,
                                 const RuntimeOptions& options, const OpRegistry& registry, const std::string& folder) {
  const auto found = groupBeginningWith(id, catalogue.groups);
  if (!found) return Status::invalidArgument("no case '{}'", id);
  const CaseGroup& group = *found;
  std::string reason;
  const auto failed = failsIsolated(group, backend, options, registry, &reason);
  if (!failed) return Status::internal("'{}' on {} does not fail when it is run again", id, backend);
  const Shrunk small = shrinkGroup(group, *failed, registry, [&](const CaseGroup& candidate) {
    return failsIsolated(candidate, backend, options, registry, nullptr);
  });
  failsIsolated(small.group, backend, options, registry, &reason);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  CapsuleFile saved{(std::filesystem::path(folder) / fileName(group.cases[0], backend, *failed)).string(),
                    small.group.cases[0].id(),
                    inputElements(group.cases[0]),
                    inputElements(small.group.cases[0]),
                    small.trials,
                    small.group};
  OPKIT_TRY(writeCapsule(saved.path, {backend, *failed, reason, options.mask, kBuildFacts.commit, small.group,
                                      dataHashOf(small.group, registry)}));
  return saved;
}

}  // namespace opkit::harness
