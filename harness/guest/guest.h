// Guest: another engine, loaded into this process, that runs models of ONNX with one of its providers. `op-harness
// check
// --ort` and `bench --ort` ask it OpKit's cases.
//
// A guest may crash, hang and print. Open it in a worker process only (harness/run/isolated_jobs.h). Used by one
// thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/tensor/tensor.h"

namespace opkit::harness {

/// A library, a provider of it, and the provider's settings.
struct GuestChoice {
  std::string library;          // "libonnxruntime.so.1"
  std::string provider;         // as its library names it: "cpu", "WebGPU", "QNNExecutionProvider"
  std::string providerLibrary;  // of a plugin; empty: the provider is in `library`
  std::vector<std::pair<std::string, std::string>> settings;  // for the provider, in the order given

  bool isGiven() const { return !library.empty(); }
  /// "onnxruntime-webgpu": small letters and digits with hyphens between, without "ExecutionProvider". Stands where
  /// results name a backend.
  std::string name() const;
};

struct GuestInfo {
  std::string engine;    // "ONNX Runtime"
  std::string version;   // "1.30.0"
  std::string provider;  // "WebGpuExecutionProvider"
  std::string device;    // as the engine describes it; empty if it does not
  int newestOpset = 0;   // of ONNX, that it loads
};

/// A model that the provider took. Outlives no Guest.
class GuestSession {
 public:
  virtual ~GuestSession() = default;

  /// Runs on host tensors, inputs and outputs in the model's order. The engine writes into the memory of `outputs`,
  /// which have the shapes that are expected. Errors are the engine's; InvalidArgument: it gave another shape or type.
  virtual Status runInto(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) = 0;
  /// The same with memory of the engine, copied. Unsupported: OpKit has no such type.
  virtual Result<std::vector<Tensor>> run(const std::vector<Tensor>& inputs) = 0;
};

/// Why a session was not made.
enum class GuestRefusal {
  NotClaimed,  // the provider left a node to another one
  NotLoaded,   // the engine itself does not take the model, whatever the provider
  Refused,     // the provider claimed every node, then failed
};

struct GuestLoad {
  std::unique_ptr<GuestSession> session;  // null: `refusal` and `reason` say why
  GuestRefusal refusal = GuestRefusal::NotClaimed;
  std::string reason;
};

class Guest {
 public:
  virtual ~Guest() = default;
  virtual const GuestInfo& info() const = 0;
  /// A session of a model, without fallback to other providers and without optimisations of the graph.
  virtual GuestLoad load(const std::vector<uint8_t>& model) = 0;
};

/// ONNX Runtime by its C API. InvalidArgument names what cannot be loaded, an unknown provider with those there are, or
/// a wrong setting; Unsupported: a version whose table of functions is not the one that OpKit knows.
Result<std::unique_ptr<Guest>> openOnnxRuntime(const GuestChoice& choice);

}  // namespace opkit::harness
