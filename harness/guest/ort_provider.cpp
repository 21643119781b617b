#include "harness/guest/ort_provider.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "engine/base/checked_file.h"
#include "engine/base/printable.h"

namespace opkit::harness::ort {
namespace {

constexpr std::string_view kSuffix = "executionprovider";

/// The spelling by which sessions ask for a built-in provider: its name without "ExecutionProvider", but for these.
std::string shortNameOf(const std::string& name) {
  for (const char* spelled : {"WebGPU", "XNNPACK", "AZURE", "DML"})
    if (plainName(spelled) == plainName(name)) return spelled;
  return name.substr(0, name.size() - std::min(kSuffix.size(), name.size()));
}

/// "Software by Mesa"
std::string describe(const OrtLibrary& library, const OrtEpDevice* device) {
  const OrtHardwareDevice* hardware = library.call(kEpDeviceHardware, device);
  if (!hardware) return "";
  const OrtHardwareKind kind = library.call(kHardwareKind, hardware);
  const char* kinds[] = {"CPU", "GPU", "NPU"};
  std::string text = kind >= kHardwareCpu && kind <= kHardwareNpu ? kinds[kind] : "device";
  const char* vendor = library.call(kHardwareVendor, hardware);
  if (vendor && *vendor) text = fmt::format("{} {}", printable(vendor), text);
  return fmt::format("{} {:04x}:{:04x}", text, library.call(kHardwareVendorId, hardware),
                     library.call(kHardwareDeviceId, hardware));
}

Status registerLibrary(const OrtLibrary& library, OrtEnv* environment, const GuestChoice& choice) {
  OPKIT_TRY(openToRead(choice.providerLibrary).error());
  std::error_code ignored;
  const std::string file = std::filesystem::absolute(choice.providerLibrary, ignored).string();
  // Some libraries call their provider as it is registered.
  const auto error = library.failureOf(kRegisterProviderLibrary, environment, choice.provider.c_str(), file.c_str());
  if (!error) return Status::ok();
  return Status::invalidArgument("{}: ONNX Runtime does not load this provider: {}", choice.providerLibrary,
                                 error->message);
}

Status unknownProvider(const GuestChoice& choice, const std::vector<std::string>& builtIn,
                       const std::vector<ProviderDevice>& devices) {
  std::vector<std::string> names = builtIn;
  for (const ProviderDevice& device : devices)
    if (std::ranges::find(names, device.provider) == names.end()) names.push_back(device.provider);
  return Status::invalidArgument("{}: expected a provider out of {}, got {}", choice.library,
                                 printable(fmt::format("{}", fmt::join(names, ", "))), printable(choice.provider));
}

}  // namespace

Result<std::vector<std::string>> builtInProviders(const OrtLibrary& library) {
  char** names = nullptr;
  int count = 0;
  OPKIT_TRY(library.attempt(kGetAvailableProviders, &names, &count));
  std::vector<std::string> copies;
  for (int i = 0; i < count; ++i) copies.emplace_back(names[i] ? names[i] : "");
  OPKIT_TRY(library.attempt(kReleaseAvailableProviders, names, count));
  return copies;
}

Result<std::vector<ProviderDevice>> providerDevices(const OrtLibrary& library, const OrtEnv* environment) {
  const OrtEpDevice* const* devices = nullptr;
  size_t count = 0;
  OPKIT_TRY(library.attempt(kGetEpDevices, environment, &devices, &count));
  std::vector<ProviderDevice> list;
  for (size_t i = 0; i < count; ++i) {
    const char* name = library.call(kEpDeviceName, devices[i]);
    list.push_back({name ? name : "", devices[i]});
  }
  return list;
}

std::string plainName(const std::string& name) {
  std::string plain;
  for (const char c : name) {
    const auto code = static_cast<unsigned char>(c);
    if (std::isalnum(code)) plain += static_cast<char>(std::tolower(code));
  }
  if (plain.size() > kSuffix.size() && plain.ends_with(kSuffix)) plain.resize(plain.size() - kSuffix.size());
  return plain;
}

Result<Provider> findProvider(const OrtLibrary& library, OrtEnv* environment, const GuestChoice& choice) {
  if (!choice.providerLibrary.empty()) OPKIT_TRY(registerLibrary(library, environment, choice));
  OPKIT_ASSIGN(const std::vector<std::string> builtIn, builtInProviders(library));
  OPKIT_ASSIGN(const std::vector<ProviderDevice> devices, providerDevices(library, environment));
  const auto isChosen = [&](const std::string& name) { return plainName(name) == plainName(choice.provider); };
  Provider provider;
  for (const std::string& name : builtIn) {
    if (!choice.providerLibrary.empty() || !isChosen(name)) continue;
    provider.name = name;
    provider.shortName = shortNameOf(name);
    provider.isCpu = plainName(name) == "cpu";
  }
  for (const ProviderDevice& device : devices) {
    if (provider.isCpu || provider.device || !isChosen(device.provider)) continue;
    provider.name = device.provider;
    provider.device = device.device;
    if (provider.shortName.empty()) provider.description = describe(library, device.device);  // else it finds its own
  }
  if (provider.name.empty()) return unknownProvider(choice, builtIn, devices);
  return provider;
}

std::optional<OrtError> addProvider(const OrtLibrary& library, OrtEnv* environment, const Provider& provider,
                                    const GuestChoice& choice, OrtSessionOptions* options) {
  if (provider.isCpu) return std::nullopt;
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : choice.settings) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  // By name a built-in provider finds its device itself, also one that the library's search for hardware does not see.
  if (!provider.shortName.empty()) {
    auto error = library.failureOf(kAppendProvider, options, provider.shortName.c_str(), keys.data(), values.data(),
                                   keys.size());
    if (!error || !provider.device) return error;
  }
  const OrtEpDevice* const devices[] = {provider.device};
  return library.failureOf(kAppendProviderDevices, options, environment, devices, size_t{1}, keys.data(), values.data(),
                           keys.size());
}

}  // namespace opkit::harness::ort
