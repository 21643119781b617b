#include "harness/guest/ort_session.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "harness/guest/ort_values.h"

namespace opkit::harness::ort {
namespace {

/// Reads the names of one side of a session.
template <class Count, class Name>
Status readSide(const OrtLibrary& library, const OrtSession* session, Count countOf, Name nameOf,
                std::vector<std::string>& names) {
  OrtAllocator* allocator = nullptr;
  OPKIT_TRY(library.attempt(kDefaultAllocator, &allocator));
  size_t count = 0;
  OPKIT_TRY(library.attempt(countOf, session, &count));
  for (size_t i = 0; i < count; ++i) {
    char* name = nullptr;
    OPKIT_TRY(library.attempt(nameOf, session, i, allocator, &name));
    names.emplace_back(name ? name : "");
    OPKIT_TRY(library.attempt(kAllocatorFree, allocator, static_cast<void*>(name)));
  }
  return Status::ok();
}

std::vector<const char*> pointersTo(const std::vector<std::string>& names) {
  std::vector<const char*> pointers;
  for (const std::string& name : names) pointers.push_back(name.c_str());
  return pointers;
}

/// Whether a run failed since an output is not what the caller expected: by the model, by a kernel of the CPU (older
/// libraries first), or where a device's result is copied. The code does not tell.
bool isAboutOutputs(const OrtError& error) {
  for (const std::string_view text :
       {"shape verification failed", "invalid dimensions for output", "but the computed output shape",
        "Tensor size mismatch", "Unexpected output data type"})
    if (error.message.find(text) != std::string::npos) return true;
  return false;
}

Status expectCount(const char* what, size_t expected, size_t found) {
  if (expected == found) return Status::ok();
  return Status::invalidArgument("ONNX Runtime: the model has {} {}, got {}", expected, what, found);
}

}  // namespace

Result<Owned<OrtEnv>> newEnvironment(const OrtLibrary& library) {
  OPKIT_ASSIGN(Owned<OrtEnv> environment, make(library, kCreateEnv, kReleaseEnv, kLogWarning, "opkit"));
  OPKIT_TRY(library.attempt(kDisableTelemetry, environment.get()));  // released builds send events otherwise
  return environment;
}

Result<Owned<OrtMemoryInfo>> newCpuMemory(const OrtLibrary& library) {
  return make(library, kCreateCpuMemory, kReleaseMemory, kDeviceAllocator, kDefaultMemory);
}

Result<Owned<OrtSessionOptions>> newOptions(const OrtLibrary& library) {
  OPKIT_ASSIGN(Owned<OrtSessionOptions> options, make(library, kCreateSessionOptions, kReleaseSessionOptions));
  OPKIT_TRY(library.attempt(kSetOptimization, options.get(), kOptimizeNothing));
  OPKIT_TRY(library.attempt(kSetLogLevel, options.get(), static_cast<int>(kLogFatal)));
  return options;
}

std::optional<OrtError> createSession(const OrtLibrary& library, const OrtEnv* environment,
                                      const OrtSessionOptions* options, const std::vector<uint8_t>& model,
                                      Owned<OrtSession>& session) {
  OrtSession* made = nullptr;
  auto error = library.failureOf(kCreateSession, environment, static_cast<const void*>(model.data()), model.size(),
                                 options, &made);
  session = Owned<OrtSession>(made, {&library, kReleaseSession});
  return error;
}

Result<std::unique_ptr<OrtGuestSession>> OrtGuestSession::create(const OrtLibrary& library, const OrtMemoryInfo* memory,
                                                                 Owned<OrtSession> session) {
  std::unique_ptr<OrtGuestSession> made(new OrtGuestSession(library, memory, std::move(session)));
  OPKIT_TRY(made->readNames());
  return made;
}

Status OrtGuestSession::readNames() {
  OPKIT_TRY(readSide(library_, session_.get(), kInputCount, kInputName, inputNames_));
  return readSide(library_, session_.get(), kOutputCount, kOutputName, outputNames_);
}

Status OrtGuestSession::runInto(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
  std::vector<Owned<OrtValue>> values;
  for (const Tensor& output : outputs) {
    OPKIT_ASSIGN(Owned<OrtValue> value, borrowed(library_, memory_, output));
    values.push_back(std::move(value));
  }
  return runValues(inputs, values);
}

Result<std::vector<Tensor>> OrtGuestSession::run(const std::vector<Tensor>& inputs) {
  std::vector<Owned<OrtValue>> values;
  for (size_t i = 0; i < outputNames_.size(); ++i)
    values.emplace_back(nullptr, Releaser<OrtValue>{&library_, kReleaseValue});
  OPKIT_TRY(runValues(inputs, values));
  std::vector<Tensor> outputs;
  for (const Owned<OrtValue>& value : values) {
    OPKIT_ASSIGN(Tensor output, copied(library_, value.get()));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

Status OrtGuestSession::runValues(const std::vector<Tensor>& inputs, std::vector<Owned<OrtValue>>& outputs) {
  OPKIT_TRY(expectCount("inputs", inputNames_.size(), inputs.size()));
  OPKIT_TRY(expectCount("outputs", outputNames_.size(), outputs.size()));
  std::vector<Owned<OrtValue>> owned;
  std::vector<const OrtValue*> values;
  for (const Tensor& input : inputs) {
    OPKIT_ASSIGN(Owned<OrtValue> value, borrowed(library_, memory_, input));
    values.push_back(value.get());
    owned.push_back(std::move(value));
  }
  std::vector<OrtValue*> made;
  for (const Owned<OrtValue>& output : outputs) made.push_back(output.get());
  const std::vector<const char*> inputNames = pointersTo(inputNames_), outputNames = pointersTo(outputNames_);
  const auto error =
      library_.failureOf(kRun, session_.get(), static_cast<const OrtRunOptions*>(nullptr), inputNames.data(),
                         values.data(), values.size(), outputNames.data(), outputNames.size(), made.data());
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i]) outputs[i].reset(made[i]);
  if (error && isAboutOutputs(*error)) return Status::invalidArgument("ONNX Runtime: {}", error->message);
  return OrtLibrary::statusOf(error);
}

}  // namespace opkit::harness::ort
