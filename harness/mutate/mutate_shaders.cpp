#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/backend/vulkan/vulkan_runtime.h"
#include "engine/base/interrupt.h"
#include "engine/base/json_text.h"
#include "harness/mutate/glsl_mutants.h"
#include "harness/mutate/hunt.h"
#include "harness/mutate/mutation_run.h"
#include "harness/run/isolated_jobs.h"
#include "harness/shaders/shader_workshop.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

constexpr double kSurveyTimeoutSeconds = 300;
constexpr size_t kMutantsPerRuntime = 40;  // a Runtime keeps the pipelines of all of them

/// State that a worker keeps between mutants: unchanged pipelines and the oracle's outputs.
class Worker {
 public:
  Worker(const Catalogue& catalogue, const OpRegistry& registry, const std::string& source)
      : hunt(catalogue, registry), original(source), registry_(registry) {}

  Result<std::shared_ptr<vulkan::VulkanRuntime>> runtime() {
    if (runtime_ && ++uses_ < kMutantsPerRuntime) return runtime_;
    OPKIT_ASSIGN(const auto made, createRuntime("vulkan", {.cacheDir = "off"}));
    runtime_ = vulkan::asVulkan(made);
    uses_ = 0;
    return runtime_;
  }
  std::string firstFailure(std::vector<size_t>& order, const std::function<bool(size_t)>& concerned = nullptr) {
    return hunt.firstFailure(order, registry_, "vulkan", runtime_, concerned);
  }

  Hunt hunt;
  ShaderWorkshop original;

 private:
  const OpRegistry& registry_;
  std::shared_ptr<vulkan::VulkanRuntime> runtime_;  // shared: sessions keep the device alive
  size_t uses_ = 0;
};

struct Job {
  size_t subject = 0;
  Mutant mutant;
};

class ShaderMutation {
 public:
  ShaderMutation(const Catalogue& catalogue, const OpRegistry& registry, const MutationOptions& options)
      : catalogue_(catalogue), registry_(registry), options_(options), facts_(catalogue.groups.size()) {}

  Status run(const MutationEvents& events) {
    OPKIT_ASSIGN(marks_, EquivalentMarks::read(options_.source));
    OPKIT_TRY(survey(0));
    if (interrupted()) return Status::ok();  // some groups have no facts
    for (const GroupFacts& facts : facts_)
      for (const std::string& variant : facts.variants) asked_.insert(shaderOf(variant));
    if (options_.ownersCases) {
      const size_t given = facts_.size();
      OPKIT_TRY(addOwnersCases());
      OPKIT_TRY(survey(given));
      if (interrupted()) return Status::ok();
    }
    OPKIT_TRY(findSubjects());
    finished_.resize(jobs_.size());
    events_ = &events;
    events.planned(jobs_.size());
    std::vector<size_t> all;
    for (size_t i = 0; i < jobs_.size(); ++i) all.push_back(i);
    OPKIT_TRY(runJobs(all, true));
    // An earlier mutant may have broken the worker: run each again in a separate process.
    for (const size_t job : std::exchange(broken_, {})) OPKIT_TRY(runJobs({job}, false));
    reportRest(finished_, next_, events);
    return Status::ok();
  }

 private:
  /// Adds the cases of the folders of the shaders that were dispatched, but for those that are there.
  Status addOwnersCases() {
    std::set<std::string> folders, known;
    for (const std::string& shader : asked_) folders.insert(shader.substr(0, shader.find('/')));
    for (const CaseGroup& group : catalogue_.groups) known.insert(group.cases.front().id());
    for (const EmbeddedFile& file : builtinCaseFiles()) {
      if (!folders.contains(std::string(file.name.substr(0, file.name.find('.'))))) continue;
      OPKIT_ASSIGN(Catalogue owners, parseCaseFile(std::string(file.name), std::string(file.text), registry_));
      std::erase_if(owners.groups, [&](const CaseGroup& group) { return known.contains(group.cases.front().id()); });
      std::ranges::move(owners.groups, std::back_inserter(catalogue_.groups));
    }
    facts_.resize(catalogue_.groups.size());
    return Status::ok();
  }

