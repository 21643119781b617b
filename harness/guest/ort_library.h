// OrtLibrary: ONNX Runtime's shared library with its table of functions, loaded without its header. Used by one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/base/status.h"
#include "harness/guest/ort_api.h"

namespace opkit::harness::ort {

/// A failure of a call, as the library reports it.
struct OrtError {
  OrtCode code = kOrtFail;
  std::string message;  // one line (ort_message.h)
};

class OrtLibrary {
 public:
  /// Loads the library and proves its table. InvalidArgument: not a file, no library, or not ONNX Runtime;
  /// Unsupported: older than 1.23, or its functions are not those of ort_api.h.
  static Result<std::unique_ptr<OrtLibrary>> open(const std::string& path);

  OrtLibrary(const OrtLibrary&) = delete;
  OrtLibrary& operator=(const OrtLibrary&) = delete;

  /// "1.30.0"
  const std::string& version() const { return version_; }

  /// Calls the function of a position.
  template <class Function, class... Arguments>
  auto call(Entry<Function> entry, Arguments... arguments) const {
    const void* function = table_[entry.position];
    return reinterpret_cast<typename Entry<Function>::Pointer>(const_cast<void*>(function))(arguments...);
  }
  /// The failure of a call; nothing if it succeeded.
  template <class Function, class... Arguments>
  std::optional<OrtError> failureOf(Entry<Function> entry, Arguments... arguments) const {
    return take(call(entry, arguments...));
  }
  /// The same as a Status: Unsupported for what ONNX Runtime does not implement, else Internal.
  template <class Function, class... Arguments>
  Status attempt(Entry<Function> entry, Arguments... arguments) const {
    return statusOf(take(call(entry, arguments...)));
  }
  static Status statusOf(const std::optional<OrtError>& error);

 private:
  OrtLibrary(const void* const* table, std::string version) : table_(table), version_(std::move(version)) {}
  std::optional<OrtError> take(OrtStatus* status) const;

  // The library stays in the process: threads of providers may outlive their sessions.
  const void* const* table_;
  std::string version_;
};

/// Gives an object back to its library.
template <class T>
struct Releaser {
  const OrtLibrary* library = nullptr;
  Release<T> entry{};
  void operator()(T* object) const { library->call(entry, object); }
};
template <class T>
using Owned = std::unique_ptr<T, Releaser<T>>;

/// The object that a call makes; `arguments` are those before the result.
template <class T, class Function, class... Arguments>
Result<Owned<T>> make(const OrtLibrary& library, Entry<Function> entry, Release<T> release, Arguments... arguments) {
  T* object = nullptr;
  OPKIT_TRY(library.attempt(entry, arguments..., &object));
  return Owned<T>(object, Releaser<T>{&library, release});
}

}  // namespace opkit::harness::ort
