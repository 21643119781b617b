#include "harness/guest/guest_check.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/base/clock.h"
#include "harness/check/hidden_check.h"
#include "harness/check/verdict.h"
#include "harness/guest/guest_memory.h"
#include "harness/run/isolated_jobs.h"
#include "harness/run/worker_note.h"

namespace opkit::harness {
namespace {

constexpr size_t kRunsPerRound = 100, kRounds = 3;
constexpr size_t kLeakBytes = 32 << 10;  // that each round must add
constexpr double kSlowRunNs = 10e6;      // too slow for rounds

/// Devices may give zero for a denormal number; the specification is silent.
void admitFlushed(const OracleTensor& expected, Tolerance& tolerance) {
  const double smallest = expected.desc.dtype == DType::Float32   ? 0x1p-126
                          : expected.desc.dtype == DType::Float16 ? 0x1p-14
                                                                  : 0;
  if (tolerance.byClass || !expected.isReal() || smallest == 0) return;
  for (size_t i = 0; i < expected.real.size(); ++i) {
    const double magnitude = std::fabs(expected.real[i]);
    if (magnitude == 0 || !(magnitude < smallest)) continue;
    tolerance.bound.resize(expected.real.size(), 0);
    tolerance.bound[i] = std::max(tolerance.bound[i], magnitude);
  }
}

/// As a guest is judged: element by element, not by the means that OpKit asks of its own kernels.
Tolerance forGuest(Tolerance tolerance, const OracleTensor& expected) {
  tolerance.nmseGate = tolerance.biasGate = std::numeric_limits<double>::infinity();
  admitFlushed(expected, tolerance);
  return tolerance;
}

/// All outputs of a set against what is expected.
struct Judgement {
  Comparison total;
  Shape worstShape;
};
Judgement judge(const std::vector<OracleTensor>& expected, const std::vector<Tolerance>& tolerances,
                const std::vector<Tensor>& got) {
  Judgement judged;
  judged.total.pass = true;
  for (size_t i = 0; i < got.size() && judged.total.pass; ++i) {
    Comparison one = compareTensor(expected[i], got[i], forGuest(tolerances[i], expected[i]));
    if (one.unwritten > 0) one.reason += fmt::format("; {} elements were never written", one.unwritten);
    if (!one.pass && got.size() > 1) one.reason = fmt::format("output {}: {}", i, one.reason);
    if (i == 0 || one.margin > judged.total.margin) judged.worstShape = got[i].desc.shape;
    if (i == 0)
      judged.total = one;
    else
      merge(judged.total, one);
  }
  return judged;
}

/// The input of the case that a model's input "in3" is.
size_t numberOf(const std::string& name) {
  size_t number = 0;
  std::from_chars(name.data() + 2, name.data() + name.size(), number);
  return number;
}

/// A failed question; the first one gives the case its state.
void fail(CaseResult& result, const std::string& question, const std::string& why, CaseStatus as = CaseStatus::Fail) {
  const bool isFirst = result.status == CaseStatus::Pass;
  result.check(question, Status::internal("{}", why));
  if (isFirst) result.status = as;
}

class Asking {
 public:
  Asking(Guest& guest, GuestSession& session, const ExportedModel& model, const OpRegistry& registry)
      : guest_(guest), session_(session), model_(model), registry_(registry), firsts_(model.sets.size()) {
    for (const ExportedSet& set : model.sets) results_.push_back(blank(set));
  }

  std::vector<CaseResult> run(bool leak) {
    for (size_t k = 0; k < results_.size(); ++k) timed(k, [&] { askFirst(k); });
    for (size_t k = 0; k < results_.size(); ++k)
      if (isSound(k)) timed(k, [&] { askFurther(k, leak); });
    for (CaseResult& result : results_) noteSilent(result);
    return std::move(results_);
  }

 private:
  static CaseResult blank(const ExportedSet& set) {
    CaseResult result;
    const Case& c = set.description;
    result.kind = "check", result.id = c.id(), result.name = c.name, result.op = c.op;
    for (const auto& input : c.inputs)
      if (input && result.dtype.empty()) result.dtype = nameOf(input->dtype);
    for (const Tensor& input : set.inputs) result.elements = std::max(result.elements, input.desc.elements());
    for (const OracleTensor& output : set.expected) result.elements = std::max(result.elements, output.elements());
    return result;
  }

