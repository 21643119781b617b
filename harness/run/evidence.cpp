#include "harness/run/evidence.h"

#include <fmt/ranges.h>
#include <xxhash.h>

#include "engine/base/child_process.h"
#include "engine/base/json_text.h"
#include "engine/model/model.h"
#include "harness/run/build_facts.h"
#include "harness/run/source_table.h"
#include "harness/run/terminal.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

constexpr int kForm = 1;
constexpr size_t kFailuresShown = 5, kReasonsShown = 4, kKernelLines = 6;
constexpr const char* kFence = "```";

std::string hashText(std::string_view text) { return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size())); }

/// Of the sources in the build below one of the folders; of all without any.
std::string digestOfSources(const std::vector<std::string>& folders) {
  std::string text;
  for (const SourceHash& file : builtSources()) {
    const auto isBelow = [&](const std::string& folder) { return file.path.starts_with(folder); };
    if (folders.empty() || std::ranges::any_of(folders, isBelow))
      text += fmt::format("{} {:x}\n", file.path, file.hash);
  }
  return text.empty() ? "" : hashText(text);
}

std::string digestOfFile(const std::string& path) {
  const auto bytes = readFile(path);
  return bytes ? hashText({reinterpret_cast<const char*>(bytes->data()), bytes->size()}) : "";
}

std::string digestOfIds(const std::set<std::string>& ids) { return hashText(fmt::format("{}", fmt::join(ids, "\n"))); }

size_t countOf(const Json& backend, const char* status) {
  return backend.contains("statuses") ? backend["statuses"].value(status, size_t{0}) : 0;
}

size_t failuresOf(const Json& backend) {
  size_t count = 0;
  if (backend.contains("statuses"))
    for (const auto& [name, number] : backend["statuses"].items())
      if (const auto status = statusFromName(name); status && isFailure(*status)) count += number.get<size_t>();
  return count;
}

/// Sum of `count` over the backends.
template <class Count>
size_t sumOf(const Json& evidence, const Count& count) {
  size_t sum = 0;
  for (const auto& [name, backend] : evidence["backends"].items()) sum += count(backend);
  return sum;
}

/// Cases that passed or failed.
size_t executedIn(const Json& evidence) {
  return sumOf(evidence, [](const Json& backend) { return countOf(backend, "pass") + failuresOf(backend); });
}

std::string commandText(const std::vector<std::string>& arguments, const std::vector<std::string>& local) {
  std::string text = "op-harness check";
  for (const std::string& word : arguments) text += " " + shellQuoted(word);
  for (const std::string& option : local) text += fmt::format(" {} ...", option);
  return text;
}

/// What compareEvidence reads has its types; fields may be absent.
Status checkFields(const Json& evidence) {
  const auto check = [](const Json& object, const char* key, bool isText) {
    const auto found = object.find(key);
    if (found == object.end() || (isText ? found->is_string() : found->is_number_unsigned())) return Status::ok();
    return Status::invalidArgument("'{}': expected {}, found {}", key, isText ? "a text" : "a whole number",
                                   found->type_name());
  };
  OPKIT_TRY(check(evidence, "outcome", true));
  OPKIT_TRY(check(evidence["sources"], "all", true));
  for (const auto& [name, backend] : evidence["backends"].items()) {
    if (!backend.is_object()) continue;
    OPKIT_TRY(check(backend, "ids", true).withContext(name));
    OPKIT_TRY(check(backend, "cases", false).withContext(name));
    const Json statuses = backend.value("statuses", Json::object());
    if (!statuses.is_object())
      return Status::invalidArgument("{}: 'statuses': expected an object, found {}", name, statuses.type_name());
    for (const auto& [status, count] : statuses.items())
      OPKIT_TRY(check(statuses, status.c_str(), false).withContext(name));
  }
  return Status::ok();
}

}  // namespace

void CheckEvidence::add(const CaseRecord& one) {
  BackendCases& backend = backends_[one.backend];
  ++backend.statuses[reports::nameOf(one.status)];
  backend.ids.insert(one.id);
  if (!one.kernel.empty() || !one.provider.empty())
    kernels_[{one.op, one.backend}].insert(one.kernel.empty() ? one.provider : one.provider + "/" + one.kernel);
  subChecks_ += one.checks.size();
  for (const auto& [name, reason] : one.notRun) ++notRun_[name][reason];
  if (isFailure(one.status) && failures_.size() < kFailuresShown)
    failures_.emplace_back(fmt::format("{} on {}", one.id, one.backend), one.reason);
  if (one.accuracy && one.accuracy->margin > worstMargin_) {
    worstMargin_ = one.accuracy->margin;
    worst_ = fmt::format("{} on {}", one.id, one.backend);
  }
}

