#include "harness/check/walk.h"

#include "harness/check/kernel_rig.h"
#include "harness/check/placement_check.h"
#include "harness/check/verdict.h"

namespace opkit::harness {
namespace {

/// Keeps the first failure of each stop, with the path to it.
class Log {
 public:
  explicit Log(size_t stops) : verdicts_(stops) {}

  void add(size_t stop, const Case& at, const Status& status, std::vector<Tensor> got) {
    path_ += (path_.empty() ? "" : " -> ") + at.inputText();
    StopVerdict& verdict = verdicts_[stop];
    ++verdict.visits;
    if (verdict.status.isOk() && !status.isOk()) {
      verdict.status = status.withContext("after " + path_);
      verdict.got = got;
      verdict.previous = previous_;
    }
    previous_ = std::move(got);
  }
  std::vector<StopVerdict> take() { return std::move(verdicts_); }

 private:
  std::vector<StopVerdict> verdicts_;
  std::vector<Tensor> previous_;
  std::string path_;
};

Result<std::vector<Tensor>> visit(Session& session, const PreparedCase& c) {
  OPKIT_TRY(feed(session, c.description, c.inputs));
  OPKIT_TRY(session.run());
  OPKIT_TRY(session.checkGuards());
  return copyOutputs(session);
}

}  // namespace

std::vector<size_t> walkOrder(size_t count) {
  std::vector<size_t> order;
  for (size_t i = 0; i < count; ++i) order.push_back(i);
  for (size_t i = count; i-- > 0;) order.push_back(i);
  return order;
}

std::vector<StopVerdict> walkSession(Session& session, const OpDef& def, const std::vector<Stop>& stops) {
  Log log(stops.size());
  BackendCounters known;
  const std::vector<size_t> order = walkOrder(stops.size());
  for (size_t step = 0; step < order.size(); ++step) {
    const Stop& stop = stops[order[step]];
    if (step == stops.size()) known = session.counters();
    const size_t made = session.statistics().plansMade;
    auto got = visit(session, *stop.at);
    Status status = got ? sameResult(def, *stop.at, *stop.fresh, *got) : got.error();
    const BackendCounters now = session.counters();
    if (status.isOk() && step >= stops.size()) {
      status = checkNothingNew(known, now, session.statistics().plansMade == made);
      if (now.executionsCreated != known.executionsCreated)
        status = Status::internal("{} ({})", status.message(), session.statistics().lastExecution);
    }
    known = step >= stops.size() ? now : known;
    log.add(order[step], stop.at->description, status, got ? *std::move(got) : std::vector<Tensor>());
  }
  return log.take();
}

Result<std::vector<StopVerdict>> walkKernel(const std::vector<Stop>& stops, const OpRegistry& registry,
                                            Runtime& runtime) {
  const PreparedCase& first = *stops.front().at;
  const OpDef& def = *registry.find(first.description.op);
  OPKIT_ASSIGN(const auto rig, KernelRig::create(first.description, first.inputs, registry, runtime, {}));
  Log log(stops.size());
  for (const size_t i : walkOrder(stops.size())) {
    const Stop& stop = stops[i];
    if (!rig->accepts(stop.at->inputs).isOk()) continue;  // a shape of another kernel
    auto ran = rig->run(stop.at->inputs);
    if (!ran && ran.error().isByDevice()) continue;  // the device refuses a conversion; a session runs another kernel
    Status status = ran.error();
    if (ran) {
      // A rig makes the first output of a raster only.
      const std::vector<Tensor> fresh(stop.fresh->begin(),
                                      stop.fresh->begin() + static_cast<std::ptrdiff_t>(ran->outputs.size()));
      status = sameResult(def, *stop.at, fresh, ran->outputs);
    }
    log.add(i, stop.at->description, status, ran ? std::move(ran->outputs) : std::vector<Tensor>());
  }
  return log.take();
}

}  // namespace opkit::harness
