#include "engine/tools/driver.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/base/child_process.h"
#include "engine/base/json_text.h"
#include "engine/model/model.h"

namespace opkit::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kChosen = "OPKIT_DRIVER";  // the manifest in use; set for the second execution
constexpr const char* kWidth = "LP_NATIVE_VECTOR_WIDTH";
constexpr const char* kNoShaderCache = "MESA_SHADER_CACHE_DISABLE";
constexpr const char* kManifests[] = {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"};  // the second: loaders before 1.3.207

std::string valueOf(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

/// The path of the driver's library; one without a slash is looked up by the dynamic linker.
Result<fs::path> libraryOf(const fs::path& manifest) {
  OPKIT_ASSIGN(const auto bytes, readFile(manifest.string()));
  OPKIT_TRY(checkJsonDepth({reinterpret_cast<const char*>(bytes.data()), bytes.size()}).withContext(manifest.string()));
  const Json json = parseJson(bytes);
  const Json icd = json.is_object() ? json.value("ICD", Json()) : Json();
  const Json path = icd.is_object() ? icd.value("library_path", Json()) : Json();
  if (!path.is_string() || path.get<std::string>().empty())
    return Status::invalidArgument("{} is not a manifest of a Vulkan driver: it has no ICD.library_path",
                                   manifest.string());
  const fs::path library = path.get<std::string>();
  if (library.is_absolute() || !library.has_parent_path()) return library;
  return manifest.parent_path() / library;
}

Status executeAnew(char** argv) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) ::execv(program.c_str(), argv);
  return Status::internal("cannot restart this program: {}", std::strerror(errno));
}

}  // namespace

Status useDriver(const std::string& file, char** argv) {
  std::error_code error;
  const fs::path manifest = fs::canonical(file, error);
  if (error) return Status::invalidArgument("cannot read '{}': {}", file, error.message());
  if (valueOf(kChosen) == manifest) return Status::ok();
  OPKIT_ASSIGN(const fs::path library, libraryOf(manifest));
  if (library.has_parent_path()) {
    if (!fs::exists(library, error))
      return Status::invalidArgument("{} names a library that is not there: {}", file, library.string());
    const std::string before = valueOf("LD_LIBRARY_PATH");
    const std::string folders = library.parent_path().string() + (before.empty() ? "" : ":" + before);
    ::setenv("LD_LIBRARY_PATH", folders.c_str(), 1);
  }
  for (const char* variable : kManifests) ::setenv(variable, manifest.c_str(), 1);
  ::setenv(kChosen, manifest.c_str(), 1);
  return executeAnew(argv);
}

void useVectorWidth(int bits) {
  ::setenv(kWidth, std::to_string(bits).c_str(), 1);
  ::setenv(kNoShaderCache, "true", 1);
}

std::string driverOptions() {
  std::string options;
  if (const std::string driver = valueOf(kChosen); !driver.empty()) options += " --driver " + shellQuoted(driver);
  if (const std::string width = valueOf(kWidth); !width.empty()) options += " --vector-width " + width;
  return options.empty() ? options : options.substr(1);
}

bool hasVectorWidth() { return !valueOf(kWidth).empty(); }

std::string undoDriverOptions() {
  std::string arguments;
  if (!valueOf(kChosen).empty()) arguments = fmt::format("-u {} -u {}", kChosen, fmt::join(kManifests, " -u "));
  return arguments + (valueOf(kWidth).empty() ? "" : fmt::format(" -u {} -u {}", kWidth, kNoShaderCache));
}

}  // namespace opkit::cli
