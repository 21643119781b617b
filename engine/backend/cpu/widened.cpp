#include "engine/backend/cpu/widened.h"

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/row_kernel.h"
#include "engine/backend/cpu/vector_ops.h"
#include "engine/tensor/lazy_buffer.h"

namespace opkit::cpu {
namespace {

TensorDesc wide(TensorDesc desc) {
  if (desc.dtype == DType::Float16) desc.dtype = DType::Float32;
  return desc;
}

size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }
/// At least one line, so that an empty copy has an address too.
size_t copyBytes(const Tensor& copy) { return aligned(std::max<size_t>(copy.sizeBytes(), 1)); }

/// Elements of `from` from `first` on, as many as `to` has.
void widenTo(ThreadPool& pool, const Tensor& from, int64_t first, const Tensor& to) {
  const Half* x = from.data<Half>().data() + first;
  float* y = to.data<float>().data();
  parallelRanges(pool, to.desc.elements(), kGrainElements,
                 [&](int64_t begin, int64_t end) { widenHalves(x + begin, y + begin, end - begin); });
}

/// Into the elements of `to` from `first` on.
void roundTo(ThreadPool& pool, const Tensor& from, const Tensor& to, int64_t first) {
  const float* x = from.data<float>().data();
  Half* y = to.data<Half>().data() + first;
  parallelRanges(pool, from.desc.elements(), kGrainElements,
                 [&](int64_t begin, int64_t end) { roundToHalves(x + begin, y + begin, end - begin); });
}

Result<std::shared_ptr<const Tensor>> wideConstant(Backend& backend, const Tensor& constant) {
  return backend.constants().get<Tensor>(constant, "widened", [&]() -> Result<Tensor> {
    OPKIT_ASSIGN(const Tensor source, readable(constant));
    Tensor result{wide(constant.desc), nullptr, 0, 0};
    OPKIT_ASSIGN(result.buffer, backend.allocate(std::max<size_t>(result.sizeBytes(), 1)));
    widenTo(threadPool(backend), source, 0, result);
    return result;
  });
}

/// The same node with every f16 as f32.
struct WideNode {
  explicit WideNode(const CreateArgs& args) {
    for (const TensorDesc* input : args.inputs) inputDescs.push_back(input ? wide(*input) : TensorDesc());
    for (size_t i = 0; i < args.inputs.size(); ++i) inputs.push_back(args.inputs[i] ? &inputDescs[i] : nullptr);
    for (const TensorDesc& output : args.outputs) outputs.push_back(wide(output));
    for (size_t i = 0; i < args.constants.size(); ++i)
      constants.push_back(isHalf(args.constant(i)) ? nullptr : args.constant(i));
  }
  static bool isHalf(const Tensor* tensor) { return tensor && tensor->desc.dtype == DType::Float16; }

  CreateArgs args(const CreateArgs& narrow) const {
    return {narrow.def, narrow.paramBytes, inputs, outputs, constants, narrow.device, narrow.layouts};
  }

  std::vector<TensorDesc> inputDescs, outputs;
  std::vector<const TensorDesc*> inputs;
  std::vector<const Tensor*> constants;
};

/// Bytes of wide copies that one thread works on: they stay in its second-level cache.
constexpr int64_t kBlockBytes = 256 * 1024;

/// How a node runs in blocks of rows. A node that does not fall apart is one row.
struct Blocks {
  int64_t rows = 1, step = 1;
  RowSplit split;  // without axes if there is one row

