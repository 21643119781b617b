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
  alternatives = std::max(alternatives, other.alternatives);
  return *this;
}

}  // namespace opkit
