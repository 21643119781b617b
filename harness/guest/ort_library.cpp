#include "harness/guest/ort_library.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include "engine/base/checked_file.h"
#include "engine/base/printable.h"
#include "harness/guest/ort_message.h"
#include "harness/guest/ort_self_test.h"

namespace opkit::harness::ort {
namespace {

Result<const OrtApiBase*> loadBase(const std::string& path) {
  OPKIT_TRY(openToRead(path).error());
  std::error_code ignored;
  const std::string file = std::filesystem::absolute(path, ignored).string();  // a bare name would be searched for
  void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* reason = ::dlerror();
    return Status::invalidArgument("{}: no shared library that can be loaded: {}", path,
                                   printable(reason ? reason : "no reason given"));
  }
  const auto get = reinterpret_cast<GetApiBase>(::dlsym(handle, "OrtGetApiBase"));
  if (!get) return Status::invalidArgument("{}: not ONNX Runtime: it exports no OrtGetApiBase", path);
  const OrtApiBase* base = get();
  if (!base || !base->getApi || !base->versionText)
    return Status::invalidArgument("{}: not ONNX Runtime: OrtGetApiBase gives nothing", path);
  return base;
}

}  // namespace

Result<std::unique_ptr<OrtLibrary>> OrtLibrary::open(const std::string& path) {
  OPKIT_ASSIGN(const OrtApiBase* base, loadBase(path));
  const char* text = base->versionText();
  const std::string version = printable(text ? text : "of unknown version");
  const void* table = base->getApi(kApiVersion);
  if (!table)
    return Status::unsupported("{}: ONNX Runtime must have version {} of its C API (1.{} or later), this is {}", path,
                               kApiVersion, kApiVersion, version);
  std::unique_ptr<OrtLibrary> library(new OrtLibrary(static_cast<const void* const*>(table), version));
  OPKIT_TRY(proveTable(*library).withContext(path));
  return library;
}

Status OrtLibrary::statusOf(const std::optional<OrtError>& error) {
  if (!error) return Status::ok();
  if (error->code == kOrtNotImplemented) return Status::unsupported("ONNX Runtime: {}", error->message);
  return Status::internal("ONNX Runtime: {}", error->message);
}

std::optional<OrtError> OrtLibrary::take(OrtStatus* status) const {
  if (!status) return std::nullopt;
  const char* message = call(kGetErrorMessage, static_cast<const OrtStatus*>(status));
  OrtError error{call(kGetErrorCode, static_cast<const OrtStatus*>(status)), meaningOf(message ? message : "")};
  call(kReleaseStatus, status);
  return error;
}

}  // namespace opkit::harness::ort
