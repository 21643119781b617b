#include "harness/bench/bench.h"

#include <chrono>

namespace opkit::harness {
namespace {

double nowNs() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Times one subject. `subject` returns the nanoseconds that count, so that setting up can be left out.
template <class Subject>
Result<Timing> sample(const BenchOptions& options, Subject&& subject) {
  Timing timing;
  OPKIT_TRY(subject().error());  // warm-up
  const double start = nowNs();
  while (timing.samples.size() < options.samples) {
    double total = 0;
    size_t repeats = 0;
    const double sampleStart = nowNs();
    // What is left out counts too here: a cheap subject behind a dear set-up must end as well.
    do {
      OPKIT_ASSIGN(const double elapsed, subject());
      total += elapsed;
      ++repeats;
    } while (total < options.minSampleNs && nowNs() - sampleStart < 50 * options.minSampleNs);
    timing.samples.push_back(total / static_cast<double>(repeats));
    if (timing.samples.size() >= 3 && nowNs() - start > options.maxSubjectNs) break;
  }
  return timing;
}

class Bench {
 public:
  Bench(const PreparedGroup& group, size_t index, const std::string& backend, std::shared_ptr<Runtime> runtime,
        const BenchOptions& options, CaseResult& result)
      : group_(group),
        case_(group.cases[index]),
        backend_(backend),
        runtime_(std::move(runtime)),
        options_(options),
        result_(result) {}

  Status run(Interpreter& interpreter) {
    OPKIT_TRY(timeCreation(interpreter));
    OPKIT_TRY(timeWarmResize(interpreter));
    OPKIT_TRY(timeExecution(interpreter));
    return timeDevice(interpreter);
  }

 private:
  Result<std::unique_ptr<Session>> makeSession(Interpreter& interpreter, bool profile = false) {
    return interpreter.createSession({.backend = backend_, .profile = profile}, runtime_);
  }

  Status timeCreation(Interpreter& interpreter) {
    OPKIT_ASSIGN(Timing create, sample(options_, [&]() -> Result<double> {
                   const double start = nowNs();
                   OPKIT_ASSIGN(const auto session, makeSession(interpreter));
                   return nowNs() - start;
                 }));
    // Cold means a Runtime that has no pipeline yet. (A driver may still keep compiled shaders on disk.)
    const BenchOptions once{.samples = 5, .minSampleNs = 1, .maxSubjectNs = options_.maxSubjectNs};
    OPKIT_ASSIGN(Timing cold, sample(once, [&]() -> Result<double> {
                   OPKIT_ASSIGN(auto runtime, createRuntime(backend_, {std::to_string(runtime_->device().index)}));
                   OPKIT_ASSIGN(const auto session, interpreter.createSession({.backend = backend_}, runtime));
                   OPKIT_TRY(feed(*session, case_.description, case_.inputs));
                   return timed([&] { return session->resize(); });
                 }));
    result_.times.emplace_back("create", std::move(create));
    result_.times.emplace_back("resizeCold", std::move(cold));
    return Status::ok();
  }

  /// Alternates between two shapes the Session has seen; absent when the case file gives only one.
  Status timeWarmResize(Interpreter& interpreter) {
    const PreparedCase* other = nullptr;
    for (const PreparedCase& c : group_.cases)
      if (c.status.isOk() && c.description.inputText() != case_.description.inputText()) other = &c;
    if (!other) return Status::ok();
    OPKIT_ASSIGN(const auto session, makeSession(interpreter));
    const auto visit = [&](const PreparedCase& c) -> Result<double> {
      OPKIT_TRY(feed(*session, c.description, c.inputs));
      return timed([&] { return session->resize(); });
    };
    OPKIT_TRY(visit(case_).error());
    OPKIT_ASSIGN(Timing warm, sample(options_, [&]() -> Result<double> {
                   OPKIT_TRY(visit(*other).error());
                   return visit(case_);
                 }));
    result_.times.emplace_back("resizeWarm", std::move(warm));
    return Status::ok();
  }

  Status timeExecution(Interpreter& interpreter) {
    OPKIT_ASSIGN(const auto session, makeSession(interpreter));
    OPKIT_TRY(feed(*session, case_.description, case_.inputs));
    OPKIT_TRY(session->resize());
    OPKIT_ASSIGN(Timing wall, sample(options_, [&] { return timed([&] { return session->run(); }); }));
    result_.times.emplace_back("executeWall", std::move(wall));
    return Status::ok();
  }

  /// The device's own clock, where it has one.
  Status timeDevice(Interpreter& interpreter) {
    OPKIT_ASSIGN(const auto session, makeSession(interpreter, true));
    OPKIT_TRY(feed(*session, case_.description, case_.inputs));
    bool measured = true;
    OPKIT_ASSIGN(Timing device, sample(options_, [&]() -> Result<double> {
                   OPKIT_TRY(session->run());
                   double sum = 0;
                   for (const Placement& row : session->placement()) {
                     measured = measured && (row.type == "Copy" || row.deviceNs >= 0);
                     sum += std::max(row.deviceNs, 0.0);
                   }
                   return sum;
                 }));
    if (measured && device.median() > 0) result_.times.emplace_back("executeDevice", std::move(device));
    return Status::ok();
  }

  template <class Body>
  static Result<double> timed(Body&& body) {
    const double start = nowNs();
    OPKIT_TRY(body());
    return nowNs() - start;
  }

  const PreparedGroup& group_;
  const PreparedCase& case_;
  std::string backend_;
  std::shared_ptr<Runtime> runtime_;  // shared with every session
  const BenchOptions& options_;
  CaseResult& result_;
};

double bytesMoved(const PreparedCase& c) {
  double bytes = 0;
  for (const auto& input : c.inputs) bytes += input ? static_cast<double>(input->sizeBytes()) : 0;
  for (const OracleTensor& output : c.expected) bytes += static_cast<double>(output.desc.sizeBytes());
  return bytes;
}

}  // namespace

size_t largestCase(const CaseGroup& group) {
  const auto bytes = [](const Case& c) {
    size_t sum = 0;
    for (const auto& input : c.inputs) sum += input ? input->sizeBytes() : 0;
    return sum;
  };
  size_t best = 0;
  for (size_t i = 1; i < group.cases.size(); ++i)
    if (bytes(group.cases[i]) > bytes(group.cases[best])) best = i;
  return best;
}

CaseResult benchCase(const PreparedGroup& group, size_t index, const OpRegistry& registry, const std::string& backend,
                     const std::shared_ptr<Runtime>& runtime, const BenchOptions& options) {
  const PreparedCase& c = group.cases[index];
  CaseResult result = Checker(registry, backend, runtime).checkGroup({{c}}).front();
  result.kind = "bench";
  if (result.status != CaseStatus::Pass) return result;
  const double start = nowNs();
  const auto interpreter = makeOpInterpreter(c.description, registry, c.inputs);
  const Status status =
      interpreter ? Bench(group, index, backend, runtime, options, result).run(**interpreter) : interpreter.error();
  if (!status.isOk()) result.check("bench", status);
  result.bytes = bytesMoved(c);
  result.durationNs = nowNs() - start;
  return result;
}

}  // namespace opkit::harness
