#include "harness/guest/ort_self_test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/checked_file.h"
#include "engine/base/crash_line.h"
#include "harness/guest/ort_models.h"
#include "harness/guest/ort_provider.h"
#include "harness/guest/ort_session.h"
#include "harness/guest/ort_values.h"

namespace opkit::harness::ort {
namespace {

constexpr unsigned kMostSeconds = 60;  // until the child is ended

/// Says what a group of functions got wrong.
Status expect(bool isRight, const char* what) { return isRight ? Status::ok() : Status::unsupported("{}", what); }

Status errorsComeBack(const OrtLibrary& library) {
  constexpr const char* kText = "OpKit asks";
  OrtStatus* status = library.call(kCreateStatus, kOrtNotImplemented, kText);
  OPKIT_TRY(expect(status, "no error is made"));
  const OrtCode code = library.call(kGetErrorCode, static_cast<const OrtStatus*>(status));
  OPKIT_TRY(expect(code == kOrtNotImplemented, "an error has another code"));
  const char* text = library.call(kGetErrorMessage, static_cast<const OrtStatus*>(status));
  OPKIT_TRY(expect(text && std::strcmp(text, kText) == 0, "an error has another message"));
  library.call(kReleaseStatus, status);
  return Status::ok();
}

Status tensorsComeBack(const OrtLibrary& library, const OrtMemoryInfo* memory) {
  const TensorDesc desc{DType::Int16, {2, 3}};
  OPKIT_ASSIGN(const Tensor tensor, Tensor::fromValues<int16_t>(desc, {1, -2, 3, -4, 5, -6}));
  OPKIT_ASSIGN(const Owned<OrtValue> value, borrowed(library, memory, tensor));
  OPKIT_ASSIGN(const Tensor copy, copied(library, value.get()));
  OPKIT_TRY(expect(copy.desc == desc, "a tensor has another type or shape"));
  OPKIT_TRY(expect(std::ranges::equal(copy.bytes(), tensor.bytes()), "a tensor has other values"));
  OPKIT_ASSIGN(const Owned<OrtTypeAndShape> info,
               make(library, kTypeAndShape, kReleaseTypeAndShape, static_cast<const OrtValue*>(value.get())));
  size_t count = 0;
  OPKIT_TRY(library.attempt(kElementCount, static_cast<const OrtTypeAndShape*>(info.get()), &count));
  return expect(count == 6, "a tensor has another number of elements");
}

/// Every text and pointer of the lists is read once.
Status providersAreListed(const OrtLibrary& library, OrtEnv* environment) {
  OPKIT_ASSIGN(const std::vector<std::string> names, builtInProviders(library));
  const bool hasCpu = std::ranges::find(names, "CPUExecutionProvider") != names.end();
  OPKIT_TRY(expect(hasCpu, "the providers lack CPUExecutionProvider"));
  OPKIT_ASSIGN(const std::vector<ProviderDevice> devices, providerDevices(library, environment));
  for (const ProviderDevice& device : devices) OPKIT_TRY(expect(!device.provider.empty(), "a device has no provider"));
  return Status::ok();
}

/// Calls that must fail, and say why.
Status wrongCallsFail(const OrtLibrary& library, OrtEnv* environment) {
  OPKIT_ASSIGN(const Owned<OrtSessionOptions> options, newOptions(library));
  const auto names = [](const std::optional<OrtError>& error, const char* word) {
    return error && error->message.find(word) != std::string::npos;
  };
  const auto level = library.failureOf(kSetOptimization, options.get(), static_cast<OrtOptimization>(12345));
  OPKIT_TRY(expect(level.has_value(), "a wrong level of optimisation is taken"));
  const char* const* none = nullptr;
  const auto provider = library.failureOf(kAppendProvider, options.get(), "OpKitNowhere", none, none, size_t{0});
  OPKIT_TRY(expect(names(provider, "OpKitNowhere"), "a provider that is not there is taken"));
  const auto file = library.failureOf(kRegisterProviderLibrary, environment, "OpKit", "/opkit/nowhere.so");
  OPKIT_TRY(expect(names(file, "nowhere.so"), "a provider's library that is not there is taken"));
  const OrtEpDevice* const* devices = nullptr;
  const auto device =
      library.failureOf(kAppendProviderDevices, options.get(), environment, devices, size_t{0}, none, none, size_t{0});
  return expect(device.has_value(), "a provider without a device is taken");
}

Status aModelRuns(const OrtLibrary& library, OrtEnv* environment, const OrtMemoryInfo* memory) {
  OPKIT_ASSIGN(const std::vector<uint8_t> model, differenceModel());
  OPKIT_ASSIGN(const Owned<OrtSessionOptions> options, newOptions(library));
  OPKIT_TRY(library.attempt(kAddConfigEntry, options.get(), "session.disable_prepacking", "0"));
  Owned<OrtSession> handle(nullptr, {&library, kReleaseSession});
  OPKIT_TRY(OrtLibrary::statusOf(createSession(library, environment, options.get(), model, handle)));
  OPKIT_ASSIGN(const std::unique_ptr<OrtGuestSession> session,
               OrtGuestSession::create(library, memory, std::move(handle)));
  const TensorDesc desc{DType::Float32, {3}};
  OPKIT_ASSIGN(const Tensor left, Tensor::fromValues<float>(desc, {5, 7, -1}));
  OPKIT_ASSIGN(const Tensor right, Tensor::fromValues<float>(desc, {2, 8, -4}));
  OPKIT_ASSIGN(const std::vector<Tensor> made, session->run({left, right}));
  const std::array<float, 3> expected = {3, -1, 3};
  return expect(made.size() == 1 && made[0].desc == desc && std::ranges::equal(made[0].data<float>(), expected),
                "a subtraction has other values");
}

Status everyStep(const OrtLibrary& library) {
  OPKIT_TRY(errorsComeBack(library));
  OPKIT_ASSIGN(const Owned<OrtEnv> environment, newEnvironment(library));
  OPKIT_ASSIGN(const Owned<OrtMemoryInfo> memory, newCpuMemory(library));
  OPKIT_TRY(tensorsComeBack(library, memory.get()));
  OPKIT_TRY(providersAreListed(library, environment.get()));
  OPKIT_TRY(wrongCallsFail(library, environment.get()));
  return aModelRuns(library, environment.get(), memory.get());
}

[[noreturn]] void answerFromChild(const OrtLibrary& library, int channel) {
  endCrashLines();
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) ::signal(signal, SIG_DFL);
  ::alarm(kMostSeconds);
  const Status status = everyStep(library);
  const std::string text = status.isOk() ? "OK" : status.message();
  writeAll(channel, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  ::_exit(0);  // without what the library does at exit
}

std::string readAnswer(int channel) {
  std::string text;
  char piece[512];
  for (;;) {
    const ssize_t count = ::read(channel, piece, sizeof piece);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(piece, static_cast<size_t>(count));
  }
}

/// The end of the child in words.
std::string endOf(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFSIGNALED(status)) return "they ended the process";
  const int signal = WTERMSIG(status);
  if (signal == SIGALRM) return fmt::format("they did not return within {} s", kMostSeconds);
  return fmt::format("they end with signal {} ({})", signal, ::strsignal(signal));
}

}  // namespace

Status proveTable(const OrtLibrary& library) {
  int ends[2];
  if (::pipe(ends) != 0) return Status::internal("no pipe: {}", std::strerror(errno));
  Descriptor readEnd(ends[0]), writeEnd(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return Status::internal("no process: {}", std::strerror(errno));
  if (child == 0) answerFromChild(library, writeEnd.get());
  writeEnd.close();
  std::string answer = readAnswer(readEnd.get());
  const std::string end = endOf(child);
  if (answer == "OK") return Status::ok();
  return Status::unsupported("the functions of ONNX Runtime {} are not those that OpKit knows: {}", library.version(),
                             answer.empty() ? end : answer);
}

}  // namespace opkit::harness::ort