void CheckEvidence::close(const OpRegistry& registry, const std::vector<PluginInfo>& plugins,
                          const std::string& missing) {
  json_ = {{"opkitEvidence", kForm},
           {"version", kBuildFacts.version},
           {"commit", kBuildFacts.commit},
           {"dirty", kBuildFacts.dirty},
           {"arguments", arguments_},
           {"local", local_},
           {"outcome", missing.empty() ? "complete" : missing},
           {"sources", {{"all", digestOfSources({})}, {"operators", Json::object()}}},
           {"devices", Json::array()},
           {"plugins", Json::array()},
           {"backends", Json::object()},
           {"notRun", notRun_}};
  std::set<std::string> operators;
  for (const auto& [key, kernels] : kernels_) operators.insert(key.first);
  for (const std::string& op : operators)
    if (const OpDef* def = registry.find(op); def && !def->folder.empty())
      json_["sources"]["operators"][op] =
          digestOfSources({fmt::format("ops/{}/", def->folder), fmt::format("shaders/{}/", def->folder)});
  for (const auto& [key, kernels] : kernels_) json_["kernels"][key.first][key.second] = kernels;
  for (const DeviceInfo& device : devices_)
    json_["devices"].push_back(
        {{"backend", device.backend}, {"name", device.name}, {"driver", device.driver}, {"software", device.software}});
  for (const PluginInfo& plugin : plugins)
    json_["plugins"].push_back({{"name", plugin.name}, {"digest", digestOfFile(plugin.path)}});
  for (const auto& [name, cases] : backends_)
    json_["backends"][name] = {
        {"cases", cases.ids.size()}, {"ids", digestOfIds(cases.ids)}, {"statuses", cases.statuses}};
}

std::string CheckEvidence::tableText() const {
  std::string text =
      "| backend | device | cases | passed | failed | refused by the device | other |\n|---|---|---|---|---|---|---|\n";
  for (const DeviceInfo& device : devices_) {
    if (!json_["backends"].contains(device.backend)) continue;
    const Json& backend = json_["backends"][device.backend];
    const size_t all = backend["cases"], passed = countOf(backend, "pass"), failed = failuresOf(backend),
                 refused = countOf(backend, "unsupported");
    const size_t counted = passed + failed + refused;
    text += fmt::format("| {} | {}, {}{} | {} | {} | {} | {} | {} |\n", device.backend, device.name, device.driver,
                        device.software && device.backend == "vulkan" ? " (software, no GPU)" : "", all, passed, failed,
                        refused, all > counted ? all - counted : 0);
  }
  return text;
}

std::string CheckEvidence::markdown(const std::string& file) const {
  const size_t failed = sumOf(json_, failuresOf);
  const std::string outcome = json_["outcome"];
  std::set<std::string> operators;
  for (const auto& [key, kernels] : kernels_) operators.insert(key.first);
  const std::string subject = operators.size() <= 4 ? fmt::format("{}", fmt::join(operators, ", "))
                                                    : fmt::format("{} operators", operators.size());
  std::string text = fmt::format("## OpKit evidence: {}: {}\n\n{}\n", subject,
                                 executedIn(json_) == 0  ? "NOTHING was executed"
                                 : failed > 0            ? fmt::format("{} FAILED", failed)
                                 : outcome != "complete" ? "INCOMPLETE"
                                                         : "all right",
                                 tableText());
  for (const auto& [id, reason] : failures_) text += fmt::format("- **fail** `{}`: {}\n", id, reason);
  size_t lines = 0;
  for (const auto& [key, kernels] : kernels_)
    if (++lines <= kKernelLines)
      text += fmt::format("- Kernels of {} on {}: {}\n", key.first, key.second, fmt::join(kernels, ", "));
  if (lines > kKernelLines) text += fmt::format("- Kernels of {} more operators and backends\n", lines - kKernelLines);
  if (!worst_.empty()) text += fmt::format("- Worst error: {:.0f} % of its bound, `{}`\n", 100 * worstMargin_, worst_);
  std::string missed;
  size_t shown = 0;
  for (const auto& [name, reasons] : notRun_) {
    size_t count = 0;
    for (const auto& [reason, number] : reasons) count += number;
    if (++shown <= kReasonsShown) missed += fmt::format("{}`{}` {} times", missed.empty() ? "" : ", ", name, count);
  }
  if (shown > kReasonsShown) missed += fmt::format(" and {} more", shown - kReasonsShown);
  text +=
      fmt::format("- {} sub-checks ran; not run: {} (reasons below)\n", subChecks_, missed.empty() ? "none" : missed);
  std::vector<std::string> gaps;
  if (outcome != "complete") gaps.push_back(outcome);
  const auto isGpu = [](const DeviceInfo& device) { return device.backend == "vulkan" && !device.software; };
  if (std::ranges::none_of(devices_, isGpu)) gaps.emplace_back("a GPU");
  for (const char* name : {"cpu", "vulkan"})
    if (!backends_.contains(name)) gaps.push_back(fmt::format("the backend {}", name));
  gaps.emplace_back("times");
  text += fmt::format("- Not checked: {}\n", fmt::join(gaps, "; "));
  text += fmt::format("- Sources: OpKit {}, commit {}{}, digest {}\n", kBuildFacts.version,
                      *kBuildFacts.commit ? std::string(kBuildFacts.commit).substr(0, 12) : "unknown",
                      kBuildFacts.dirty ? " with local changes" : "", json_["sources"]["all"].get<std::string>());
  text += fmt::format("- Repeat: `{}`\n- Verify: `op-harness check --verify {}`\n\n", commandText(arguments_, local_),
                      file);
  return text +
         fmt::format("<details><summary>JSON</summary>\n\n{}json\n{}\n{}\n</details>\n", kFence, json_.dump(), kFence);
}