  /// Runs every group from `first` on unbroken: how long it takes and which shaders it dispatches.
  Status survey(size_t first) {
    Worker worker(catalogue_, registry_, options_.source);
    return runIsolated(
        facts_.size() - first, {.workers = options_.jobs, .timeoutSeconds = kSurveyTimeoutSeconds},
        [&](size_t i) { return surveyGroup(worker, first + i); },
        [&](size_t i, const JobOutcome& outcome) {
          const Json answer = parseJson(outcome.answer);
          GroupFacts& facts = facts_[first + i];
          facts.failure = "its worker ended: " + outcome.answer;
          if (!answer.is_object()) return;
          facts = {answer.value("seconds", 0.0), answer.value("failure", ""),
                   answer.value("variants", std::set<std::string>())};
        });
  }

  std::string surveyGroup(Worker& worker, size_t group) const {
    const auto runtime = worker.runtime();
    if (!runtime) return Json{{"failure", runtime.error().message()}, {"device", false}}.dump();
    auto used = std::make_shared<std::set<std::string>>();
    (*runtime)->setShaderSource([used](const vulkan::ShaderCode& code) {
      used->insert(code.name);
      return code.spirv;
    });
    worker.hunt.prepared(group);
    const auto start = std::chrono::steady_clock::now();
    std::vector<size_t> order = {group};
    const std::string failure = worker.firstFailure(order);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    return Json{{"failure", failure}, {"seconds", took.count()}, {"variants", *used}}.dump();
  }

  Status findSubjects() {
    std::map<std::string, Subject> subjects;
    for (size_t g = 0; g < facts_.size(); ++g) {
      std::set<std::string> shaders;
      for (const std::string& variant : facts_[g].variants)
        if (asked_.contains(shaderOf(variant))) shaders.insert(shaderOf(variant));
      OPKIT_TRY(addGroup(g, shaders, subjects));
      if (shaders.empty() && !facts_[g].failure.empty())
        return Status::invalidArgument("{}: fails although nothing is broken yet: {}",
                                       catalogue_.groups[g].cases.front().id(), facts_[g].failure);
    }
    for (auto& [name, subject] : subjects) {
      OPKIT_ASSIGN(const std::string text, ShaderWorkshop(options_.source).fileText(name));
      subject.name = name;
      OPKIT_TRY(arrange(subject, facts_));
      for (Mutant& mutant : sample(mutantsOf(text), options_.limit))
        jobs_.push_back({subjects_.size(), std::move(mutant)});
      subjects_.push_back(std::move(subject));
    }
    return Status::ok();
  }

  /// Adds the group to its shaders and to the files that they include: those of operators, with `shared` all.
  Status addGroup(size_t group, const std::set<std::string>& shaders, std::map<std::string, Subject>& subjects) {
    const auto add = [&](const std::string& name, const std::string& shader) {
      Subject& subject = subjects[name];
      if (subject.groups.empty() || subject.groups.back() != group) subject.groups.push_back(group);
      subject.shaders.insert(shader);
    };
    const ShaderWorkshop workshop(options_.source);
    for (const std::string& shader : shaders) {
      if (!included_.contains(shader)) {
        if (!workshop.fileText(shader)) continue;  // a shader from elsewhere
        OPKIT_ASSIGN(included_[shader], workshop.includedBy(shader));
      }
      add(shader, shader);
      for (const std::string& file : included_[shader])
        if (options_.shared || !(file.starts_with("include/") || file.starts_with("loop/"))) add(file, shader);
    }
    return Status::ok();
  }

  Status runJobs(const std::vector<size_t>& jobs, bool again) {
    IsolationLimits limits{.workers = options_.jobs, .stop = events_->stop};
    limits.timeoutOf = [&](size_t i) {
      return std::max(options_.timeoutSeconds, 5 * subjects_[jobs_[jobs[i]].subject].seconds);
    };
    Worker worker(catalogue_, registry_, options_.source);
    return runIsolated(
        jobs.size(), limits, [&](size_t i) { return runMutant(worker, jobs_[jobs[i]]); },
        [&](size_t i, const JobOutcome& outcome) {
          if (outcome.kind == JobOutcome::Kind::Crashed && again)
            broken_.push_back(jobs[i]);
          else
            finish(jobs[i], outcome);
        });
  }

