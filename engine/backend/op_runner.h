// OpRunner: runs one Execution without a Session, to fold, measure, probe, check or test a kernel.
//
// recordCalls and resizeAndRun are for tensors that exist. An OpRunner also owns the tensors, in the layout of the
// kernel, and the conversions that fill them. planAlone and fitsOn only ask whether a device can run an Execution.
//
//   OpRunner runner(backend, std::move(execution), creator.layout);
//   OPKIT_TRY(runner.place(args.inputs, args.outputs));
//   OPKIT_TRY(runner.upload(0, x));
//   OPKIT_TRY(runner.resize());
//   OPKIT_TRY(runner.run());  // as often as wanted, with new uploads between
//   OPKIT_TRY(runner.download(0, y));
//
// Not thread-safe, like the Backend.
#pragma once

#include <deque>

#include "engine/backend/backend.h"

namespace opkit {

/// An Execution and the tensors that it runs on; null where an optional input is absent.
struct OpCall {
  Execution* execution;
  std::vector<const Tensor*> inputs, outputs;
};

/// Records the calls, each with scratch memory of its own. The tensors, and the Executions, must outlive the Recording.
Result<std::unique_ptr<Recording>> recordCalls(Backend& backend, const std::vector<OpCall>& calls);
/// Records and runs them once.
Status resizeAndRun(Backend& backend, const std::vector<OpCall>& calls);

/// Allocates memory for a described tensor, which begins at its offset. The contents are undefined.
Result<Tensor> onDevice(Backend& backend, Tensor described);

struct OpRunnerOptions {
  std::function<Result<Tensor>(Tensor described)> place = nullptr;  // instead of onDevice
  std::optional<size_t> alias = std::nullopt;                       // output 0 is the tensor of this input
};

class OpRunner {
 public:
  /// `layout` is the Creator's.
  OpRunner(Backend& backend, std::unique_ptr<Execution> execution, Layout layout = Layout::NCHW,
           OpRunnerOptions options = {});
  ~OpRunner() { drop(); }
  OpRunner(const OpRunner&) = delete;
  OpRunner& operator=(const OpRunner&) = delete;

  /// Replaces all tensors; null is an absent input. Inputs with known `contents` are in NCHW, all others in the layout.
  /// Inputs that the Execution does not read get no memory. Unsupported if the tensor of the alias does not fit.
  Status place(std::span<const TensorDesc* const> inputs, std::span<const TensorDesc> outputs,
               TensorList contents = {});
  bool reads(size_t input) const { return inputs()[input] && inputs()[input]->buffer; }
  /// Sets the values of an input that is read. The first upload of each tensor is REQUIRED to come before resize().
  Status upload(size_t input, const Tensor& host);
  /// Sets what an output holds before the run.
  Status uploadOutput(size_t output, const Tensor& host) { return fill(*outputs()[output], host); }
  /// After an error tensors and recordings are gone, as before place().
  Status resize();
  Status run();
  Status download(size_t output, const Tensor& host) { return backend_.download(*outputs()[output], host); }
  /// Appends the device's nanoseconds of each conversion and of the Execution in the last run; see Recording.
  Status appendTimesNs(std::vector<double>& times) const { return recording_->appendTimesNs(times); }

  Layout layout() const { return layout_; }
  TensorList inputs() const { return call().inputs; }
  TensorList outputs() const { return call().outputs; }
  /// Nanoseconds of the last resize, without those of conversions.
  double resizeNs() const { return resizeNs_; }

 private:
  const OpCall& call() const {
    OPKIT_CHECK(!calls_.empty());
    return calls_.back();
  }
  void drop();
  Status fill(const Tensor& tensor, const Tensor& host);
  Status record();

  Backend& backend_;
  std::unique_ptr<Execution> execution_;
  Layout layout_;
  OpRunnerOptions options_;
  std::deque<Tensor> tensors_;  // the calls point at them
  std::vector<std::unique_ptr<Execution>> conversions_;
  std::vector<OpCall> calls_;             // the conversions, then the Execution
  std::unique_ptr<Recording> recording_;  // null before resize()
  double resizeNs_ = 0;
};

/// An Execution of Convert. Unsupported if the backend has no kernel for it.
Result<std::unique_ptr<Execution>> makeConversion(Backend& backend, const TensorDesc& desc);
/// An Execution of Raster for tensors in NCHW. Unsupported if the backend has no kernel for it.
Result<std::unique_ptr<Execution>> makeRaster(Backend& backend, const RegionList& regions,
                                              std::span<const TensorDesc* const> inputs, const TensorDesc& output);

/// The scratchBytes of an Execution for tensors that `args` describes and that have no memory yet, in `layout` unless
/// their `contents` are known. Unsupported if the device cannot run it, or cannot convert the tensors to that layout
/// and back. Used to choose kernels.
Result<size_t> planAlone(Backend& backend, Execution& execution, const CreateArgs& args, Layout layout,
                         TensorList contents);

/// For chooseCreator: calls planAlone on a temporary Execution. Errors other than Unsupported are left for the real
/// Execution to report. `args` and what `contents` lists must outlive the result.
FitsDevice fitsOn(Backend& backend, const CreateArgs& args, TensorList contents);

}  // namespace opkit