Result<Json> readEvidence(const std::string& file) {
  OPKIT_ASSIGN(const std::vector<uint8_t> bytes, readFile(file));
  const std::string text(bytes.begin(), bytes.end());
  const size_t from = text.find("{\"arguments\""), end = text.find('\n', from == std::string::npos ? 0 : from);
  Json json = from == std::string::npos ? Json() : parseJson(text.substr(from, end - from));
  const auto isText = [](const Json& one) { return one.is_string(); };
  const auto isList = [&](const char* name) {
    return json.contains(name) && json[name].is_array() && std::ranges::all_of(json[name], isText);
  };
  if (!json.is_object() || !isList("arguments") || !isList("local") || !json.contains("backends") ||
      !json["backends"].is_object() || !json.contains("sources") || !json["sources"].is_object())
    return Status::invalidArgument("--verify: {} holds no evidence; expected a file that `check --evidence` wrote",
                                   file);
  if (json.value("opkitEvidence", Json()) != kForm)
    return Status::invalidArgument("--verify: {} has form {} of evidence, this program reads form {}", file,
                                   json.value("opkitEvidence", Json()).dump(), kForm);
  OPKIT_TRY(checkFields(json).withContext(fmt::format("--verify: {} is damaged", file)));
  return json;
}

EvidenceComparison compareEvidence(const Json& evidence, const Json& repeated) {
  EvidenceComparison found;
  const auto differs = [&](std::string text) { found.differences.push_back(std::move(text)); };
  const Json none = Json::object();
  const auto part = [&](const Json& from, const char* name) {
    return from.contains(name) && from[name].is_object() ? from[name] : none;
  };
  const Json theirs = part(part(evidence, "sources"), "operators"), ours = part(part(repeated, "sources"), "operators");
  for (const auto& [op, digest] : theirs.items())
    if (!ours.contains(op) || ours[op] != digest)
      differs(fmt::format("the sources of {}: the evidence is for {}, here they are {}", op, digest.dump(),
                          ours.contains(op) ? ours[op].dump() : "absent"));
  if (part(evidence, "sources").value("all", "") != part(repeated, "sources").value("all", ""))
    found.notes.emplace_back("other sources of OpKit differ");
  if (evidence.value("plugins", Json::array()) != repeated.value("plugins", Json::array()))
    found.notes.emplace_back("the libraries of plugins differ: they were built again, or from other sources");
  if (evidence.value("devices", Json::array()) != repeated.value("devices", Json::array()))
    found.notes.emplace_back("the devices differ");
  if (evidence.value("outcome", "") != repeated.value("outcome", ""))
    differs(fmt::format("the end: the evidence says '{}', here '{}'", evidence.value("outcome", ""),
                        repeated.value("outcome", "")));
  if (executedIn(repeated) == 0) differs("nothing was executed here");
  const Json theirBackends = part(evidence, "backends"), ourBackends = part(repeated, "backends");
  for (const auto& [name, backend] : theirBackends.items()) {
    if (!ourBackends.contains(name) || !backend.is_object()) {
      differs(fmt::format("nothing ran on {} here", name));
      continue;
    }
    const Json& here = ourBackends[name];
    if (backend.value("ids", "") != here.value("ids", ""))
      differs(fmt::format("the cases on {}: the evidence has {}, here are {}, and their ids differ", name,
                          backend.value("cases", size_t{0}), here.value("cases", size_t{0})));
    if (failuresOf(backend) != failuresOf(here))
      differs(
          fmt::format("failures on {}: the evidence has {}, here are {}", name, failuresOf(backend), failuresOf(here)));
    if (countOf(backend, "pass") != countOf(here, "pass") && failuresOf(backend) == failuresOf(here))
      found.notes.push_back(fmt::format("{} of {} cases passed on {}, here {}", countOf(backend, "pass"),
                                        backend.value("cases", size_t{0}), name, countOf(here, "pass")));
  }
  return found;
}

}  // namespace opkit::harness
