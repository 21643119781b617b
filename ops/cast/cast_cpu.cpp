// Cast on the CPU: a loop per pair of types. To a float: rounded once, to nearest even. To an integer: truncation
// towards zero, NaN gives 0, values beyond 64 bits the nearest limit, narrower integers wrap.
#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/cast/cast.h"

namespace opkit::ops::cast {
namespace {

template <class To, class From>
To converted(From value) {
  const auto wide = cpu::widened(value);
  if constexpr (std::is_same_v<To, Half> || std::is_floating_point_v<To>)
    return cpu::narrowed<To>(wide);
  else if constexpr (std::is_floating_point_v<decltype(wide)>)
    return static_cast<To>(truncated(wide, std::is_same_v<To, uint64_t>));
  else
    return static_cast<To>(wide);
}

class CastCpu final : public cpu::CpuKernel {
 public:
  using CpuKernel::CpuKernel;

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const bool toBool = outputs[0]->desc.dtype == DType::Bool;
    visitDType(inputs[0]->desc.dtype, [&](auto from) {
      using From = decltype(from);
      const From* x = inputs[0]->data<From>().data();
      visitDType(outputs[0]->desc.dtype, [&](auto to) {
        using To = decltype(to);
        To* y = outputs[0]->data<To>().data();
        cpu::parallelRanges(pool_, outputs[0]->desc.elements(), cpu::kGrainElements, [&](int64_t begin, int64_t end) {
          if (toBool)
            for (int64_t i = begin; i < end; ++i) y[i] = cpu::narrowed<To>(cpu::widened(x[i]) != 0 ? 1 : 0);
          else
            for (int64_t i = begin; i < end; ++i) y[i] = converted<To>(x[i]);
        });
      });
    });
    return Status::ok();
  }
};

}  // namespace

void addCpu(OpRegistry& registry) {
  for (const char* type : {"Cast", "CastLike"})
    if (registry.find(type)) registry.addCreator("cpu", type, cpu::creatorOf<CastCpu>(cpu::supportsAll, kAnyDType));
}

}  // namespace opkit::ops::cast
