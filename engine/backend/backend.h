// Runtime and Backend: the interfaces that a folder under engine/backend/ implements.
//
// A Runtime is device-wide (one per physical device: allocators, pipeline cache). Sessions on several threads may share
// it. A Backend belongs to one session and is used by one thread at a time. engine/backend/null is the complete minimal
// example to copy.
//
// A plan records its Executions once and runs the Recordings many times. Memory, kernels and copies have no order of
// calls.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/backend/constant_store.h"
#include "engine/backend/creator.h"
#include "engine/backend/execution.h"

namespace opkit {

class OpRegistry;
class ThreadPool;
class TuningCache;

struct DeviceInfo {
  std::string backend;    // "cpu", "vulkan", ...
  int index = 0;          // position among the devices of the backend
  std::string name;       // "llvmpipe (LLVM 15.0.6, 256 bits)"
  std::string driver;     // name and version
  std::string uuid;       // hex, empty if there is none
  bool software = false;  // implemented on the CPU
};

enum class RecordMode { Indirect, Direct };  // one Recording per segment of a plan, or one per Execution
enum class Precision { High, Normal, Low };
/// Storage of tensors whose kernels accept both: linear buffers, or NC4HW4 images.
enum class Storage { Auto, Buffer, Image };
enum class MemoryHint { Normal, Low };  // Low: prefer low memory over speed
enum class PowerHint { Normal, Low };   // Low: prefer low power over speed

/// What the Backends of one session, one for each stage and body, use in turn. The first that needs a member makes it.
struct BackendShare {
  std::mutex making;                 // of the members
  std::shared_ptr<ThreadPool> pool;  // of its CPU Backends
  std::shared_ptr<Buffer> staging;   // of copies to and from a device whose memory the host cannot address
  std::mutex copying;                // held while `staging` is in use
};

struct BackendConfig {
  size_t threads = 0;                     // CPU worker threads; 0 is one per core
  Precision precision = Precision::High;  // Normal and Low store floats as fp16 on the device
  bool deviceTimestamps = false;          // time every Execution on the device
  Storage storage = Storage::Auto;        // Auto follows the device's profile
  bool tune = false;                      // time kernel choices that the tuning cache lacks
  MemoryHint memory = MemoryHint::Normal;
  PowerHint power = PowerHint::Normal;
  size_t guardBytes = 0;  // canaries around constants, the parts of scratch memory and images (harness only)
  // Kernels with alternatives use this one, if they have so many, instead of the tuned or standard one (harness only).
  std::optional<size_t> alternative = std::nullopt;
  std::shared_ptr<BackendShare> share = nullptr;  // of the session; null: the Backend has its own
};

/// Monotonic counters since the Backend was made.
struct BackendCounters {
  uint64_t executionsCreated = 0;
  uint64_t pipelinesCreated = 0;
  uint64_t allocations = 0;  // buffers, also during onExecute
  uint64_t dispatches = 0;   // device: recorded work submitted; host: Executions run
  uint64_t submits = 0;
  uint64_t bytesUploaded = 0;
  uint64_t bytesDownloaded = 0;
  uint64_t measurements = 0;  // timings made to tune
  uint64_t alternatives = 0;  // the most among which one kernel chose

  BackendCounters& operator+=(const BackendCounters& other);
};

/// Executions that were added to a Recorder, ready to run any number of times. The plan that asked for it owns it, and
/// destroys it before the tensors, the lists of tensors and the Executions.
class Recording {
 public:
  virtual ~Recording() = default;
  /// Runs the Executions in the order in which they were added, and waits for them. InvalidArgument if one found bad
  /// data (an index out of range), DeviceLost.
  virtual Status run() = 0;
  /// With BackendConfig::deviceTimestamps: appends the nanoseconds of each Execution in the last run. Nothing if the
  /// backend has no device clock.
  virtual Status appendTimesNs(std::vector<double>& times) const {
    static_cast<void>(times);
    return Status::ok();
  }
  /// With BackendConfig::guardBytes, after a run: Internal if a kernel wrote outside a constant that it packed or
  /// outside a part of its scratch memory.
  virtual Status checkGuards() { return Status::ok(); }
};

/// Makes the Recordings of one plan on one backend, which run in the order in which they are finished.
class Recorder {
 public:
  virtual ~Recorder() = default;
  /// Resizes the Execution, whose scratch memory is set, and appends it to the open Recording. An Execution is part of
  /// one Recording at a time: one that was added before must not run again.
  virtual Status add(Execution& execution, TensorList inputs, TensorList outputs) = 0;
  /// Closes the open Recording; the next add() opens another.
  virtual Result<std::unique_ptr<Recording>> finish() = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  /// "cpu", "vulkan": the first part of a creator table's key.
  virtual const std::string& name() const = 0;
  /// The kernels this backend offers for an operator, fastest first. Internal operators are among those asked for:
  /// Raster, which moves data, and, if the backend has several layouts, Convert (engine/op/internal_operators.h).
  virtual std::span<const Creator> creators(const OpDef& def) const = 0;

  /// Holds packed constants of kernels. A Backend has its own store until shareConstants is called.
  ConstantStore& constants() const { return *constants_; }
  void shareConstants(std::shared_ptr<ConstantStore> store) { constants_ = std::move(store); }

  /// Abilities of the device; kernels refuse nodes that need more.
  virtual const DeviceCaps& caps() const {
    static const DeviceCaps everything;
    return everything;
  }
  /// Allocates device memory for tensors; contents undefined. OutOfMemory if refused.
  virtual Result<std::shared_ptr<Buffer>> allocate(size_t sizeBytes) = 0;
  /// True if tensors live in host memory exactly as the model declares them, so that host tensors need no copy.
  virtual bool sharesHostMemory() const { return false; }
  /// Every tensor's offset in a buffer is a multiple of this.
  virtual size_t alignment() const = 0;
  /// The dtype in which the backend stores a tensor of the model's `dtype` (fp16 for fp32 in Precision::Normal). upload
  /// and download convert.
  virtual DType storageDType(DType dtype) const { return dtype; }

  /// Bytes of a tensor on the device in its layout. Unsupported if the device cannot store that layout.
  virtual Result<size_t> storedBytes(const Tensor& tensor) const { return tensor.sizeBytes(); }

  /// Copy a host tensor to the device and back. Shapes are equal; float dtypes may differ.
  virtual Status upload(const Tensor& host, const Tensor& device) = 0;
  virtual Status download(const Tensor& device, const Tensor& host) = 0;

  /// Starts the recordings of one plan.
  virtual Result<std::unique_ptr<Recorder>> record() = 0;

  const BackendCounters& counters() const { return counters_; }
  BackendCounters& counters() { return counters_; }

 private:
  BackendCounters counters_;
  std::shared_ptr<ConstantStore> constants_ = std::make_shared<ConstantStore>();  // shared with other sessions
};

class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual const DeviceInfo& device() const = 0;
  /// Measurements on disk, valid while device, driver and kernels stay the same; null if none are kept.
  virtual TuningCache* measurements() { return nullptr; }
  /// `registry` supplies the creator tables and must outlive the Backend.
  virtual Result<std::unique_ptr<Backend>> createBackend(const OpRegistry& registry, const BackendConfig& config) = 0;
};

}  // namespace opkit
