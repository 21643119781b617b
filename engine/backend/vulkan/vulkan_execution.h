// The façade through which operators reach Vulkan: no Vk* type appears in an operator's files.
//
// An operator derives from VulkanExecution and writes onEncode, which records typed dispatches of shaders
// that the build reflected into C++ (generated/shaders/<op>/<shader>.h). The backend decides where the
// commands go (one command buffer per segment, or one per Execution), places barriers from the tensors that
// each dispatch reads and writes, and times each Execution when asked.
//
//   Status onEncode(TensorList in, TensorList out, Encoder& encoder) override {
//     using Shader = shaders::Softmax;
//     return encoder.dispatch<Shader>({*Shader::storageOf(out[0]->desc.dtype)}, {.x = in[0], .y = out[0]},
//                                     {.rows = rows, .columns = columns}, Items{rows});
//   }
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "engine/backend/backend.h"
#include "engine/backend/vulkan/shader_code.h"
#include "engine/op/rows.h"

namespace opkit::vulkan {

/// Items of a dispatch, each for `team` invocations; linearIndex() of shaders/include/common.glsl numbers the
/// invocations. The shader's own local size says how many work groups that takes. None are dispatched for a count of 0.
struct Items {
  int64_t count = 0;
  int64_t team = 1;
};

/// Rows of a shader that includes shaders/include/rows.glsl.
struct RowWork {
  int64_t rows = 0;
  int64_t extent = 0;    // elements of a row
  int64_t passes = 1;    // how often the kernel goes through a row
  int64_t distance = 1;  // between neighbouring elements of a row

  /// Of a kernel that gives an element per element: rows without elements are nothing to do.
  static RowWork over(const Rows& rows, int64_t passes) {
    return {rows.extent == 0 ? 0 : rows.count(), rows.extent, passes, rows.inner};
  }
};

/// How many invocations walk one row together. One suffices where rows are short or many; a long row alone would leave
/// the device idle, and on devices that end long loops it would be cut off.
struct RowTeam {
  static constexpr int64_t kSteps = 4;     // kRowSteps of rows.glsl
  static constexpr uint32_t kMost = 1024;  // kMaxTeam of rows.glsl

  uint32_t size = 1;        // constant `team`
  uint32_t localSize = 64;  // constant localSizeX

  /// By the device's class; where the device limits loops, at least the smallest team that stays within the limit.
  static RowTeam of(const RowWork& work, const DeviceCaps& device);
  /// Of an invocation's loops: its share of each pass, and the steps of the fold after it.
  int64_t iterations(const RowWork& work) const;
  /// Unsupported by the device where not even its largest team stays within the limit of its loops.
  Status check(const RowWork& work, const DeviceCaps& device, const char* shader) const;
};

/// Work groups of a dispatch, for kernels that lay them out themselves. A dispatch with a zero in it is skipped.
struct Groups {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;

  /// Enough groups of `localSize` invocations for `count` items, spread over x and y so that no device limit
  /// is met; shaders recover the item with linearIndex() of shaders/include/common.glsl.
  static Groups linear(int64_t count, uint32_t localSize);
};

/// Bytes to copy; offsets count from each tensor's first byte.
struct ByteRun {
  size_t from = 0;
  size_t to = 0;
  size_t sizeBytes = 0;
};

/// Makes an error of the words that shaders left.
using DataReport = std::function<Status(std::span<const int32_t> words)>;

class Encoder;

/// Ways to carry out one Execution, of which the fastest on this device is wanted.
struct Alternatives {
  std::string name;     // the kernel, its dtype, and everything of the shapes that speed depends on
  size_t count = 1;     // numbered from 0
  size_t standard = 0;  // the one to take when nothing was measured
  /// Records one of them. Called with tensors as described but in other memory, whose contents are undefined.
  std::function<Status(size_t choice, TensorList inputs, TensorList outputs, Encoder& encoder)> encode;
};

/// Records the commands of one Execution. Valid only inside onEncode.
class Encoder {
 public:
  virtual ~Encoder() = default;

  /// Dispatches variant `variant` of the generated shader type S. Tensors in `bindings` may not be null.
  template <class S>
  Status dispatch(const typename S::Variant& variant, const typename S::Bindings& bindings,
                  const typename S::PushConstants& push, Groups groups, const typename S::Constants& constants = {}) {
    std::array<std::byte, S::kPushConstantBytes> bytes;
    OPKIT_TRY(push.pack(bytes));
    const auto tensors = bindings.list();
    const auto values = constants.list();
    return dispatchRaw(S::code(variant), tensors, bytes, values, groups);
  }
  /// As above, with as many work groups as the items take.
  template <class S>
  Status dispatch(const typename S::Variant& variant, const typename S::Bindings& bindings,
                  const typename S::PushConstants& push, Items items, const typename S::Constants& constants = {}) {
    const uint32_t invocations = S::code(variant).invocations(constants.list());
    return dispatch<S>(variant, bindings, push, Groups::linear(items.count * items.team, invocations), constants);
  }
  /// As above, with a team of invocations per row that suits the rows and the device.
  template <class S>
  Status dispatch(const typename S::Variant& variant, const typename S::Bindings& bindings,
                  const typename S::PushConstants& push, const RowWork& work, typename S::Constants constants = {}) {
    const RowTeam team = RowTeam::of(work, caps());
    OPKIT_TRY(team.check(work, caps(), S::code(variant).name));
    constants.localSizeX = team.localSize;
    constants.team = team.size;
    return dispatch<S>(variant, bindings, push, Items{work.rows, team.size}, constants);
  }

