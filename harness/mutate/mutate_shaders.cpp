#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/backend/vulkan/vulkan_runtime.h"
#include "harness/check/check.h"
#include "harness/mutate/glsl_mutants.h"
#include "harness/mutate/mutation_run.h"
#include "harness/run/isolated_jobs.h"
#include "harness/shaders/shader_workshop.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

std::shared_ptr<vulkan::VulkanRuntime> vulkanRuntime(Status& status) {
  auto runtime = createRuntime("vulkan", {.cacheDir = "off"});
  status = runtime.error();
  return runtime ? std::dynamic_pointer_cast<vulkan::VulkanRuntime>(*runtime) : nullptr;
}

/// The shader variants that a group's cases record, in a worker.
std::string shadersUsed(const CaseGroup& group, const OpRegistry& registry,
                        const std::shared_ptr<vulkan::VulkanRuntime>& runtime) {
  auto used = std::make_shared<std::set<std::string>>();
  runtime->setShaderSource([used](const vulkan::ShaderCode& code) {
    used->insert(code.name);
    return code.spirv;
  });
  for (const PreparedCase& c : prepareGroup(group, registry).cases) {
    if (!c.status.isOk() || c.description.fallback.contains("vulkan")) continue;
    const auto interpreter = makeOpInterpreter(c.description, registry, c.inputs);
    if (!interpreter) continue;
    const auto session = (*interpreter)->createSession({.backend = "vulkan"}, runtime);
    if (session && feed(**session, c.description, c.inputs).isOk()) static_cast<void>((*session)->resize().isOk());
  }
  return Json(*used).dump();
}

/// Which groups dispatch which shader.
Result<std::map<std::string, std::vector<size_t>>> coverage(const Catalogue& catalogue, const OpRegistry& registry,
                                                            const MutationOptions& options) {
  std::map<std::string, std::vector<size_t>> groups;
  std::shared_ptr<vulkan::VulkanRuntime> runtime;
  Status failure;
  OPKIT_TRY(runIsolated(
      catalogue.groups.size(), options.jobs, options.timeoutSeconds,
      [&](size_t i) {
        Status status;
        if (!runtime) runtime = vulkanRuntime(status);
        return runtime ? shadersUsed(catalogue.groups[i], registry, runtime) : Json{{"error", status.message()}}.dump();
      },
      [&](size_t i, const JobOutcome& outcome) {
        const Json answer = Json::parse(outcome.answer, nullptr, false);
        if (answer.is_object()) failure = Status::unsupported("{}", answer.value("error", ""));
        std::set<std::string> shaders;
        if (answer.is_array())
          for (const Json& name : answer) shaders.insert(shaderOf(name.get<std::string>()));
        for (const std::string& shader : shaders) groups[shader].push_back(i);
      }));
  OPKIT_TRY(failure);
  for (auto& [shader, list] : groups) std::sort(list.begin(), list.end());
  return groups;
}

/// Changes that are marked as equivalent in the .mutants.json files: "shader: before => after" -> reason.
Result<std::map<std::string, std::string>> marks(const std::string& source, const OpRegistry& registry) {
  std::map<std::string, std::string> marked;
  std::set<std::string> folders;
  for (const OpDef* def : registry.all()) folders.insert(def->folder);
  folders.insert("raster");
  for (const std::string& folder : folders) {
    const std::string path = fmt::format("{0}/ops/{1}/{1}.mutants.json", source, folder);
    std::ifstream file(path);
    if (!file) continue;
    const Json document = Json::parse(file, nullptr, false);
    if (!document.is_object() || !document.contains("equivalent") || !document["equivalent"].is_array())
      return Status::invalidArgument("{}: expected {{\"equivalent\": [{{\"shader\", \"change\", \"reason\"}}]}}", path);
    for (const Json& entry : document["equivalent"]) {
      if (!entry.is_object() || entry.value("reason", "").empty() || entry.value("change", "").empty())
        return Status::invalidArgument("{}: every entry needs \"shader\", \"change\" and \"reason\"", path);
      marked[entry.value("shader", "") + ": " + entry.value("change", "")] = entry.value("reason", "");
    }
  }
  return marked;
}

