#include "engine/backend/cpu/widened.h"

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/vector_ops.h"

namespace opkit::cpu {
namespace {

TensorDesc wide(TensorDesc desc) {
  if (desc.dtype == DType::Float16) desc.dtype = DType::Float32;
  return desc;
}

size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }
/// At least one line, so that an empty copy has an address too.
size_t copyBytes(const Tensor& copy) { return aligned(std::max<size_t>(copy.sizeBytes(), 1)); }

void widenTo(ThreadPool& pool, const Tensor& from, const Tensor& to) {
  const Half* x = from.data<Half>().data();
  float* y = to.data<float>().data();
  parallelRanges(pool, from.desc.elements(), kGrainElements,
                 [&](int64_t begin, int64_t end) { widenHalves(x + begin, y + begin, end - begin); });
}

void roundTo(ThreadPool& pool, const Tensor& from, const Tensor& to) {
  const float* x = from.data<float>().data();
  Half* y = to.data<Half>().data();
  parallelRanges(pool, from.desc.elements(), kGrainElements,
                 [&](int64_t begin, int64_t end) { roundToHalves(x + begin, y + begin, end - begin); });
}

Result<std::shared_ptr<const Tensor>> wideConstant(Backend& backend, const Tensor& constant) {
  return backend.constants().get<Tensor>(constant, "widened", [&]() -> Result<Tensor> {
    Tensor result{wide(constant.desc), nullptr, 0, 0};
    OPKIT_ASSIGN(result.buffer, backend.allocate(std::max<size_t>(result.sizeBytes(), 1)));
    widenTo(threadPool(backend), constant, result);
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

class WidenedExecution final : public Execution {
 public:
  static Result<std::unique_ptr<Execution>> create(const Creator& inner, const CreateArgs& args, Backend& backend) {
    auto execution = std::unique_ptr<WidenedExecution>(new WidenedExecution(threadPool(backend)));
    WideNode node(args);
    execution->constants_.resize(args.inputs.size());
    for (size_t i = 0; i < args.constants.size(); ++i) {
      if (!WideNode::isHalf(args.constant(i))) continue;
      OPKIT_ASSIGN(execution->constants_[i], wideConstant(backend, *args.constant(i)));
      node.constants[i] = execution->constants_[i].get();
    }
    OPKIT_ASSIGN(execution->inner_, inner.create(node.args(args), backend));
    return std::unique_ptr<Execution>(std::move(execution));
  }

  bool readsInput(size_t index) const override { return !constantAt(index) && inner_->readsInput(index); }
  bool plansNothing() const override { return inner_->plansNothing(); }

  Result<size_t> scratchBytes(TensorList inputs, TensorList outputs) override {
    describe(inputs, outputs);
    OPKIT_ASSIGN(innerBytes_, inner_->scratchBytes(inputList_, outputList_));
    size_t bytes = aligned(innerBytes_);
    const auto add = [&](TensorList list, const std::vector<Tensor>& wides) {
      for (size_t i = 0; i < list.size(); ++i)
        if (needsMemory(list[i], wides[i])) bytes += copyBytes(wides[i]);
    };
    add(inputs, inputs_);
    add(outputs, outputs_);
    return bytes;
  }

  Status onResize(TensorList inputs, TensorList outputs) override {
    describe(inputs, outputs);
    Tensor part{{DType::UInt8, {static_cast<int64_t>(innerBytes_)}}, scratch().buffer, scratch().offsetBytes};
    size_t offset = scratch().offsetBytes + aligned(innerBytes_);
    if (innerBytes_ == 0) part.buffer = nullptr;
    inner_->setScratch(std::move(part));
    const auto place = [&](TensorList list, std::vector<Tensor>& wides) {
      for (size_t i = 0; i < list.size(); ++i) {
        if (!needsMemory(list[i], wides[i])) continue;
        wides[i].buffer = scratch().buffer;
        wides[i].offsetBytes = offset;
        offset += copyBytes(wides[i]);
      }
    };
    place(inputs, inputs_);
    place(outputs, outputs_);
    return inner_->onResize(inputList_, outputList_);
  }

  Status onExecute(TensorList inputs, TensorList outputs) override {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (constantAt(i)) continue;
      if (!isCopied(inputs[i], inputs_[i]))
        inputList_[i] = inputs[i];
      else if (inner_->readsInput(i))
        widenTo(pool_, *inputs[i], inputs_[i]);
    }
    for (size_t i = 0; i < outputs.size(); ++i)
      if (!isCopied(outputs[i], outputs_[i])) outputList_[i] = outputs[i];
    OPKIT_TRY(inner_->onExecute(inputList_, outputList_));
    for (size_t i = 0; i < outputs.size(); ++i)
      if (isCopied(outputs[i], outputs_[i])) roundTo(pool_, outputs_[i], *outputs[i]);
    return Status::ok();
  }

 private:
  explicit WidenedExecution(ThreadPool& pool) : pool_(pool) {}

  const Tensor* constantAt(size_t index) const { return index < constants_.size() ? constants_[index].get() : nullptr; }
  /// Whether the kernel works on a wide copy of the tensor.
  static bool isCopied(const Tensor* tensor, const Tensor& wideOne) {
    return tensor && tensor->desc.dtype != wideOne.desc.dtype;
  }

  /// A wide constant has its own.
  static bool needsMemory(const Tensor* tensor, const Tensor& wideOne) {
    return isCopied(tensor, wideOne) && !wideOne.buffer;
  }

  /// The wide tensors and the lists that the kernel gets; copies have no memory yet.
  void describe(TensorList inputs, TensorList outputs) {
    const auto list = [](TensorList from, std::vector<Tensor>& to, std::vector<const Tensor*>& pointers) {
      to.resize(from.size());
      pointers.resize(from.size());
      for (size_t i = 0; i < from.size(); ++i) {
        pointers[i] = from[i];
        if (!WideNode::isHalf(from[i])) {
          to[i] = from[i] ? *from[i] : Tensor();
          continue;
        }
        to[i] = Tensor{wide(from[i]->desc), nullptr, 0, 0};
        pointers[i] = &to[i];
      }
    };
    list(inputs, inputs_, inputList_);
    list(outputs, outputs_, outputList_);
    for (size_t i = 0; i < inputs.size(); ++i)
      if (constantAt(i)) inputs_[i] = *constantAt(i), inputList_[i] = constantAt(i);
  }

  ThreadPool& pool_;
  std::unique_ptr<Execution> inner_;
  std::vector<std::shared_ptr<const Tensor>> constants_;  // of inputs that are f16 and never change
  size_t innerBytes_ = 0;
  std::vector<Tensor> inputs_, outputs_;  // as the kernel sees them
  std::vector<const Tensor*> inputList_, outputList_;
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
