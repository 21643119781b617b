// check: one group of cases on one backend, by named sub-checks.
//
//   placement  it ran on the backend that was asked (or refused as its case file declares)
//   counters   onExecute allocated nothing, created no pipeline, submitted once per segment, dispatched something
//   canary     nothing was written outside the outputs
//   poison     every element of the outputs was written
//   accuracy   every element is within the bound of its numeric class
//   repeat     a second run gives the same bits
//   recording  (Vulkan) direct and indirect recording give the same bits, also without guards around tensors
//   threads    (host) one thread and all threads give the same bits, also without guards around tensors
//   resize     a walk over the group's shapes on one Session gives the bits of fresh Sessions and, on returning
//              to a shape, creates nothing new
//   error      (error cases) the input is refused with the expected message
//
// A Checker belongs to one thread.
#pragma once

#include <memory>
#include <vector>

#include "engine/runtime/session.h"
#include "harness/cases/case_file.h"
#include "harness/check/op_model.h"
#include "harness/run/results.h"

namespace opkit::harness {

/// A case with its data and what the oracle expects, made once for all backends.
struct PreparedCase {
  Case description;
  HostInputs inputs;
  std::vector<OracleTensor> expected;
  double flops = 0;
  Status status;  // of making the above
};

struct PreparedGroup {
  std::vector<PreparedCase> cases;
};

PreparedGroup prepareGroup(const CaseGroup& group, const OpRegistry& registry);

/// OK unless the case proves nothing: over 30 % of what a sum, softmax or norm should give is zero.
Status checkTrust(const OpDef& def, const PreparedCase& c);

class Checker {
 public:
  /// Sessions are made on `runtime`; `registry` must outlive the Checker.
  Checker(const OpRegistry& registry, std::string backend, std::shared_ptr<Runtime> runtime);

  /// One result per case of the group, in order.
  std::vector<CaseResult> checkGroup(const PreparedGroup& group);
  CaseResult checkError(const ErrorCase& error);

  const std::string& backend() const { return backend_; }
  const DeviceInfo& device() const { return runtime_->device(); }
  /// Work that the device really did, over all checks.
  uint64_t dispatches() const { return dispatches_; }

 private:
  struct Fresh;
  SessionConfig guarded() const;
  Result<std::unique_ptr<Session>> makeSession(Interpreter& interpreter, const SessionConfig& config) const;
  CaseResult emptyResult(const Case& c) const;
  void checkFresh(Interpreter& interpreter, const PreparedCase& c, CaseResult& result, Fresh& fresh);
  Status checkAgain(Interpreter& interpreter, const PreparedCase& c, const Fresh& fresh, SessionConfig config);
  void walk(Interpreter& interpreter, const PreparedGroup& group, const std::vector<Fresh>& fresh,
            std::vector<CaseResult>& results);

  const OpRegistry& registry_;
  std::string backend_;
  std::shared_ptr<Runtime> runtime_;  // shared: sessions keep the device alive
  uint64_t dispatches_ = 0;
};

}  // namespace opkit::harness
