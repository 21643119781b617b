// QuantizeLinear and DequantizeLinear on the CPU: in runs of elements that share a scale or have neighbouring ones.
// Scales become floats and zero points 32-bit integers first. Types that no C++ type holds, and f16, pass through a run
// of floats that stays in the cache. Elements that share bytes get bytes of their own in scratch memory.
#include <array>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "engine/backend/cpu/long_runs.h"
#include "engine/backend/cpu/vector_ops.h"
#include "ops/cast/codes.h"
#include "ops/quantize/quantize.h"
#include "ops/quantize/quantize_wide.h"

namespace opkit::ops::quantize {
namespace {

constexpr int64_t kRun = 512;
using Floats = std::array<float, kRun>;

/// Runs `body` on a value of the integer type.
template <class Body>
void visitQuantized(DType dtype, const Body& body) {
  if (dtype == DType::Int8) return body(int8_t());
  if (dtype == DType::UInt8) return body(uint8_t());
  if (dtype == DType::Int16) return body(int16_t());
  if (dtype == DType::UInt16) return body(uint16_t());
  body(int32_t());
}

/// Elements [first, first + count) of a tensor of floats or i32 as floats: themselves, or `floats`. f4e2m1 lies in
/// bytes.
const float* floatsFrom(const Tensor& tensor, DType dtype, int64_t first, int64_t count, float* floats) {
  if (dtype == DType::Float32) return tensor.data<float>().data() + first;
  if (isCodedFloat(dtype)) {
    const std::byte* codes = tensor.bytes().data() + bytesOf(dtype, 1) * static_cast<size_t>(first);
    cast::decodeAll(dtype, codes, floats, count);
  } else if (dtype == DType::Float16) {
    cpu::widenHalves(tensor.data<Half>().data() + first, floats, count);
  } else {
    const int32_t* x = tensor.data<int32_t>().data() + first;
    for (int64_t i = 0; i < count; ++i) floats[i] = static_cast<float>(x[i]);
  }
  return floats;
}

/// Rounds to the numbers of `precision`; values may be rounded. REQUIRES count <= kRun.
const float* roundedTo(DType precision, const float* values, float* rounded, int64_t count) {
  if (precision == DType::Float32) return values;
  std::array<Half, kRun> halves;
  if (precision == DType::Float16) {
    cpu::roundToHalves(values, halves.data(), count);
    cpu::widenHalves(halves.data(), rounded, count);
  } else {
    auto* codes = reinterpret_cast<std::byte*>(halves.data());
    cast::encodeAll(precision, {}, values, codes, count);
    cast::decodeAll(precision, codes, rounded, count);
  }
  return rounded;
}

/// No block is shorter than the others.
bool isEven(const ScalePlan& plan) { return plan.extent % plan.block == 0; }

/// The loops over the elements, of the scales and of the zero points. REQUIRES that the plan is even.
Loops loopsOf(const ScalePlan& plan) {
  const DimVector strides{plan.outerStep, plan.blockStep, 0, plan.innerStep};
  return mergeLoops({plan.outer, plan.extent / plan.block, plan.block, plan.inner}, {strides, strides});
}

/// The common part: the plan, and the scales and zero points in the form that the loops take.
class ScaledKernel : public cpu::CpuKernel {
 public:
  ScaledKernel(const CreateArgs& args, Backend& backend, int64_t axis, int64_t blockSize, DType precision)
      : CpuKernel(args, backend), precision_(precision), axis_(axis), blockSize_(blockSize) {}

  Result<size_t> scratchBytes(TensorList inputs, TensorList outputs) override {
    const int64_t scales = 2 * cpu::scratchPart(inputs[1]->desc.elements());
    return cpu::scratchBytesOf(scales + bytesPart(*inputs[0]) + bytesPart(*outputs[0]));
  }
  Status onResize(TensorList inputs, TensorList outputs) override {
    OPKIT_ASSIGN(plan_, planScales(inputs[0]->desc.shape, inputs[1]->desc.shape, axis_, blockSize_));
    if (isEven(plan_)) loops_ = loopsOf(plan_);
    const auto inBytes = [](const Tensor& tensor) {
      const DType dtype = tensor.desc.dtype;
      return Tensor{{isPacked(dtype) ? cast::unpackedOf(dtype) : dtype, tensor.desc.shape}};
    };
    x_ = inBytes(*inputs[0]);
    y_ = inBytes(*outputs[0]);
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    prepareScales(inputs);
    const Tensor &given = *inputs[0], &wanted = *outputs[0];
    const int64_t scales = 2 * cpu::scratchPart(inputs[1]->desc.elements());
    place(given, scales, x_);
    place(wanted, scales + bytesPart(given), y_);
    if (isPacked(given.desc.dtype)) movePacked(cast::unpackAll, given.desc, given, x_);
    const Types types{given.desc.dtype, wanted.desc.dtype};
    cpu::parallelRanges(pool_, wanted.desc.elements(), cpu::kGrainElements, [&](int64_t begin, int64_t end) {
      forEachRun(begin, end, [&](const Run& run) { runOf(x_, y_, types, run); });
    });
    if (isPacked(wanted.desc.dtype)) movePacked(cast::packAll, wanted.desc, y_, wanted);
    return Status::ok();
  }

