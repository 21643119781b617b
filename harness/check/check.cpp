#include "harness/check/check.h"

#include <chrono>

#include "harness/cases/data.h"
#include "harness/check/placement_check.h"
#include "harness/compare/expected.h"

namespace opkit::harness {
namespace {

constexpr size_t kGuardBytes = 256;

double nowNs() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Status prepare(PreparedCase& c, const OpRegistry& registry) {
  const OpDef* def = registry.find(c.description.op);
  if (!def) return Status::invalidArgument("unknown operator '{}'", c.description.op);
  OPKIT_ASSIGN(const ParamBytes params, paramsFromJson(def->params, c.description.params));
  OPKIT_ASSIGN(c.inputs, makeInputs(c.description, *def));
  OPKIT_ASSIGN(c.expected, expectedOutputs(*def, params, c.inputs, c.description.outputs));
  return Status::ok();
}

/// Every output against the oracle; `shape` becomes that of the output with the worst element.
Comparison compareAll(const OpDef& def, const PreparedCase& c, const std::vector<Tensor>& outputs, Shape& shape) {
  Comparison total;
  total.pass = outputs.size() == c.expected.size();
  if (!total.pass) total.reason = fmt::format("expected {} outputs, got {}", c.expected.size(), outputs.size());
  for (size_t i = 0; total.pass && i < outputs.size(); ++i) {
    const Tolerance tolerance = toleranceOf(def, c.description.lane, c.expected[i], c.description.boundScale);
    Comparison one = compareTensor(c.expected[i], outputs[i], tolerance);
    if (i == 0 || one.margin > total.margin) shape = outputs[i].desc.shape;
    if (!one.pass && outputs.size() > 1) one.reason = fmt::format("output {}: {}", i, one.reason);
    if (i == 0)
      total = one;
    else
      merge(total, one);
  }
  return total;
}

/// 0, 1, ..., n-1, n-2, ..., 0: every shape grown into, shrunk into and returned to.
std::vector<size_t> walkOrder(size_t count) {
  std::vector<size_t> order;
  for (size_t i = 0; i < count; ++i) order.push_back(i);
  for (size_t i = count; i-- > 0;) order.push_back(i);
  return order;
}

}  // namespace

PreparedGroup prepareGroup(const CaseGroup& group, const OpRegistry& registry) {
  PreparedGroup prepared;
  for (const Case& c : group.cases) {
    PreparedCase& one = prepared.cases.emplace_back();
    one.description = c;
    one.status = prepare(one, registry);
  }
  return prepared;
}

Status checkTrust(const OpDef& def, const PreparedCase& c) {
  const bool sums = def.numeric == NumericClass::Products || def.numeric == NumericClass::Sum ||
                    def.numeric == NumericClass::Softmax || def.numeric == NumericClass::Norm;
  if (!sums || c.description.lane == Lane::Specials || c.description.lane == Lane::Designed) return Status::ok();
  for (size_t i = 0; i < c.expected.size(); ++i) {
    const std::vector<double>& y = c.expected[i].real;
    const std::vector<double>& magnitude = c.expected[i].magnitude;
    size_t zeros = 0;  // that are not sums of nothing (padding, no terms at all)
    for (size_t k = 0; k < y.size(); ++k) zeros += y[k] == 0 && (magnitude.empty() || magnitude[k] > 0);
    if (y.size() >= 8 && zeros * 10 > y.size() * 3)
      return Status::invalidArgument("{} of {} expected elements of output {} are zero: the case proves little", zeros,
                                     y.size(), i);
  }
  return Status::ok();
}

/// What a fresh Session gave at one shape.
struct Checker::Fresh {
  bool ran = false;
  std::vector<Tensor> outputs;
};

Checker::Checker(const OpRegistry& registry, std::string backend, std::shared_ptr<Runtime> runtime)
    : registry_(registry), backend_(std::move(backend)), runtime_(std::move(runtime)) {}

SessionConfig Checker::guarded() const {
  SessionConfig config;
  config.backend = backend_;
  config.guardBytes = kGuardBytes;
  config.keepTensors = true;  // planned memory is shared, and so would the canaries be
  config.poison = true;
  return config;
}

Result<std::unique_ptr<Session>> Checker::makeSession(Interpreter& interpreter, const SessionConfig& config) const {
  return interpreter.createSession(config, runtime_);
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
  auto session = makeSession(interpreter, guarded());
  if (!session) return result.check("session", session.error());
  Session& s = **session;
  if (Status status = feed(s, c.description, c.inputs); !status.isOk()) return result.check("session", status);
  if (Status status = s.resize(); !status.isOk()) return result.check("resize", status);
  if (!checkPlacement(s, c.description, backend_, result)) return;

  const BackendCounters before = s.counters();
  if (Status status = s.run(); !status.isOk()) return result.check("run", status);
  const BackendCounters after = s.counters();
  result.dispatches = after.dispatches - before.dispatches;
  dispatches_ += result.dispatches;
  result.check("counters", checkCounters(s, before, after));
  result.check("canary", s.checkGuards());

  auto outputs = copyOutputs(s);
  if (!outputs) return result.check("run", outputs.error());
  fresh = {true, *std::move(outputs)};
  const OpDef& def = *registry_.find(c.description.op);
  result.accuracy = compareAll(def, c, fresh.outputs, result.worstShape);
  const Comparison& accuracy = *result.accuracy;
  result.check("poison", accuracy.unwritten == 0 ? Status::ok()
                                                 : Status::internal("{} of {} elements were never written",
                                                                    accuracy.unwritten, accuracy.elements));
  result.check("accuracy", accuracy.pass ? Status::ok() : Status::internal("{}", accuracy.reason));

  if (Status status = s.run(); !status.isOk()) return result.check("repeat", status);
  auto again = copyOutputs(s);
  result.check("repeat", again ? sameBits(fresh.outputs, *again) : again.error());
}

Status Checker::checkAgain(Interpreter& interpreter, const PreparedCase& c, const Fresh& fresh, SessionConfig config) {
  config.backend = backend_;
  OPKIT_ASSIGN(const auto session, makeSession(interpreter, config));
  OPKIT_TRY(feed(*session, c.description, c.inputs));
  OPKIT_TRY(session->run());
  OPKIT_ASSIGN(const auto outputs, copyOutputs(*session));
  return sameBits(fresh.outputs, outputs);
}

void Checker::walk(Interpreter& interpreter, const PreparedGroup& group, const std::vector<Fresh>& fresh,
                   std::vector<CaseResult>& results) {
  std::vector<size_t> stops;
  for (size_t i = 0; i < fresh.size(); ++i)
    if (fresh[i].ran) stops.push_back(i);
  if (stops.empty()) return;
  std::vector<Status> verdict(fresh.size());
  const auto visit = [&](Session& session, size_t stop) -> Status {
    const PreparedCase& c = group.cases[stop];
    OPKIT_TRY(feed(session, c.description, c.inputs));
    OPKIT_TRY(session.run());
    OPKIT_TRY(session.checkGuards());
    OPKIT_ASSIGN(const auto outputs, copyOutputs(session));
    return sameBits(fresh[stop].outputs, outputs);
  };
  auto session = makeSession(interpreter, guarded());
  BackendCounters known;
  std::string path;
  const std::vector<size_t> order = walkOrder(stops.size());
  for (size_t step = 0; session && step < order.size(); ++step) {
    const size_t stop = stops[order[step]];
    if (step == stops.size()) known = (*session)->counters();
    Status status = visit(**session, stop);
    const BackendCounters now = (*session)->counters();
    if (status.isOk() && step >= stops.size()) status = checkNothingNew(known, now);
    known = step >= stops.size() ? now : known;
    path += (path.empty() ? "" : " -> ") + group.cases[stop].description.inputText();
    if (verdict[stop].isOk() && !status.isOk()) verdict[stop] = status.withContext("after " + path);
  }
  for (const size_t stop : stops) results[stop].check("resize", session ? verdict[stop] : session.error());
}

std::vector<CaseResult> Checker::checkGroup(const PreparedGroup& group) {
  std::vector<CaseResult> results;
  std::vector<Fresh> fresh(group.cases.size());
  const PreparedCase& first = group.cases.front();
  const auto interpreter = makeOpInterpreter(first.description, registry_, first.inputs);
  for (size_t i = 0; i < group.cases.size(); ++i) {
    const PreparedCase& c = group.cases[i];
    CaseResult& result = results.emplace_back(emptyResult(c.description));
    const double start = nowNs();
    if (!c.status.isOk()) {
      result.check("oracle", c.status);
      continue;
    }
    if (!interpreter) {
      result.check("session", interpreter.error());
      continue;
    }
    checkFresh(**interpreter, c, result, fresh[i]);
    // A kernel that writes outside its outputs must not run where there are no guards around them.
    const bool contained = fresh[i].ran && !result.failed("canary");
    if (contained && backend_ == "vulkan")
      result.check("recording", checkAgain(**interpreter, c, fresh[i], {.record = RecordMode::Direct}));
    else if (contained)
      result.check("threads", checkAgain(**interpreter, c, fresh[i], {.threads = 1}));
    const Status trust = checkTrust(*registry_.find(c.description.op), c);
    if (!trust.isOk() && result.status == CaseStatus::Pass) {
      result.status = CaseStatus::Mistrusted;
      result.reason = trust.message();
    }
    result.durationNs = nowNs() - start;
  }
  if (interpreter) walk(**interpreter, group, fresh, results);
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
    OPKIT_ASSIGN(const auto session, makeSession(*interpreter, {.backend = backend_}));
    OPKIT_TRY(feed(*session, c, inputs));
    return session->run();
  };
  const Status status = attempt();
  if (status.isOk())
    result.check("error", Status::internal("expected a message with '{}', but it ran", error.error));
  else if (status.message().find(error.error) == std::string::npos)
    result.check("error", Status::internal("expected a message with '{}', got '{}'", error.error, status.message()));
  else
    result.check("error", Status::ok());
  return result;
}

}  // namespace opkit::harness
