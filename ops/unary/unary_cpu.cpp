// The unary family on the CPU: vector kernels on f32 (unary_vectors.cpp), loops per dtype (unary_maps_wide.cpp), and a
// scalar loop in double or in integers of 64 bits (unary_scalars.cpp) for the other functions and dtypes.
#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/row_kernel.h"
#include "ops/unary/unary.h"
#include "ops/unary/unary_maps.h"
#include "ops/unary/unary_scalars.h"
#include "ops/unary/unary_vectors.h"

namespace opkit::ops::unary {
namespace {

class VectorCpu final : public cpu::CpuKernel, public cpu::ElementwiseRows {
 public:
  VectorCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend),
        map_(vectorMapOf(args.def.type)),
        isCostly_(functionOf(args.def.type).numeric == NumericClass::Transcendental),
        coefficients_(coefficientsOf(functionOf(args.def.type), args.params<UnaryParams>())) {}

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const float* x = floatsOf(*inputs[0]);
    float* y = floatsOf(*outputs[0]);
    const int64_t grain = isCostly_ ? cpu::kGrainElements / 4 : cpu::kGrainElements;
    cpu::parallelRanges(pool_, outputs[0]->desc.elements(), grain, [&](int64_t begin, int64_t end) {
      map_(x + begin, y + begin, end - begin, coefficients_.a, coefficients_.b);
    });
    return Status::ok();
  }

 private:
  VectorMap map_;
  bool isCostly_;
  Coefficients coefficients_;
};

class TypedCpu final : public cpu::CpuKernel, public cpu::ElementwiseRows {
 public:
  TypedCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend),
        map_(typedMapOf(args.def.type, args.input(0).dtype)),
        coefficients_(coefficientsOf(functionOf(args.def.type), args.params<UnaryParams>())) {}

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const std::byte* x = inputs[0]->bytes().data();
    std::byte* y = outputs[0]->bytes().data();
    const auto from = static_cast<int64_t>(sizeOf(inputs[0]->desc.dtype));
    const auto to = static_cast<int64_t>(sizeOf(outputs[0]->desc.dtype));
    cpu::parallelRanges(pool_, outputs[0]->desc.elements(), cpu::kGrainElements, [&](int64_t begin, int64_t end) {
      map_(x + begin * from, y + begin * to, end - begin, coefficients_.a, coefficients_.b);
    });
    return Status::ok();
  }

 private:
  TypedMap map_;
  Coefficients coefficients_;
};

class ScalarCpu final : public cpu::CpuKernel, public cpu::ElementwiseRows {
 public:
  ScalarCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend),
        scalars_(scalarsOf(args.def.type)),
        coefficients_(coefficientsOf(functionOf(args.def.type), args.params<UnaryParams>())) {}

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    visitDType(inputs[0]->desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      if (scalars_.test)
        apply(inputs[0]->data<T>().data(), outputs[0]->data<uint8_t>().data(), outputs[0]->desc.elements());
      else
        apply(inputs[0]->data<T>().data(), outputs[0]->data<T>().data(), outputs[0]->desc.elements());
    });
    return Status::ok();
  }

 private:
  template <class T, class To>
  void apply(const T* x, To* y, int64_t count) {
    cpu::parallelRanges(pool_, count, cpu::kGrainElements / 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y[i] = valueOf<To>(cpu::widened(x[i]));
    });
  }
  template <class To>
  To valueOf(double x) const {
    if constexpr (std::is_same_v<To, uint8_t>)
      return scalars_.test(x, coefficients_.a, coefficients_.b);
    else
      return cpu::narrowed<To>(scalars_.real(x, coefficients_.a, coefficients_.b));
  }
  template <class To>
  To valueOf(int64_t x) const {
    return cpu::narrowed<To>(scalars_.integer(x));
  }
  template <class To>
  To valueOf(uint64_t x) const {
    return cpu::narrowed<To>(scalars_.unsignedInteger(x));
  }

  Scalars scalars_;
  Coefficients coefficients_;
};

/// The only function of bool.
class NotCpu final : public cpu::CpuKernel {
 public:
  using CpuKernel::CpuKernel;

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const uint8_t* x = inputs[0]->data<uint8_t>().data();
    uint8_t* y = outputs[0]->data<uint8_t>().data();
    cpu::parallelRanges(pool_, outputs[0]->desc.elements(), cpu::kGrainElements, [&](int64_t begin, int64_t end) {
      const uint8_t* from = x;  // of their own: bytes might alias what the lambda captures
      uint8_t* to = y;
      for (int64_t i = begin; i < end; ++i) to[i] = from[i] == 0;
    });
    return Status::ok();
  }
};

/// The kernels of one operator: each dtype has one; f16 is widened.
void addKernels(const OpDef& def, OpRegistry& registry) {
  DTypeSet vectors, typed, scalar;
  for (int i = 1; isValidDType(i); ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype == DType::Float16 || !def.inputs[0].dtypes.contains(dtype)) continue;
    DTypeSet& set = dtype == DType::Float32 && vectorMapOf(def.type) ? vectors
                    : typedMapOf(def.type, dtype)                    ? typed
                                                                     : scalar;
    set = set | DTypeSet(dtype);
  }
  const auto add = [&](DTypeSet dtypes, Creator creator) {
    if (!(dtypes == DTypeSet())) registry.addCreator("cpu", def.type, std::move(creator));
  };
  add(vectors, cpu::creatorOf<VectorCpu>(cpu::supportsAll, vectors, "vector"));
  add(typed, cpu::creatorOf<TypedCpu>(cpu::supportsAll, typed, "typed"));
  add(scalar, cpu::creatorOf<ScalarCpu>(cpu::supportsAll, scalar, "scalar"));
}

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "Not", cpu::creatorOf<NotCpu>(cpu::supportsAll, kBool));
  for (const Function& function : functions()) addKernels(*registry.find(function.name), registry);
}

}  // namespace opkit::ops::unary
