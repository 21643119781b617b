// Variants: one case under every choice that a device or a session could make differently. Parts of `check`.
#pragma once

#include <functional>
#include <set>

#include "harness/check/prepared.h"
#include "harness/compare/diagnose.h"

namespace opkit::harness {

/// Outputs that another choice gave and that are wrong, and how to look further.
struct WrongRun {
  const std::vector<Tensor>& got;
  KernelRun rerun;                           // the same choice in a new Session
  std::function<Status()> faults = nullptr;  // see DeviceVariants::faultsIn; null: not traced
};

/// A case that was checked on a fresh Session.
struct VariantContext {
  const OpRegistry& registry;
  const std::string& backend;
  std::shared_ptr<Runtime> runtime;
  const PreparedCase& at;
  const std::vector<Tensor>& outputs;                      // of a fresh Session
  size_t alternatives = 0;                                 // among which the kernel chose there
  std::function<void(const WrongRun&)> onWrong = nullptr;  // of outputs outside the bound
};

/// Another team, tile or order may add the terms of an element, with other roundings.
bool sums(const OpDef& def);

struct SessionFacts {
  size_t alternatives = 0;  // among which a kernel chose
  std::string kernel;       // of the operator: "opkit/image"; empty if none of it ran
};

/// The outputs of a new Session; none if the device refused a kernel. Internal if it fell back for another reason.
/// Fills `facts`, if given.
Result<std::vector<Tensor>> runSession(Interpreter& interpreter, const SessionConfig& config,
                                       std::shared_ptr<Runtime> runtime, const PreparedCase& at,
                                       SessionFacts* facts = nullptr);

/// What the device has not and some kernel of ours needs (PhysicalDevice::lacks); empty if nothing, and on the host.
std::string lackOf(Runtime& runtime);

/// Vulkan: runs a case in each device class, with buffers and with images, with each alternative among which the Tuner
/// chooses, and with a low limit of loops. Every result must be within the bounds. Keeps one Runtime per device class;
/// they share pipelines.
class DeviceVariants {
 public:
  /// `classes`: not only the Tuner's alternatives. Traces name lines of `shaderTree`; nullopt: of the source tree, if
  /// its shaders are those of this program.
  explicit DeviceVariants(bool classes = true, std::optional<std::string> shaderTree = std::nullopt)
      : tryClasses_(classes), shaderTree_(std::move(shaderTree)) {}

  struct Variant {
    std::string name;
    std::shared_ptr<Runtime> runtime;
    SessionConfig config;
  };
  /// Of each class of devices, with its own storage and with the other.
  std::vector<Variant> allOf(const std::shared_ptr<Runtime>& runtime);
  /// Those of other classes and storages than `runtime` has.
  Result<std::vector<Variant>> variantsOf(const OpRegistry& registry, const std::shared_ptr<Runtime>& runtime);
  /// Internal names the first variant that is wrong, or that fell back although the first choice did not. Adds the
  /// operator's kernels that ran to `ran`, if given.
  Status check(Interpreter& interpreter, const VariantContext& context, std::set<std::string>* ran = nullptr);
  /// Traces every access of the case in the variant of this name, for races, bounds and reads of what nothing wrote,
  /// and compares the values. Internal lists the faults. Unsupported if it cannot be traced there.
  Status trace(const VariantContext& context, const std::string& variant);
  /// The faults of the accesses alone; "" is the device as it is. Fills `outputs`, if given.
  Status faultsIn(const VariantContext& context, const std::string& variant, std::vector<Tensor>* outputs = nullptr);

 private:
  static Status judge(const VariantContext& context, const std::string& name,
                      const Result<std::vector<Tensor>>& outputs);
  Status checkAlternatives(Interpreter& interpreter, const VariantContext& context);
  /// The device as it is, with a limit of loops that depends on the case: kernels that can divide their work among
  /// dispatches do, at another place in each case. None on the host.
  std::optional<Variant> withShortLoops(const VariantContext& context);
  std::shared_ptr<Runtime> inClass(const std::shared_ptr<Runtime>& runtime, const DeviceClass& deviceClass);

  bool tryClasses_;
  std::optional<std::string> shaderTree_;
  std::map<const DeviceClass*, std::shared_ptr<Runtime>> classes_;
  std::shared_ptr<Runtime> shortLoops_;
};

/// The model with fixed shapes gives the bits of the model with free extents.
Status checkFixedShapes(const VariantContext& context);

/// The case for the first element of its batch alone, if the oracle gives it the same values; nothing if axis 0 is no
/// batch.
std::optional<PreparedCase> aloneOf(const PreparedCase& whole, const OpDef& def);

/// The first element of a batch alone gives the bits that it has among others; classes that sum may choose another team
/// or tile for it, and are compared with the oracle. Unsupported if the oracle
/// does not treat the elements of axis 0 alike.
Status checkBatch(Interpreter& interpreter, const VariantContext& context);

/// Output 0 in the memory of each input that the card allows gives the bits of separate memory.
Status checkAliased(const VariantContext& context);

/// A run by hand gives the bits of the Session and changes no input.
Status checkInputs(const VariantContext& context);

/// Host: tensors that begin 1 or 3 elements behind aligned memory give the bits of aligned ones.
Status checkOffsets(const VariantContext& context);

}  // namespace opkit::harness
