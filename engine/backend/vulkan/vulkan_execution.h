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
/// invocations. The number of work groups follows from the shader's local size; a count of 0 dispatches none.
struct Items {
  int64_t count = 0;
  int64_t team = 1;
};

/// Elements of a shader that includes shaders/include/elementwise.glsl. The device's class says how many of them an
/// invocation computes; one, if the operands of four neighbours are no vectors of neighbours or copies of one element.
struct Elements {
  int64_t count = 0;
  bool inFours = true;

  uint32_t width(const DeviceCaps& device) const { return inFours ? device.deviceClass->elementWidth : 1; }
};

/// Rows of a shader that includes shaders/include/rows.glsl.
struct RowWork {
  int64_t rows = 0;
  int64_t extent = 0;    // elements of a row
  int64_t passes = 1;    // passes of the kernel over a row
  int64_t distance = 1;  // between neighbouring elements of a row; that many neighbouring rows are neighbours in memory
  int64_t elementBytes = 4;  // of the tensor
  int64_t keptBytes = 0;     // of an element that the shader keeps in shared memory (KEEP_ROWS); 0 if it keeps none
  int64_t tileRun = 0;       // elements of an invocation in a tile, for a shader that walks a row once more by tiles
  int64_t tilePasses = 0;    // of the loops of an invocation in a tile

  /// Rows of a kernel with one output element per input element: empty rows need no work.
  static RowWork over(const Rows& rows, int64_t passes) {
    return {rows.extent == 0 ? 0 : rows.count(), rows.extent, passes, rows.inner};
  }
  /// The same for a shader with KEEP_ROWS; the rows are those of a tensor [rows / distance, extent, distance].
  RowWork keeping(int64_t bytes = 4) const {
    RowWork work = *this;
    work.keptBytes = bytes;
    return work;
  }
};

/// Passes of TEAM_SCAN of rows.glsl, the scan of a team.
constexpr int64_t kScanPasses = 11;

/// Number of invocations that process one row together. One is enough if rows are short or many. For a single long row,
/// one invocation would leave the device idle, and devices with a loop limit would cut it off.
struct RowTeam {
  static constexpr uint32_t kMostSteps = 4;
  static constexpr int64_t kBlock = 64;    // kRowBlock of rows.glsl
  static constexpr uint32_t kMost = 1024;  // kMaxTeam of rows.glsl

  /// How a work group keeps its rows in shared memory: not at all; as it lies in memory, with whole [extent, distance]
  /// blocks; or each invocation the elements that it walks.
  enum class Keeps : uint32_t { Nothing, Blocks, Columns };

  uint32_t size = 1;        // constant `team`
  uint32_t localSize = 64;  // constant localSizeX
  uint32_t steps = 1;       // elements per pass of a loop
  uint32_t columns = 1;     // teams side by side: neighbouring invocations belong to neighbouring rows
  Keeps keeps = Keeps::Nothing;
  int64_t tileElements = 0;  // of the shared memory for kept rows

  /// Chosen by the device's class; if the device limits loops, at least the smallest team within the limit.
  static RowTeam of(const RowWork& work, const DeviceCaps& device);
  /// Passes of an invocation's loops: its share of each pass over the row, and the steps of the following fold.
  int64_t iterations(const RowWork& work) const;
  /// Unsupported by the device if even its largest team exceeds the loop limit.
  Status check(const RowWork& work, const DeviceCaps& device, const char* shader) const;
  /// Teams to start: those of the rows, and idle ones that complete a group of kept blocks.
  int64_t teams(const RowWork& work) const;
  /// The constant `rowSteps`: steps, columns and what is kept (rows.glsl).
  uint32_t layoutWord() const;
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

/// Turns the words that shaders reported into an error.
using DataReport = std::function<Status(std::span<const int32_t> words)>;

class Encoder;

/// Alternative ways to run one Execution; the Tuner chooses the fastest on this device.
struct Alternatives {
  std::string name;     // the kernel, its dtype, and everything in the shapes that affects speed
  size_t count = 1;     // numbered from 0
  size_t standard = 0;  // used if nothing was measured
  /// Records one alternative. Called with tensors of the same descriptions in other memory with undefined contents.
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
  /// As above, with enough work groups for the items.
  template <class S>
  Status dispatch(const typename S::Variant& variant, const typename S::Bindings& bindings,
                  const typename S::PushConstants& push, Items items, const typename S::Constants& constants = {}) {
    const uint32_t invocations = S::code(variant).invocations(constants.list());
    return dispatch<S>(variant, bindings, push, Groups::linear(items.count * items.team, invocations), constants);
  }
  /// As above, with one invocation per element or per four: chooses the shader's variant WIDTH.
  template <class S>
  Status dispatch(typename S::Variant variant, const typename S::Bindings& bindings,
                  const typename S::PushConstants& push, const Elements& elements,
                  const typename S::Constants& constants = {}) {
    const int64_t width = elements.width(caps());
    variant.width = width == 4 ? S::Width::V4 : S::Width::V1;
    return dispatch<S>(variant, bindings, push, Items{(elements.count + width - 1) / width}, constants);
  }
  /// As above, with a team of invocations per row that suits the rows and the device.
  template <class S>
  Status dispatch(const typename S::Variant& variant, const typename S::Bindings& bindings,
                  const typename S::PushConstants& push, const RowWork& work, typename S::Constants constants = {}) {
    const RowTeam team = RowTeam::of(work, caps());
    OPKIT_TRY(team.check(work, caps(), S::code(variant).name));
    constants.localSizeX = team.localSize;
    constants.team = team.size;
    constants.rowSteps = team.layoutWord();
    return dispatch<S>(variant, bindings, push, Items{team.teams(work), team.size}, constants);
  }

