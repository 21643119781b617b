// Part of every test program: caches on disk are off unless a test or its user names a folder.
#include <cstdlib>

namespace {
const int kCacheIsOff = setenv("OPKIT_CACHE_DIR", "off", 0);
}  // namespace
