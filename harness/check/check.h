// check: runs one group of cases on one backend through named sub-checks.
//
//   placement   it ran on the requested backend (or was refused as its case file declares)
//   counters    onExecute allocated no buffer, created no pipeline, submitted once per segment, dispatched something
//   canary      nothing was written outside the outputs
//   poison      every element of the outputs was written; for elements of 8 bits by two runs over different poison
//   accuracy    every element is within the bound of its numeric class; called `exact` in the exact lane, where the
//               bound is zero, and `specials` if values are compared by class
//   margin      (written cases) the worst error, as a share of the bound, has not grown by a factor of 4 against the
//               recorded one (harness/check/margins.h)
//   script      (with --oracle) the script gave values that agree with those of the built-in oracle (harness/oracle)
//   stored      (cases with "expected" or "shapes") the built-in oracle gives the values, and the shape rule the
//               shapes, that the case file stores
//   rounding    (elementwise operators) an f16 result is that of the f32 kernel, rounded once to nearest even
//   repeat      a second run gives the same bits
//   recording   (Vulkan) direct and indirect recording give the same bits, also without guards around tensors
//   threads     (host) one thread gives the bits of all threads; so do threads that split all work, begin together and
//               run it in shuffled order, several times, also without guards around tensors
//   pages       (host) nothing was read or written outside any tensor, by guard pages
//   heap        (host) onExecute allocated nothing on the heap
//   providers   every other kernel that accepts the case, of any provider, is within the same bounds, except for
//               departures that the case file declares; these must be outside the bound (harness/cases/departures.h)
//   variants    (Vulkan) every device class, buffers and images, and every alternative of the tuner are within the
//               bounds
//   traced      (Vulkan, cases of harness/check/traced.tsv) in the classes named there, the trace of every access
//               shows no race, no access outside a tensor and no read of unwritten memory, and the values are right
//   shapes      a model with fixed shapes gives the bits of one with free extents
//   batch       the first element of a batch gives the same bits alone and among others
//   hidden      (operators whose oracle names hidden elements) with infinity or NaN in the elements that a mask, a
//               length or an index hides, a fresh Session gives the same bits (operators that sum: is within the
//               bounds); with NaN, all that `providers` and `variants` run are within the bounds
//   inputs      a run changed no input
//   aliased     the output in the memory of an input that the card allows gives the same bits
//   offsets     (host) tensors behind unaligned addresses give the same bits
//   reuse       one kernel, resized over the group's shapes and back, gives the bits of a fresh kernel at each shape
//   resize      the same walk on one Session, which creates and allocates nothing new when it returns to a shape. A
//               group of one case walks through variations of it, which must pass the sub-checks above
//   siblings    (cases with constants that a kernel may keep) nodes of one Session that share constants are each within
//               the bounds: they differ in one parameter or one constant
//   constants   (composite operators) with all inputs but one as constants, a walk over five shapes or more gives the
//   bits
//               of fresh Sessions, with four plans kept and with one
//   clone       a clone of the Session gives the same bits
//   caches      (Vulkan) a Runtime with empty caches gives the bits of a warm one
//   validation  (Vulkan, under validation layers) the layers reported no message
//   sanitize    (Vulkan, with --sanitize) the trace of every access of its shaders shows no fault (harness/trace)
//   error       (error cases) the input is refused with the expected message
//
// All Sessions run in hostile memory (engine/base/hostile_memory.h): whoever reads a constant that it did not keep gets
// NaN.
//
// A sub-check that cannot run for a case is noted with the reason (harness/check/sub_checks.h); a silent one fails.
//
// Expensive sub-checks run on one case per group, `caches` on groups that request it. A Checker belongs to one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "engine/base/hostile_memory.h"
#include "engine/runtime/session.h"
#include "harness/check/margins.h"
#include "harness/check/prepared.h"
#include "harness/check/shader_log.h"
#include "harness/check/variants.h"
#include "harness/check/walk.h"
#include "harness/run/results.h"

namespace opkit::harness {

/// Messages of the Vulkan validation layers since the process began; zero in builds without Vulkan.
uint64_t validationMessages();

class Checker {
 public:
  /// Sessions use `runtime`; `registry` must outlive the Checker.
  Checker(const OpRegistry& registry, std::string backend, std::shared_ptr<Runtime> runtime);

  /// The options of the Runtime, for `validation` and for the new Runtimes of `caches` and `variants`; without them all
  /// are skipped.
  void setRuntimeOptions(const RuntimeOptions& options);

  /// For one of several Checkers, one per device class: `variants` runs only the tuner's alternatives. If the Runtime's
  /// class is not the device's own, margins are not judged. Traces of failures name lines of `shaderTree`.
  void setOneClass(bool isOwn, std::string shaderTree);

  /// Records the shaders of each case.
  void setShaderLog(std::shared_ptr<ShaderLog> log) { shaders_ = std::move(log); }

  /// The sub-check "sanitize" of every case that ran; Unsupported if it cannot run.
  using Sanitizer = std::function<Status(const PreparedCase& c)>;
  void setSanitizer(Sanitizer sanitizer) { sanitizer_ = std::move(sanitizer); }

  /// In place of the build's. `margins` must outlive the Checker.
  void setMargins(const RecordedMargins& margins) { margins_ = &margins; }

  /// Stops a group at its first failing case and skips the check for mistrusted cases.
  void setHunting() { hunting_ = true; }

  /// One result per case of the group, in order; when hunting, up to the first failure.
  std::vector<CaseResult> checkGroup(const PreparedGroup& group);
  CaseResult checkError(const ErrorCase& error);
  /// One result for all cases of a group of Catalogue::shapes.
  CaseResult checkShapes(const CaseGroup& group);

