// HostileMemory: makes memory that is read after it was freed show. For harnesses.
//
// While one lives, in the whole process: a Session frees every constant that nothing uses after each plan
// (PipelineCache), and freed memory is overwritten with 0xFF, which is NaN: memory of the host if overwritesHost(), and
// of a device if the host sees it. Costs a write of each freed byte, and that constants are packed again.
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
  /// False without glibc, and under sanitizers, which have allocators of their own (and see such reads themselves).
  static bool overwritesHost();
};

}  // namespace opkit
