// Creator: an entry in the ordered table of kernels of (backend, operator), fastest first.
//
// supports() returns OK or a refusal of one line; every refusal is kept and shown. A Creator belongs to a provider
// ("opkit", "onednn", "reference", a plugin's name). A session can prefer, forbid or force a provider (see
// provider_policy.h). The key is (backend, provider, dtype, operator); `kernel` distinguishes several kernels of one
// provider for one key.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/backend/device_class.h"
#include "engine/backend/execution.h"
#include "engine/backend/provider_policy.h"
#include "engine/op/op_def.h"

namespace opkit {

class Backend;
class OpRegistry;

/// Abilities of a device beyond the baseline; refusals quote these.
struct DeviceCaps {
  bool storage8 = true;                  // 8-bit loads and stores in device buffers
  bool storage16 = true;                 // 16-bit loads and stores in device buffers
  bool int64 = true;                     // 64-bit integer arithmetic
  bool byteDots = false;                 // products of four signed bytes as one instruction
  uint64_t maxTensorBytes = UINT64_MAX;  // largest range one kernel can address
  uint64_t maxTexels = 0;                // vec4s that one texel buffer holds
  uint64_t imageExtent = 0;              // texels per axis of an NC4HW4 image; 0 if images are not wanted
  // Iterations that the loops of one invocation may make together; the device silently ends longer loops.
  uint64_t loopIterations = UINT64_MAX;
  uint32_t workGroup = 128;      // invocations of a work group
  uint32_t sharedBytes = 16384;  // memory that a work group shares
  const DeviceClass* deviceClass = deviceClasses().data();
};

/// One node at resize, as a Creator sees it.
struct CreateArgs {
  const OpDef& def;
  std::span<const uint8_t> paramBytes;
  std::span<const TensorDesc* const> inputs;  // null if absent
  std::span<const TensorDesc> outputs;
  // Host values of inputs that never change, and of ports marked `contents` if they are known: another value makes
  // another Execution. Else null.
  std::span<const Tensor* const> constants;
  const DeviceCaps& device;
  std::span<const Layout> layouts = {};  // of the inputs as currently stored; empty if unknown
  const RegionList* regions = nullptr;   // of a Raster; null for every other operator

  template <class Table>
  typename Table::NativeTableType params() const {
    return unpackParams<Table>(paramBytes);
  }
  bool hasInput(size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  const TensorDesc& input(size_t i) const { return *inputs[i]; }
  Layout layout(size_t i) const { return i < layouts.size() ? layouts[i] : Layout::NCHW; }
  const Tensor* constant(size_t i) const { return i < constants.size() ? constants[i] : nullptr; }
};

struct Creator {
  std::string provider = "opkit";
  std::function<Status(const CreateArgs&)> supports;  // must not depend on anything but its arguments
  std::function<Result<std::unique_ptr<Execution>>(const CreateArgs&, Backend&)> create;
  // Layout of non-constant inputs and of outputs.
  Layout layout = Layout::NCHW;
  DTypeSet dtypes = kAnyDType;  // of keyDType(); others are refused before supports() is asked
  std::string kernel;           // "depthwise"; empty if the provider has one kernel for the key
};

/// The dtype in the key of a node's kernels: that of the first input that is not bool, else of the first input, else of
/// the first output.
DType keyDType(const CreateArgs& args);

/// InvalidArgument if `table`, the table of (backend, operator), already has the key of `creator`.
Status checkNewCreator(std::span<const Creator> table, const Creator& creator, std::string_view backend,
                       std::string_view type);

/// A faster choice that refused the node.
struct Refusal {
  std::string provider;
  std::string reason;
  bool byDevice = false;  // see Status::unsupportedByDevice
  // DeviceCaps::loopIterations if that limit is the only obstacle: without it the Creator would support the node. 0 for
  // every other reason.
  uint64_t loopLimit = 0;
};

/// The outcome of asking a backend for an Execution.
struct Choice {
  const Creator* creator = nullptr;  // null: the backend cannot run this node
  std::vector<Refusal> refusals;     // of the Creators tried earlier
};

/// Asked about a Creator that supports a node: Unsupported when its Execution cannot run these shapes on the device.
using FitsDevice = std::function<Status(const Creator& creator)>;

/// The first Creator that supports the node and fits: preferred providers first, then in the order of the table.
/// Creators that the policy rules out are listed as refusals, also those after the chosen one.
Choice chooseCreator(std::span<const Creator> table, const CreateArgs& args, const ProviderPolicy& policy = {},
                     const FitsDevice& fits = nullptr);

}  // namespace opkit
