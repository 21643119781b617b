#include "engine/base/float_environment.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <xmmintrin.h>
#define OPKIT_READS_FLOAT_REGISTERS 1
#endif

namespace opkit {

#ifdef OPKIT_READS_FLOAT_REGISTERS
namespace {

// The defaults of the registers, without the flags in their low six bits. Of x87, which long double uses, a flag that
// is set differs from the default too.
constexpr uint32_t kSseDefault = 0x1F80, kFlags = 0x3F;
constexpr uint16_t kX87Default = 0x37F;

bool isX87Default() {
  uint16_t control = 0, status = 0;
  __asm__ volatile("fnstcw %0" : "=m"(control));
  __asm__ volatile("fnstsw %0" : "=m"(status));
  return control == kX87Default && (status & kFlags) == 0;
}

}  // namespace

FloatEnvironment::FloatEnvironment() {
  sseStatus_ = _mm_getcsr();
  restores_ = (sseStatus_ & ~kFlags) != kSseDefault || !isX87Default();
  if (!restores_) return;
  std::fegetenv(&caller_);
  std::fesetenv(FE_DFL_ENV);
}

FloatEnvironment::~FloatEnvironment() {
  if (restores_) {
    std::fesetenv(&caller_);
    return;
  }
  if (!isX87Default()) std::fesetenv(FE_DFL_ENV);
  if (_mm_getcsr() != sseStatus_) _mm_setcsr(sseStatus_);
}
#else
FloatEnvironment::FloatEnvironment() {
  std::fegetenv(&caller_);
  std::fesetenv(FE_DFL_ENV);
}

FloatEnvironment::~FloatEnvironment() { std::fesetenv(&caller_); }
#endif

}  // namespace opkit
