// Faults: lets tests make driver calls fail, or wait. Thread-safe.
//
// Every creation of a Vulkan object, every range of memory handed out and every submission passes here first
// (OPKIT_VK_CREATE, Device::submitAndWait). Counters below zero do nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace opkit::vulkan {

class Faults {
 public:
  /// The creation after `succeed` more fails once, with VK_ERROR_OUT_OF_DEVICE_MEMORY.
  void failCreationAfter(int64_t succeed) { creations_ = succeed; }
  /// How many more will succeed; negative if none is to fail.
  int64_t creationsLeft() const { return creations_; }
  /// The submission after `succeed` more loses the device.
  void loseDeviceAfter(int64_t succeed) { submissions_ = succeed; }
  /// Called before every creation with a name of what is made. REQUIRES that no other thread creates anything now.
  void beforeCreation(std::function<void(const char* what)> hook) { hook_ = std::move(hook); }
  /// Drops pending faults; true if there were any.
  bool clear() {
    const int64_t creations = creations_.exchange(-1), submissions = submissions_.exchange(-1);
    return creations >= 0 || submissions >= 0;
  }

  bool creationFails(const char* what) {
    if (hook_) hook_(what);
    return strikes(creations_);
  }
  bool submissionFails() { return strikes(submissions_); }

 private:
  /// Counts down; the fault occurs at zero.
  static bool strikes(std::atomic<int64_t>& left) { return left.load() >= 0 && left.fetch_sub(1) == 0; }

  std::function<void(const char*)> hook_;
  std::atomic<int64_t> creations_{-1};
  std::atomic<int64_t> submissions_{-1};
};

}  // namespace opkit::vulkan