  void timed(size_t k, const std::function<void()>& body) {
    const double begun = nowNs();
    body();
    results_[k].durationNs += nowNs() - begun;
  }

  const ExportedSet& setAt(size_t k) const { return model_.sets[k]; }
  const OpDef& cardOf(size_t k) const { return *registry_.find(setAt(k).description.op); }
  /// Further questions tell something.
  bool isSound(size_t k) const { return results_[k].status == CaseStatus::Pass; }
  void note(size_t k, const char* question) const { noteWork(fmt::format("{} ({})", results_[k].id, question)); }

  /// One run into poisoned memory, with what every run must keep. Nothing if it failed, which is noted.
  std::optional<std::vector<Tensor>> runOnce(size_t k, const char* question, const std::vector<Tensor>& inputs,
                                             const std::vector<OracleTensor>& expected) {
    note(k, question);
    std::vector<Tensor> given, outputs;
    for (const Tensor& input : inputs) given.push_back(*copyOf(input));
    for (const OracleTensor& one : expected) outputs.push_back(*poisonedOutput(one.desc));
    const Status status = session_.runInto(given, outputs);
    if (!status.isOk()) {
      failRun(k, question, status, inputs, expected);
      return std::nullopt;
    }
    for (size_t i = 0; i < given.size(); ++i)
      if (!std::ranges::equal(given[i].bytes(), inputs[i].bytes()))
        fail(results_[k], "inputs", fmt::format("the run changed input {} ({})", i, model_.inputs[i]));
    for (size_t i = 0; i < outputs.size(); ++i)
      if (const auto at = changedAround(outputs[i]))
        fail(results_[k], "outputs",
             fmt::format("byte {} of output {} was written, which has {} bytes", *at, i, outputs[i].sizeBytes()));
    return outputs;
  }

  /// A run into our memory gave an error. If it is about shapes, memory of the engine's own tells which it has.
  void failRun(size_t k, const char* question, const Status& status, const std::vector<Tensor>& inputs,
               const std::vector<OracleTensor>& expected) {
    if (status.code() != StatusCode::InvalidArgument)
      return fail(results_[k], question, status.message(), CaseStatus::Refused);
    const auto own = session_.run(inputs);
    if (!own) return fail(results_[k], question, own.error().message(), CaseStatus::Refused);
    for (size_t i = 0; i < own->size(); ++i)
      if ((*own)[i].desc != expected[i].desc)
        return fail(
            results_[k], question,
            fmt::format("output {} is {}, expected {}", i, (*own)[i].desc.toString(), expected[i].desc.toString()));
    fail(results_[k], "outputs", "memory of the right shape is refused: " + status.message());
  }

  std::optional<std::vector<Tensor>> runSet(size_t k, const char* question) {
    return runOnce(k, question, setAt(k).inputs, setAt(k).expected);
  }

  /// OK if two runs agree. Operators declared unordered may add in another order each time.
  Status same(size_t k, const std::vector<Tensor>& first, const std::vector<Tensor>& second) const {
    if (!cardOf(k).unordered) return sameBits(first, second, cardOf(k).numeric != NumericClass::Exact);
    const Judgement judged = judge(setAt(k).expected, setAt(k).tolerances, second);
    return judged.total.pass ? Status::ok() : Status::internal("{}", judged.total.reason);
  }

  void askFirst(size_t k) {
    CaseResult& result = results_[k];
    const auto outputs = runSet(k, "values");
    if (!outputs) return;
    Judgement judged = judge(setAt(k).expected, setAt(k).tolerances, *outputs);
    result.accuracy = judged.total;
    result.worstShape = judged.worstShape;
    result.digest = digestOf(*outputs);
    if (!judged.total.pass && isRightAlone(k))
      return fail(result, "resize", judged.total.reason + "; a session that ran no other shape is right");
    if (!judged.total.pass) return fail(result, "values", judged.total.reason);
    result.check("values", Status::ok());
    if (!result.failed("inputs")) result.check("inputs", Status::ok());
    firsts_[k] = *outputs;
    if (const auto again = runSet(k, "repeat")) compareRuns(k, "repeat", *again, CaseStatus::Unstable);
    askOwnMemory(k);
  }

