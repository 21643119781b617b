#include "harness/check/check.h"

#ifdef OPKIT_HAS_VULKAN
#include "engine/backend/vulkan/vulkan_runtime.h"
#endif
#include "engine/base/clock.h"
#include "harness/cases/data.h"
#include "harness/check/kernel_rig.h"
#include "harness/check/placement_check.h"
#include "harness/check/trust.h"
#include "harness/check/verdict.h"
#include "harness/check/walk.h"
#include "harness/compare/diagnose.h"

namespace opkit::harness {
namespace {

constexpr size_t kGuardBytes = 256;

const char* accuracyName(Lane lane) {
  return lane == Lane::Exact ? "exact" : lane == Lane::Specials ? "specials" : "accuracy";
}

/// Records why and where `output` is wrong.
void explain(const OpDef& def, const PreparedCase& c, size_t output, const std::vector<Tensor>& got,
             const std::vector<Tensor>* again, const std::vector<Tensor>* previous, CaseResult& result) {
  if (!result.diagnosis.empty() || output >= got.size() || got[output].desc != c.expected[output].desc) return;
  const Tolerance tolerance = toleranceOf(def, c.description.lane, c.expected[output], c.description.boundScale);
  const auto at = [&](const std::vector<Tensor>* list) {
    return list && output < list->size() ? &(*list)[output] : nullptr;
  };
  const Diagnosis found =
      diagnose({def, c.description, c.inputs, c.expected, output, got[output], tolerance, at(again), at(previous)});
  result.diagnosisKind = found.kind;
  result.diagnosis = found.text;
  std::vector<bool> wrong;
  compareTensor(c.expected[output], got[output], tolerance, &wrong);
  if (std::find(wrong.begin(), wrong.end(), true) != wrong.end()) result.map = errorMap(got[output].desc.shape, wrong);
}

}  // namespace

uint64_t validationMessages() {
#ifdef OPKIT_HAS_VULKAN
  return vulkan::validationMessageCount();
#else
  return 0;
#endif
}

/// The results of a fresh Session at one shape.
struct Checker::Fresh {
  bool ran = false;
  bool isOracle = false;  // the kernel is the oracle
  size_t alternatives = 0;
  std::vector<Tensor> outputs;
};

Checker::Checker(const OpRegistry& registry, std::string backend, std::shared_ptr<Runtime> runtime)
    : registry_(registry), backend_(std::move(backend)), runtime_(std::move(runtime)) {}

void Checker::setRuntimeOptions(const RuntimeOptions& options) {
  runtimeOptions_ = options;
  if (backend_ == "vulkan") deviceVariants_.emplace(options);
}

SessionConfig Checker::guarded() const {
  SessionConfig config;
  config.backend = backend_;
  config.guardBytes = kGuardBytes;
  config.keepTensors = true;  // planned memory is reused, so the canaries would be overwritten
  config.poison = true;
  return config;
}

CaseResult Checker::emptyResult(const Case& c) const {
  CaseResult result;
  result.kind = "check";
  result.id = c.id();
  result.name = c.name;
  result.op = c.op;
  for (const auto& input : c.inputs)
    if (input && result.dtype.empty()) result.dtype = opkit::nameOf(input->dtype);
  result.backend = backend_;
  result.device = runtime_->device().name;
  result.software = runtime_->device().software;
  return result;
}

void Checker::checkFresh(Interpreter& interpreter, const PreparedCase& c, CaseResult& result, Fresh& fresh) {
  auto session = interpreter.createSession(guarded(), runtime_);
  if (!session) return result.check("session", session.error());
  Session& s = **session;
  if (Status status = feed(s, c.description, c.inputs); !status.isOk()) return result.check("session", status);
  if (Status status = s.resize(); !status.isOk()) return result.check("session", status);
  if (!checkPlacement(s, c.description, backend_, result)) return;
  fresh.isOracle = checkIndependence(c.description, backend_, result);

  const BackendCounters before = s.counters();
  if (Status status = s.run(); !status.isOk()) return result.check("run", status);
  const BackendCounters after = s.counters();
  fresh.alternatives = after.alternatives;
  result.dispatches = after.dispatches - before.dispatches;
  dispatches_ += result.dispatches;
  result.check("counters", checkCounters(s, before, after));
  result.check("canary", s.checkGuards());

  auto outputs = copyOutputs(s);
  if (!outputs) return result.check("run", outputs.error());
  fresh.ran = true;
  fresh.outputs = *std::move(outputs);
  const Status rerun = s.run();
  auto again = copyOutputs(s);
  checkAccuracy(c, again ? &*again : nullptr, result, fresh);
  if (!rerun.isOk()) return result.check("repeat", rerun);
  result.check("repeat", again ? same(c, fresh, *again) : again.error());
  result.check("clone", checkClone(s, c, fresh));
}

Status Checker::same(const PreparedCase& c, const Fresh& fresh, const std::vector<Tensor>& got) const {
  return sameResult(*registry_.find(c.description.op), c, fresh.outputs, got);
}

Status Checker::checkClone(const Session& session, const PreparedCase& c, const Fresh& fresh) const {
  OPKIT_ASSIGN(const auto twin, session.clone());
  OPKIT_TRY(twin->run());
  OPKIT_ASSIGN(const auto outputs, copyOutputs(*twin));
  return same(c, fresh, outputs);
}

void Checker::checkAccuracy(const PreparedCase& c, const std::vector<Tensor>* again, CaseResult& result,
                            const Fresh& fresh) {
  const OpDef& def = *registry_.find(c.description.op);
  const Verdict verdict = compareAll(def, c, fresh.outputs);
  result.accuracy = verdict.total;
  result.worstShape = verdict.worstShape;
  const Comparison& accuracy = verdict.total;
  result.check("poison", accuracy.unwritten == 0 ? Status::ok()
                                                 : Status::internal("{} of {} elements were never written",
                                                                    accuracy.unwritten, accuracy.elements));
  result.check(accuracyName(c.description.lane),
               accuracy.pass ? Status::ok() : Status::internal("{}", accuracy.reason));
  if (verdict.failed) explain(def, c, *verdict.failed, fresh.outputs, again, nullptr, result);
}

Status Checker::checkAgain(Interpreter& interpreter, const PreparedCase& c, const Fresh& fresh, SessionConfig config,
                           std::shared_ptr<Runtime> runtime) {
  config.backend = backend_;
  OPKIT_ASSIGN(const auto session, interpreter.createSession(config, std::move(runtime)));
  OPKIT_TRY(feed(*session, c.description, c.inputs));
  OPKIT_TRY(session->run());
  OPKIT_ASSIGN(const auto outputs, copyOutputs(*session));
  return same(c, fresh, outputs);
}

/// The same work in other modes, which must give the same bits.
void Checker::checkAlternatives(Interpreter& interpreter, const PreparedCase& c, CaseResult& result,
                                const Fresh& fresh) {
  checkVariants(interpreter, c, result, fresh);
  if (!onHost()) {
    result.check("recording", checkAgain(interpreter, c, fresh, {.record = RecordMode::Direct}, runtime_));
    if (result.provider != "folded") checkProviders(c, result);
    return;
  }
  Status threads = checkAgain(interpreter, c, fresh, {.threads = 1}, runtime_).withContext("one thread");
  if (threads.isOk())
    threads = checkAgain(interpreter, c, fresh, {.threads = 3}, runtime_).withContext("three threads");
  result.check("threads", threads);
  if (result.provider != "folded" && takesAnyMemory()) checkKernel(c, result, fresh);
}

void Checker::checkVariants(Interpreter& interpreter, const PreparedCase& c, CaseResult& result, const Fresh& fresh) {
  const VariantContext context{registry_, backend_, runtime_, c, fresh.outputs, fresh.alternatives};
  result.check("shapes", checkFixedShapes(context));
  result.check("batch", checkBatch(interpreter, context));
  if (deviceVariants_) result.check("variants", deviceVariants_->check(interpreter, context));
  if (result.provider == "folded" || fresh.isOracle) return;
  result.check("inputs", checkInputs(context));
  if (!registry_.find(c.description.op)->inPlace.empty()) result.check("aliased", checkAliased(context));
  if (takesAnyMemory()) result.check("offsets", checkOffsets(context));
}

/// Checks accesses to foreign memory and to the heap, and the results of other providers.
void Checker::checkKernel(const PreparedCase& c, CaseResult& result, const Fresh& fresh) {
  const auto rig = KernelRig::create(c.description, c.inputs, registry_, *runtime_, {.threads = 1, .guardPages = true});
  if (rig) {
    const auto ran = (*rig)->run(c.inputs);
    result.check("pages", ran.error());
    // The oracle is plain loops, not a kernel: it may allocate.
    const bool kernel = !(*rig)->provider().starts_with("reference");
    if (ran && kernel)
      result.check("heap", ran->heapAllocations == 0
                               ? Status::ok()
                               : Status::internal("onExecute allocated {} times on the heap", ran->heapAllocations));
    if (!ran) return;
    if (ran->outputs.size() == fresh.outputs.size() && !result.failed("pages")) {
      const Status again = same(c, fresh, ran->outputs);
      if (!again.isOk()) result.check("pages", again.withContext("between guard pages"));
    }
  }
  checkProviders(c, result);
}

void Checker::checkProviders(const PreparedCase& c, CaseResult& result) {
  const auto backend = runtime_->createBackend(registry_, {.threads = 1});
  if (!backend) return result.check("providers", backend.error());
  std::set<std::pair<std::string, std::string>> others;
  for (const Creator& creator : (*backend)->creators(*registry_.find(c.description.op)))
    if (creator.provider != "reference") others.emplace(creator.provider, creator.kernel);
  others.erase({result.provider, result.kernel});
  Status worst;
  for (const auto& [provider, kernel] : others) {
    bool departed = false;
    const Status status = checkProvider(c, provider, kernel, departed);
    if (departed) result.departures.push_back(provider);
    if (worst.isOk()) worst = status.withContext(kernel.empty() ? provider : provider + "/" + kernel);
  }
  result.check("providers", worst);
}

/// Checks that the provider is within the bound, or departs from it as declared in the case file.
Status Checker::checkProvider(const PreparedCase& c, const std::string& provider, const std::string& kernel,
                              bool& departed) {
  const auto found = c.description.departures.find(provider);
  const CaseDeparture* declared = found == c.description.departures.end() ? nullptr : &found->second;
  const bool required = declared && declared->required;
  const auto rig =
      KernelRig::create(c.description, c.inputs, registry_, *runtime_, {.provider = provider, .kernel = kernel});
  if (!rig && rig.error().code() == StatusCode::Unsupported)
    return required ? Status::internal("the case file declares a departure, but the provider refuses the case: {}",
                                       rig.error().message())
                    : Status::ok();
  OPKIT_TRY(rig.error());
  OPKIT_ASSIGN(const RigRun ran, (*rig)->run(c.inputs));
  const Verdict verdict = compareAll(*registry_.find(c.description.op), c, ran.outputs);
  departed = declared && !verdict.total.pass;
  if (required && verdict.total.pass)
    return Status::internal("the declared departure is stale, the result is within the bound; declared because: {}",
                            declared->reason);
  return verdict.total.pass || declared ? Status::ok() : Status::internal("{}", verdict.total.reason);
}

void Checker::checkWalks(Interpreter& interpreter, const PreparedGroup& group, const std::vector<Fresh>& fresh,
                         std::vector<CaseResult>& results) {
  std::vector<Stop> stops;
  std::vector<CaseResult*> owner;  // receives the verdict of a stop
  std::vector<Fresh> further(group.stops.size());
  for (size_t i = 0; i < fresh.size(); ++i) {
    if (!fresh[i].ran || results[i].failed("canary")) continue;
    stops.push_back({&group.cases[i], &fresh[i].outputs});
    owner.push_back(&results[i]);
  }
  if (stops.empty()) return;
  for (size_t i = 0; i < group.stops.size(); ++i) {
    CaseResult unused = emptyResult(group.stops[i].description);
    checkFresh(interpreter, group.stops[i], unused, further[i]);
    if (!further[i].ran || unused.failed("canary")) continue;
    stops.push_back({&group.stops[i], &further[i].outputs});
    owner.push_back(owner.front());
  }
  const auto record = [&](const char* name, const std::vector<StopVerdict>& verdicts) {
    std::map<CaseResult*, Status> worst;
    for (size_t i = 0; i < verdicts.size(); ++i) {
      const StopVerdict& verdict = verdicts[i];
      Status& status = worst[owner[i]];
      if (!status.isOk() || verdict.status.isOk()) continue;
      status = verdict.status;
      const OpDef& def = *registry_.find(stops[i].at->description.op);
      explain(def, *stops[i].at, 0, verdict.got, nullptr, &verdict.previous, *owner[i]);
    }
    for (size_t i = 0; i < results.size(); ++i)
      if (const auto found = worst.find(&results[i]); found != worst.end()) results[i].check(name, found->second);
  };
  if (results.front().provider != "folded")
    if (const auto verdicts = walkKernel(stops, registry_, *runtime_)) record("reuse", *verdicts);
  const auto session = interpreter.createSession(guarded(), runtime_);
  if (!session) return owner.front()->check("resize", session.error());
  record("resize", walkSession(**session, *registry_.find(group.cases.front().description.op), stops));
}

/// A separate Runtime without pipelines, tuning results or files on disk.
void Checker::checkCaches(Interpreter& interpreter, const PreparedGroup& group, const std::vector<Fresh>& fresh,
                          std::vector<CaseResult>& results) {
  if (!runtimeOptions_ || onHost() || !group.coldCaches) return;
  for (size_t i = 0; i < fresh.size(); ++i) {
    if (!fresh[i].ran) continue;
    RuntimeOptions cold = *runtimeOptions_;
    cold.cacheDir = "off";
    auto runtime = createRuntime(backend_, cold);
    results[i].check("caches",
                     runtime ? checkAgain(interpreter, group.cases[i], fresh[i], {}, *runtime) : runtime.error());
    return;
  }
}

/// The messages themselves are on stderr.
void Checker::checkValidation(uint64_t messagesBefore, CaseResult& result) const {
  if (onHost() || !runtimeOptions_ || runtimeOptions_->validation == Validation::Off) return;
  const uint64_t messages = validationMessages() - messagesBefore;
  result.check("validation", messages == 0 ? Status::ok()
                                           : Status::internal("{} message{} of the Vulkan validation layers", messages,
                                                              messages == 1 ? "" : "s"));
}

CaseResult Checker::checkCase(Interpreter* interpreter, const Status& failure, const PreparedCase& c, Fresh& fresh) {
  CaseResult result = emptyResult(c.description);
  const double start = nowNs();
  const uint64_t messages = validationMessages();
  if (!c.status.isOk()) {
    result.check("oracle", c.status);
    return result;
  }
  if (!interpreter) {
    result.check("session", failure);
    return result;
  }
  checkFresh(*interpreter, c, result, fresh);
  // A kernel that writes outside its outputs must not run without guards around them.
  if (fresh.ran && !result.failed("canary")) checkAlternatives(*interpreter, c, result, fresh);
  checkValidation(messages, result);
  if (!hunting_) checkTrust(c, result);
  result.durationNs = nowNs() - start;
  return result;
}

/// Checks that the case can prove anything.
void Checker::checkTrust(const PreparedCase& c, CaseResult& result) const {
  const OpDef& def = *registry_.find(c.description.op);
  Status trust = checkZeros(def, c);
  if (trust.isOk()) trust = checkSensitivity(def, c);
  if (trust.isOk() || result.status != CaseStatus::Pass) return;
  result.status = CaseStatus::Mistrusted;
  result.reason = trust.message();
}

std::vector<CaseResult> Checker::checkGroup(const PreparedGroup& group) {
  std::vector<CaseResult> results;
  std::vector<Fresh> fresh(group.cases.size());
  const PreparedCase& first = group.cases.front();
  const auto interpreter = makeOpInterpreter(first.description, registry_, first.inputs);
  for (size_t i = 0; i < group.cases.size(); ++i) {
    results.push_back(
        checkCase(interpreter ? interpreter->get() : nullptr, interpreter.error(), group.cases[i], fresh[i]));
    if (hunting_ && isFailure(results.back().status)) return results;
  }
  if (!interpreter) return results;
  const uint64_t messages = validationMessages();
  checkWalks(**interpreter, group, fresh, results);
  checkCaches(**interpreter, group, fresh, results);
  if (validationMessages() > messages) checkValidation(messages, results.front());
  for (size_t i = 0; i < results.size(); ++i) {
    CaseResult& result = results[i];
    if (!fresh[i].isOracle || result.status != CaseStatus::Pass) continue;
    result.status = CaseStatus::Unproved;
    const auto declared = group.cases[i].description.unproved.find(backend_);
    result.reason =
        declared != group.cases[i].description.unproved.end() ? declared->second : "the kernel is the oracle";
  }
  return results;
}

CaseResult Checker::checkError(const ErrorCase& error) {
  const Case c = error.asCase();
  CaseResult result = emptyResult(c);
  result.id = "error:" + result.id;
  const auto attempt = [&]() -> Status {
    const OpDef* def = registry_.find(c.op);
    OPKIT_ASSIGN(const HostInputs inputs, makeInputs(c, *def));
    OPKIT_ASSIGN(const auto interpreter, makeOpInterpreter(c, registry_, inputs));
    OPKIT_ASSIGN(const auto session, interpreter->createSession({.backend = backend_}, runtime_));
    OPKIT_TRY(feed(*session, c, inputs));
    return session->run();
  };
  const uint64_t messages = validationMessages();
  const Status status = attempt();
  checkValidation(messages, result);
  if (status.isOk())
    result.check("error", Status::internal("expected a message with '{}', but it ran", error.error));
  else if (status.message().find(error.error) == std::string::npos)
    result.check("error", Status::internal("expected a message with '{}', got '{}'", error.error, status.message()));
  else
    result.check("error", Status::ok());
  return result;
}

}  // namespace opkit::harness