  int64_t tail() const { return rows % step; }
};

/// `count` rows of a tensor that has `axes` axes of rows, or the whole of one that has none.
TensorDesc rowsOf(const TensorDesc& desc, size_t axes, int64_t count) {
  TensorDesc part = desc;
  for (size_t d = 0; d < axes; ++d) part.shape[d] = d + 1 == axes ? count : 1;
  return part;
}

/// The kernel for blocks of one length, and the tensors that it sees.
struct Part {
  std::unique_ptr<Execution> inner;
  size_t scratchBytes = 0;
  std::vector<Tensor> inputs, outputs;
  std::vector<const Tensor*> inputList, outputList;
};

class WidenedExecution final : public Execution {
 public:
  static Result<std::unique_ptr<Execution>> create(const Creator& inner, const CreateArgs& args, Backend& backend) {
    auto execution = std::unique_ptr<WidenedExecution>(new WidenedExecution(args, backend));
    WideNode node(args);
    for (size_t i = 0; i < args.constants.size(); ++i) {
      if (!args.constant(i)) continue;
      execution->isConstant_[i] = true;
      if (!WideNode::isHalf(args.constant(i))) continue;
      OPKIT_ASSIGN(execution->constants_[i], wideConstant(backend, *args.constant(i)));
      node.constants[i] = execution->constants_[i].get();
    }
    OPKIT_ASSIGN(execution->parts_[0].inner, inner.create(node.args(args), backend));
    execution->rowKernel_ = dynamic_cast<const RowKernel*>(execution->parts_[0].inner.get());
    if (execution->rowKernel_) {
      OPKIT_ASSIGN(execution->parts_[1].inner, inner.create(node.args(args), backend));
    }
    return std::unique_ptr<Execution>(std::move(execution));
  }

  bool readsInput(size_t index) const override { return !constantAt(index) && parts_[0].inner->readsInput(index); }
  bool plansNothing() const override { return blocks_.split.outputAxes == 0 && parts_[0].inner->plansNothing(); }

  Result<size_t> scratchBytes(TensorList inputs, TensorList outputs) override {
    describe(inputs, outputs);
    size_t bytes = 0;
    for (Part& part : parts_) {
      if (!isUsed(part)) continue;
      OPKIT_ASSIGN(part.scratchBytes, part.inner->scratchBytes(part.inputList, part.outputList));
      bytes = std::max(bytes, aligned(part.scratchBytes));
    }
    innerBytes_ = bytes;
    const auto add = [&](TensorList list, const std::vector<Tensor>& wides) {
      for (size_t i = 0; i < list.size(); ++i)
        if (needsMemory(list[i], wides[i])) bytes += copyBytes(wides[i]);
    };
    add(inputs, parts_[0].inputs);
    add(outputs, parts_[0].outputs);
    return bytes;
  }

  Status onResize(TensorList inputs, TensorList outputs) override {
    describe(inputs, outputs);
    size_t offset = scratch().offsetBytes + innerBytes_;
    const auto place = [&](TensorList list, std::vector<Tensor> Part::*wides) {
      for (size_t i = 0; i < list.size(); ++i) {
        if (!needsMemory(list[i], (parts_[0].*wides)[i])) continue;
        for (Part& part : parts_) {
          if (!isUsed(part)) continue;
          (part.*wides)[i].buffer = scratch().buffer;
          (part.*wides)[i].offsetBytes = offset;
        }
        offset += copyBytes((parts_[0].*wides)[i]);
      }
    };
    place(inputs, &Part::inputs);
    place(outputs, &Part::outputs);
    for (Part& part : parts_) {
      if (!isUsed(part)) continue;
      Tensor memory{{DType::UInt8, {static_cast<int64_t>(part.scratchBytes)}}, nullptr, scratch().offsetBytes};
      if (part.scratchBytes > 0) memory.buffer = scratch().buffer;
      part.inner->setScratch(std::move(memory));
      OPKIT_TRY(part.inner->onResize(part.inputList, part.outputList));
    }
    return Status::ok();
  }

