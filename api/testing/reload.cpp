// Loads libopkit and unloads it, twice, then a plugin that runs a network with it, twice. Loads without a call come
// first: a call may make variables of the thread, which keep libraries loaded. Usage: reload LIBOPKIT PLUGIN MODEL
// BACKEND
#include <dlfcn.h>

#include <cstdio>

namespace {

/// True if `use` of the library was, between its load and its unload.
template <class Use>
bool loaded(const char* path, const Use& use) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const bool good = library && use(library) && dlclose(library) == 0;
  if (!good) std::fprintf(stderr, "reload: %s failed\n", path);
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return std::fprintf(stderr, "usage: reload LIBOPKIT PLUGIN MODEL BACKEND\n"), 2;
  const auto none = [](void*) { return true; };
  const auto run = [&](void* plugin) {
    using Run = bool (*)(const char* model, const char* backend);
    const auto runOnce = reinterpret_cast<Run>(dlsym(plugin, "runOnce"));
    return runOnce && runOnce(argv[3], argv[4]);
  };
  const bool good = loaded(argv[1], none) && loaded(argv[1], none) && loaded(argv[2], run) && loaded(argv[2], run);
  return good ? 0 : 1;
}
