// Checker: the same work in other modes, on other threads, by other kernels.
#include <array>
#include <set>

#include "engine/base/guard.h"
#include "harness/cases/rng.h"
#include "harness/check/checker_parts.h"
#include "harness/check/hidden_check.h"
#include "harness/check/hostile_pool.h"
#include "harness/check/kernel_rig.h"
#include "harness/check/rounding_check.h"
#include "harness/check/traced_cases.h"
#include "harness/check/verdict.h"
#include "harness/run/worker_note.h"
#include "reports/results/kernel_names.h"

namespace opkit::harness {
namespace {

constexpr int kThreadRounds = 4;
constexpr std::array<size_t, 3> kThreads = {3, 4, 5};  // each case takes one
constexpr int kExplainedFailures = 20;                 // of an operator and process, by imitation
constexpr int kTracedFailures = 2;                     // likewise, by a trace

constexpr double kSecondsOfTrace = 30;  // with a second run for source lines

}  // namespace

/// One thread; then threads that split all work, begin together and run it in shuffled order.
Status Checker::checkThreads(Interpreter& interpreter, const PreparedCase& c, const Fresh& fresh) {
  OPKIT_TRY(checkAgain(interpreter, c, fresh, {.threads = 1}, runtime_).withContext("one thread"));
  const size_t threads = kThreads[hashText(c.description.id()) % kThreads.size()];
  const auto session = opkit::guarded([&] {
    return interpreter.createSession({.backend = backend_, .pool = std::make_shared<HostilePool>(threads)}, runtime_);
  });
  OPKIT_TRY(session.error());
  OPKIT_TRY(feed(**session, c.description, c.inputs));
  for (int round = 0; round < kThreadRounds; ++round) {
    OPKIT_TRY((*session)->run());
    OPKIT_ASSIGN(const auto outputs, copyOutputs(**session));
    OPKIT_TRY(same(c, fresh, outputs).withContext(fmt::format("{} threads in shuffled order", threads)));
  }
  return Status::ok();
}

/// The same work in other modes, which must give the same bits.
void Checker::checkAlternatives(Interpreter& interpreter, const PreparedCase& c, CaseResult& result,
                                const Fresh& fresh) {
  checkRounded(c, result, fresh);
  if (sanitizer_) checkOrSkip(result, "sanitize", sanitizer_(c));
  checkVariants(interpreter, c, result, fresh);
  checkFilled(c, result, fresh);
  if (onHost())
    result.check("threads", checkThreads(interpreter, c, fresh));
  else
    result.check("recording", checkAgain(interpreter, c, fresh, {.record = RecordMode::Direct}, runtime_));
  if (result.provider == "folded") return skipAll(result, {"pages", "heap", "providers"}, kFolded);
  if (onHost() && !takesAnyMemory())
    return skipAll(result, {"pages", "heap", "providers"}, "the backend's kernels take its own memory only");
  if (onHost()) checkKernel(c, result, fresh);
  Others others;
  checkOrSkip(result, "providers", judgeProviders(c, result, others));
  result.departures = others.departures;
  result.variantKernels.merge(others.onImages);
}

/// Traces the accesses of a failure, of the first few of each operator; true if that shows its cause.
bool Checker::explainByTrace(const PreparedCase& c, const std::function<Status()>& faults, CaseResult& result) {
  if (!result.diagnosis.empty() || !faults || ++traces_[c.description.op] > kTracedFailures) return false;
  if (runtimeOptions_ && runtimeOptions_->validation != Validation::Off) return false;
  needMoreTime(kSecondsOfTrace);
  const Status found = faults();
  if (found.isOk() || found.code() == StatusCode::Unsupported) return false;
  result.diagnosisKind = "traced";
  result.diagnosis = "the trace of its accesses shows " + found.message();
  return true;
}

bool Checker::knowsEnough(const std::string& op) { return ++explained_[op] > kExplainedFailures; }

/// Looks into wrong outputs of another kernel, device class or alternative than the case's own.
void Checker::explainWrong(const PreparedCase& c, const WrongRun& wrong, CaseResult& result) {
  if (hunting_ || explainByTrace(c, wrong.faults, result)) return;
  const OpDef& def = *registry_.find(c.description.op);
  const Verdict verdict = compareAll(def, c, wrong.got, !onHost());
  if (!verdict.failed) return;
  const auto again = wrong.rerun(c.inputs);
  explain(def, c, *verdict.failed, wrong.got,
          {.again = again ? &*again : nullptr, .quick = knowsEnough(def.type), .rerun = wrong.rerun}, result);
}

void Checker::checkVariants(Interpreter& interpreter, const PreparedCase& c, CaseResult& result, const Fresh& fresh) {
  VariantContext context{registry_, backend_, runtime_, c, fresh.outputs, fresh.alternatives};
  context.onWrong = [&](const WrongRun& wrong) { explainWrong(c, wrong, result); };
  result.check("shapes", checkFixedShapes(context));
  checkOrSkip(result, "batch", checkBatch(interpreter, context));
  if (deviceVariants_)
    result.check("variants", deviceVariants_->check(interpreter, context, &result.variantKernels));
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

/// The accesses of the case in some device classes, and its values there.
void Checker::checkTraced(const PreparedCase& c, CaseResult& result, const Fresh& fresh) {
  const std::vector<std::string>& variants = TracedCases::builtin().of(c.description);
  if (hunting_) return skipAll(result, {"traced"}, "mutants are judged by values");
  if (variants.empty()) return skipAll(result, {"traced"}, "other cases dispatch the same shaders, traced");
  if (!runtimeOptions_ || !deviceVariants_)
    return skipAll(result, {"traced"}, "the Checker has no options for further Runtimes");
  if (runtimeOptions_->validation != Validation::Off)
    return skipAll(result, {"traced"}, "the validation layers are on: they would judge instrumented shaders");
  const VariantContext context{registry_, backend_, runtime_, c, fresh.outputs, fresh.alternatives};
  Status worst = Status::unsupported("no device class runs it");
  for (const std::string& variant : variants) {
    const Status status = deviceVariants_->trace(context, variant);
    if (worst.code() == StatusCode::Unsupported && status.code() != StatusCode::Unsupported) worst = status;
    if (worst.isOk()) worst = status.code() == StatusCode::Unsupported ? worst : status;
  }
  checkOrSkip(result, "traced", worst);
}

/// Hidden elements that are filled, for each kernel.
void Checker::checkFilled(const PreparedCase& c, CaseResult& result, const Fresh& fresh) {
  if (result.provider == "folded") return skipAll(result, {"hidden"}, kFolded);
  const VariantContext context{registry_, backend_, runtime_, c, fresh.outputs, fresh.alternatives};
  const auto judgeKernels = [&](const PreparedCase& filled) {
    Others others;
    const bool any = !onHost() || takesAnyMemory();
    const Status status = any ? judgeProviders(filled, result, others) : Status::ok();
    return status.code() == StatusCode::Unsupported ? Status::ok() : status;
  };
  checkOrSkip(result, "hidden", checkHidden(context, deviceVariants_ ? &*deviceVariants_ : nullptr, judgeKernels));
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
  if (!rig) {
    checkOrSkip(result, "pages", rig.error());
    return skipAll(result, {"heap"}, rig.error().message());
  }
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

/// The worst of the kernels that did not run; Unsupported if there are none.
Status Checker::judgeProviders(const PreparedCase& c, CaseResult& result, Others& others) {
  OPKIT_ASSIGN(const auto backend, runtime_->createBackend(registry_, {.threads = 1}));
  std::set<std::pair<std::string, std::string>> kernels;
  for (const Creator& creator : backend->creators(*registry_.find(c.description.op)))
    if (creator.provider != "reference") kernels.emplace(creator.provider, creator.kernel);
  kernels.erase({result.provider, result.kernel});
  if (kernels.empty()) return Status::unsupported("the operator has no other kernel");
  Status worst;
  for (const auto& [provider, kernel] : kernels) {
    const Status status = checkProvider(c, provider, kernel, result, others);
    const std::string name = kernelName(provider, kernel);
    const bool ended = status.code() == StatusCode::Unsupported;  // it accepted the case
    if (worst.isOk()) worst = ended ? Status::internal("{}: {}", name, status.message()) : status.withContext(name);
  }
  return worst;
}

/// Checks that the provider is within the bound, or departs from it as declared in the case file.
Status Checker::checkProvider(const PreparedCase& c, const std::string& provider, const std::string& kernel,
                              CaseResult& result, Others& others) {
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
  const Verdict verdict = compareAll(*registry_.find(c.description.op), c, ran.outputs, !onHost());
  if ((*rig)->layout() != Layout::NCHW) others.onImages.insert(kernelName(provider, kernel));
  if (declared && !verdict.total.pass) others.departures.push_back(provider);
  if (required && verdict.total.pass)
    return Status::internal("the declared departure is stale, the result is within the bound; declared because: {}",
                            declared->reason);
  if (verdict.total.pass) return Status::ok();
  if (!declared) {
    explainWrong(c,
                 {ran.outputs,
                  [&](const HostInputs& inputs) -> Result<std::vector<Tensor>> {
                    OPKIT_ASSIGN(const auto other, KernelRig::create(c.description, inputs, registry_, *runtime_,
                                                                     {.provider = provider, .kernel = kernel}));
                    OPKIT_ASSIGN(RigRun run, other->run(inputs));
                    return std::move(run.outputs);
                  }},
                 result);
    return Status::internal("{}", verdict.total.reason);
  }
  if (declared->most > 0 && verdict.total.margin > declared->most)
    return Status::internal("departs by {:.3g} bounds, declared are at most {:.3g}: {}", verdict.total.margin,
                            declared->most, verdict.total.reason);
  return Status::ok();
}

}  // namespace opkit::harness
