#include "harness/check/constant_walk.h"

#include "harness/cases/data.h"
#include "harness/check/verdict.h"
#include "harness/check/walk.h"

namespace opkit::harness {
namespace {

constexpr int64_t kExtents[] = {1, 2, 3, 4, 5, 6, 7};
constexpr size_t kFewest = 5;  // one more than the plans that a Session keeps
constexpr int64_t kMostOperand = 4096;

/// The shapes of one axis and the results of fresh Sessions there.
struct Axis {
  std::vector<PreparedCase> cases;
  std::vector<std::vector<Tensor>> fresh;
};

class ConstantWalk {
 public:
  ConstantWalk(const PreparedCase& c, const OpRegistry& registry, const std::string& backend,
               std::shared_ptr<Runtime> runtime, size_t varied)
      : case_(c),
        def_(*registry.find(c.description.op)),
        backend_(backend),
        runtime_(std::move(runtime)),
        varied_(varied) {
    base_ = c.description;
    base_.constants.clear();
    for (size_t i = 0; i < c.inputs.size(); ++i)
      if (i != varied && c.inputs[i]) base_.constants.push_back(i);
    interpreter_ = makeOpInterpreter(base_, registry, c.inputs);
  }

  /// Unsupported if the axis takes too few extents.
  Status walk(size_t axis) const {
    if (!interpreter_) return Status::unsupported("{}", interpreter_.error().message());
    const Axis stops = stopsOf(axis);
    if (stops.cases.size() < kFewest) return Status::unsupported("{} extents", stops.cases.size());
    for (const size_t plans : {size_t{4}, size_t{1}})
      OPKIT_TRY(walk(stops, plans)
                    .withContext(fmt::format("input {} varies, the others are constants, {} plan{} kept", varied_,
                                             plans, plans == 1 ? "" : "s")));
    return Status::ok();
  }

 private:
  Axis stopsOf(size_t axis) const {
    Axis stops;
    for (const int64_t extent : kExtents) {
      PreparedCase at{base_, case_.inputs, {}, {}};
      at.description.inputs[varied_]->shape[axis] = extent;
      auto drawn = makeInputs(at.description, def_);
      if (!drawn) continue;
      at.inputs[varied_] = std::move((*drawn)[varied_]);
      auto fresh = run(at);
      if (!fresh) continue;  // the shape rule refuses it
      stops.cases.push_back(std::move(at));
      stops.fresh.push_back(*std::move(fresh));
    }
    return stops;
  }

  Result<std::vector<Tensor>> run(const PreparedCase& at) const {
    OPKIT_ASSIGN(const auto session, (*interpreter_)->createSession({.backend = backend_}, runtime_));
    OPKIT_TRY(feed(*session, at.description, at.inputs));
    OPKIT_TRY(session->run());
    return copyOutputs(*session);
  }

  Status walk(const Axis& axis, size_t plans) const {
    OPKIT_ASSIGN(const auto session,
                 (*interpreter_)->createSession({.backend = backend_, .planCacheSize = plans}, runtime_));
    std::string path;
    for (const size_t i : walkOrder(axis.cases.size())) {
      const PreparedCase& at = axis.cases[i];
      path += (path.empty() ? "" : " -> ") + at.description.inputs[varied_]->toString();
      const auto visit = [&]() -> Status {
        OPKIT_TRY(feed(*session, at.description, at.inputs));
        OPKIT_TRY(session->run());
        OPKIT_ASSIGN(const auto outputs, copyOutputs(*session));
        return sameResult(def_, at, axis.fresh[i], outputs);
      };
      OPKIT_TRY(visit().withContext("after " + path));
    }
    return Status::ok();
  }

  const PreparedCase& case_;
  const OpDef& def_;
  const std::string& backend_;
  std::shared_ptr<Runtime> runtime_;  // shared: sessions keep the device alive
  size_t varied_;
  Case base_;
  Result<std::shared_ptr<Interpreter>> interpreter_ = Status::internal("not made");
};

}  // namespace

Status walkConstants(const PreparedCase& c, const OpRegistry& registry, const std::string& backend,
                     const std::shared_ptr<Runtime>& runtime) {
  size_t given = 0, walked = 0;
  for (const auto& input : c.inputs) {
    given += input.has_value();
    if (input && input->desc.elements() > kMostOperand)
      return Status::unsupported("it has an input of more than {} elements", kMostOperand);
  }
  if (given < 2) return Status::unsupported("it has one input");
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.inputs[i]) continue;
    const ConstantWalk walk(c, registry, backend, runtime, i);
    for (size_t axis = 0; axis < c.inputs[i]->desc.shape.size(); ++axis) {
      const Status status = walk.walk(axis);
      if (status.code() == StatusCode::Unsupported) continue;
      OPKIT_TRY(status);
      ++walked;
    }
  }
  if (walked > 0) return Status::ok();
  return Status::unsupported("no axis accepts {} extents while the other inputs are constants", kFewest);
}

}  // namespace opkit::harness
