#include "harness/guest/guest_bench.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "harness/bench/turns.h"
#include "harness/check/op_model.h"
#include "harness/compare/compare.h"
#include "harness/guest/guest_check.h"
#include "harness/guest/guest_job.h"
#include "harness/run/worker_note.h"

namespace opkit::harness {
namespace {

/// The case, and the next of its group with another shape.
CaseGroup shapesOf(const CaseGroup& group, size_t index) {
  CaseGroup pair{{group.cases[index]}};
  const std::string own = pair.cases[0].inputText();
  const auto other = std::ranges::find_if(group.cases, [&](const Case& c) { return c.inputText() != own; });
  if (other != group.cases.end()) pair.cases.push_back(*other);
  return pair;
}

/// Memory of the harness's own holds numbers alone.
Status requireNumbers(const ExportedModel& model) {
  bool areNumbers = true;
  for (const ExportedSet& set : model.sets) {
    for (const Tensor& input : set.inputs) areNumbers = areNumbers && !isObject(input.desc.dtype);
    for (const OracleTensor& output : set.expected) areNumbers = areNumbers && !isObject(output.desc.dtype);
  }
  return areNumbers ? Status::ok() : Status::unsupported("strings, sequences and optional values are not timed");
}

/// Which of the models, and of its sets, is the case.
Result<std::pair<size_t, size_t>> placeOf(const ExportedGroup& exported, const std::string& id) {
  for (const auto& [c, reason] : exported.left)
    if (c.id() == id) return Status::unsupported("no form: {}", reason);
  for (size_t m = 0; m < exported.models.size(); ++m)
    for (size_t k = 0; k < exported.models[m].sets.size(); ++k)
      if (exported.models[m].sets[k].description.id() == id) {
        OPKIT_TRY(requireNumbers(exported.models[m]));
        return std::pair(m, k);
      }
  return Status::internal("the case is in no model");
}

CaseResult blank(const Case& c, const std::string& backend) {
  CaseResult result;
  result.kind = "bench";
  result.id = c.id();
  result.name = c.name;
  result.op = c.op;
  result.backend = backend;
  return result;
}

void note(CaseResult& result, const char* step, const Status& status) {
  if (status.code() != StatusCode::Unsupported) return result.check(step, status);
  result.status = CaseStatus::Unsupported;
  result.reason = status.message();
}

/// Offers the case to the guest in ever older forms, and asks it about the first that it takes.
class GuestAnswer {
 public:
  GuestAnswer(const CaseGroup& group, size_t index, const GuestBench& bench)
      : bench_(bench), case_(group.cases[index]), pair_(shapesOf(group, index)), result(blank(case_, bench.guestName)) {
    nameGuest();
  }

  /// The model that all sides get; nothing if there is none, which `result` says.
  std::optional<BenchModel> ask() {
    ExportOptions options{.newest = bench_.guest.info().newestOpset};
    for (int tries = 0; tries < kMostForms; ++tries) {
      noteWork("the model of " + result.id);
      ExportedGroup exported = exportGroup(pair_, bench_.registry, bench_.rules, options);
      const auto place = placeOf(exported, result.id);
      if (!place && tries == 0) note(result, "model", place.error());
      if (!place) return std::nullopt;
      exported_ = std::move(exported);
      const ExportedModel& model = exported_.models[place->first];
      noteWork(fmt::format("load of {} on {}", result.id, bench_.guestName));
      const GuestLoad load = bench_.guest.load(model.bytes);
      if (load.session) return judge(model, place->second, *load.session);
      noteRefusal(load, tries == 0);
      const bool isOlderPossible = model.form.type.find("::") == std::string::npos && model.form.opset > 1;
      if (load.refusal == GuestRefusal::Refused || !isOlderPossible) return std::nullopt;
      options.newest = model.form.opset - 1;
    }
    return std::nullopt;
  }

 private:
  void nameGuest() {
    result.backend = bench_.guestName;
    result.device = bench_.guest.info().provider;
    result.provider = bench_.guest.info().version;
  }

  void noteRefusal(const GuestLoad& load, bool isFirst) {
    const bool isClaimed = load.refusal == GuestRefusal::Refused;
    if (!isFirst && !isClaimed) return;  // the newest form's reason says most
    const char* what = isClaimed                                  ? "claimed, then refused at load"
                       : load.refusal == GuestRefusal::NotClaimed ? "not claimed"
                                                                  : "not loaded";
    result.status = isClaimed ? CaseStatus::Refused : CaseStatus::Unsupported;
    result.reason = fmt::format("{}: {}", what, load.reason);
  }

  /// The questions of `check --ort` come first: a side that fails them is not timed.
  BenchModel judge(const ExportedModel& model, size_t own, GuestSession& session) {
    std::vector<CaseResult> asked = askGuest(bench_.guest, session, model, bench_.registry, false);
    BenchModel subject{model, {&model.sets[own]}};
    for (size_t k = 0; k < model.sets.size(); ++k)
      if (k != own && asked[k].status == CaseStatus::Pass) subject.shapes.push_back(&model.sets[k]);
    result = std::move(asked[own]);
    result.kind = "bench";
    nameGuest();
    result.kernel = fmt::format("{}-{}", model.form.type, model.form.opset);
    return subject;
  }