  /// Counts as one dispatch, like a kernel for f16.
  Status onExecute(TensorList inputs, TensorList outputs) override {
    const uint64_t dispatches = backend_.counters().dispatches;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!hasRows(i)) takeWhole(inputs, i);
    for (int64_t row = 0; row < blocks_.rows; row += blocks_.step) {
      Part& part = parts_[blocks_.rows - row < blocks_.step];
      for (size_t i = 0; i < inputs.size(); ++i)
        if (hasRows(i) && inputs[i]) takeRows(part, *inputs[i], i, row);
      for (size_t i = 0; i < outputs.size(); ++i)
        if (outputs[i]) prepareOutput(part, *outputs[i], i, row);
      OPKIT_TRY(part.inner->onExecute(part.inputList, part.outputList));
      for (size_t i = 0; i < outputs.size(); ++i)
        if (isCopied(outputs[i], part.outputs[i]))
          roundTo(pool_, part.outputs[i], *outputs[i], row * rowElements(*outputs[i]));
    }
    backend_.counters().dispatches = std::min(backend_.counters().dispatches, dispatches + 1);
    return Status::ok();
  }

 private:
  WidenedExecution(const CreateArgs& args, Backend& backend)
      : backend_(backend),
        pool_(threadPool(backend)),
        constants_(args.inputs.size()),
        isConstant_(args.inputs.size()) {}

  const Tensor* constantAt(size_t index) const { return index < constants_.size() ? constants_[index].get() : nullptr; }
  bool isUsed(const Part& part) const { return &part == &parts_[0] || blocks_.tail() != 0; }
  /// Whether the kernel works on a wide copy of the tensor.
  static bool isCopied(const Tensor* tensor, const Tensor& wideOne) {
    return tensor && tensor->desc.dtype != wideOne.desc.dtype;
  }
  /// A wide constant has its own.
  static bool needsMemory(const Tensor* tensor, const Tensor& wideOne) {
    return isCopied(tensor, wideOne) && !wideOne.buffer;
  }
  /// Without blocks, the whole input is one row.
  bool hasRows(size_t input) const {
    return blocks_.split.outputAxes == 0 ? !constantAt(input) : blocks_.split.inputAxes[input] > 0;
  }
  int64_t rowElements(const Tensor& tensor) const { return tensor.desc.elements() / blocks_.rows; }

  /// Makes `part`, which has rows, refer to the rows of `whole` from `row` on.
  void pointAt(const Tensor& whole, int64_t row, Tensor& part) const {
    part.buffer = whole.buffer;
    part.offsetBytes = whole.offsetBytes + bytesOf(whole.desc.dtype, row * rowElements(whole));
  }
  void takeRows(Part& part, const Tensor& input, size_t i, int64_t row) {
    if (!isCopied(&input, part.inputs[i]))
      pointAt(input, row, part.inputs[i]);
    else if (part.inner->readsInput(i))
      widenTo(pool_, input, row * rowElements(input), part.inputs[i]);
  }
  /// Blocks take turns in one copy. Under a harness it begins with what the output holds: an element that the kernel
  /// does not write keeps its poison, in place of a value of the block before.
  void prepareOutput(Part& part, const Tensor& output, size_t i, int64_t row) {
    if (!isCopied(&output, part.outputs[i]))
      pointAt(output, row, part.outputs[i]);
    else if (output.guardBytes > 0)
      widenTo(pool_, output, row * rowElements(output), part.outputs[i]);
  }
  /// Inputs that every block reads.
  void takeWhole(TensorList inputs, size_t i) {
    if (!inputs[i] || constantAt(i)) return;
    if (isCopied(inputs[i], parts_[0].inputs[i])) {
      if (parts_[0].inner->readsInput(i)) widenTo(pool_, *inputs[i], 0, parts_[0].inputs[i]);
      return;
    }
    for (Part& part : parts_)
      if (isUsed(part)) part.inputList[i] = inputs[i];
  }

