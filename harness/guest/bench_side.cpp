#include "harness/guest/bench_side.h"

#include <algorithm>
#include <utility>

#include "engine/base/clock.h"
#include "engine/import/onnx/onnx_importer.h"

namespace opkit::harness {

Result<double> GuestSide::load() {
  session_.reset();
  const double start = nowNs();
  GuestLoad loaded = guest_.load(model().bytes);
  const double elapsed = nowNs() - start;
  session_ = std::move(loaded.session);
  if (!session_) return Status::internal("refused once more: {}", loaded.reason);
  return elapsed;
}

Result<double> GuestSide::run(size_t shape) {
  OPKIT_TRY(bindOutputs(shape));
  const double start = nowNs();
  OPKIT_TRY(session_->runInto(set(shape).inputs, bound_[shape]));
  return nowNs() - start;
}

Status GuestSide::bindOutputs(size_t shape) {
  if (!bound_[shape].empty()) return Status::ok();
  for (const OracleTensor& expected : set(shape).expected) {
    OPKIT_ASSIGN(Tensor output, Tensor::onHost(expected.desc));
    bound_[shape].push_back(std::move(output));
  }
  return Status::ok();
}

Result<double> BackendSide::load() {
  session_.reset();
  filled_.reset();
  const double start = nowNs();
  OPKIT_ASSIGN(Model imported, importOnnx(model().bytes, rules_, registry_));
  OPKIT_ASSIGN(const auto interpreter, Interpreter::create(std::move(imported), registry_));
  OPKIT_ASSIGN(session_,
               interpreter->createSession({.backend = backend_.name, .allowFallback = false}, backend_.runtime));
  return nowNs() - start;
}

Result<double> BackendSide::run(size_t shape) {
  if (filled_ != shape) OPKIT_TRY(fill(shape));
  const double start = nowNs();
  OPKIT_TRY(session_->run());
  return nowNs() - start;
}

Status BackendSide::fill(size_t shape) {
  const std::vector<Tensor>& inputs = set(shape).inputs;
  for (size_t i = 0; i < inputs.size(); ++i) OPKIT_TRY(session_->resizeInput(model().inputs[i], inputs[i].desc.shape));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* target = session_->fillInput(model().inputs[i]);
    if (!target || target->desc != inputs[i].desc)
      return Status::internal("the model's input '{}' is not {}", model().inputs[i], inputs[i].desc.toString());
    std::ranges::copy(inputs[i].bytes(), target->bytes().begin());
  }
  filled_ = shape;
  return Status::ok();
}

}  // namespace opkit::harness
