// Library: a shared library that is closed when nothing of it is in use any more.
#pragma once

#include <memory>
#include <string>

#include "engine/base/status.h"
#include "engine/plugin/opkit_plugin.h"

namespace opkit::plugin {

class Library {
 public:
  /// InvalidArgument: no such file, not a shared library (with the loader's reason), no opkit_plugin_get, or an
  /// opkit_plugin of another ABI version.
  static Result<std::shared_ptr<Library>> open(const std::string& path);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const opkit_plugin& plugin() const { return plugin_; }
  /// After a successful `load`: the plugin's own unload runs before the library is closed.
  void setLoaded() { loaded_ = true; }

 private:
  explicit Library(void* handle) : handle_(handle) {}

  void* handle_;
  opkit_plugin plugin_{};
  bool loaded_ = false;
};

}  // namespace opkit::plugin
