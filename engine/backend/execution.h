// Execution: one operator instance on one backend.
//
// onResize plans (shapes and memory are known: choose tiles, reserve scratch, create pipelines, record
// commands, upload constants); onExecute only runs, allocates nothing and creates no pipeline. The same
// Execution is resized many times and must give, at each shape, what a fresh one would give.
#pragma once

#include <span>

#include "engine/op/region.h"
#include "engine/tensor/tensor.h"

namespace opkit {

/// Tensors of a node in port order; null where an optional input is absent.
using TensorList = std::span<const Tensor* const>;

class Execution {
 public:
  virtual ~Execution() = default;
  virtual Status onResize(TensorList inputs, TensorList outputs) = 0;
  virtual Status onExecute(TensorList inputs, TensorList outputs) = 0;
  /// False when the Execution keeps its own copy of a constant input (packed weights), so that the pipeline
  /// need not put that input on the device.
  virtual bool readsInput(size_t index) const {
    static_cast<void>(index);
    return true;
  }
};

/// The one kernel per backend that carries out regions.
class RasterExecution : public Execution {
 public:
  /// The regions of the next onResize.
  virtual void setRegions(RegionList regions) = 0;
};

}  // namespace opkit
