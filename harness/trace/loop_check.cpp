#include "harness/trace/loop_check.h"

#include "harness/trace/loop_tracer.h"

namespace opkit::harness {
namespace {

constexpr uint64_t kFreePasses = 256;  // of a search, a sort or a fold of a tile, or a rank
constexpr uint64_t kFewPasses = 1024;

/// The tracer and the limit of a Runtime, as long as this lives.
class Limited {
 public:
  Limited(vulkan::VulkanRuntime& runtime, LoopTracer* tracer) : runtime_(runtime) { runtime_.setTracer(tracer); }
  ~Limited() {
    runtime_.setTracer(nullptr);
    runtime_.limitLoops(UINT64_MAX);
  }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

 private:
  vulkan::VulkanRuntime& runtime_;
};

class LoopCheck {
 public:
  LoopCheck(const PreparedCase& at, const OpRegistry& registry, const std::shared_ptr<vulkan::VulkanRuntime>& runtime)
      : at_(at),
        registry_(registry),
        runtime_(runtime),
        deviceLimit_(runtime->loopIterations()),
        limited_(*runtime, &tracer_) {}

  Status run() {
    if (deviceLimit_ > UINT32_MAX) return Status::unsupported("the device ends no loops");
    OPKIT_ASSIGN(const Planned free, plan(deviceLimit_));
    if (!tracer_.hasLoops()) return Status::unsupported("no shader of the case has a loop");
    OPKIT_ASSIGN(const uint64_t lowest, lowestLimit(fallbacks(*free.session)));
    OPKIT_TRY(checkUnder(lowest));
    return lowest < kFewPasses && kFewPasses < deviceLimit_ ? checkUnder(kFewPasses) : Status::ok();
  }

 private:
  struct Planned {
    std::shared_ptr<Interpreter> interpreter;
    std::unique_ptr<Session> session;
  };

  Result<Planned> plan(uint64_t limit) {
    runtime_->limitLoops(limit);
    tracer_.clear();
    Planned planned;
    OPKIT_ASSIGN(planned.interpreter, makeOpInterpreter(at_.description, registry_, at_.inputs));
    OPKIT_ASSIGN(planned.session, planned.interpreter->createSession({.backend = "vulkan"}, runtime_));
    OPKIT_TRY(feed(*planned.session, at_.description, at_.inputs));
    OPKIT_TRY(planned.session->resize());
    return planned;
  }

  static int64_t fallbacks(const Session& session) {
    return std::ranges::count_if(session.placement(), [](const Placement& row) { return row.fellBack; });
  }

  /// The lowest limit under which no further node falls back: what the kernels declare.
  Result<uint64_t> lowestLimit(int64_t fallbacksOfDevice) {
    uint64_t low = kFreePasses, high = deviceLimit_;
    for (uint64_t middle = low; low < high; middle = low + (high - low) / 2) {
      OPKIT_ASSIGN(const Planned planned, plan(middle));
      if (fallbacks(*planned.session) > fallbacksOfDevice)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  Status checkUnder(uint64_t limit) {
    OPKIT_ASSIGN(const Planned planned, plan(limit));
    tracer_.begin(0);
    OPKIT_TRY(planned.session->run());
    const std::vector<LoopTracer::Count> whole = tracer_.counts();
    // The device counts the test that ends the burning loop too. It may leave out the last pass of all: it is such a
    // test.
    tracer_.begin(static_cast<uint32_t>(std::max(deviceLimit_ - limit, uint64_t{2}) - 2));
    OPKIT_TRY(planned.session->run());
    const std::vector<LoopTracer::Count> limited = tracer_.counts();
    for (size_t i = 0; i < whole.size(); ++i)
      if (limited[i].sum != whole[i].sum)
        return Status::internal(
            "{}: accepted on a device that ends loops after {} passes, where an invocation makes {} of {}",
            whole[i].shader, limit, limited[i].most, whole[i].most);
    return Status::ok();
  }

  const PreparedCase& at_;
  const OpRegistry& registry_;
  const std::shared_ptr<vulkan::VulkanRuntime>& runtime_;
  const uint64_t deviceLimit_;
  LoopTracer tracer_;
  Limited limited_;
};

}  // namespace

Status checkLoopLimits(const PreparedCase& at, const OpRegistry& registry,
                       const std::shared_ptr<vulkan::VulkanRuntime>& runtime) {
  return LoopCheck(at, registry, runtime).run();
}

}  // namespace opkit::harness
