#include "engine/plugin/library.h"

#include <dlfcn.h>

#include <filesystem>

#include "engine/base/checked_file.h"
#include "engine/plugin/call.h"
#include "engine/plugin/registrar.h"

namespace opkit::plugin {

Result<std::shared_ptr<Library>> Library::open(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path file = std::filesystem::absolute(path, ignored);
  OPKIT_TRY(openToRead(file.string()).error());
  void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* reason = ::dlerror();
    return Status::invalidArgument("not a shared library that can be loaded: {}",
                                   oneLine(reason ? reason : "no reason given"));
  }
  std::shared_ptr<Library> library(new Library(handle));
  const auto get = reinterpret_cast<opkit_plugin_get_fn>(::dlsym(handle, "opkit_plugin_get"));
  if (!get) return Status::invalidArgument("it exports no opkit_plugin_get; see engine/plugin/opkit_plugin.h");
  const opkit_plugin* plugin = get();
  if (!plugin) return Status::invalidArgument("opkit_plugin_get returned NULL");
  if (plugin->abi_version != OPKIT_ABI_VERSION)
    return Status::invalidArgument("it was built for ABI version {}, this OpKit has {}; rebuild the plugin",
                                   plugin->abi_version, OPKIT_ABI_VERSION);
  OPKIT_ASSIGN(library->plugin_, copyStruct(plugin, "opkit_plugin"));
  if (!library->plugin_.name || !*library->plugin_.name || !library->plugin_.load)
    return Status::invalidArgument("its opkit_plugin has no name or no load function");
  return library;
}

Library::~Library() {
  if (loaded_ && plugin_.unload) {
    opkit_call call(plugin_.name);
    static_cast<void>(call.invoke("unload", [&] { return plugin_.unload(), OPKIT_OK; }));
  }
  ::dlclose(handle_);
}

}  // namespace opkit::plugin