  /// The dtypes of the node, also of tensors whose elements were given bytes of their own.
  struct Types {
    DType from, to;
  };
  /// Elements [first, first + count), at most kRun; element i has the scale and zero point i * step on.
  struct Run {
    int64_t first, count;
    const float* scale;
    const int32_t* zeroPoint;
    int64_t step;
  };
  virtual void runOf(const Tensor& x, const Tensor& y, const Types& types, const Run& run) const = 0;

  const DType precision_;

 private:
  /// Floats of scratch memory in which each element of a packed tensor has a byte.
  static int64_t bytesPart(const Tensor& tensor) {
    return isPacked(tensor.desc.dtype) ? cpu::scratchPart((tensor.desc.elements() + 3) / 4) : 0;
  }
  /// Gives `bytes`, in which each element has a byte, the tensor's memory, or scratch memory from float number `part`
  /// on.
  void place(const Tensor& tensor, int64_t part, Tensor& bytes) const {
    const bool isOwn = isPacked(tensor.desc.dtype);
    bytes.buffer = isOwn ? scratch().buffer : tensor.buffer;
    bytes.offsetBytes = isOwn ? scratch().offsetBytes + static_cast<size_t>(part) * sizeof(float) : tensor.offsetBytes;
  }
  void movePacked(void (*move)(DType, const std::byte*, std::byte*, int64_t), const TensorDesc& desc,
                  const Tensor& from, const Tensor& to) {
    const int64_t count = desc.elements();
    const auto at = [](const Tensor& tensor, int64_t i) {
      return tensor.bytes().data() + bytesOf(tensor.desc.dtype, i);
    };
    cpu::parallelRanges(pool_, (count + kRun - 1) / kRun, cpu::kGrainElements / kRun, [&](int64_t begin, int64_t end) {
      move(desc.dtype, at(from, begin * kRun), at(to, begin * kRun), std::min(end * kRun, count) - begin * kRun);
    });
  }

  void prepareScales(TensorList inputs) {
    const Tensor& scale = *inputs[1];
    const int64_t scales = scale.desc.elements();
    scales_ = cpu::scratchFloats(scratch());
    zeroPoints_ = reinterpret_cast<int32_t*>(cpu::scratchFloats(scratch(), cpu::scratchPart(scales)));
    cpu::parallelRanges(pool_, (scales + kRun - 1) / kRun, cpu::kGrainElements / kRun, [&](int64_t begin, int64_t end) {
      for (int64_t first = begin * kRun; first < std::min(end * kRun, scales); first += kRun) {
        const int64_t count = std::min(kRun, scales - first);
        float* to = scales_ + first;
        const float* from = roundedTo(precision_, floatsFrom(scale, scale.desc.dtype, first, count, to), to, count);
        if (from != to) std::copy_n(from, count, to);
        widenZeroPoints(has(inputs, 2) ? inputs[2] : nullptr, first, count);
      }
    });
  }

  /// Those of small floats name the type only. REQUIRES that the first begins a byte.
  void widenZeroPoints(const Tensor* zeroPoint, int64_t first, int64_t count) {
    if (!zeroPoint || isCodedFloat(zeroPoint->desc.dtype)) {
      std::fill_n(zeroPoints_ + first, count, 0);
      return;
    }
    const DType dtype = zeroPoint->desc.dtype;
    if (isPacked(dtype)) {
      std::array<int8_t, kRun> bytes;  // u8 of 4 bits at most
      cast::unpackAll(dtype, zeroPoint->bytes().data() + bytesOf(dtype, first),
                      reinterpret_cast<std::byte*>(bytes.data()), count);
      std::copy_n(bytes.data(), count, zeroPoints_ + first);
      return;
    }
    visitQuantized(dtype, [&](auto tag) {
      std::copy_n(zeroPoint->data<decltype(tag)>().data() + first, count, zeroPoints_ + first);
    });
  }

  /// Calls body(run) for runs that cover outputs [begin, end).
  template <class Body>
  void forEachRun(int64_t begin, int64_t end, const Body& body) const {
    const auto parts = [&](int64_t first, int64_t count, const float* scale, const int32_t* zeroPoint, int64_t step) {
      for (int64_t i = 0; i < count; i += kRun)
        body(Run{first + i, std::min(kRun, count - i), scale + i * step, zeroPoint + i * step, step});
    };
    if (!isEven(plan_)) return forEachBlock(begin, end, parts);
    const std::array operands{cpu::Operand::of(scales_), cpu::Operand::of(zeroPoints_)};
    cpu::forEachLongRun<2>(loops_, operands, begin, end, [&](int64_t first, int64_t count, const auto& from) {
      parts(first, count, from[0].template as<float>(), from[1].template as<int32_t>(), from[0].stride);
    });
  }
  /// The last blocks may be shorter.
  template <class Body>
  void forEachBlock(int64_t begin, int64_t end, const Body& body) const {
    for (int64_t count = 0; begin < end; begin += count) {
      const int64_t row = begin / plan_.inner, column = begin % plan_.inner;
      const int64_t outer = row / plan_.extent, at = row % plan_.extent, inBlock = at % plan_.block;
      const int64_t scale = outer * plan_.outerStep + at / plan_.block * plan_.blockStep + column * plan_.innerStep;
      const bool isRow = plan_.inner > 1;  // else the elements of a block follow each other
      count = isRow ? plan_.inner - column : std::min(plan_.block - inBlock, plan_.extent - at);
      count = std::min(count, end - begin);
      body(begin, count, scales_ + scale, zeroPoints_ + scale, isRow ? plan_.innerStep : 0);
    }
  }

