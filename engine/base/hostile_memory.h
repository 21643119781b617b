// HostileMemory: makes memory that is read after it was freed show. For harnesses.
//
// While one lives, in the whole process: a Session frees every constant that nothing uses after each plan
// (PipelineCache), freed host memory is overwritten with 0xFF (NaN; with glibc only), and so is freed device memory
// that the host sees. Costs a write of each freed byte, and that constants are packed again.
#pragma once

namespace opkit {

class HostileMemory {
 public:
  HostileMemory();
  ~HostileMemory();
  HostileMemory(const HostileMemory&) : HostileMemory() {}
  HostileMemory& operator=(const HostileMemory&) = default;

  /// True while one lives.
  static bool isOn();
};

}  // namespace opkit