  /// In a worker: {"fate", "by"}.
  std::string runMutant(Worker& worker, const Job& job) {
    Subject& subject = subjects_[job.subject];
    const auto runtime = worker.runtime();
    if (!runtime) return Json{{"fate", "invalid"}, {"by", runtime.error().message()}}.dump();
    auto workshop = std::make_shared<ShaderWorkshop>(options_.source);
    workshop->setText(subject.name, job.mutant.text);
    std::string error;
    bool anyDiffers = false;
    const auto differs = [&](const std::string& variant) {
      const auto made = workshop->compile(variant), was = worker.original.compile(variant);
      if (!made || !was) error = (made ? was : made).error().message();
      const bool other = made && was && !std::equal(made->begin(), made->end(), was->begin(), was->end());
      anyDiffers = anyDiffers || other;
      return other;
    };
    (*runtime)->setShaderSource([workshop, &subject](const vulkan::ShaderCode& code) {
      const auto made = subject.shaders.contains(shaderOf(code.name)) ? workshop->compile(code.name)
                                                                      : Result<std::span<const uint32_t>>(code.spirv);
      return made ? *made : code.spirv;
    });
    const std::string by = worker.firstFailure(subject.groups, [&](size_t group) {
      const auto& variants = facts_[group].variants;
      return std::any_of(variants.begin(), variants.end(), [&](const std::string& variant) {
        return subject.shaders.contains(shaderOf(variant)) && differs(variant);
      });
    });
    (*runtime)->setShaderSource(nullptr);
    if (!error.empty()) return Json{{"fate", "invalid"}, {"by", error.substr(0, 200)}}.dump();
    if (!anyDiffers) return Json{{"fate", "equivalent"}, {"by", "the same SPIR-V"}}.dump();
    return Json{{"fate", by.empty() ? "survived" : "killed"}, {"by", by}}.dump();
  }

  void finish(size_t job, const JobOutcome& outcome) {
    const Mutant& mutant = jobs_[job].mutant;
    MutantResult result{subjects_[jobs_[job].subject].name, "vulkan",
                        fmt::format("line {} ({})", mutant.line, mutant.kind), mutant.before, mutant.after};
    const Json answer = parseJson(outcome.answer);
    if (outcome.kind != JobOutcome::Kind::Answered || !answer.is_object()) {
      result.fate = MutantResult::Fate::Killed;
      result.by = outcome.kind == JobOutcome::Kind::TimedOut ? "hang" : "crash: " + outcome.answer;
    } else {
      result.by = answer.value("by", "");
      for (const auto fate : {MutantResult::Fate::Killed, MutantResult::Fate::Equivalent, MutantResult::Fate::Invalid})
        if (answer.value("fate", "") == nameOf(fate)) result.fate = fate;
    }
    applyMark(marks_, mutant.change(), result);
    finished_[job] = std::move(result);
    for (; next_ < finished_.size() && finished_[next_]; ++next_) events_->done(*finished_[next_]);
  }

  Catalogue catalogue_;
  const OpRegistry& registry_;
  const MutationOptions& options_;
  EquivalentMarks marks_;
  std::set<std::string> asked_;                            // shaders that the given cases dispatch
  std::vector<GroupFacts> facts_;                          // by group
  std::map<std::string, std::set<std::string>> included_;  // by shader
  std::vector<Subject> subjects_;
  std::vector<Job> jobs_;
  std::vector<size_t> broken_;  // jobs whose worker crashed
  std::vector<std::optional<MutantResult>> finished_;
  size_t next_ = 0;  // the first that was not reported
  const MutationEvents* events_ = nullptr;
};

}  // namespace

Status mutateShaders(const Catalogue& catalogue, const OpRegistry& registry, const MutationOptions& options,
                     const MutationEvents& events) {
  return ShaderMutation(catalogue, registry, options).run(events);
}

}  // namespace opkit::harness
