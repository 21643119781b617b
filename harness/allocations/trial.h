// A trial: a network is loaded, resized and run while one request of OpKit is refused.
//
// The step that the refusal reaches either succeeds nonetheless (a cache that is not written) or returns a Status of
// one line; then it is repeated on the same objects and must succeed. All values that the network gives must have the
// bits of a trial without a refusal, and nothing of it may be left at the end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "harness/allocations/refusals.h"

namespace opkit::harness {

/// What a trial refuses: a Request, or the creation of an object or of memory on the device.
struct Refused {
  enum class Kind { Memory, Thread, File, Device };
  Kind kind = Kind::Memory;
  uint64_t grants = 0;  // requests of the kind before it
};
constexpr Refused::Kind kRefusedKinds[] = {Refused::Kind::Memory, Refused::Kind::Thread, Refused::Kind::File,
                                           Refused::Kind::Device};
const char* nameOf(Refused::Kind kind);
std::optional<Refused::Kind> refusedKindNamed(const std::string& name);

/// A network in steps. What step() does counts as OpKit's; it prepares its own values inside a RefusalPause.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual size_t stepCount() const = 0;
  /// "load", "run", ...; for messages.
  virtual const char* nameOf(size_t step) const = 0;
  virtual Status step(size_t i) = 0;
  /// The bytes of all that can be read after step i.
  virtual std::string valuesAfter(size_t i) = 0;
  /// Refuses a creation on the device after `grants` more; 2^62 of them mean none.
  virtual void refuseCreation(uint64_t /*grants*/) {}
  /// Ends that; returns how many more would have succeeded, or nothing if the refusal came.
  virtual std::optional<uint64_t> dropRefusal() { return kNone; }
  static constexpr uint64_t kNone = uint64_t{1} << 62;
};

struct Network {
  std::string name;
  std::function<std::unique_ptr<Subject>()> make;
  std::function<size_t()> deviceBlocks = nullptr;  // memory of the device in use now
};

struct TrialResult {
  bool reached = false;             // the request came and was refused
  bool tolerated = false;           // and no step failed
  std::string status;               // else: what the step returned
  std::string fault;                // one line; empty if all is well
  bool leaked = false;              // the fault is that blocks of memory are left
  std::vector<std::string> values;  // after each step
  uint64_t requests[std::size(kRefusedKinds)] = {};
};

/// `expected` are the values of a trial that refused nothing; null takes any.
TrialResult runTrial(const Network& network, const Refused& refused, const std::vector<std::string>* expected);
/// A trial that refuses nothing.
TrialResult runUndisturbed(const Network& network);

}  // namespace opkit::harness
