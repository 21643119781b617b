// Floating-point environments that a program may have set before it calls OpKit, for tests.
#pragma once

#include <cfenv>
#include <vector>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace opkit {

struct FloatMode {
  const char* name;
  void (*set)();
};

inline std::vector<FloatMode> floatModes() {
  return {
    {"upward", [] { std::fesetround(FE_UPWARD); }},
#if defined(__SSE2__)
        {"denormals are zero, upward",
         [] {
           std::fesetround(FE_UPWARD);
           _mm_setcsr(_mm_getcsr() | 0x8040);
         }},
        {"denormals are zero", [] { _mm_setcsr(_mm_getcsr() | 0x8040); }},
        {"signals", [] { _mm_setcsr(_mm_getcsr() & ~0x1D00u); }},  // all but those of denormals and of inexact results
#endif
    {
      "default", [] {}
    }
  };
}

/// Sets a mode; its end restores what was before.
class ModeScope {
 public:
  explicit ModeScope(const FloatMode& mode) {
    std::fegetenv(&before_);
    std::feclearexcept(FE_ALL_EXCEPT);
    mode.set();
  }
  ~ModeScope() { std::fesetenv(&before_); }
  ModeScope(const ModeScope&) = delete;
  ModeScope& operator=(const ModeScope&) = delete;

 private:
  std::fenv_t before_;
};

/// The registers that a call must leave alone.
struct FloatState {
  int rounding = 0, flags = 0;
  unsigned control = 0;
  static FloatState now() {
    FloatState state{std::fegetround(), std::fetestexcept(FE_ALL_EXCEPT)};
#if defined(__SSE2__)
    state.control = _mm_getcsr();
#endif
    return state;
  }
  bool operator==(const FloatState&) const = default;
};

}  // namespace opkit
