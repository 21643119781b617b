#include "engine/backend/backend.h"

namespace opkit {

BackendCounters& BackendCounters::operator+=(const BackendCounters& other) {
  executionsCreated += other.executionsCreated;
  pipelinesCreated += other.pipelinesCreated;
  allocations += other.allocations;
  dispatches += other.dispatches;
  submits += other.submits;
  bytesUploaded += other.bytesUploaded;
  bytesDownloaded += other.bytesDownloaded;
  measurements += other.measurements;
  return *this;
}

Status resizeAlone(Backend& backend, Execution& execution, TensorList inputs, TensorList outputs) {
  OPKIT_ASSIGN(const size_t bytes, execution.scratchBytes(inputs, outputs));
  Tensor scratch{{DType::UInt8, {static_cast<int64_t>(bytes)}}, nullptr};
  if (bytes > 0) {
    OPKIT_ASSIGN(scratch.buffer, backend.allocate(bytes));
  }
  execution.setScratch(std::move(scratch));
  return execution.onResize(inputs, outputs);
}

}  // namespace opkit