  /// The blocks for these shapes. Rows of constants stay together: the kernel may have prepared them.
  Blocks chooseBlocks(TensorList inputs, TensorList outputs) const {
    if (!rowKernel_) return {};
    for (const Tensor* input : inputs)
      if (input && input->layout != Layout::NCHW) return {};
    Blocks blocks{.split = rowKernel_->rows(inputs, outputs)};
    if (blocks.split.outputAxes == 0) return {};
    blocks.rows = elementCount(outputs[0]->desc.shape, 0, blocks.split.outputAxes);
    int64_t bytes = 0;  // of the copies
    const auto add = [&bytes](const Tensor* tensor) {
      if (WideNode::isHalf(tensor)) bytes += tensor->desc.elements() * static_cast<int64_t>(sizeof(float));
    };
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (blocks.split.inputAxes[i] == 0) continue;
      if (isConstant_[i]) return {};
      add(inputs[i]);
    }
    for (const Tensor* output : outputs) add(output);
    blocks.step = stepFor(blocks.rows, bytes);
    return blocks.step < blocks.rows ? blocks : Blocks();
  }
  /// Rows of a block. A pool that splits all work gets three blocks and a rest, however small they are.
  int64_t stepFor(int64_t rows, int64_t bytes) const {
    constexpr int64_t kLine = 64;  // rows of one element: whole lines of memory
    if (pool_.splitsAll()) return std::max<int64_t>(rows / 3, 1);
    const int64_t threads = static_cast<int64_t>(pool_.threadCount());
    const int64_t step =
        std::max<int64_t>(kBlockBytes * threads / std::max<int64_t>(bytes / std::max<int64_t>(rows, 1), 1), 1);
    return step > kLine ? step / kLine * kLine : step;
  }

  /// The tensors that the kernels get; copies have no memory yet.
  void describe(TensorList inputs, TensorList outputs) {
    blocks_ = chooseBlocks(inputs, outputs);
    const RowSplit& split = blocks_.split;
    for (Part& part : parts_) {
      const int64_t count = &part == &parts_[0] ? blocks_.step : blocks_.tail();
      const auto list = [&](TensorList from, std::vector<Tensor>& to, std::vector<const Tensor*>& pointers,
                            auto axesOf) {
        to.assign(from.size(), Tensor());
        pointers.assign(from.size(), nullptr);
        for (size_t i = 0; i < from.size(); ++i) {
          if (!from[i]) continue;
          if (!WideNode::isHalf(from[i])) to[i] = *from[i];
          to[i].desc = rowsOf(wide(from[i]->desc), axesOf(i), count);
          pointers[i] = &to[i];
        }
      };
      list(inputs, part.inputs, part.inputList, [&](size_t i) { return split.outputAxes ? split.inputAxes[i] : 0; });
      list(outputs, part.outputs, part.outputList, [&](size_t) { return split.outputAxes; });
      for (size_t i = 0; i < inputs.size(); ++i)
        if (constantAt(i)) part.inputs[i] = *constantAt(i), part.inputList[i] = constantAt(i);
    }
  }

  Backend& backend_;
  ThreadPool& pool_;
  std::vector<std::shared_ptr<const Tensor>> constants_;  // of inputs that are f16 and never change
  std::vector<bool> isConstant_;                          // of all inputs
  Blocks blocks_;
  std::array<Part, 2> parts_;             // whole blocks, and the rest
  const RowKernel* rowKernel_ = nullptr;  // the first of them; null if its node does not fall apart
  size_t innerBytes_ = 0;
};

}  // namespace

Creator widenedKernel(const Creator& inner) {
  Creator creator = inner;
  creator.dtypes = DTypeSet(DType::Float16);
  creator.supports = [inner](const CreateArgs& args) {
    const WideNode node(args);
    return inner.supports(node.args(args));
  };
  creator.create = [inner](const CreateArgs& args, Backend& backend) {
    return WidenedExecution::create(inner, args, backend);
  };
  return creator;
}

std::vector<Creator> widenedKernels(const OpDef& def, std::span<const Creator> table) {
  const bool isForeign = def.type.find("::") != std::string::npos;
  std::vector<Creator> result;
  for (const Creator& creator : table) {
    const auto hasHalf = [&](const Creator& other) {
      return other.provider == creator.provider && other.dtypes.contains(DType::Float16);
    };
    const bool isOwn = isForeign || (creator.provider == "opkit" && std::ranges::none_of(table, hasHalf));
    if (isOwn && creator.dtypes.contains(DType::Float32)) result.push_back(widenedKernel(creator));
  }
  return result;
}

}  // namespace opkit::cpu
