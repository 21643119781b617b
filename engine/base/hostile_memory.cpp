#include "engine/base/hostile_memory.h"

#include <atomic>
#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace opkit {
namespace {

std::atomic<int> living = 0;

void overwriteFreed([[maybe_unused]] bool on) {
#ifdef __GLIBC__
  mallopt(M_PERTURB, on ? 0xFF : 0);
#endif
}

}  // namespace

HostileMemory::HostileMemory() {
  if (living++ == 0) overwriteFreed(true);
}

HostileMemory::~HostileMemory() {
  if (--living == 0) overwriteFreed(false);
}

bool HostileMemory::isOn() { return living > 0; }

}  // namespace opkit
