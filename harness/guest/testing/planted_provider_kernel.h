// The kernels of the tests' provider (planted_provider.cpp), right but for one planted fault. Tests only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opkit::harness::planted_provider {

enum class Fault {
  None,
  Maximum,       // Softmax does not subtract the row's maximum: infinite from 89 upwards
  Tail,          // of a row (the last axis) the elements after the last multiple of 8 are not written
  Crash,         // SIGSEGV at rank 3
  Hang,          // never returns at rank 3
  Refuse,        // every node is claimed; one without a kernel is an error when it runs
  Remember,      // the shapes of a session's first run are used in the later ones too
  Unstable,      // every third run of a session changes the last bit of the first element
  Leak,          // 64 KiB stay allocated after each run
  WritesInput,   // the first element of the first input changes
  Beyond,        // one element is written after the end of the output
  Prints,        // more than a pipe holds, to stdout and to stderr; the values are right
  AbortAtLoad,   // the process ends when a session is made
  RefuseAtLoad,  // making a session is an error, though its nodes were claimed
};

std::optional<Fault> faultOf(std::string_view name);
/// "maximum, tail, ..."
std::string faultNames();

struct FloatTensor {
  float* data = nullptr;
  std::vector<int64_t> shape;

  int64_t elements() const;
};

/// A node of Add, Relu or Softmax in f32, within one session.
class Kernel {
 public:
  Kernel(std::string op, int64_t axis, Fault fault) : op_(std::move(op)), axis_(axis), fault_(fault) {}

  static bool hasOp(std::string_view op) { return op == "Add" || op == "Relu" || op == "Softmax"; }

  size_t inputCount() const { return op_ == "Add" ? 2 : 1; }
  /// Of inputs that broadcast (the caller's model was checked by the engine).
  std::vector<int64_t> outputShape(const std::vector<FloatTensor>& inputs) const;
  void run(const std::vector<FloatTensor>& inputs, const FloatTensor& output);

 private:
  std::vector<float> compute(const std::vector<FloatTensor>& inputs) const;
  std::vector<float> computeAsFirst(const std::vector<FloatTensor>& inputs);
  void store(const std::vector<float>& values, const FloatTensor& output) const;
  void misbehaveBefore(const FloatTensor& output) const;
  void misbehaveAfter(const std::vector<FloatTensor>& inputs, const FloatTensor& output) const;

  std::string op_;
  int64_t axis_;  // of Softmax
  Fault fault_;
  uint64_t runs_ = 0;
  std::vector<std::vector<int64_t>> firstShapes_;  // Fault::Remember: of the inputs
};

}  // namespace opkit::harness::planted_provider
