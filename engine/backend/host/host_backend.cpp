#include "engine/backend/host/host_backend.h"

namespace opkit {

Result<std::shared_ptr<Buffer>> HostBackend::allocate(size_t sizeBytes) {
  ++counters().allocations;
  OPKIT_ASSIGN(auto buffer, HostBuffer::create(sizeBytes, Fill::None));
  return std::shared_ptr<Buffer>(std::move(buffer));
}

Status HostBackend::upload(const Tensor& host, const Tensor& device) {
  convertElements(host, device);
  counters().bytesUploaded += device.sizeBytes();
  return Status::ok();
}

Status HostBackend::download(const Tensor& device, const Tensor& host) {
  convertElements(device, host);
  counters().bytesDownloaded += device.sizeBytes();
  return Status::ok();
}

}  // namespace opkit
