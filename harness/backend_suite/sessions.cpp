// Whole sessions: fallback, refusal, order of events, two sessions, resizing.
#include <thread>

#include "engine/base/guard.h"
#include "engine/runtime/session.h"
#include "harness/backend_suite/patterns.h"
#include "harness/backend_suite/suite.h"

namespace opkit::harness::backend_suite {
namespace {

/// Relu, then Transpose, then Add of the input's transpose: kernels and moves.
Model chain() {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic, kDynamic}});
  const TensorId relu = model.addNode("Relu", "relu", {x})[0];
  const TensorId turned = model.addNode("Transpose", "turned", {relu})[0];
  const TensorId plain = model.addNode("Transpose", "plain", {x})[0];
  model.outputs = {model.addNode("Add", "y", {turned, plain})[0]};
  return model;
}

Result<std::unique_ptr<Session>> sessionOf(const Context& context, bool allowFallback = true) {
  OPKIT_ASSIGN(const auto interpreter, Interpreter::create(chain(), context.registry));
  SessionConfig config;
  config.backend = context.kind.name;
  config.threads = 1;
  config.allowFallback = allowFallback;
  return interpreter->createSession(config, context.runtime);
}

/// Runs [rows, columns] with values of `seed` and checks every element.
Status runOnce(Session& session, int64_t rows, int64_t columns, int seed) {
  OPKIT_TRY(session.resizeInput("x", {rows, columns}));
  OPKIT_TRY(session.resize());
  const auto x = session.fillInput("x")->data<float>();
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 5 + static_cast<size_t>(seed)) % 23) - 11;
  OPKIT_TRY(session.run());
  const Tensor& y = *session.output(session.outputNames()[0]);
  OPKIT_EXPECT(y.desc.shape == Shape({columns, rows}), "expected an output of [{},{}], got {}", columns, rows,
               toString(y.desc.shape));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      const float in = x[static_cast<size_t>(r * columns + c)],
                  got = y.data<float>()[static_cast<size_t>(c * rows + r)];
      const float want = (in < 0 ? 0 : in) + in;
      OPKIT_EXPECT(got == want, "element [{},{}] of {}x{}: expected {}, got {}", c, r, columns, rows, want, got);
    }
  return Status::ok();
}

Status fallback(const Context& context) {
  OPKIT_ASSIGN(const auto session, sessionOf(context));
  OPKIT_TRY(runOnce(*session, 5, 7, 1));
  for (const Placement& placement : session->placement()) {
    const bool here = placement.backend == context.kind.name;
    OPKIT_EXPECT(here || placement.fellBack || placement.type == "Copy",
                 "{} ran on {} and is not marked as fallen back", placement.node, placement.backend);
    OPKIT_EXPECT(here || placement.type == "Copy" || !placement.refusals.empty(), "{} fell back and gives no reason",
                 placement.node);
  }
  return Status::ok();
}

/// Without fallback the backend runs everything, or refuses with one line.
Status refusal(const Context& context) {
  OPKIT_ASSIGN(const auto session, sessionOf(context, false));
  OPKIT_TRY(session->resizeInput("x", {3, 4}));
  const Status status = session->resize();
  if (status.isOk()) return runOnce(*session, 3, 4, 2);
  OPKIT_EXPECT(status.code() == StatusCode::Unsupported, "a refusal must be Unsupported, got {}", status.toString());
  OPKIT_EXPECT(
      status.message().find(context.kind.name) != std::string::npos && status.message().find('\n') == std::string::npos,
      "a refusal must name the backend in one line, got '{}'", status.message());
  return Status::ok();
}

Status repeats(const Context& context) {
  OPKIT_ASSIGN(const auto session, sessionOf(context));
  for (int seed = 0; seed < 5; ++seed) OPKIT_TRY(runOnce(*session, 4, 6, seed));
  const BackendCounters before = session->counters();
  OPKIT_TRY(session->run());
  OPKIT_EXPECT(session->counters().allocations == before.allocations, "a run allocated {} buffers",
               session->counters().allocations - before.allocations);
  return Status::ok();
}

Status resizesSession(const Context& context) {
  OPKIT_ASSIGN(const auto session, sessionOf(context));
  for (const auto& [rows, columns] : {std::pair{3, 5}, {64, 65}, {1, 1}, {0, 4}, {3, 5}})
    OPKIT_TRY(runOnce(*session, rows, columns, 3).withContext(fmt::format("after a resize to {}x{}", rows, columns)));
  return Status::ok();
}

