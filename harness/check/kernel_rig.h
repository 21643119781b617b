// KernelRig: one kernel of one backend, run by hand on tensors of its own, without a Session around it.
//
// Sessions plan memory, keep several plans and reuse Executions as they see fit. The rig is for what must be known of
// a kernel itself: the same Execution resized many times, each tensor against a guard page, heap allocations while it
// runs. Tensors are brought into the layout that the kernel wants by the backend's conversions. Used by one thread at a
// time.
#pragma once

#include "engine/backend/backend_registry.h"
#include "engine/op/op_registry.h"
#include "harness/check/op_model.h"

namespace opkit::harness {

struct RigOptions {
  size_t threads = 0;
  std::string provider;     // only this provider's Creators; empty: the first that agrees
  bool guardPages = false;  // host memory only: each tensor ends at a page that may not be touched
};

/// What running a kernel once came to.
struct RigRun {
  std::vector<Tensor> outputs;   // on the host
  uint64_t heapAllocations = 0;  // operator new during onExecute, in any thread
  double shapeNs = 0;            // of the card's shape rule
  double resizeNs = 0;           // of onResize
};

class KernelRig {
 public:
  /// Chooses the kernel for `c`. Unsupported carries the refusals. `registry` must outlive the rig.
  static Result<std::unique_ptr<KernelRig>> create(const Case& c, const HostInputs& inputs, const OpRegistry& registry,
                                                   Runtime& runtime, const RigOptions& options);
  ~KernelRig();

  /// Resizes the Execution to these inputs and runs it once over poisoned outputs. Inputs that are constants must be
  /// those of create. Internal says which tensor was overrun when a guard page was touched; the rig is then useless.
  Result<RigRun> run(const HostInputs& inputs);

  /// Whether the kernel that create() chose is one for these inputs, too: sessions ask at every resize.
  Status accepts(const HostInputs& inputs) const;

  const std::string& provider() const { return provider_; }
  /// What choosing and making the kernel took.
  double createNs() const { return createNs_; }

 private:
  KernelRig() = default;
  Status choose(const HostInputs& inputs);
  Status withArgs(const HostInputs& inputs, const std::function<Status(const CreateArgs&)>& body) const;
  Result<std::vector<TensorDesc>> outputDescs(const HostInputs& inputs) const;
  struct Stage;
  Result<Tensor> place(const TensorDesc& desc, Layout layout = Layout::NCHW);
  Result<const Tensor*> fill(Stage& stage, const Tensor& values, Layout layout);
  Status execute(const Stage& stage, RigRun& run);

  Case case_;
  const OpRegistry* registry_ = nullptr;
  const OpDef* def_ = nullptr;
  ParamBytes params_;
  RigOptions options_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Execution> execution_;
  RasterExecution* raster_ = nullptr;  // execution_, where the operator is lowered
  const Creator* creator_ = nullptr;   // of execution_; the backend's
  Layout layout_ = Layout::NCHW;       // in which the kernel wants inputs that are not constant, and leaves outputs
  std::string provider_;
  double createNs_ = 0;
};

/// Calls of operator new in this process while counting is on; countHeap answers whether it was. The counting operators
/// are in heap_counter.cpp, which a program must link (op-harness and its tests do).
bool countHeap(bool on);
uint64_t heapCount();

}  // namespace opkit::harness
