// KernelRig: one kernel of one backend, run by hand on separate tensors, without a Session.
//
// Sessions plan memory, keep several plans and reuse Executions as they see fit. The rig tests the kernel itself: the
// same Execution resized many times, each tensor against a guard page, heap allocations while it runs. The backend's
// conversions bring tensors into the kernel's layout. Used by one thread at a time.
#pragma once

#include "engine/backend/backend_registry.h"
#include "engine/backend/op_runner.h"
#include "engine/op/op_registry.h"
#include "harness/check/op_model.h"

namespace opkit::harness {

struct RigOptions {
  size_t threads = 0;
  std::string provider;               // only this provider's Creators; empty: the first that agrees
  std::optional<std::string> kernel;  // with `provider`: only the Creator of this name
  bool guardPages = false;            // host memory only: each tensor and constant ends at a guard page
  size_t offset = 0;                  // host memory only: each tensor begins so many elements behind aligned memory
  std::optional<size_t> alias;        // output 0 is this input's tensor
};

/// The result of one run of a kernel.
struct RigRun {
  std::vector<Tensor> outputs;   // on the host
  uint64_t heapAllocations = 0;  // operator new during the run, in any thread
  double shapeNs = 0;            // of the card's shape rule
  double resizeNs = 0;           // of the Execution's resize
  Status inputsKept;             // Internal if the run changed an input other than RigOptions::alias
};

class KernelRig {
 public:
  /// Chooses the kernel for `c`. Unsupported carries the refusals; Internal, as run()'s, if the kernel touched a guard
  /// page while it was made. `registry` must outlive the rig.
  static Result<std::unique_ptr<KernelRig>> create(const Case& c, const HostInputs& inputs, const OpRegistry& registry,
                                                   Runtime& runtime, const RigOptions& options);

  /// Resizes the Execution to these inputs and runs it once over poisoned outputs. Inputs that are constants must be
  /// those of create. Internal names the overrun tensor if a guard page was touched; the rig is then unusable.
  Result<RigRun> run(const HostInputs& inputs);

  /// True if the kernel chosen by create() also accepts these inputs: sessions check this at every resize.
  Status accepts(const HostInputs& inputs) const;

  const std::string& provider() const { return provider_; }
  /// Of its tensors that are no constants.
  Layout layout() const { return runner_->layout(); }
  /// "provider", or "provider/kernel" if the Creator has a name.
  std::string kernel() const;
  /// Time taken to choose and make the kernel.
  double createNs() const { return createNs_; }

 private:
  KernelRig() = default;
  bool wantsImages() const;
  Status guardConstants(HostInputs& inputs) const;
  Status choose(const HostInputs& inputs);
  std::vector<Layout> layoutsFor(const Creator& creator) const;
  Status withArgs(const HostInputs& inputs, const std::function<Status(const CreateArgs&)>& body) const;
  Result<std::vector<TensorDesc>> outputDescs(const HostInputs& inputs) const;
  void takeKernel(std::unique_ptr<Execution> execution, Layout layout);
  Result<Tensor> placed(Tensor tensor) const;
  Status fill(const HostInputs& inputs);
  Status execute(RigRun& run);
  Status checkInputs(const HostInputs& inputs) const;

  Case case_;
  const OpRegistry* registry_ = nullptr;
  const OpDef* def_ = nullptr;
  ParamBytes params_;
  RigOptions options_;
  HostInputs made_;  // the inputs of create(): kernels may keep constants
  std::unique_ptr<Backend> backend_;
  std::optional<OpRunner> runner_;    // of a lowered operator: of the current run
  const Creator* creator_ = nullptr;  // of the runner's kernel; the backend's
  std::string provider_;
  double createNs_ = 0;
};

/// Calls of operator new in this process while counting is on; countHeap returns the previous state. The counting
/// operators are in heap_counter.cpp, which a program must link (op-harness and its tests do).
bool countHeap(bool on);
uint64_t heapCount();

}  // namespace opkit::harness