  float* scales_ = nullptr;
  int32_t* zeroPoints_ = nullptr;
  ScalePlan plan_;
  Loops loops_;  // over the output, of the scales and of the zero points
  Tensor x_, y_;
  const int64_t axis_, blockSize_;
};

class QuantizeCpu final : public ScaledKernel {
 public:
  QuantizeCpu(const CreateArgs& args, Backend& backend) : QuantizeCpu(args, backend, args.params<QuantizeParams>()) {}

 private:
  QuantizeCpu(const CreateArgs& args, Backend& backend, const QuantizeParamsT& params)
      : ScaledKernel(args, backend, params.axis, params.block_size,
                     realTypeOf(static_cast<int>(params.precision), args.input(1).dtype)),
        saturate_(params.saturate) {}

  void runOf(const Tensor& x, const Tensor& y, const Types& types, const Run& run) const override {
    Floats floats;
    const float* values = floatsFrom(x, types.from, run.first, run.count, floats.data());
    if (precision_ == DType::Float32 && !isCodedFloat(types.to))
      return integersOf(y, types, run,
                        [&](auto* to) { quantizeTo(values, run.scale, run.zeroPoint, run.step, to, run.count); });
    values = roundedTo(precision_, values, floats.data(), run.count);
    divideBy(values, run.scale, run.step, floats.data(), run.count);
    const float* quotients = roundedTo(precision_, floats.data(), floats.data(), run.count);
    if (isCodedFloat(types.to))
      return cast::encodeAll(types.to, {.saturate = saturate_}, quotients, y.bytes().data() + run.first, run.count);
    integersOf(y, types, run, [&](auto* to) { roundTo(quotients, run.zeroPoint, run.step, to, run.count); });
  }

  /// Calls write(first integer of the run), and limits what it writes to the type's bits.
  template <class Write>
  static void integersOf(const Tensor& y, const Types& types, const Run& run, const Write& write) {
    visitQuantized(y.desc.dtype, [&](auto tag) {
      using Y = decltype(tag);
      if constexpr (!std::is_same_v<Y, int32_t>) {
        Y* to = y.data<Y>().data() + run.first;
        write(to);
        if (isPacked(types.to)) limitTo(bitsOf(types.to), to, run.count);
      }
    });
  }

  /// To the integers of so many bits.
  template <class Y>
  static void limitTo(int bits, Y* y, int64_t count) {
    const int values = 1 << bits, least = std::is_signed_v<Y> ? -values / 2 : 0;
    for (int64_t i = 0; i < count; ++i)
      y[i] = std::clamp(y[i], static_cast<Y>(least), static_cast<Y>(least + values - 1));
  }

  const bool saturate_;
};

class DequantizeCpu final : public ScaledKernel {
 public:
  DequantizeCpu(const CreateArgs& args, Backend& backend)
      : DequantizeCpu(args, backend, args.params<DequantizeParams>()) {}

 private:
  DequantizeCpu(const CreateArgs& args, Backend& backend, const DequantizeParamsT& params)
      : ScaledKernel(args, backend, params.axis, params.block_size, DType::Float32) {}

  void runOf(const Tensor& x, const Tensor& y, const Types& types, const Run& run) const override {
    Floats floats;
    const int64_t first = run.first, count = run.count;
    if (isCodedFloat(types.from))
      floatsFrom(x, types.from, first, count, floats.data());
    else
      visitQuantized(x.desc.dtype, [&](auto tag) {
        subtractFrom(x.data<decltype(tag)>().data() + first, run.zeroPoint, run.step, floats.data(), count);
      });
    float* results = types.to == DType::Float32 ? y.data<float>().data() + first : floats.data();
    multiplyBy(floats.data(), run.scale, run.step, results, count);
    if (types.to == DType::Float16) cpu::roundToHalves(results, y.data<Half>().data() + first, count);
    if (types.to == DType::BFloat16) cast::encodeAll(types.to, {}, results, y.bytes().data() + 2 * first, count);
  }
};

}  // namespace

void addCpu(OpRegistry& registry) {
  constexpr DTypeSet kAll = kEveryDType;  // the card says which
  registry.addCreator("cpu", "QuantizeLinear", cpu::creatorOf<QuantizeCpu>(cpu::supportsAll, kAll));
  registry.addCreator("cpu", "DequantizeLinear", cpu::creatorOf<DequantizeCpu>(cpu::supportsAll, kAll));
}

}  // namespace opkit::ops::quantize
