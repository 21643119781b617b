#include "harness/bench/bench.h"

#include "engine/base/child_process.h"
#include "engine/base/clock.h"
#include "harness/check/kernel_rig.h"

namespace opkit::harness {
namespace {

// More than the last-level cache of most processors.
constexpr size_t kCacheBytes = size_t{64} << 20;
constexpr double kRepeatedNs = 2e5;  // of device time in one command buffer
constexpr size_t kMaxCopies = 64;

/// Evicts a case from the processor's caches.
void overwriteCaches() {
  static std::vector<unsigned char> memory(kCacheBytes);
  for (size_t i = 0; i < memory.size(); i += 64) memory[i] = static_cast<unsigned char>(memory[i] + 1);
}

class Bench {
 public:
  Bench(const PreparedGroup& group, size_t index, const OpRegistry& registry, const std::string& backend,
        std::shared_ptr<Runtime> runtime, const BenchOptions& options, CaseResult& result)
      : registry_(registry),
        group_(group),
        case_(group.cases[index]),
        backend_(backend),
        runtime_(std::move(runtime)),
        options_(options),
        result_(result) {}

  Status run(Interpreter& interpreter) {
    OPKIT_TRY(timeCreation(interpreter));
    OPKIT_TRY(timeResizeParts());
    OPKIT_TRY(timeWarmResize(interpreter));
    OPKIT_TRY(timeExecution(interpreter));
    OPKIT_TRY(timeDevice(interpreter));
    return timeRepeated();
  }

 private:
  Result<std::unique_ptr<Session>> makeSession(Interpreter& interpreter, bool profile = false) {
    return interpreter.createSession({.backend = backend_, .profile = profile}, runtime_);
  }

  Status timeCreation(Interpreter& interpreter) {
    OPKIT_ASSIGN(Timing create, measure(options_, [&]() -> Result<double> {
                   const double start = nowNs();
                   OPKIT_ASSIGN(const auto session, makeSession(interpreter));
                   return nowNs() - start;
                 }));
    // Cold: a Runtime that has no pipeline yet. (A driver may still keep compiled shaders on disk.)
    const MeasureOptions once{.samples = 5, .minSampleNs = 1, .maxSubjectNs = options_.maxSubjectNs};
    OPKIT_ASSIGN(Timing cold, measure(once, [&]() -> Result<double> {
                   OPKIT_ASSIGN(auto runtime,
                                createRuntime(backend_,
                                              {.device = std::to_string(runtime_->device().index), .cacheDir = "off"}));
                   OPKIT_ASSIGN(const auto session, interpreter.createSession({.backend = backend_}, runtime));
                   OPKIT_TRY(feed(*session, case_.description, case_.inputs));
                   return timed([&] { return session->resize(); });
                 }));
    result_.times.emplace_back("create", std::move(create));
    result_.times.emplace_back("resizeCold", std::move(cold));
    return Status::ok();
  }

  /// The operator's own parts of a resize; the rest is the engine's planning.
  Status timeResizeParts() {
    std::map<std::string, Timing> parts;
    for (size_t i = 0; i < 5; ++i) {
      const auto rig = KernelRig::create(case_.description, case_.inputs, registry_, *runtime_, {});
      if (!rig) return Status::ok();  // a rig cannot run it by hand
      OPKIT_ASSIGN(const RigRun ran, (*rig)->run(case_.inputs));
      parts["resizeShape"].samples.push_back(ran.shapeNs);
      parts["resizeCreate"].samples.push_back((*rig)->createNs());
      parts["resizeKernel"].samples.push_back(ran.resizeNs);
    }
    for (auto& [name, timing] : parts) result_.times.emplace_back(name, std::move(timing));
    return Status::ok();
  }

  /// Many copies of the node in one command buffer share the cost of submission.
  Status timeRepeated() {
    const auto device = std::find_if(result_.times.begin(), result_.times.end(),
                                     [](const auto& entry) { return entry.first == "executeDevice"; });
    if (device == result_.times.end()) return Status::ok();
    const double one = std::max(device->second.median(), 1.0);
    const auto copies = std::clamp<size_t>(static_cast<size_t>(kRepeatedNs / one), 2, kMaxCopies);
    OPKIT_ASSIGN(const auto interpreter, makeOpInterpreter(case_.description, registry_, case_.inputs, copies));
    OPKIT_ASSIGN(const auto session, makeSession(*interpreter, true));
    OPKIT_TRY(feed(*session, case_.description, case_.inputs));
    OPKIT_ASSIGN(Timing repeated, measure(options_, [&]() -> Result<double> {
                   OPKIT_TRY(session->run());
                   double sum = 0;
                   for (const Placement& row : session->placement()) sum += std::max(row.deviceNs, 0.0);
                   return sum / static_cast<double>(copies);
                 }));
    if (repeated.median() > 0) result_.times.emplace_back("executeRepeated", std::move(repeated));
    return Status::ok();
  }

  /// Alternates between two shapes the Session has seen; absent if the case file gives only one.
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
    OPKIT_ASSIGN(Timing warm, measure(options_, [&]() -> Result<double> {
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
    OPKIT_ASSIGN(Timing wall, measure(options_, [&]() -> Result<double> {
                   if (options_.coldCache) overwriteCaches();
                   return timed([&] { return session->run(); });
                 }));
    result_.times.emplace_back("executeWall", std::move(wall));
    return Status::ok();
  }

  /// Time of the last run by the device's own clock; negative if a command was not timed.
  static double deviceNsOf(const Session& session) {
    double sum = 0;
    for (const Placement& row : session.placement()) {
      if (row.type != "Copy" && row.deviceNs < 0) return -1;
      sum += std::max(row.deviceNs, 0.0);
    }
    return sum;
  }

  Status timeDevice(Interpreter& interpreter) {
    OPKIT_ASSIGN(const auto session, makeSession(interpreter, true));
    OPKIT_TRY(feed(*session, case_.description, case_.inputs));
    OPKIT_TRY(session->run());
    if (deviceNsOf(*session) <= 0) return Status::ok();  // no clock, or nothing to time
    OPKIT_ASSIGN(Timing device, measure(options_, [&]() -> Result<double> {
                   if (options_.coldCache) overwriteCaches();
                   OPKIT_TRY(session->run());
                   return deviceNsOf(*session);
                 }));
    if (device.median() > 0) result_.times.emplace_back("executeDevice", std::move(device));
    return Status::ok();
  }

  template <class Body>
  static Result<double> timed(Body&& body) {
    const double start = nowNs();
    OPKIT_TRY(body());
    return nowNs() - start;
  }

  const OpRegistry& registry_;
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
  Checker checker(registry, backend, runtime);
  checker.setShaderLog(options.shaders);
  CaseResult result = checker.checkGroup({{c}, {}}).front();
  result.kind = "bench";
  result.repro = fmt::format("op-harness bench --backend {} --case {}", backend, shellQuoted(result.id));
  if (result.status != CaseStatus::Pass) return result;
  const double start = nowNs();
  const auto interpreter = makeOpInterpreter(c.description, registry, c.inputs);
  const Status status = interpreter
                            ? Bench(group, index, registry, backend, runtime, options, result).run(**interpreter)
                            : interpreter.error();
  if (!status.isOk()) result.check("bench", status);
  result.bytes = bytesMoved(c);
  result.durationNs = nowNs() - start;
  return result;
}

}  // namespace opkit::harness
