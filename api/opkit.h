// opkit.h: OpKit as a library. Load a network, set inputs, run it on a backend, read outputs and placement.
//
// find_package(opkit) and link opkit::opkit; to compile against this header you need nothing else of OpKit; it uses
// only the standard library. Functions that can fail return false or null and put one line into `error`; nothing throws
// across this header (a list is empty if there is no memory for it). A Network belongs to one thread at a time; several
// may run at once. Results do not depend on the floating-point environment of the caller (rounding, FTZ, DAZ, signals),
// which a call leaves as it was. A Network belongs to the process that opened it: in a child after fork() it cannot be
// set or run, and its destructor returns at once without freeing anything, because its threads and those of the driver
// exist only in the parent. The library stays in memory after dlclose(), as it must be there once per process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#if defined(__GNUC__)
#define OPKIT_API __attribute__((visibility("default")))
#else
#define OPKIT_API
#endif

namespace opkit::api {

/// "0.7.0"
OPKIT_API std::string version();
/// The backends of this build: "cpu", "vulkan", "reference", "null".
OPKIT_API std::vector<std::string> backends();
/// Bytes of host tensors that this process may hold at once, over all networks; 0 is no limit. Beyond it a call fails
/// with that reason. The default is three quarters of the memory of the machine or of the process's control group, or
/// the value of the environment variable OPKIT_HOST_MEMORY in bytes. Call it before the first network or at any time.
OPKIT_API void setHostMemoryLimit(uint64_t bytes);

struct Options {
  std::string backend = "cpu";  // one of backends(), or "auto": each node where it costs less, as measured
  std::string device = {};      // index, part of a name, or UUID; empty takes the best
  bool allowFallback = true;    // false: a node that the backend refuses is an error, not a CPU node
  unsigned threads = 0;         // of the CPU, at most 1024; 0 is one per core
};

/// An input or output. Extents that the model leaves open are -1 until resized (inputs) or run (outputs).
struct TensorInfo {
  std::string name;
  std::string dtype;  // "f32", "i64", "bool", ...
  std::vector<int64_t> shape;
  std::vector<std::string> columns = {};  // of the scores that stand for the maps of ZipMap: the label of each column
};

struct Value;

/// The values in a Value: a std::vector that is copied and destroyed without recursion, however deep they are.
class OPKIT_API ValueList : public std::vector<Value> {
 public:
  using std::vector<Value>::vector;
  ValueList();
  ValueList(const ValueList& other);
  ValueList(ValueList&& other) noexcept;
  ValueList& operator=(ValueList other) noexcept;
  ~ValueList();
};

/// A value of any kind. Numbers have `bytes`, row-major; a tensor of dtype "string" has `strings`. A "sequence" and an
/// "optional" (of one value or none) have `values` and no shape. A sequence holds tensors; an optional holds a tensor
/// or a sequence. Deeper values are refused.
struct Value {
  std::string dtype;
  std::vector<int64_t> shape = {};
  std::vector<std::byte> bytes = {};
  std::vector<std::string> strings = {};
  ValueList values = {};
};

/// One command of the plan.
struct Placement {
  std::string node;
  std::string type;
  std::string backend;
  std::string provider;
  std::vector<std::string> refusals;  // why faster choices refused the node
  bool fellBack = false;
  uint64_t copiedBytes = 0;  // by a copy between backends
};

class OPKIT_API Network {
 public:
  /// Reads an .onnx or .opk file (distinguished by their first bytes). It stays mapped and must not change while the
  /// network lives: replace it by renaming another one. Null if it cannot be run.
  static std::unique_ptr<Network> open(const std::string& path, const Options& options, std::string& error);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// Inputs with a default are not listed. They may be set until the first run, with effect on all runs.
  std::vector<TensorInfo> inputs() const;
  std::vector<TensorInfo> outputs() const;

  /// Sets the shape of an input of numbers and its elements, row-major. `dtype` is that of the elements and must be the
  /// input's (TensorInfo::dtype); `bytes` must match shape and dtype.
  bool setInput(const std::string& name, const std::string& dtype, const std::vector<int64_t>& shape, const void* data,
                size_t bytes, std::string& error);
  /// Sets an input of any kind: numbers, strings, a sequence or an optional. Copies `value`.
  bool setInput(const std::string& name, const Value& value, std::string& error);
  /// Plans if shapes changed, then runs. Fails and names the inputs that are not set.
  bool run(std::string& error);
  /// The elements of an output of numbers after run, valid until the next; null for an unknown name, for outputs of
  /// other kinds, which the next function reads, and if the last run failed or there was none. `bytes` may be null.
  const void* output(const std::string& name, size_t* bytes = nullptr) const;
  /// A copy of an output of any kind after run. Fails if the last run failed or there was none.
  bool output(const std::string& name, Value& value, std::string& error) const;
  /// The backend and provider of each command; empty before the first run.
  std::vector<Placement> placement() const;

 private:
  struct State;
  explicit Network(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace opkit::api
