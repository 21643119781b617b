// HostBackend: the common part of the backends that compute on the host: memory, copies, raster, counters.
//
// reference and cpu derive from it. Tensors live in HostBuffers and keep the model's dtype. Used by one
// thread at a time, like every Backend.
#pragma once

#include <string>

#include "engine/backend/backend.h"
#include "engine/backend/host/host_execution.h"
#include "engine/backend/host/host_recorder.h"
#include "engine/base/host_memory.h"
#include "engine/op/oracle.h"

namespace opkit {

/// Element memory that the oracle adapters of one backend use in turn, so that a network needs the memory of its
/// largest operator, not of all operators. Slots keep their capacity.
struct OracleWorkspace {
  struct Slot {
    std::vector<double> real;
    std::vector<int64_t> integer;
  };
  std::vector<Slot> slots;
  HostMemoryShare memory;  // of the largest operator so far
};

class HostBackend : public Backend {
 public:
  explicit HostBackend(std::string name) : name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  Result<std::shared_ptr<Buffer>> allocate(size_t sizeBytes) override;
  size_t alignment() const override { return 64; }
  bool sharesHostMemory() const override { return true; }
  Status upload(const Tensor& host, const Tensor& device) override;
  Status download(const Tensor& device, const Tensor& host) override;
  Result<std::unique_ptr<Recorder>> record() override { return std::unique_ptr<Recorder>(new HostRecorder); }

  OracleWorkspace& oracleWorkspace() { return oracleWorkspace_; }

 private:
  std::string name_;
  OracleWorkspace oracleWorkspace_;
};

}  // namespace opkit