  virtual const DeviceCaps& caps() const = 0;

  /// Fills a tensor's bytes with zero.
  virtual Status fillZero(const Tensor& tensor) = 0;
  /// Copies runs of bytes between two tensors, as one command.
  virtual Status copyRuns(const Tensor& from, const Tensor& to, std::span<const ByteRun> runs) = 0;
  /// All channels of an image (Layout::NC4HW4), behind each other from `firstChannel` of another of the same batch and
  /// spatial extents. REQUIRES firstChannel to be a multiple of 4.
  virtual Status copyChannels(const Tensor& from, const Tensor& to, int64_t firstChannel) = 0;
  /// How many bytes a run must have on this device to be copied faster than a shader moves it.
  virtual size_t shortestRunBytes() const = 0;
  /// The longest range of a buffer that can be bound. Fills and copies take any.
  virtual uint64_t maxBindingBytes() const = 0;
  /// Commands between these two write disjoint elements and read none that the others write: no barrier is placed
  /// among them, though they touch the same tensors.
  virtual void beginDisjoint() = 0;
  virtual void endDisjoint() = 0;
  /// Device memory for this Execution while it runs; contents undefined.
  /// Planned with the tensors of the network, so other Executions use the same bytes before and after.
  virtual Result<const Tensor*> scratch(TensorDesc desc) = 0;
  /// u32[words] on the device: a table computed at resize, for plans that do not fit into push constants. Uploaded now,
  /// read by the dispatches of this onEncode; a shader binds it as a buffer of uint, or as a usamplerBuffer.
  virtual Result<const Tensor*> table(const std::vector<uint32_t>& words) = 0;

  /// i32[words] for shaders to report bad data in, zero before each run. When a run leaves anything else there it fails
  /// with what `explain` makes of the words; its outputs are undefined then. See DataReports.
  virtual Result<const Tensor*> report(int64_t words, DataReport explain) = 0;

  /// Which alternative to encode: what the device's tuning cache knows, else, in a session that tunes, what timing them
  /// says, else the standard.
  virtual Result<size_t> choose(const Alternatives& alternatives, TensorList inputs, TensorList outputs) = 0;

  virtual Status dispatchRaw(const ShaderCode& code, std::span<const Tensor* const> tensors,
                             std::span<const std::byte> push, std::span<const uint32_t> constants, Groups groups) = 0;
};

/// Base of every Vulkan kernel. Derived classes keep no Vulkan objects.
class VulkanExecution : public Execution {
 public:
  explicit VulkanExecution(Backend& backend);
  ~VulkanExecution() override;

  /// Records the operator for the shapes of `inputs` and `outputs`. Called twice per resize: first with an Encoder
  /// that only measures scratch memory and asks whether the device can do what is dispatched, while tensors have no
  /// memory yet, and must ask for the same both times. What the device cannot do is no matter of the kernel: the first
  /// call fails, and the next Creator or the CPU takes the node.
  virtual Status onEncode(TensorList inputs, TensorList outputs, Encoder& encoder) = 0;

  Result<size_t> scratchBytes(TensorList inputs, TensorList outputs) final;
  Status onResize(TensorList inputs, TensorList outputs) final;
  Status onExecute(TensorList inputs, TensorList outputs) final;

 private:
  struct State;
  Backend& backend_;
  std::unique_ptr<State> state_;
};

/// OK when generated shader S has a STORAGE variant for `dtype`. Whether the device can load and store it, and how much
/// of it, is asked when the dispatch is measured.
template <class S>
Status requireStorage(const CreateArgs& args, DType dtype) {
  if (S::storageOf(dtype)) return Status::ok();
  return Status::unsupported("{}: the Vulkan kernel has no {} variant", args.def.type, nameOf(dtype));
}

/// Passes of loops inside each other, outermost first, as a device with a limit counts them: one for each iteration and
/// one for the test that ends a loop. Saturates. Loops behind each other add up.
int64_t loopPasses(std::initializer_list<int64_t> iterations);

/// OK when the loops of one invocation, `passes` in all, run to their end on the device (DeviceCaps::loopIterations).
/// For every kernel with a loop whose length a shape or parameter decides. Ask last: whoever reads the refusal takes it
/// that nothing else stands in the way.
Status requireLoops(const CreateArgs& args, int64_t passes);

/// OK when the device wants images and the tensors, which must be floats of rank 2 to 4, fit into them. For Creators of
/// Layout::NC4HW4.
Status requireImages(const CreateArgs& args, std::span<const TensorDesc* const> tensors);

/// The device copy of what `pack` makes of a host constant: packed and uploaded once for all who ask `backend`'s store.
/// `form` names the packing and everything it depends on. For create or onEncode.
Result<std::shared_ptr<const Tensor>> packConstant(Backend& backend, const Tensor& constant, const std::string& form,
                                                   const std::function<Result<Tensor>()>& pack);

/// A Creator's `supports` for kernels that take every node which the card allows.
inline Status takeAll(const CreateArgs&) { return Status::ok(); }

/// A Creator whose Execution is `E(args, backend)`. `supports` may be any callable Status(const CreateArgs&).
template <class E, class Supports>
Creator creatorOf(Supports supports, Layout layout = Layout::NCHW, std::string_view kernel = "") {
  return {.supports = supports,
          .create = [](const CreateArgs& args, Backend& backend) -> Result<std::unique_ptr<Execution>> {
            return std::unique_ptr<Execution>(std::make_unique<E>(args, backend));
          },
          .layout = layout,
          .kernel = std::string(kernel)};
}

}  // namespace opkit::vulkan
