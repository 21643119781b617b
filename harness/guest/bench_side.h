// BenchSide: one of those who are timed on the same model and the same tensors: a guest, or OpKit on a backend.
//
// load() and run() return the nanoseconds of what a user waits for: from the bytes of a model of ONNX to a session, and
// from tensors of the host to tensors of the host. Used by one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/import/onnx/onnx_rules.h"
#include "engine/op/op_registry.h"
#include "engine/runtime/session.h"
#include "harness/export/exported_case.h"
#include "harness/guest/guest.h"

namespace opkit::harness {

/// The model, and its data sets that are timed; all must outlive the sides. REQUIRES tensors of numbers.
struct BenchModel {
  const ExportedModel& model;
  std::vector<const ExportedSet*> shapes;  // the case, then one of another shape, if there is one
};

class BenchSide {
 public:
  explicit BenchSide(const BenchModel& subject) : subject_(subject) {}
  virtual ~BenchSide() = default;
  BenchSide(const BenchSide&) = delete;
  BenchSide& operator=(const BenchSide&) = delete;

  /// A new session in place of the one before.
  virtual Result<double> load() = 0;
  /// Of subject.shapes[shape]. REQUIRES load().
  virtual Result<double> run(size_t shape) = 0;

 protected:
  const ExportedSet& set(size_t shape) const { return *subject_.shapes[shape]; }
  const ExportedModel& model() const { return subject_.model; }

 private:
  const BenchModel& subject_;
};

class GuestSide final : public BenchSide {
 public:
  /// `guest` must outlive it.
  GuestSide(const BenchModel& subject, Guest& guest) : BenchSide(subject), guest_(guest) {}

  Result<double> load() override;
  Result<double> run(size_t shape) override;

 private:
  Status bindOutputs(size_t shape);

  Guest& guest_;
  std::unique_ptr<GuestSession> session_;
  std::vector<std::vector<Tensor>> bound_ = std::vector<std::vector<Tensor>>(2);  // memory of outputs, per shape
};

struct BenchBackend {
  std::string name;
  std::shared_ptr<Runtime> runtime;  // shared with every session
};

/// OpKit, without fallback too.
class BackendSide final : public BenchSide {
 public:
  /// `registry` and `rules` must outlive it.
  BackendSide(const BenchModel& subject, const BenchBackend& backend, const OpRegistry& registry,
              const OnnxRules& rules)
      : BenchSide(subject), backend_(backend), registry_(registry), rules_(rules) {}

  Result<double> load() override;
  /// Unsupported: the backend refuses a node.
  Result<double> run(size_t shape) override;
  /// That ran last.
  const Session& session() const { return *session_; }

 private:
  Status fill(size_t shape);

  BenchBackend backend_;
  const OpRegistry& registry_;
  const OnnxRules& rules_;
  std::unique_ptr<Session> session_;
  std::optional<size_t> filled_;  // the shape that the inputs have
};

}  // namespace opkit::harness
