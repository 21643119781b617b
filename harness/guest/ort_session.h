// Sessions of ONNX Runtime, and what they need.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/guest/guest.h"
#include "harness/guest/ort_library.h"

namespace opkit::harness::ort {

/// Prints warnings and errors to stderr. A process has one: later ones are the same.
Result<Owned<OrtEnv>> newEnvironment(const OrtLibrary& library);
Result<Owned<OrtMemoryInfo>> newCpuMemory(const OrtLibrary& library);
/// Options without optimisations of the graph. Sessions print nothing: what fails is returned, and that a provider does
/// not claim a node is no error to print.
Result<Owned<OrtSessionOptions>> newOptions(const OrtLibrary& library);

/// Makes a session of a model in memory; the library copies what it needs of the model.
std::optional<OrtError> createSession(const OrtLibrary& library, const OrtEnv* environment,
                                      const OrtSessionOptions* options, const std::vector<uint8_t>& model,
                                      Owned<OrtSession>& session);

class OrtGuestSession final : public GuestSession {
 public:
  /// Reads the names of inputs and outputs. `library` and `memory` must outlive the session.
  static Result<std::unique_ptr<OrtGuestSession>> create(const OrtLibrary& library, const OrtMemoryInfo* memory,
                                                         Owned<OrtSession> session);

  /// A provider that copies its results, as WebGPU does, is not seen to give another shape of the same size if the
  /// model leaves the extents free; run() shows it.
  Status runInto(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) override;
  Result<std::vector<Tensor>> run(const std::vector<Tensor>& inputs) override;

 private:
  OrtGuestSession(const OrtLibrary& library, const OrtMemoryInfo* memory, Owned<OrtSession> session)
      : library_(library), memory_(memory), session_(std::move(session)) {}
  Status readNames();
  /// Runs with values for outputs, each null or over memory of the caller.
  Status runValues(const std::vector<Tensor>& inputs, std::vector<Owned<OrtValue>>& outputs);

  const OrtLibrary& library_;
  const OrtMemoryInfo* memory_;
  Owned<OrtSession> session_;
  std::vector<std::string> inputNames_, outputNames_;
};

}  // namespace opkit::harness::ort