/// One mutant in a worker: {"fate", "by"}.
std::string runMutant(const std::string& shader, const Mutant& mutant, const std::vector<const PreparedGroup*>& groups,
                      const OpRegistry& registry, const std::string& source) {
  Status status;
  const auto runtime = vulkanRuntime(status);
  if (!runtime) return Json{{"fate", "invalid"}, {"by", status.message()}}.dump();
  auto workshop = std::make_shared<ShaderWorkshop>(source);
  workshop->setText(shader, mutant.text);
  struct Seen {
    bool differs = false;
    std::string error;
  };
  auto seen = std::make_shared<Seen>();
  runtime->setShaderSource([=](const vulkan::ShaderCode& code) {
    if (shaderOf(code.name) != shader) return code.spirv;
    const auto made = workshop->compile(code.name);
    if (!made) {
      seen->error = made.error().message();
      return code.spirv;
    }
    seen->differs = seen->differs || !std::equal(made->begin(), made->end(), code.spirv.begin(), code.spirv.end());
    return seen->differs ? *made : code.spirv;
  });
  const std::string by = firstFailure(groups, registry, "vulkan", runtime);
  if (!seen->error.empty()) return Json{{"fate", "invalid"}, {"by", seen->error.substr(0, 200)}}.dump();
  if (!seen->differs) return Json{{"fate", "equivalent"}, {"by", "the same SPIR-V"}}.dump();
  return Json{{"fate", by.empty() ? "survived" : "killed"}, {"by", by}}.dump();
}

MutantResult resultOf(const std::string& shader, const Mutant& mutant, const JobOutcome& outcome) {
  MutantResult result{shader, "vulkan", fmt::format("line {} ({})", mutant.line, mutant.kind), mutant.before,
                      mutant.after};
  const Json answer = Json::parse(outcome.answer, nullptr, false);
  if (outcome.kind != JobOutcome::Kind::Answered || !answer.is_object()) {
    result.fate = MutantResult::Fate::Killed;
    result.by = outcome.kind == JobOutcome::Kind::TimedOut ? "hang" : "crash: " + outcome.answer;
    return result;
  }
  result.by = answer.value("by", "");
  for (const auto fate : {MutantResult::Fate::Killed, MutantResult::Fate::Survived, MutantResult::Fate::Equivalent,
                          MutantResult::Fate::Invalid})
    if (answer.value("fate", "") == nameOf(fate)) result.fate = fate;
  return result;
}

}  // namespace

Status mutateShaders(const Catalogue& catalogue, const OpRegistry& registry, const MutationOptions& options,
                     const std::function<void(const MutantResult&)>& done) {
  OPKIT_ASSIGN(const auto marked, marks(options.source, registry));
  OPKIT_ASSIGN(const auto covered, coverage(catalogue, registry, options));
  const IsolationLimits limits{.workers = options.jobs, .timeoutSeconds = options.timeoutSeconds};
  for (const auto& [shader, indices] : covered) {
    const auto text = ShaderWorkshop(options.source).fileText(shader);
    if (!text) continue;  // a shader from elsewhere
    const std::vector<Mutant> mutants = sample(mutantsOf(*text), options.limit);
    std::vector<PreparedGroup> prepared;  // here, once: workers are forks and inherit it
    std::vector<const PreparedGroup*> groups;
    prepared.reserve(indices.size());
    for (const size_t index : indices)
      groups.push_back(&prepared.emplace_back(prepareGroup(catalogue.groups[index], registry)));
    std::vector<std::optional<MutantResult>> finished(mutants.size());
    OPKIT_TRY(runIsolated(
        mutants.size(), limits,
        [&, name = shader](size_t i) { return runMutant(name, mutants[i], groups, registry, options.source); },
        [&, name = shader](size_t i, const JobOutcome& outcome) {
          finished[i] = resultOf(name, mutants[i], outcome);
          const auto mark = marked.find(name + ": " + mutants[i].change());
          if (mark == marked.end() || finished[i]->fate != MutantResult::Fate::Survived) return;
          finished[i]->fate = MutantResult::Fate::Equivalent;
          finished[i]->by = mark->second;
        }));
    for (const auto& result : finished)
      if (result) done(*result);
  }
  return Status::ok();
}

}  // namespace opkit::harness