  const std::string& backend() const { return backend_; }
  const DeviceInfo& device() const { return runtime_->device(); }
  Runtime& runtime() const { return *runtime_; }
  /// Dispatches that the device executed, over all checks.
  uint64_t dispatches() const { return dispatches_; }

 private:
  struct Fresh;
  bool onHost() const { return backend_ != "vulkan"; }
  /// True if the kernels accept arbitrary host pointers, also to guard pages. A plugin's backend knows only its own
  /// buffers.
  bool takesAnyMemory() const { return backend_ == "cpu" || backend_ == "reference"; }
  SessionConfig guarded() const;
  CaseResult emptyResult(const Case& c) const;
  CaseResult checkCase(Interpreter* interpreter, const Status& failure, const PreparedCase& c, bool brief,
                       Fresh& fresh);
  void checkValidation(uint64_t messagesBefore, CaseResult& result) const;
  void checkTrust(const PreparedCase& c, CaseResult& result) const;
  void checkFresh(Interpreter& interpreter, const PreparedCase& c, CaseResult& result, Fresh& fresh);
  void noteFigures(const Session& session, const PreparedCase& c, CaseResult& result, const Fresh& fresh) const;
  Status same(const PreparedCase& c, const Fresh& fresh, const std::vector<Tensor>& got) const;
  Status compareMargin(const PreparedCase& c, const CaseResult& result) const;
  std::optional<std::vector<Tensor>> checkPoison(Interpreter& interpreter, const PreparedCase& c,
                                                 const std::vector<Tensor>* again, CaseResult& result,
                                                 const Fresh& fresh);
  Status checkThreads(Interpreter& interpreter, const PreparedCase& c, const Fresh& fresh);
  Status checkClone(const Session& session, const PreparedCase& c, const Fresh& fresh) const;
  void checkAccuracy(Interpreter& interpreter, const PreparedCase& c, const std::vector<Tensor>* again,
                     CaseResult& result, const Fresh& fresh);
  Result<std::vector<Tensor>> runAgain(Interpreter& interpreter, const PreparedCase& c, SessionConfig config,
                                       std::shared_ptr<Runtime> runtime) const;
  void checkAlternatives(Interpreter& interpreter, const PreparedCase& c, CaseResult& result, const Fresh& fresh);
  Status checkAgain(Interpreter& interpreter, const PreparedCase& c, const Fresh& fresh, SessionConfig config,
                    std::shared_ptr<Runtime> runtime);
  void checkRounded(const PreparedCase& c, CaseResult& result, const Fresh& fresh);
  void checkKernel(const PreparedCase& c, CaseResult& result, const Fresh& fresh);
  void checkFilled(const PreparedCase& c, CaseResult& result, const Fresh& fresh);
  /// Other kernels than the one that ran.
  struct Others {
    std::vector<std::string> departures;  // of these providers
    std::set<std::string> onImages;       // names of kernels that ran, which a session chooses for images only
  };
  Status judgeProviders(const PreparedCase& c, CaseResult& result, Others& others);
  Status checkProvider(const PreparedCase& c, const std::string& provider, const std::string& kernel,
                       CaseResult& result, Others& others);
  void checkTraced(const PreparedCase& c, CaseResult& result, const Fresh& fresh);
  void checkVariants(Interpreter& interpreter, const PreparedCase& c, CaseResult& result, const Fresh& fresh);
  void explainMode(const PreparedCase& c, const Fresh& fresh, CaseResult& result);
  void explainWrong(const PreparedCase& c, const WrongRun& wrong, CaseResult& result);
  /// True after the first failures of an operator: further ones are explained by their values alone.
  bool knowsEnough(const std::string& op);
  bool explainByTrace(const PreparedCase& c, const std::function<Status()>& faults, CaseResult& result);
  struct Walk;
  void addFurtherStops(Interpreter& interpreter, const PreparedGroup& group, Walk& walk, CaseResult& owner);
  void checkWalks(Interpreter& interpreter, const PreparedGroup& group, const std::vector<Fresh>& fresh,
                  std::vector<CaseResult>& results);
  void checkConstants(const PreparedGroup& group, const std::vector<Fresh>& fresh, std::vector<CaseResult>& results);
  void checkSiblingsOf(const PreparedGroup& group, const std::vector<Fresh>& fresh, std::vector<CaseResult>& results);
  Status siblingsOf(const PreparedCase& c, const Fresh& fresh);
  void recordKernelWalk(const Walk& walk, std::vector<CaseResult>& results);
  void recordWalk(const char* name, const Walk& walk, const std::vector<StopVerdict>& verdicts);
  void checkCaches(Interpreter& interpreter, const PreparedGroup& group, const std::vector<Fresh>& fresh,
                   std::vector<CaseResult>& results);

  const OpRegistry& registry_;
  std::string backend_;
  std::shared_ptr<Runtime> runtime_;  // shared: sessions keep the device alive
  std::optional<RuntimeOptions> runtimeOptions_;
  std::optional<DeviceVariants> deviceVariants_;
  bool isOtherClass_ = false;
  std::shared_ptr<ShaderLog> shaders_;  // shared with its Runtime; null if there are none
  Sanitizer sanitizer_;                 // null: none
  const RecordedMargins* margins_ = &RecordedMargins::builtin();
  HostileMemory hostileMemory_;  // a constant or kernel that is freed in use gives a wrong result
  bool hunting_ = false;
  std::map<std::string, int> traces_, explained_;  // by operator, of failures
  uint64_t dispatches_ = 0;
};

}  // namespace opkit::harness
