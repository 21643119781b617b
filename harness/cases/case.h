// Case: one test of the harness: an operator, its parameters, input descriptions and data.
//
// A case prints as its canonical id and the id parses back to the same case, so the id in a report suffices to repeat
// it. Plain values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/tensor/tensor.h"
#include "harness/cases/departures.h"

namespace opkit::harness {

/// The rule that fills the inputs; see harness/cases.md.
enum class Lane { Normal, Exact, Designed, Specials, Edges };

const char* nameOf(Lane lane);
std::optional<Lane> laneFromName(std::string_view name);

inline constexpr uint64_t kDefaultSeed = 7;
/// Iterations per invocation that suffice for an entry that does not say otherwise: what devices with a limit allow.
inline constexpr uint64_t kUsualLoops = 65535;

struct Case {
  std::string op;
  std::string params = "{}";                      // compact JSON, keys sorted
  std::vector<std::optional<TensorDesc>> inputs;  // nullopt if an optional input is absent
  Lane lane = Lane::Normal;
  uint64_t seed = kDefaultSeed;
  std::vector<size_t> constants;  // inputs that are constants of the model
  size_t outputs = 0;             // 0: the outputs the card requires
  std::vector<std::string> data;  // per input compact JSON of its form; "" (or beyond the end): the lane decides

  // Not part of the id: further fields of the case file.
  std::string name;
  double boundScale = 1;
  std::string reason;                           // why boundScale
  std::vector<std::string> expected;            // stored values, per output compact JSON of its form; "": none
  std::vector<TensorDesc> shapes;               // stored shapes, of every output; empty: none
  std::string source;                           // of `expected` and `shapes`
  std::map<std::string, std::string> fallback;  // backend -> part of its required reason of refusal
  std::map<std::string, std::string> unproved;  // backend -> why its kernel may be the oracle
  std::map<std::string, std::string> kernel;    // backend -> kernel that must run it: "provider/kernel" or its name
  uint64_t loops = 0;                           // iterations per invocation that suffice for a kernel; 0: not stated
  std::string anyLoops;                         // why a device may refuse however many it allows; then `loops` is 0
  CaseDepartures departures;                    // of other providers from the bound, by provider
  bool anyFallback = false;                     // a backend may refuse it for any reason (drawn cases)
  bool ofTree = false;  // of an entry of the tree's own files: harness/check/margins.tsv may have its margin
  bool bench = false;
  std::string costly;       // why `check` may take over a second for it
  std::string slow;         // why the kernel may stay below the floor of `bench --roof`
  double efficiency = 0;    // of memory accesses, at least (harness/trace); 0: not stated
  double requests = 0;      // bytes requested over bytes of inputs and outputs, at most; 0: not stated
  double banks = 0;         // passes of shared memory per 128 bytes, at most; 0: not stated
  std::string uncoalesced;  // why these bounds are weaker than the goals
  std::string size;         // "typical" or "large": for timing, not part of an ordinary check; else empty

  /// Softmax{"axis":-1}/f32[8,1024]/normal/seed=7
  std::string id() const;
  /// "f32[8,1024],f32[1024]"; "-" for an absent input.
  std::string inputText() const;
  bool isConstant(size_t input) const;
  /// For a variation of the case: its results are others.
  void dropStored() {
    expected.clear();
    shapes.clear();
    source.clear();
    ofTree = false;
  }
};

/// The inverse of Case::id. InvalidArgument names the wrong part and its expected form.
Result<Case> parseCaseId(const std::string& id);

/// Splits "f32[2,3],-,i64[2]" at the commas outside brackets.
Result<std::vector<std::optional<TensorDesc>>> parseInputList(const std::string& text);

/// OK if the text is a data form of harness/cases.md.
Status checkDataForm(const std::string& json);

}  // namespace opkit::harness
