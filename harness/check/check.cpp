#include "harness/check/check.h"

#ifdef OPKIT_HAS_VULKAN
#include "engine/backend/vulkan/vulkan_runtime.h"
#endif
#include "engine/base/clock.h"
#include "harness/cases/case_dtype.h"
#include "harness/cases/data.h"
#include "harness/cases/rng.h"
#include "harness/check/kernel_rig.h"
#include "harness/check/placement_check.h"
#include "harness/check/rounding_check.h"
#include "harness/check/sub_checks.h"
#include "harness/check/trust.h"
#include "harness/check/verdict.h"
#include "harness/check/walk.h"
#include "harness/compare/diagnose.h"

namespace opkit::harness {
namespace {

constexpr size_t kGuardBytes = 256;
constexpr uint8_t kOtherPoison = 0x5A;
constexpr int kThreadRounds = 4;
constexpr std::array<size_t, 3> kThreads = {3, 4, 5};  // each case takes one

const char* accuracyName(Lane lane) {
  return lane == Lane::Exact ? "exact" : lane == Lane::Specials ? "specials" : "accuracy";
}

/// Matrices in a shape: all extents but the last two.
int64_t batchOf(const Shape& shape) {
  int64_t batch = shape.size() > 2 ? 1 : 0;
  for (size_t d = 0; d + 2 < shape.size(); ++d) batch *= shape[d];
  return batch;
}

void addSize(const TensorDesc& desc, CaseResult& result) {
  result.elements = std::max(result.elements, desc.elements());
  result.rank = std::max(result.rank, desc.shape.size());
}

constexpr const char* kFolded = "it is computed at resize, no kernel runs";

/// Notes why sub-checks cannot run, as far as they concern the backend.
void skipAll(CaseResult& result, std::initializer_list<const char*> names, const std::string& why) {
  const std::vector<std::string>& known = subChecksOf(result.backend);
  for (const char* name : names)
    if (std::find(known.begin(), known.end(), name) != known.end()) result.skip(name, why);
}

/// A sub-check that is Unsupported could not run for the case.
void checkOrSkip(CaseResult& result, const char* name, const Status& status) {
  if (status.code() == StatusCode::Unsupported)
    skipAll(result, {name}, status.message());
  else
    result.check(name, status);
}

/// Passes the failures at a variation on to the case. Two do not count: NMSE gates and special values judge data that a
/// case chose, and a variation did not.
void addFailures(const CaseResult& at, const std::string& where, CaseResult& owner) {
  const bool byElement = at.accuracy && at.accuracy->failed > 0;
  for (const SubCheck& sub : at.subChecks) {
    if (sub.ok || sub.name == "specials" || (sub.name == "accuracy" && !byElement)) continue;
    if (at.status == CaseStatus::Fail) owner.check(sub.name, Status::internal("{}: {}", where, sub.message));
  }
}

/// Elements of 8 bits in which a run over 0xFF and one over kOtherPoison left the poison.
int64_t unwrittenBytes(const std::vector<Tensor>& first, const std::vector<Tensor>& second) {
  int64_t count = 0;
  for (size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    if (sizeOf(first[i].desc.dtype) != 1 || first[i].desc != second[i].desc) continue;
    const std::span<std::byte> a = first[i].bytes(), b = second[i].bytes();
    for (size_t k = 0; k < a.size(); ++k) count += a[k] == std::byte{0xFF} && b[k] == std::byte{kOtherPoison};
  }
  return count;
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
  result.dtype = dtypeOf(c, registry_.find(c.op));
  if (!c.inputs.empty() && c.inputs[0]) result.batch = batchOf(c.inputs[0]->shape);
  result.backend = backend_;
  result.device = runtime_->device().name;
  result.software = runtime_->device().software;
  return result;
}

void Checker::checkFresh(Interpreter& interpreter, const PreparedCase& c, CaseResult& result, Fresh& fresh) {
  if (shaders_) shaders_->clear();
  auto session = interpreter.createSession(guarded(), runtime_);
  if (!session) return result.check("session", session.error());
  Session& s = **session;
  if (Status status = feed(s, c.description, c.inputs); !status.isOk()) return result.check("session", status);
  if (Status status = s.resize(); !status.isOk()) return result.check("session", status);
  if (!checkPlacement(s, c.description, backend_, result)) return;
  fresh.isOracle = checkIndependence(c.description, backend_, result);
  if (backend_ == "reference") skipAll(result, {"independence"}, "the backend is the oracle, as its name says");

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
  noteFigures(s, c, result, fresh);
  const Status rerun = s.run();
  auto again = copyOutputs(s);
  checkAccuracy(interpreter, c, again ? &*again : nullptr, result, fresh);
  if (!rerun.isOk()) return result.check("repeat", rerun);
  result.check("repeat", again ? same(c, fresh, *again) : again.error());
  result.check("clone", checkClone(s, c, fresh));
}

/// Figures of the first run that must not change from night to night.
void Checker::noteFigures(const Session& session, const PreparedCase& c, CaseResult& result, const Fresh& fresh) const {
  if (!registry_.find(c.description.op)->unordered) result.digest = digestOf(fresh.outputs);
  result.arenaBytes = session.statistics().plannedPeakBytes;
  result.allocations = session.counters().allocations;
  if (!shaders_) return;
  result.shader = shaders_->hash();
  result.shaderBytes = shaders_->bytes();
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

void Checker::checkAccuracy(Interpreter& interpreter, const PreparedCase& c, const std::vector<Tensor>* again,
                            CaseResult& result, const Fresh& fresh) {
  const OpDef& def = *registry_.find(c.description.op);
  const Verdict verdict = compareAll(def, c, fresh.outputs);
  result.accuracy = verdict.total;
  result.worstShape = verdict.worstShape;
  checkPoison(interpreter, c, result, fresh);
  const Comparison& accuracy = verdict.total;
  result.check(accuracyName(c.description.lane),
               accuracy.pass ? Status::ok() : Status::internal("{}", accuracy.reason));
  if (verdict.failed) explain(def, c, *verdict.failed, fresh.outputs, again, nullptr, result);
}

/// Any byte may be a result, so 8-bit elements need a second Session with other poison.
void Checker::checkPoison(Interpreter& interpreter, const PreparedCase& c, CaseResult& result, const Fresh& fresh) {
  Comparison& accuracy = *result.accuracy;
  const auto bytes = [](const Tensor& output) { return sizeOf(output.desc.dtype) == 1; };
  if (std::any_of(fresh.outputs.begin(), fresh.outputs.end(), bytes)) {
    SessionConfig config = guarded();
    config.poisonByte = kOtherPoison;
    const auto other = runAgain(interpreter, c, config, runtime_);
    if (!other) return result.check("poison", other.error());
    const int64_t unwritten = unwrittenBytes(fresh.outputs, *other);
    accuracy.unwritten += unwritten;
    if (const Status status = same(c, fresh, *other); unwritten == 0 && !status.isOk())
      return result.check("poison", status.withContext("over other poison"));
  }
  result.check("poison", accuracy.unwritten == 0 ? Status::ok()
                                                 : Status::internal("{} of {} elements were never written",
                                                                    accuracy.unwritten, accuracy.elements));
}

Result<std::vector<Tensor>> Checker::runAgain(Interpreter& interpreter, const PreparedCase& c, SessionConfig config,
                                              std::shared_ptr<Runtime> runtime) const {
  config.backend = backend_;
  OPKIT_ASSIGN(const auto session, interpreter.createSession(config, std::move(runtime)));
  OPKIT_TRY(feed(*session, c.description, c.inputs));
  OPKIT_TRY(session->run());
  return copyOutputs(*session);
}

Status Checker::checkAgain(Interpreter& interpreter, const PreparedCase& c, const Fresh& fresh, SessionConfig config,
                           std::shared_ptr<Runtime> runtime) {
  OPKIT_ASSIGN(const auto outputs, runAgain(interpreter, c, std::move(config), std::move(runtime)));
  return same(c, fresh, outputs);
}

/// One thread; then threads that split all work, begin together and run it in shuffled order.
Status Checker::checkThreads(Interpreter& interpreter, const PreparedCase& c, const Fresh& fresh) {
  OPKIT_TRY(checkAgain(interpreter, c, fresh, {.threads = 1}, runtime_).withContext("one thread"));
  const size_t threads = kThreads[hashText(c.description.id()) % kThreads.size()];
  const SessionConfig config{.backend = backend_, .threads = threads, .hostileThreads = true};
  OPKIT_ASSIGN(const auto session, interpreter.createSession(config, runtime_));
  OPKIT_TRY(feed(*session, c.description, c.inputs));
  for (int round = 0; round < kThreadRounds; ++round) {
    OPKIT_TRY(session->run());
    OPKIT_ASSIGN(const auto outputs, copyOutputs(*session));
    OPKIT_TRY(same(c, fresh, outputs).withContext(fmt::format("{} threads in shuffled order", threads)));
  }
  return Status::ok();
}

/// The same work in other modes, which must give the same bits.
void Checker::checkAlternatives(Interpreter& interpreter, const PreparedCase& c, CaseResult& result,
                                const Fresh& fresh) {
  checkRounded(c, result, fresh);
  checkVariants(interpreter, c, result, fresh);
  if (onHost())
    result.check("threads", checkThreads(interpreter, c, fresh));
  else
    result.check("recording", checkAgain(interpreter, c, fresh, {.record = RecordMode::Direct}, runtime_));
  if (result.provider == "folded") return skipAll(result, {"pages", "heap", "providers"}, kFolded);
  if (onHost() && !takesAnyMemory())
    return skipAll(result, {"pages", "heap", "providers"}, "the backend's kernels take its own memory only");
  if (onHost()) checkKernel(c, result, fresh);
  checkProviders(c, result);
}

void Checker::checkVariants(Interpreter& interpreter, const PreparedCase& c, CaseResult& result, const Fresh& fresh) {
  const VariantContext context{registry_, backend_, runtime_, c, fresh.outputs, fresh.alternatives};
  result.check("shapes", checkFixedShapes(context));
  checkOrSkip(result, "batch", checkBatch(interpreter, context));
  if (deviceVariants_)
    result.check("variants", deviceVariants_->check(interpreter, context));
  else
    skipAll(result, {"variants"}, "the Checker has no options for further Runtimes");
  if (result.provider == "folded") return skipAll(result, {"inputs", "aliased", "offsets"}, kFolded);
  if (fresh.isOracle)
    return skipAll(result, {"inputs", "aliased", "offsets"}, "the kernel is the oracle: it copies its inputs");
  checkOrSkip(result, "inputs", checkInputs(context));
  checkOrSkip(result, "aliased", checkAliased(context));
  if (takesAnyMemory())
    checkOrSkip(result, "offsets", checkOffsets(context));
  else
    skipAll(result, {"offsets"}, "the backend's kernels take its own memory only");
}

/// An f16 result against the f32 kernel's.
void Checker::checkRounded(const PreparedCase& c, CaseResult& result, const Fresh& fresh) {
  const auto isHalf = [](const Tensor& output) { return output.desc.dtype == DType::Float16; };
  if (result.provider == "folded") return skipAll(result, {"rounding"}, kFolded);
  if (fresh.isOracle) return skipAll(result, {"rounding"}, "the kernel is the oracle");
  if (std::ranges::none_of(fresh.outputs, isHalf)) return skipAll(result, {"rounding"}, "no output is f16");
  if (!roundsElementwise(*registry_.find(c.description.op)))
    return skipAll(result, {"rounding"}, "the operator is not elementwise");
  checkOrSkip(result, "rounding", checkRounding(c, fresh.outputs, registry_, *runtime_, result.provider));
}

/// Checks accesses to foreign memory and to the heap.
void Checker::checkKernel(const PreparedCase& c, CaseResult& result, const Fresh& fresh) {
  const auto rig = KernelRig::create(c.description, c.inputs, registry_, *runtime_, {.threads = 1, .guardPages = true});
  if (!rig) return skipAll(result, {"pages", "heap"}, rig.error().message());
  const auto ran = (*rig)->run(c.inputs);
  result.check("pages", ran.error());
  if (!ran) return skipAll(result, {"heap"}, "the kernel did not end between guard pages");
  if ((*rig)->provider().starts_with("reference"))
    skipAll(result, {"heap"}, "the kernel is the oracle: plain loops, which may allocate");
  else
    result.check("heap", ran->heapAllocations == 0
                             ? Status::ok()
                             : Status::internal("onExecute allocated {} times on the heap", ran->heapAllocations));
  if (ran->outputs.size() != fresh.outputs.size()) return;
  if (const Status again = same(c, fresh, ran->outputs); !again.isOk())
    result.check("pages", again.withContext("between guard pages"));
}

void Checker::checkProviders(const PreparedCase& c, CaseResult& result) {
  const auto backend = runtime_->createBackend(registry_, {.threads = 1});
  if (!backend) return result.check("providers", backend.error());
  std::set<std::pair<std::string, std::string>> others;
  for (const Creator& creator : (*backend)->creators(*registry_.find(c.description.op)))
    if (creator.provider != "reference") others.emplace(creator.provider, creator.kernel);
  others.erase({result.provider, result.kernel});
  if (others.empty()) return skipAll(result, {"providers"}, "the operator has no other kernel");
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
  if (verdict.total.pass) return Status::ok();
  if (!declared) return Status::internal("{}", verdict.total.reason);
  if (declared->most > 0 && verdict.total.margin > declared->most)
    return Status::internal("departs by {:.3g} bounds, declared are at most {:.3g}: {}", verdict.total.margin,
                            declared->most, verdict.total.reason);
  return Status::ok();
}

/// The shapes of a walk.
struct Checker::Walk {
  std::vector<Stop> stops;
  std::vector<CaseResult*> owner;  // of each stop, receives its verdict
  std::vector<Fresh> further;      // of the stops that are no cases
};

/// Variations of the group's only case. The other sub-checks of a variation count too; a variation that the backend
/// refuses is left out.
void Checker::addFurtherStops(Interpreter& interpreter, const PreparedGroup& group, Walk& walk, CaseResult& owner) {
  walk.further.resize(group.stops.size());
  for (size_t i = 0; i < group.stops.size(); ++i) {
    CaseResult at = emptyResult(group.stops[i].description);
    checkFresh(interpreter, group.stops[i], at, walk.further[i]);
    addFailures(at, "at " + group.stops[i].description.inputText(), owner);
    if (!walk.further[i].ran || at.failed("canary")) continue;
    walk.stops.push_back({&group.stops[i], &walk.further[i].outputs});
    walk.owner.push_back(&owner);
  }
}

void Checker::checkWalks(Interpreter& interpreter, const PreparedGroup& group, const std::vector<Fresh>& fresh,
                         std::vector<CaseResult>& results) {
  Walk walk;
  for (size_t i = 0; i < fresh.size(); ++i) {
    if (!fresh[i].ran || results[i].failed("canary")) continue;
    walk.stops.push_back({&group.cases[i], &fresh[i].outputs});
    walk.owner.push_back(&results[i]);
  }
  if (walk.stops.empty()) return;
  const size_t cases = walk.stops.size();
  addFurtherStops(interpreter, group, walk, *walk.owner.front());
  walk.owner.front()->furtherStops = walk.stops.size() - cases;
  walk.owner.front()->stops = walk.stops.size();
  recordKernelWalk(walk, results);
  const auto session = interpreter.createSession(guarded(), runtime_);
  if (!session) return walk.owner.front()->check("resize", session.error());
  recordWalk("resize", walk, walkSession(**session, *registry_.find(group.cases.front().description.op), walk.stops));
}

/// The walk of one kernel, or why there is none.
void Checker::recordKernelWalk(const Walk& walk, std::vector<CaseResult>& results) {
  const auto verdicts = results.front().provider == "folded"
                            ? Result<std::vector<StopVerdict>>(Status::unsupported(kFolded))
                            : walkKernel(walk.stops, registry_, *runtime_);
  if (verdicts) return recordWalk("reuse", walk, *verdicts);
  for (CaseResult& result : results)
    if (verdicts.error().code() == StatusCode::Unsupported)
      skipAll(result, {"reuse"}, verdicts.error().message());
    else
      result.check("reuse", verdicts.error());
}

/// Each case gets the first failure among its stops.
void Checker::recordWalk(const char* name, const Walk& walk, const std::vector<StopVerdict>& verdicts) {
  std::map<CaseResult*, Status> worst;
  std::map<CaseResult*, size_t> visits;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    const StopVerdict& verdict = verdicts[i];
    Status& status = worst[walk.owner[i]];
    visits[walk.owner[i]] += verdict.visits;
    if (!status.isOk() || verdict.status.isOk()) continue;
    status = verdict.status;
    const OpDef& def = *registry_.find(walk.stops[i].at->description.op);
    explain(def, *walk.stops[i].at, 0, verdict.got, nullptr, &verdict.previous, *walk.owner[i]);
  }
  for (const auto& [result, status] : worst)
    if (visits[result] == 0)
      skipAll(*result, {name}, "the walk's kernel does not take this shape; it runs on another one");
    else
      result->check(name, status);
}

/// A separate Runtime without pipelines, tuning results or files on disk.
void Checker::checkCaches(Interpreter& interpreter, const PreparedGroup& group, const std::vector<Fresh>& fresh,
                          std::vector<CaseResult>& results) {
  const bool chosen = runtimeOptions_ && !onHost() && group.coldCaches;
  bool done = false;
  for (size_t i = 0; i < fresh.size(); ++i) {
    if (!fresh[i].ran) continue;
    if (!chosen || std::exchange(done, true)) {
      skipAll(results[i], {"caches"}, "one case per operator and dtype runs with cold caches, another than this");
      continue;
    }
    RuntimeOptions cold = *runtimeOptions_;
    cold.cacheDir = "off";
    auto runtime = createRuntime(backend_, cold);
    results[i].check("caches",
                     runtime ? checkAgain(interpreter, group.cases[i], fresh[i], {}, *runtime) : runtime.error());
  }
}

/// The messages themselves are on stderr.
void Checker::checkValidation(uint64_t messagesBefore, CaseResult& result) const {
  if (onHost() || !runtimeOptions_ || runtimeOptions_->validation == Validation::Off)
    return skipAll(result, {"validation"}, "the validation layers are off; --validation turns them on");
  const uint64_t messages = validationMessages() - messagesBefore;
  result.check("validation", messages == 0 ? Status::ok()
                                           : Status::internal("{} message{} of the Vulkan validation layers", messages,
                                                              messages == 1 ? "" : "s"));
}

CaseResult Checker::checkCase(Interpreter* interpreter, const Status& failure, const PreparedCase& c, Fresh& fresh) {
  CaseResult result = emptyResult(c.description);
  const double start = nowNs();
  const uint64_t messages = validationMessages();
  for (const auto& input : c.inputs)
    if (input) addSize(input->desc, result);
  for (const OracleTensor& output : c.expected) addSize(output.desc, result);
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
  if (trust.isOk()) trust = checkBounds(def, c);
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
  if (!interpreter) {
    for (CaseResult& result : results) accountForSubChecks(result);
    return results;
  }
  const uint64_t messages = validationMessages();
  checkWalks(**interpreter, group, fresh, results);
  checkCaches(**interpreter, group, fresh, results);
  if (validationMessages() > messages) checkValidation(messages, results.front());
  for (CaseResult& result : results) accountForSubChecks(result);
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