  /// Whether a session that saw no other shape gives what is expected.
  bool isRightAlone(size_t k) {
    if (k == 0) return false;
    note(k, "resize");
    const GuestLoad fresh = guest_.load(model_.bytes);
    std::vector<Tensor> outputs;
    for (const OracleTensor& one : setAt(k).expected) outputs.push_back(*poisonedOutput(one.desc));
    if (!fresh.session || !fresh.session->runInto(setAt(k).inputs, outputs).isOk()) return false;
    return judge(setAt(k).expected, setAt(k).tolerances, outputs).total.pass;
  }

  void compareRuns(size_t k, const char* question, const std::vector<Tensor>& again, CaseStatus as) {
    const Status status = same(k, firsts_[k], again);
    if (status.isOk())
      results_[k].check(question, status);
    else
      fail(results_[k], question, status.message(), as);
  }

  /// The engine chooses memory and shape of the outputs.
  void askOwnMemory(size_t k) {
    if (!isSound(k)) return;
    note(k, "outputs");
    auto outputs = session_.run(setAt(k).inputs);
    if (!outputs && outputs.error().code() == StatusCode::Unsupported)
      return results_[k].skip("outputs", outputs.error().message());
    if (!outputs) return fail(results_[k], "outputs", outputs.error().message(), CaseStatus::Refused);
    compareRuns(k, "outputs", *outputs, CaseStatus::Unstable);
  }

  void askFurther(size_t k, bool leak) {
    if (results_.size() > 1) {
      if (const auto again = runSet(k, "resize")) compareRuns(k, "resize", *again, CaseStatus::Fail);
    } else {
      results_[k].skip("resize", "the model takes one shape");
    }
    if (isSound(k)) askBatch(k);
    if (isSound(k)) askHidden(k);
    if (leak && k == 0 && isSound(k)) askLeak(k);
  }

  /// True if the model takes other extents of axis 0 of an input, or of an output.
  bool hasFreeFront(const std::function<const Shape&(const ExportedSet&)>& shapeIn) const {
    const Shape& first = shapeIn(setAt(0));
    return !first.empty() && std::ranges::any_of(model_.sets, [&](const ExportedSet& set) {
      return shapeIn(set).front() != first.front();
    });
  }

  /// True if the model takes the shapes of `alone`, the first element of a batch.
  bool takesAlone(size_t k, const PreparedCase& alone) const {
    const ExportedSet& set = setAt(k);
    for (size_t i = 0; i < set.inputs.size(); ++i) {
      const auto& input = alone.inputs[numberOf(model_.inputs[i])];
      const auto shapeIn = [&](const ExportedSet& each) -> const Shape& { return each.inputs[i].desc.shape; };
      if (!input || (input->desc != set.inputs[i].desc && !hasFreeFront(shapeIn))) return false;
    }
    for (size_t i = 0; i < set.expected.size(); ++i) {
      const auto shapeIn = [&](const ExportedSet& each) -> const Shape& { return each.expected[i].desc.shape; };
      if (alone.expected[i].desc != set.expected[i].desc && !hasFreeFront(shapeIn)) return false;
    }
    return true;
  }

  void askBatch(size_t k) {
    const ExportedSet& set = setAt(k);
    if (!model_.form.outputs.empty()) return results_[k].skip("batch", "the form has other outputs than the case");
    const PreparedCase whole = prepareCase(set.description, registry_);
    const auto alone = whole.status.isOk() ? aloneOf(whole, cardOf(k)) : std::nullopt;
    if (!alone) return results_[k].skip("batch", "axis 0 is no batch");
    if (!takesAlone(k, *alone)) return results_[k].skip("batch", "the model takes no other extent of axis 0");
    std::vector<Tensor> inputs;
    for (const std::string& name : model_.inputs) inputs.push_back(*alone->inputs[numberOf(name)]);
    const auto outputs = runOnce(k, "batch", inputs, alone->expected);
    if (!outputs) return;
    std::vector<Tolerance> tolerances;
    for (const OracleTensor& one : alone->expected)
      tolerances.push_back(toleranceOf(cardOf(k), set.description.lane, one, set.description.boundScale));
    judgeFurther(k, "batch", judge(alone->expected, tolerances, *outputs));
  }

