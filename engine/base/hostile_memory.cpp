#include "engine/base/hostile_memory.h"

#include <atomic>
#include <cstdlib>
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <malloc.h>
#define OPKIT_OVERWRITES_FREED 1
#endif

namespace opkit {
namespace {

std::atomic<int> living = 0;

void overwriteFreed([[maybe_unused]] bool on) {
#ifdef OPKIT_OVERWRITES_FREED
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

bool HostileMemory::overwritesHost() {
#ifdef OPKIT_OVERWRITES_FREED
  return true;
#else
  return false;
#endif
}

}  // namespace opkit