  virtual const DeviceCaps& caps() const = 0;

  /// Fills a tensor's bytes with zero.
  virtual Status fillZero(const Tensor& tensor) = 0;
  /// Copies runs of bytes between two tensors, as one command.
  virtual Status copyRuns(const Tensor& from, const Tensor& to, std::span<const ByteRun> runs) = 0;
  /// Copies all channels of image `from` (Layout::NC4HW4) to channels `firstChannel` and up of image `to`, which has
  /// the same batch and spatial extents. REQUIRES firstChannel to be a multiple of 4.
  virtual Status copyChannels(const Tensor& from, const Tensor& to, int64_t firstChannel) = 0;
  /// Bytes from which a copy command moves a run faster than a shader on this device.
  virtual size_t shortestRunBytes() const = 0;
  /// The longest range of a buffer that can be bound. Fills and copies take any.
  virtual uint64_t maxBindingBytes() const = 0;
  /// Commands between these two calls write disjoint elements and read none that the others write. No barrier is placed
  /// among them, although they access the same tensors.
  virtual void beginDisjoint() = 0;
  virtual void endDisjoint() = 0;
  /// Device memory for this Execution while it runs; contents undefined.
  /// Planned with the tensors of the network, so other Executions reuse the same bytes.
  virtual Result<const Tensor*> scratch(TensorDesc desc) = 0;
  /// u32[words] on the device: a table computed at resize, for plans that do not fit into push constants. Uploaded now,
  /// read by the dispatches of this onEncode; a shader binds it as a buffer of uint, or as a usamplerBuffer.
  virtual Result<const Tensor*> table(const std::vector<uint32_t>& words) = 0;

  /// i32[words] for shaders to report bad data in, zero before each run. If a run writes another value, the run fails
  /// with the Status that `explain` returns for the words; its outputs are undefined then. See DataReports.
  virtual Result<const Tensor*> report(int64_t words, DataReport explain) = 0;

  /// The alternative to encode: from the device's tuning cache; else, in a session that tunes, the fastest when timed;
  /// else the standard.
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
  /// that only measures scratch memory and checks the dispatches against the device, while tensors have no memory yet.
  /// Both calls must record the same. Kernels need not check device limits: the first call fails, and the next Creator
  /// or the CPU takes the node.
  virtual Status onEncode(TensorList inputs, TensorList outputs, Encoder& encoder) = 0;

  Result<size_t> scratchBytes(TensorList inputs, TensorList outputs) final;
  Status onResize(TensorList inputs, TensorList outputs) final;
  Status onExecute(TensorList inputs, TensorList outputs) final;

 protected:
  static bool has(TensorList list, size_t index) { return index < list.size() && list[index] != nullptr; }

 private:
  struct State;
  Backend& backend_;
  std::unique_ptr<State> state_;
};

/// OK if generated shader S has a STORAGE variant for `dtype`. Support and limits of the device are checked when the
/// dispatch is measured.
template <class S>
Status requireStorage(const CreateArgs& args, DType dtype) {
  if (S::storageOf(dtype)) return Status::ok();
  return Status::unsupported("{}: the Vulkan kernel has no {} variant", args.def.type, nameOf(dtype));
}

/// Passes of nested loops, outermost first, as a device with a limit counts them: one for each iteration and one for
/// the test that ends a loop. Saturates. For consecutive loops, add the passes.
int64_t loopPasses(std::initializer_list<int64_t> iterations);

/// OK if the loops of one invocation, `passes` in all, run to their end on the device (DeviceCaps::loopIterations). For
/// every kernel with a loop whose length depends on a shape or parameter. Call it last: this refusal means that nothing
/// else prevents the kernel.
Status requireLoops(const CreateArgs& args, int64_t passes);

/// OK if the device prefers images and the tensors, which must be floats of rank 2 to 4, fit into them. For Creators of
/// Layout::NC4HW4.
Status requireImages(const CreateArgs& args, std::span<const TensorDesc* const> tensors);

/// The device copy of a host constant packed by `pack`: packed and uploaded once, shared through `backend`'s store.
/// `form` names the packing and everything it depends on; its dtype may be another one. For create or onEncode.
Result<std::shared_ptr<const Tensor>> packConstant(Backend& backend, const Tensor& constant, const std::string& form,
                                                   const std::function<Result<Tensor>()>& pack);

/// A Creator's `supports` for kernels that accept every node that the card allows.
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