  void judgeFurther(size_t k, const char* question, const Judgement& judged) {
    if (judged.total.pass)
      results_[k].check(question, Status::ok());
    else
      fail(results_[k], question, judged.total.reason);
  }

  void askHidden(size_t k) {
    const ExportedSet& set = setAt(k);
    const auto hides = [](const std::vector<bool>& flags) { return std::ranges::count(flags, true) > 0; };
    if (std::ranges::none_of(set.hidden, hides)) return results_[k].skip("hidden", "nothing is hidden");
    for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      std::vector<Tensor> inputs = set.inputs;
      for (size_t i = 0; i < set.hidden.size(); ++i)
        if (hides(set.hidden[i])) inputs[i] = *withHidden(set.inputs[i], set.hidden[i], value);
      const auto outputs = runOnce(k, "hidden", inputs, set.expected);
      if (!outputs) return;
      const Judgement judged = judge(set.expected, set.tolerances, *outputs);
      if (!judged.total.pass)
        return fail(results_[k], "hidden", fmt::format("with {} in hidden elements: {}", value, judged.total.reason));
    }
    results_[k].check("hidden", Status::ok());
  }

  /// Each of three rounds must add memory: pools and caches fill once.
  void askLeak(size_t k) {
    note(k, "leak");
    const double begun = nowNs();
    if (!runRound(k, 1)) return;
    if (nowNs() - begun > kSlowRunNs) return results_[k].skip("leak", "a run takes over 10 ms");
    if (!runRound(k, kRunsPerRound)) return;
    size_t least = SIZE_MAX, before = residentBytes(getpid());
    for (size_t round = 0; round < kRounds && least >= kLeakBytes; ++round) {
      if (!runRound(k, kRunsPerRound)) return;
      const size_t now = residentBytes(getpid());
      least = std::min(least, now > before ? now - before : 0);
      before = now;
    }
    if (least < kLeakBytes) return results_[k].check("leak", Status::ok());
    fail(results_[k], "leak", fmt::format("each {} runs take {} KiB more memory", kRunsPerRound, least >> 10),
         CaseStatus::Leak);
  }

  bool runRound(size_t k, size_t runs) {
    std::vector<Tensor> outputs = firsts_[k];
    for (size_t i = 0; i < runs; ++i) {
      const Status status = session_.runInto(setAt(k).inputs, outputs);
      if (status.isOk()) continue;
      fail(results_[k], "leak", status.message(), CaseStatus::Refused);
      return false;
    }
    return true;
  }

  /// Every question was asked, or says why not.
  static void noteSilent(CaseResult& result) {
    for (const std::string& question : guestQuestions()) {
      const auto isIt = [&](const auto& one) { return one.name == question; };
      if (std::ranges::any_of(result.subChecks, isIt) || std::ranges::any_of(result.notRun, isIt)) continue;
      result.skip(question,
                  result.status == CaseStatus::Pass ? "asked of the operator's first case" : "the case failed");
    }
  }

  Guest& guest_;
  GuestSession& session_;
  const ExportedModel& model_;
  const OpRegistry& registry_;
  std::vector<std::vector<Tensor>> firsts_;  // outputs of the first run, per set
  std::vector<CaseResult> results_;
};

}  // namespace

const std::vector<std::string>& guestQuestions() {
  static const std::vector<std::string> names = {"values", "inputs", "outputs", "repeat",
                                                 "resize", "batch",  "hidden",  "leak"};
  return names;
}

std::vector<CaseResult> askGuest(Guest& guest, GuestSession& session, const ExportedModel& model,
                                 const OpRegistry& registry, bool leak) {
  return Asking(guest, session, model, registry).run(leak);
}

}  // namespace opkit::harness