Status twoInTurn(const Context& context) {
  OPKIT_ASSIGN(const auto one, sessionOf(context));
  OPKIT_ASSIGN(const auto two, sessionOf(context));
  for (int seed = 0; seed < 3; ++seed) {
    OPKIT_TRY(runOnce(*one, 5, 7, seed).withContext("first session"));
    OPKIT_TRY(runOnce(*two, 9, 2, seed + 10).withContext("second session"));
  }
  return Status::ok();
}

Status twoAtOnce(const Context& context) {
  OPKIT_ASSIGN(const auto one, sessionOf(context));
  OPKIT_ASSIGN(const auto two, sessionOf(context));
  Status first, second;
  const auto loop = [](Session& session, int64_t rows, Status& status) {
    for (int seed = 0; seed < 5 && status.isOk(); ++seed)
      status = guarded([&] { return runOnce(session, rows + seed % 2, 7, seed); });  // a thread must not throw
  };
  std::thread other([&] { loop(*two, 11, second); });
  loop(*one, 5, first);
  other.join();
  OPKIT_TRY(first.withContext("first thread"));
  return second.withContext("second thread");
}

Status survivesSessions(const Context& context) {
  for (int i = 0; i < 5; ++i) {
    OPKIT_ASSIGN(const auto session, sessionOf(context));
    OPKIT_TRY(runOnce(*session, 3, 3, i));
  }
  return Status::ok();
}

Status device(const Context& context) {
  const DeviceInfo& info = context.runtime->device();
  OPKIT_EXPECT(info.backend == context.kind.name, "device().backend must be '{}', got '{}'", context.kind.name,
               info.backend);
  OPKIT_EXPECT(!info.name.empty(), "device().name is empty");
  OPKIT_ASSIGN(const auto devices, context.kind.devices());
  OPKIT_EXPECT(!devices.empty(), "devices() lists none, but a Runtime could be made");
  const auto none = context.kind.createRuntime({.device = "no such device"});
  OPKIT_EXPECT(!none, "a Runtime on device 'no such device' must be refused");
  OPKIT_EXPECT(none.error().message().find("no such device") != std::string::npos,
               "the refusal must quote what was asked for, got '{}'", none.error().message());
  return Status::ok();
}

/// A second Runtime of the device, with a session of its own, beside the first.
Status runtimesComeAndGo(const Context& context) {
  {
    Context other = context;
    OPKIT_ASSIGN(other.runtime, context.kind.createRuntime(context.options));
    OPKIT_EXPECT(other.runtime != nullptr, "createRuntime() gave no Runtime");
    OPKIT_ASSIGN(const auto session, sessionOf(other));
    OPKIT_TRY(runOnce(*session, 3, 3, 1).withContext("second Runtime"));
  }
  OPKIT_ASSIGN(const auto session, sessionOf(context));
  return runOnce(*session, 3, 3, 2).withContext("first Runtime, after the second");
}

/// Recordings of nothing, which run any number of times.
Status emptyRecordings(const Context& context) {
  OPKIT_ASSIGN(const auto backend, context.backend());
  OPKIT_ASSIGN(const auto recorder, backend->record());
  for (int i = 0; i < 2; ++i) {
    OPKIT_ASSIGN(const auto recording, recorder->finish());
    for (int run = 0; run < 3; ++run) OPKIT_TRY(recording->run());
    std::vector<double> times;
    OPKIT_TRY(recording->appendTimesNs(times));
    OPKIT_EXPECT(times.empty(), "an empty recording has no times, got {}", times.size());
    OPKIT_TRY(recording->checkGuards());
  }
  return Status::ok();
}

}  // namespace

void addSessionTests(std::vector<Test>& tests) {
  tests.push_back({"device", "device.described", "devices are named; an unknown one is refused", device});
  tests.push_back({"device", "device.runtimes", "a second Runtime comes and goes beside the first", runtimesComeAndGo});
  tests.push_back({"recordings", "recordings.empty", "recordings of nothing run again and again", emptyRecordings});
  tests.push_back({"sessions", "sessions.fallback", "right results; what fell back says so and why", fallback});
  tests.push_back(
      {"sessions", "sessions.refusal", "without fallback: all runs here, or one line says what cannot", refusal});
  tests.push_back({"sessions", "sessions.repeat", "several runs; the later ones allocate nothing", repeats});
  tests.push_back({"sessions", "sessions.resize", "one session at five shapes", resizesSession});
  tests.push_back({"sessions", "sessions.two", "two sessions of one Runtime in turn", twoInTurn});
  tests.push_back({"sessions", "sessions.threads", "two sessions of one Runtime on two threads", twoAtOnce});
  tests.push_back({"sessions", "sessions.lifetime", "sessions come and go on one Runtime", survivesSessions});
}

}  // namespace opkit::harness::backend_suite
