#include <optional>
#include <string_view>
#include <utility>

#include "harness/guest/guest.h"
#include "harness/guest/ort_library.h"
#include "harness/guest/ort_models.h"
#include "harness/guest/ort_provider.h"
#include "harness/guest/ort_session.h"

namespace opkit::harness {
namespace {

using namespace ort;

constexpr int kHighestOpset = 40;  // above every one that ONNX has

/// The code is that of many failures; only the words tell.
bool isFallback(const OrtError& error) {
  return error.message.find("assigned to the default CPU EP") != std::string::npos &&
         error.message.find("fallback") != std::string::npos;
}

/// No provider has a kernel for a node, this one included.
bool isWithoutKernel(const OrtError& error) {
  const auto says = [&](std::string_view text) { return error.message.find(text) != std::string::npos; };
  return (error.code == kOrtNotImplemented && says("find an implementation")) ||
         (says("Provider type for ") && says(" is not set"));
}

class OrtGuest final : public Guest {
 public:
  static Result<std::unique_ptr<Guest>> open(const GuestChoice& choice);

  const GuestInfo& info() const override { return info_; }
  GuestLoad load(const std::vector<uint8_t>& model) override;

 private:
  Status chooseProvider();
  /// Whether a session starts with the provider, as it does not without a device or with wrong settings.
  Status tryProvider();
  /// A session with the provider. Each gets options of its own: the WebGPU provider crashes if options serve twice.
  std::optional<OrtError> createGuestSession(const std::vector<uint8_t>& model, Owned<OrtSession>& session) const;
  Status findNewestOpset();
  bool isNotClaimed(const OrtError& error) const {
    return isFallback(error) || isWithoutKernel(error) || (provider_.isCpu && error.code == kOrtNotImplemented);
  }
  GuestRefusal refusalOf(const OrtError& error, const std::vector<uint8_t>& model) const;

  GuestChoice choice_;
  std::unique_ptr<OrtLibrary> library_;
  Owned<OrtEnv> environment_;
  Owned<OrtMemoryInfo> memory_;
  Owned<OrtSessionOptions> cpuOptions_;  // without the provider
  Provider provider_;
  GuestInfo info_;
};

Result<std::unique_ptr<Guest>> OrtGuest::open(const GuestChoice& choice) {
  auto guest = std::make_unique<OrtGuest>();
  guest->choice_ = choice;
  OPKIT_ASSIGN(guest->library_, OrtLibrary::open(choice.library));
  OPKIT_ASSIGN(guest->environment_, newEnvironment(*guest->library_));
  OPKIT_ASSIGN(guest->memory_, newCpuMemory(*guest->library_));
  OPKIT_ASSIGN(guest->cpuOptions_, newOptions(*guest->library_));
  OPKIT_TRY(guest->chooseProvider());
  OPKIT_TRY(guest->findNewestOpset());
  guest->info_.engine = "ONNX Runtime";
  guest->info_.version = guest->library_->version();
  guest->info_.provider = guest->provider_.name;
  guest->info_.device = guest->provider_.description;
  return std::unique_ptr<Guest>(std::move(guest));
}

Status OrtGuest::chooseProvider() {
  OPKIT_ASSIGN(provider_, findProvider(*library_, environment_.get(), choice_));
  if (provider_.isCpu) {
    if (choice_.settings.empty()) return Status::ok();
    return Status::invalidArgument("{}: {} has no settings, got {}", choice_.library, provider_.name,
                                   choice_.settings.front().first);
  }
  return tryProvider();
}

Status OrtGuest::tryProvider() {
  // Strings are what a provider claims least: its own faults are left to the cases.
  OPKIT_ASSIGN(const std::vector<uint8_t> model, copyModel(DType::String, 13));
  Owned<OrtSession> session;
  const auto error = createGuestSession(model, session);
  if (!error || isNotClaimed(*error)) return Status::ok();
  return Status::invalidArgument("{}: {} does not start{}: {}", choice_.library, provider_.name,
                                 choice_.settings.empty() ? "" : " with these settings", error->message);
}

std::optional<OrtError> OrtGuest::createGuestSession(const std::vector<uint8_t>& model,
                                                     Owned<OrtSession>& session) const {
  const auto options = newOptions(*library_);
  if (!options) return OrtError{kOrtFail, options.error().message()};
  if (!provider_.isCpu) {
    if (auto error = addProvider(*library_, environment_.get(), provider_, choice_, options->get())) return error;
    if (auto error = library_->failureOf(kAddConfigEntry, options->get(), "session.disable_cpu_ep_fallback", "1"))
      return error;
  }
  return createSession(*library_, environment_.get(), options->get(), model, session);
}

Status OrtGuest::findNewestOpset() {
  for (int opset = kHighestOpset; opset > 0; --opset) {
    OPKIT_ASSIGN(const std::vector<uint8_t> model, copyModel(DType::Float32, opset));
    Owned<OrtSession> session;
    const auto error = createSession(*library_, environment_.get(), cpuOptions_.get(), model, session);
    if (error && error->code != kOrtNotImplemented) continue;  // without a kernel the opset is known nevertheless
    info_.newestOpset = opset;
    return Status::ok();
  }
  return Status::unsupported("ONNX Runtime {}: it loads no model of ONNX", library_->version());
}

GuestLoad OrtGuest::load(const std::vector<uint8_t>& model) {
  GuestLoad load;
  Owned<OrtSession> session;
  if (const auto error = createGuestSession(model, session)) {
    load.refusal = refusalOf(*error, model);
    load.reason = error->message;
    return load;
  }
  auto made = OrtGuestSession::create(*library_, memory_.get(), std::move(session));
  if (made) {
    load.session = *std::move(made);
  } else {
    load.refusal = GuestRefusal::Refused;
    load.reason = made.error().message();
  }
  return load;
}

GuestRefusal OrtGuest::refusalOf(const OrtError& error, const std::vector<uint8_t>& model) const {
  if (isNotClaimed(error)) return GuestRefusal::NotClaimed;
  if (provider_.isCpu) return GuestRefusal::NotLoaded;
  Owned<OrtSession> session;
  const auto without = createSession(*library_, environment_.get(), cpuOptions_.get(), model, session);
  return without && without->code != kOrtNotImplemented ? GuestRefusal::NotLoaded : GuestRefusal::Refused;
}

}  // namespace

Result<std::unique_ptr<Guest>> openOnnxRuntime(const GuestChoice& choice) { return OrtGuest::open(choice); }

}  // namespace opkit::harness
