// The binary family on the CPU: vector kernels on f32 (binary_vectors.cpp) and loops per dtype (binary_maps_wide.cpp)
// for most functions, and a scalar loop in double or in integers of 64 bits (binary_scalars.cpp) for the other
// functions and dtypes.
#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/long_runs.h"
#include "engine/backend/cpu/row_kernel.h"
#include "engine/backend/cpu/vector_ops.h"
#include "engine/op/clamp.h"
#include "ops/binary/binary.h"
#include "ops/binary/binary_maps.h"
#include "ops/binary/binary_scalars.h"
#include "ops/binary/binary_vectors.h"
#include "ops/binary/pow_mixed_cpu.h"

namespace opkit::ops::binary {
namespace {

using cpu::RunElements;

/// State of both kernels after onResize.
class BinaryCpu : public cpu::CpuKernel, public cpu::RowKernel {
 public:
  BinaryCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<BinaryParams>()), clamp_(clampOf(params_)) {}
  Status onResize(TensorList inputs, TensorList) override {
    loops_ = loopsOf(params_, inputs[0]->desc.shape, inputs[1]->desc.shape);
    return Status::ok();
  }
  /// An input 1 that is aligned at an axis has rows only if the shapes are equal.
  cpu::RowSplit rows(TensorList inputs, TensorList outputs) const override {
    if (params_.axis && inputs[0]->desc.shape != inputs[1]->desc.shape) return {};
    return cpu::elementwiseRows(inputs, outputs);
  }

 protected:
  /// Calls body(x, y, first element of the output, count) for runs that cover the output.
  template <class Body>
  void forEachPart(TensorList inputs, const Tensor& output, int64_t grain, const Body& body) {
    const std::array operands{cpu::Operand::of(*inputs[0]), cpu::Operand::of(*inputs[1])};
    cpu::parallelRanges(pool_, output.desc.elements(), grain, [&](int64_t begin, int64_t end) {
      cpu::forEachLongRun<2>(loops_, operands, begin, end, [&](int64_t first, int64_t count, const auto& from) {
        body(from[0], from[1], first, count);
      });
    });
  }
  const Clamp& clamp() const { return clamp_; }

 private:
  BinaryParamsT params_;
  Clamp clamp_;
  Loops loops_;
};

class VectorCpu final : public BinaryCpu {
 public:
  VectorCpu(const CreateArgs& args, Backend& backend) : BinaryCpu(args, backend), map_(vectorMapOf(args.def.type)) {}

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    float* z = floatsOf(*outputs[0]);
    forEachPart(inputs, *outputs[0], cpu::kGrainElements,
                [&](const RunElements& x, const RunElements& y, int64_t first, int64_t count) {
                  if (clamp().isActive()) return clampedRun(x, y, z + first, count);
                  map_(x.as<float>(), x.stride, y.as<float>(), y.stride, z + first, count);
                });
    return Status::ok();
  }

 private:
  /// The elements just written are still in cache.
  void clampedRun(const RunElements& x, const RunElements& y, float* z, int64_t count) const {
    for (int64_t i = 0; i < count; i += kClampBlock) {
      const int64_t length = std::min(kClampBlock, count - i);
      map_(x.as<float>() + i * x.stride, x.stride, y.as<float>() + i * y.stride, y.stride, z + i, length);
      cpu::clampTo(clamp().low, clamp().high, z + i, length);
    }
  }

  static constexpr int64_t kClampBlock = 2048;

  VectorMap map_;
};

class TypedCpu final : public BinaryCpu {
 public:
  TypedCpu(const CreateArgs& args, Backend& backend)
      : BinaryCpu(args, backend), map_(typedMapOf(args.def.type, args.input(0).dtype)) {}

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    std::byte* z = outputs[0]->bytes().data();
    const auto size = static_cast<int64_t>(sizeOf(outputs[0]->desc.dtype));
    forEachPart(inputs, *outputs[0], cpu::kGrainElements,
                [&](const RunElements& x, const RunElements& y, int64_t first, int64_t count) {
                  map_(x.bytes, x.stride, y.bytes, y.stride, z + first * size, count);
                  if (clamp().isActive()) clampRun(*outputs[0], first, count);
                });
    return Status::ok();
  }

 private:
  /// A clamp needs floating results.
  void clampRun(const Tensor& output, int64_t first, int64_t count) const {
    if (output.desc.dtype == DType::Float32)
      return cpu::clampTo(clamp().low, clamp().high, floatsOf(output) + first, count);
    double* z = output.data<double>().data() + first;
    const double low = clamp().low, high = clamp().high;
    for (int64_t i = 0; i < count; ++i) z[i] = z[i] < low ? low : z[i] > high ? high : z[i];
  }

  TypedMap map_;
};

