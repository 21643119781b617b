#include "harness/check/check.h"
#include "harness/cases/stored_shapes.h"

#include <array>
#include <cstdlib>

#ifdef OPKIT_HAS_VULKAN
#include "engine/backend/vulkan/vulkan_runtime.h"
#endif
#include "engine/base/clock.h"
#include "harness/cases/case_dtype.h"
#include "harness/cases/data.h"
#include "harness/check/checker_parts.h"
#include "harness/check/placement_check.h"
#include "harness/check/sub_checks.h"
#include "harness/check/trust.h"
#include "harness/check/verdict.h"
#include "harness/run/worker_note.h"

namespace opkit::harness {
namespace {

constexpr size_t kGuardBytes = 256;
/// In place of 0xFF. What is made of 0xFF may be the same over one of them: a bool is true over both 0xFF and 0x5A, and
/// as an integer NaN is zero.
constexpr std::array<uint8_t, 2> kOtherPoisons = {0x5A, 0};

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

bool isSmall(const Tensor& output) { return bitsOf(output.desc.dtype) <= 8; }

/// Elements that are not the same over both poisons: they hold what was in memory before the run, or depend on it. By
/// pattern they are not found, since kernels that compute in a wider dtype leave the poison narrowed.
int64_t countUnwritten(const std::vector<Tensor>& first, const std::vector<Tensor>& overOther) {
  int64_t count = 0;
  for (size_t i = 0; i < std::min(first.size(), overOther.size()); ++i)
    if (first[i].desc == overOther[i].desc)
      count += std::ranges::count(differingElements(first[i], overOther[i], true), true);
  return count;
}

}  // namespace

uint64_t validationMessages() {
#ifdef OPKIT_HAS_VULKAN
  return vulkan::validationMessageCount();
#else
  return 0;
#endif
}

Checker::Checker(const OpRegistry& registry, std::string backend, std::shared_ptr<Runtime> runtime)
    : registry_(registry), backend_(std::move(backend)), runtime_(std::move(runtime)) {}

void Checker::setRuntimeOptions(const RuntimeOptions& options) {
  runtimeOptions_ = options;
  if (backend_ == "vulkan") deviceVariants_.emplace();
}

void Checker::setOneClass(bool isOwn, std::string shaderTree) {
  deviceVariants_.emplace(false, std::move(shaderTree));
  isOtherClass_ = !isOwn;
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
  if (!checkPlacement(s, c.description, backend_, lackOf(*runtime_).empty(), result)) return;
  fresh.isOracle = checkIndependence(c.description, backend_, result);
  if (backend_ == "reference") skipAll(result, {"independence"}, "the backend is the oracle, as its name says");
  if (c.second) result.check("script", c.second->status);
  if (c.stored) result.check("stored", *c.stored);

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
  const Verdict verdict = compareAll(def, c, fresh.outputs, !onHost());
  result.accuracy = verdict.total;
  result.worstShape = verdict.worstShape;
  const auto overOther = checkPoison(interpreter, c, again, result, fresh);
  const Comparison& accuracy = verdict.total;
  result.check(accuracyName(c.description.lane),
               accuracy.pass ? Status::ok() : Status::internal("{}", accuracy.reason));
  checkOrSkip(result, "margin", compareMargin(c, result));
  if (!verdict.failed || hunting_) return;
  const VariantContext context{registry_, backend_, runtime_, c, fresh.outputs, fresh.alternatives};
  if (deviceVariants_ && explainByTrace(
                             c, [&] { return deviceVariants_->faultsIn(context, ""); }, result))
    return;
  std::optional<std::vector<Tensor>> overZero;
  if (overOther) {
    SessionConfig zeros = guarded();
    zeros.poisonByte = 0;
    if (auto outputs = runAgain(interpreter, c, zeros, runtime_)) overZero = *std::move(outputs);
  }
  const auto orNull = [](const auto& outputs) { return outputs ? &*outputs : nullptr; };
  explain(def, c, *verdict.failed, fresh.outputs,
          {again, orNull(overOther), orNull(overZero), nullptr, knowsEnough(def.type),
           rerunInSession(c.description, registry_, guarded(), runtime_)},
          result);
}

/// Masks, other device classes and scripts are other kernels and other expected values.
Status Checker::compareMargin(const PreparedCase& c, const CaseResult& result) const {
  if (!result.accuracy->pass) return Status::unsupported("the errors are outside their bound");
  const bool isMasked = runtimeOptions_ && (!runtimeOptions_->mask.empty() || !runtimeOptions_->deviceClass.empty());
  if (isMasked || isOtherClass_ || std::getenv("OPKIT_VULKAN_MASK") || std::getenv("OPKIT_DEVICE_CLASS"))
    return Status::unsupported("{}", kOtherDevice);
  if (c.second) return Status::unsupported("a script gave the expected values");
  if (!c.description.ofTree) return Status::unsupported("{}", kNotWritten);
  if (backend_ == "reference") return Status::unsupported("the backend is the oracle, as its name says");
  return checkMargin(*margins_, runtime_->device(), *registry_.find(c.description.op), c.description, result);
}

/// Sessions with other poison: one for elements of 8 bits, since any byte may be a result, and all where elements are
/// wrong. Returns the outputs that tell unwritten elements: a kernel that gives something else each time shows none.
std::optional<std::vector<Tensor>> Checker::checkPoison(Interpreter& interpreter, const PreparedCase& c,
                                                        const std::vector<Tensor>* again, CaseResult& result,
                                                        const Fresh& fresh) {
  Comparison& accuracy = *result.accuracy;
  const bool repeats = !registry_.find(c.description.op)->unordered && again && same(c, fresh, *again).isOk();
  const bool isDoubtful = accuracy.failed > 0 && repeats && !hunting_;
  const size_t runs = isDoubtful ? kOtherPoisons.size() : std::ranges::any_of(fresh.outputs, isSmall) ? 1 : 0;
  std::optional<std::vector<Tensor>> found;
  if (repeats && runs > 0) accuracy.unwritten = 0;  // by difference, not by pattern
  for (size_t i = 0; i < runs && !found; ++i) {
    SessionConfig config = guarded();
    config.poisonByte = kOtherPoisons[i];
    auto other = runAgain(interpreter, c, config, runtime_);
    if (!other) return result.check("poison", other.error()), std::nullopt;
    if (repeats) accuracy.unwritten = countUnwritten(fresh.outputs, *other);
    if (accuracy.unwritten > 0)
      found = *std::move(other);
    else if (const Status status = same(c, fresh, *other); !status.isOk())
      return result.check("poison", status.withContext("over other poison")), std::nullopt;
  }
  result.check("poison", accuracy.unwritten == 0 ? Status::ok()
                                                 : Status::internal("{} of {} elements were never written",
                                                                    accuracy.unwritten, accuracy.elements));
  return found;
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

CaseResult Checker::checkCase(Interpreter* interpreter, const Status& failure, const PreparedCase& c, bool brief,
                              Fresh& fresh) {
  CaseResult result = emptyResult(c.description);
  noteWork(fmt::format("{} on {}", result.id, backend_));
  const double start = nowNs();
  const uint64_t messages = validationMessages();
  for (const auto& input : c.inputs)
    if (input) addSize(input->desc, result);
  for (const OracleTensor& output : c.expected) addSize(output.desc, result);
  if (!c.status.isOk()) {
    result.check("oracle", c.status);
    return result;
  }
  if (c.second && c.second->status.code() == StatusCode::Unsupported) {
    result.status = CaseStatus::Unsupported;
    result.reason = c.second->status.message();
    return result;
  }
  if (!interpreter) {
    result.check("session", failure);
    return result;
  }
  checkFresh(*interpreter, c, result, fresh);
  const bool escapes = result.failed("canary");  // it must not run without guards around its outputs
  if (fresh.ran && !brief && !escapes) checkAlternatives(*interpreter, c, result, fresh);
  if (fresh.ran && !escapes && !onHost()) checkTraced(c, result, fresh);
  if (escapes && sanitizer_) checkOrSkip(result, "sanitize", sanitizer_(c));  // it names the line
  checkValidation(messages, result);
  if (!hunting_ && !brief) checkTrust(c, result);
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

/// A failure of bits alone; on Vulkan a race may be behind any of them.
void Checker::explainMode(const PreparedCase& c, const Fresh& fresh, CaseResult& result) {
  std::string cause = causeOf(result);
  if (!result.diagnosis.empty() || cause.empty()) return;
  const VariantContext context{registry_, backend_, runtime_, c, fresh.outputs, fresh.alternatives};
  if (deviceVariants_ && explainByTrace(
                             c, [&] { return deviceVariants_->faultsIn(context, ""); }, result))
    return;
  result.diagnosisKind = "mode", result.diagnosis = std::move(cause);
}

std::vector<CaseResult> Checker::checkGroup(const PreparedGroup& group) {
  std::vector<CaseResult> results;
  std::vector<Fresh> fresh(group.cases.size());
  const PreparedCase& first = group.cases.front();
  const auto interpreter = makeOpInterpreter(first.description, registry_, first.inputs);
  for (size_t i = 0; i < group.cases.size(); ++i) {
    results.push_back(checkCase(interpreter ? interpreter->get() : nullptr, interpreter.error(), group.cases[i],
                                group.brief, fresh[i]));
    if (hunting_ && isFailure(results.back().status)) return results;
  }
  if (!interpreter) {
    for (CaseResult& result : results) accountForSubChecks(result);
    return results;
  }
  const uint64_t messages = validationMessages();
  if (!group.brief) {
    noteWork(fmt::format("the walks of the group of {} on {}", first.description.id(), backend_));
    checkWalks(**interpreter, group, fresh, results);
    checkConstants(group, fresh, results);
    checkSiblingsOf(group, fresh, results);
    checkCaches(**interpreter, group, fresh, results);
  }
  if (validationMessages() > messages) checkValidation(messages, results.front());
  for (CaseResult& result : results) {
    if (group.brief) skipOpen(result, kBrief);
    accountForSubChecks(result);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    CaseResult& result = results[i];
    if (!hunting_) explainMode(group.cases[i], fresh[i], result);
    // A script and stored values judge the oracle too.
    const bool isJudged = group.cases[i].second || !group.cases[i].description.expected.empty();
    if (!fresh[i].isOracle || isJudged || result.status != CaseStatus::Pass) continue;
    result.status = CaseStatus::Unproved;
    const auto declared = group.cases[i].description.unproved.find(backend_);
    result.reason =
        declared != group.cases[i].description.unproved.end() ? declared->second : "the kernel is the oracle";
  }
  return results;
}

CaseResult Checker::checkShapes(const CaseGroup& group) {
  const std::string op = group.cases.front().op;
  CaseResult result = emptyResult(group.cases.front());
  result.id = "shapes:" + op;
  result.name = "stored shapes";
  const OpDef* def = registry_.find(op);
  Status status;
  for (const Case& c : group.cases)
    if (status.isOk()) status = harness::checkShapes(c, *def).withContext(c.id());
  result.check("stored", status);
  return result;
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