  const GuestBench& bench_;
  const Case& case_;
  CaseGroup pair_;
  ExportedGroup exported_;  // the model's owner

 public:
  CaseResult result;
};

Status compareAnswer(const ExportedSet& set, std::span<const Tensor> outputs, CaseResult& result) {
  if (outputs.size() != set.expected.size())
    return Status::internal("expected {} outputs, got {}", set.expected.size(), outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    Comparison one = compareTensor(set.expected[i], outputs[i], set.tolerances[i]);
    if (!one.pass) return Status::internal("output {}: {}", i, one.reason);
    if (!result.accuracy || one.margin > result.accuracy->margin) {
      result.accuracy = std::move(one);
      result.worstShape = outputs[i].desc.shape;
    }
  }
  return Status::ok();
}

Status checkAnswers(BackendSide& side, const BenchModel& subject, CaseResult& result) {
  OPKIT_TRY(side.load().error());
  for (size_t shape = subject.shapes.size(); shape-- > 0;) {
    OPKIT_TRY(side.run(shape).error());
    const ExportedSet& set = *subject.shapes[shape];
    OPKIT_TRY(compareAnswer(set, side.session().outputs(), result).withContext(set.description.inputText()));
  }
  for (const Placement& row : side.session().placement()) {
    if (row.type == "Copy") continue;
    result.provider = row.raster ? "raster" : row.provider;
    result.kernel = row.kernel;
  }
  return Status::ok();
}

void checkBackend(BackendSide& side, const BenchModel& subject, const DeviceInfo& device, CaseResult& result) {
  noteWork(fmt::format("answer of {} on {}", result.id, result.backend));
  result.device = device.name;
  result.software = device.software;
  note(result, "accuracy", checkAnswers(side, subject, result));
}

struct Timed {
  BenchSide* side;
  CaseResult* result;
};
using Subject = std::function<Result<double>(BenchSide& side)>;

/// Times one figure of all sides in turns; false if a side failed.
bool takeTurns(const std::vector<Timed>& sides, const char* name, const MeasureOptions& options,
               const Subject& subject) {
  std::vector<std::function<Result<double>()>> subjects;
  for (const Timed& each : sides)
    subjects.emplace_back([each, &subject, name] {
      noteWork(fmt::format("{} of {} on {}", name, each.result->id, each.result->backend));
      auto elapsed = subject(*each.side);
      if (!elapsed) each.result->check(name, elapsed.error());
      return elapsed;
    });
  auto timings = measureInTurns(options, subjects);
  if (!timings) return false;
  for (size_t i = 0; i < sides.size(); ++i) sides[i].result->times.emplace_back(name, std::move((*timings)[i]));
  return true;
}

Result<double> firstWithShape(BenchSide& side) {
  OPKIT_TRY(side.load().error());
  OPKIT_TRY(side.run(1).error());
  OPKIT_ASSIGN(const double first, side.run(0));
  OPKIT_ASSIGN(const double known, side.run(0));
  return first - known;
}

void timeSides(const std::vector<Timed>& sides, bool hasShapes, const MeasureOptions& options) {
  if (!takeTurns(sides, "load", options, [](BenchSide& side) { return side.load(); })) return;
  MeasureOptions once = options;
  once.minSampleNs = 1;  // a session has one first run
  if (hasShapes && !takeTurns(sides, "resizeFirst", once, firstWithShape)) return;
  takeTurns(sides, "executeWall", options, [](BenchSide& side) { return side.run(0); });
}

}  // namespace

std::vector<CaseResult> benchGuestCase(const CaseGroup& group, size_t index, const GuestBench& bench) {
  GuestAnswer answer(group, index, bench);
  const auto subject = answer.ask();
  std::vector<CaseResult> results = {std::move(answer.result)};
  for (const BenchBackend& backend : bench.backends) results.push_back(blank(group.cases[index], backend.name));
  if (!subject) {
    for (size_t i = 1; i < results.size(); ++i)
      note(results[i], "model", Status::unsupported("no model that {} takes", bench.guestName));
    return results;
  }
  GuestSide guest(*subject, bench.guest);
  std::vector<std::unique_ptr<BackendSide>> backends;
  std::vector<Timed> timed = {{&guest, results.data()}};
  for (size_t i = 0; i < bench.backends.size(); ++i) {
    backends.push_back(std::make_unique<BackendSide>(*subject, bench.backends[i], bench.registry, bench.rules));
    checkBackend(*backends[i], *subject, bench.backends[i].runtime->device(), results[1 + i]);
    if (results[1 + i].status == CaseStatus::Pass) timed.push_back({backends[i].get(), &results[1 + i]});
  }
  if (results[0].status == CaseStatus::Pass && timed.size() > 1)
    timeSides(timed, subject->shapes.size() > 1, bench.options);
  return results;
}

}  // namespace opkit::harness