class ScalarCpu final : public BinaryCpu {
 public:
  ScalarCpu(const CreateArgs& args, Backend& backend)
      : BinaryCpu(args, backend), kind_(functionOf(args.def.type).kind), scalars_(scalarsOf(args.def.type)) {}

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    visitDType(inputs[0]->desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      if (kind_ == Function::Kind::Arithmetic)
        apply<T, T>(inputs, *outputs[0]);
      else
        apply<T, uint8_t>(inputs, *outputs[0]);
    });
    return Status::ok();
  }

 private:
  template <class T, class To>
  void apply(TensorList inputs, const Tensor& output) {
    To* z = output.data<To>().data();
    forEachPart(inputs, output, cpu::kGrainElements / 4,
                [&](const RunElements& x, const RunElements& y, int64_t first, int64_t count) {
                  for (int64_t i = 0; i < count; ++i)
                    z[first + i] = cpu::narrowed<To>(
                        valueOf(cpu::widened(x.as<T>()[i * x.stride]), cpu::widened(y.as<T>()[i * y.stride])));
                });
  }
  double valueOf(double x, double y) const {
    const double value = scalars_.real(x, y);
    return value < clamp().low ? clamp().low : value > clamp().high ? clamp().high : value;
  }
  int64_t valueOf(int64_t x, int64_t y) const { return scalars_.integer(x, y); }
  uint64_t valueOf(uint64_t x, uint64_t y) const { return scalars_.unsignedInteger(x, y); }

  Function::Kind kind_;
  Scalars scalars_;
};

Status supportsLoops(const CreateArgs& args) {
  const size_t loops = loopsOf(args.params<BinaryParams>(), args.input(0).shape, args.input(1).shape).size.size();
  if (loops > cpu::kMaxLoops)
    return Status::unsupported("{}: the CPU kernel broadcasts over up to {} merged axes, got {}", args.def.type,
                               cpu::kMaxLoops, loops);
  if (args.input(0).dtype != args.input(1).dtype)
    return Status::unsupported("{}: the CPU kernel takes one type, got {} and {}", args.def.type,
                               nameOf(args.input(0).dtype), nameOf(args.input(1).dtype));
  return Status::ok();
}

/// The kernels of one operator: each dtype has one; f16 is widened.
void addKernels(const Function& function, OpRegistry& registry) {
  DTypeSet vectors, typed, scalar;
  for (int i = 1; isValidDType(i); ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype == DType::Float16 || !function.dtypes.contains(dtype)) continue;
    DTypeSet& set = dtype == DType::Float32 && vectorMapOf(function.name) ? vectors
                    : typedMapOf(function.name, dtype)                    ? typed
                                                                          : scalar;
    set = set | DTypeSet(dtype);
  }
  const auto add = [&](DTypeSet dtypes, Creator creator) {
    if (!(dtypes == DTypeSet())) registry.addCreator("cpu", function.name, std::move(creator));
  };
  add(vectors, cpu::creatorOf<VectorCpu>(supportsLoops, vectors, "vector"));
  add(typed, cpu::creatorOf<TypedCpu>(supportsLoops, typed, "typed"));
  add(scalar, cpu::creatorOf<ScalarCpu>(supportsLoops, scalar, "scalar"));
}

}  // namespace

void addCpu(OpRegistry& registry) {
  for (const Function& function : functions()) addKernels(function, registry);
  registry.addCreator("cpu", "Pow", mixedPowCreator());
}

}  // namespace opkit::ops::binary
