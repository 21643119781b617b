#include "engine/backend/cpu/simd_target.h"

// Compiles this file once per instruction set; see hwy/examples/skeleton.cc for the pattern.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backend/cpu/simd_target.cpp"
#include "engine/backend/cpu/foreach_target.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::cpu {
namespace HWY_NAMESPACE {
const char* targetName() { return hwy::TargetName(HWY_TARGET); }
}  // namespace HWY_NAMESPACE
}  // namespace opkit::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::cpu {
HWY_EXPORT(targetName);
const char* simdTargetName() { return HWY_DYNAMIC_DISPATCH(targetName)(); }

Status checkSimd() {
#ifdef OPKIT_SIMD_ALONE
  if ((hwy::SupportedTargets() & HWY_TARGETS) == 0)
    return Status::unsupported(
        "the CPU kernels of this build are for {} alone (OPKIT_SIMD=native), which this "
        "processor has not: configure with -DOPKIT_SIMD=all",
        hwy::TargetName(HWY_TARGETS));
#endif
  return Status::ok();
}

Status limitSimd(const std::string& name) {
  int64_t better = 0;
  std::string known;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {  // the best first
    if (name == hwy::TargetName(target)) {
      hwy::DisableTargets(better);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
      return Status::ok();
    }
    better |= target;
    known += (known.empty() ? "" : ", ") + std::string(hwy::TargetName(target));
  }
#ifdef OPKIT_SIMD_ALONE
  known += " (OPKIT_SIMD=native)";
#endif
  return Status::invalidArgument("no instruction set '{}' here; there are {}", name, known);
}
}  // namespace opkit::cpu
#endif
