// Direct convolution of bytes on the CPU (integer_conv_direct_vectors.h): constant weights, and channels enough to fill
// vectors.
#include <bit>

#include "engine/backend/cpu/cpu_scratch.h"
#include "ops/integer_conv/integer_conv_cpu.h"
#include "ops/integer_conv/integer_conv_direct_vectors.h"

namespace opkit::ops::integer_conv {
namespace {

constexpr int64_t kWordsTogether = 2048;  // without padding: they stay in the first-level cache

constexpr int64_t kTileDepth = 64;  // that a register of AMX holds: with less, most of it would be zeros

int64_t cacheLines(int64_t bytes) { return roundUp(bytes, 64); }

class DirectCpu final : public IntegerConvCpu {
 public:
  /// Packs the weights, one matrix per group. OutOfMemory when refused.
  static Result<std::unique_ptr<Execution>> create(const CreateArgs& args, Backend& backend) {
    auto execution = std::make_unique<DirectCpu>(args, backend);
    OPKIT_TRY(execution->packWeights(*args.constant(static_cast<size_t>(execution->roles_.a)), backend));
    return std::unique_ptr<Execution>(std::move(execution));
  }
  using IntegerConvCpu::IntegerConvCpu;

  bool readsInput(size_t index) const override { return static_cast<int>(index) != roles_.a; }

  /// Zero points and scales; the image in words unless tasks make their own; then of each thread words without
  /// padding, its sums, and words of its own.
  Result<size_t> scratchBytes(TensorList inputs, TensorList outputs) override {
    OPKIT_TRY(planTasks(inputs));
    if (outputs[0]->desc.elements() == 0) return size_t{0};
    return static_cast<size_t>(lineBytes_ + imageBytes_ + threadBytes_ * static_cast<int64_t>(pool_.threadCount()));
  }

  Status onResize(TensorList inputs, TensorList) override {
    OPKIT_TRY(planTasks(inputs));
    offsets_ = tasks_.offsets(volume_);
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const LineValues values(roles_, inputs, scratchAt(0));
    const Tensor* zeroPoint = inputAt(inputs, roles_.bZeroPoint);
    const Source source{bytesOf(x(inputs)), zeroPoint ? *bytesOf(*zeroPoint) : uint8_t{0},
                        static_cast<uint8_t>(isSigned(x(inputs)) ? 0x80 : 0)};
    if (tasks_.areBands()) {
      convolveBands(source, inputs, values, *outputs[0]);
      return Status::ok();
    }
    for (int64_t i = 0; i < plan_.batch; ++i) {
      padImage(source, i);
      convolveImage(i, inputs, values, *outputs[0]);
    }
    return Status::ok();
  }

 private:
  struct Source {
    const uint8_t* images;
    uint8_t padding, flip;
  };

  Status planTasks(TensorList inputs) {
    OPKIT_TRY(plan(inputs));
    words_ = ceilDiv(plan_.groupInputs, kWordChannels);
    tasks_ = conv::DirectTasks(plan_, volume_, words_, byteTile(), pool_);
    // Without padding, strides and taps words are made of the input as it is.
    isPlain_ = plan_.kernelTaps() == 1 && std::ranges::all_of(plan_.axes, [](const WindowAxis& axis) {
                 return axis.input == axis.output && axis.padBegin == 0 && axis.stride == 1;
               });
    const int64_t width = volume_.axes()[1].input;
    rowsTogether_ =
        volume_.image().rowStep() > 1 ? 1 : std::max<int64_t>(kWordsTogether / std::max<int64_t>(width, 1), 1);
    rowBytes_ = isPlain_ ? 0 : cacheLines(rowsTogether_ * width * 4);
    sumsBytes_ = directScratchBytes(tasks_.positionsPerTask());
    const int64_t wordBytes = cacheLines(tasks_.groupElements() * 4);
    imageBytes_ = tasks_.areBands() ? 0 : plan_.groups * wordBytes;
    threadBytes_ = rowBytes_ + sumsBytes_ + (tasks_.areBands() ? wordBytes : 0);
    return Status::ok();
  }

  Status packWeights(const Tensor& weights, Backend& backend) {
    const Shape& shape = weights.desc.shape;
    const int64_t outputs = shape[0] / params_.group, taps = elementCount(shape, 2, shape.size());
    matrixBytes_ = directWeightBytes(outputs, ceilDiv(shape[1], kWordChannels) * taps);
    const auto pack = [&](const Tensor& source, float* to) {
      for (int64_t g = 0; g < params_.group; ++g)
        packDirectWeights(bytesOf(source) + g * outputs * shape[1] * taps, isSigned(weights), outputs, shape[1], taps,
                          reinterpret_cast<uint8_t*>(to) + g * matrixBytes_);
    };
    const std::string layout = fmt::format("direct bytes {}x{}x{}x{}", params_.group, outputs, shape[1], taps);
    OPKIT_ASSIGN(packed_, cpu::packConstant(backend, weights, layout, params_.group * matrixBytes_ / 4, pack));
    return Status::ok();
  }

  uint8_t* threadScratch(size_t thread) {
    return scratchAt(lineBytes_ + imageBytes_ + threadBytes_ * static_cast<int64_t>(thread));
  }
  int32_t* imageOf(int64_t group) {
    return reinterpret_cast<int32_t*>(scratchAt(lineBytes_ + group * cacheLines(tasks_.groupElements() * 4)));
  }

  /// Rows [begin, end) of word `word` of a plane, from the channels of its group. `rows` is for words without padding.
  void fillWords(const Source& source, const uint8_t* channels, int64_t word, int64_t begin, int64_t end, int32_t* rows,
                 int32_t* to) const {
    const conv::PaddedImage& image = volume_.image();
    const int64_t width = volume_.axes()[1].input;
    const uint8_t* planes[kWordChannels];
    for (int64_t i = 0; i < kWordChannels; ++i)  // the last one again, for weights of 0
      planes[i] = channels + std::min(word * kWordChannels + i, plan_.groupInputs - 1) * plan_.inputPositions();
    const auto makeRows = [&](const conv::PaddedImage::InputRows& from, int32_t* target) {
      const uint8_t* first[kWordChannels];
      for (int64_t i = 0; i < kWordChannels; ++i) first[i] = planes[i] + from.begin * width;
      makeWords(first, source.flip, target, (from.end - from.begin) * width);
    };
    if (isPlain_) return makeRows({begin, end}, to);
    for (int64_t row = begin; row < end; row += rowsTogether_) {
      const int64_t stop = std::min(row + rowsTogether_, end);
      const conv::PaddedImage::InputRows from = image.inputRows(row, stop);
      makeRows(from, rows);
      // Words are moved as floats.
      image.fill(reinterpret_cast<const float*>(rows) - from.begin * width, std::bit_cast<float>(paddingOf(source)),
                 row, stop, reinterpret_cast<float*>(to));
      to += (stop - row) * image.rowElements();
    }
  }

  static int32_t paddingOf(const Source& source) {
    return static_cast<int32_t>(0x01010101u * static_cast<uint8_t>(source.padding ^ source.flip));
  }

  /// The upper rows of all channels first: threads tend to draw the tasks that read what they wrote.
  void padImage(const Source& source, int64_t index) {
    const int64_t planes = plan_.groups * words_, inputs = plan_.groups * plan_.groupInputs;
    const uint8_t* image = source.images + index * inputs * plan_.inputPositions();
    const auto fill = [&](size_t task, size_t thread) {
      const auto plane = static_cast<int64_t>(task) % planes, part = static_cast<int64_t>(task) / planes;
      fillVolume(source, image + plane / words_ * plan_.groupInputs * plan_.inputPositions(), plane % words_, part,
                 reinterpret_cast<int32_t*>(threadScratch(thread)),
                 imageOf(plane / words_) + plane % words_ * tasks_.channelElements());
    };
    pool_.parallelFor(static_cast<size_t>(planes * tasks_.fillParts()), std::ref(fill));
  }

  /// Of each plane of word `word`, the rows of part `part`.
  void fillVolume(const Source& source, const uint8_t* channels, int64_t word, int64_t part, int32_t* rows,
                  int32_t* to) const {
    const conv::PaddedImage& image = volume_.image();
    const int64_t begin = image.rows() * part / tasks_.fillParts(),
                  end = image.rows() * (part + 1) / tasks_.fillParts();
    const int64_t inputPlane = volume_.axes()[0].input * volume_.axes()[1].input;
    for (int64_t z = 0; z < volume_.planes(); ++z, to += image.planeElements()) {
      const int64_t from = z - volume_.deep().padBegin;
      int32_t* target = to + begin * image.rowElements();
      if (from < 0 || from >= volume_.deep().input)
        std::fill_n(target, (end - begin) * image.rowElements(), paddingOf(source));
      else
        fillWords(source, channels + from * inputPlane, word, begin, end, rows, target);
    }
  }

  /// All positions and panels of a group; `first` is the number of its first output.
  ByteTask taskOf(int64_t group, int64_t first, TensorList inputs, const LineValues& values, const Tensor& y,
                  size_t thread) {
    const int32_t* bias = biasOf(inputs);
    const int64_t channel = group * plan_.groupOutputs;
    ByteTask task{.image = nullptr,
                  .offsets = offsets_.data(),
                  .depth = tasks_.depth(),
                  .runLength = volume_.axes()[1].output,
                  .runStride = volume_.outputRowStride(),
                  .weights = bytesOf(*packed_) + group * matrixBytes_,
                  .zeroPoint = *values.bZeroPoint({}, 0).data,
                  .bias = bias ? bias + channel : nullptr,
                  .outputs = plan_.groupOutputs,
                  .planeStride = plan_.outputPositions(),
                  .sums = nullptr,
                  .y = nullptr,
                  .requantization = {},
                  .firstPosition = 0,
                  .endPosition = tasks_.positions(),
                  .firstPanel = 0,
                  .endPanel = tasks_.panels(),
                  .scratch = threadScratch(thread) + rowBytes_};
    if (!roles_.isQuantized()) {
      task.sums = y.data<int32_t>().data() + first;
      return task;
    }
    task.y = bytesOf(y) + first;
    task.requantization = values.target();
    task.requantization.left = values.aScale(wScale_, 0, channel);
    task.requantization.right = values.bScale({}, 0);
    return task;
  }

  void convolveImage(int64_t image, TensorList inputs, const LineValues& values, const Tensor& y) {
    tasks_.forRectangles(pool_, [&](const conv::DirectTasks::Rectangle& at, size_t thread) {
      const int64_t plane = image * plan_.groups + at.group;
      const int64_t first = plane * plan_.groupOutputs * plan_.outputPositions() + at.z * tasks_.positions();
      ByteTask task = taskOf(at.group, first, inputs, values, y, thread);
      task.image = imageOf(at.group) + at.z * volume_.depthStep();
      task.firstPosition = at.firstPosition;
      task.endPosition = at.endPosition;
      task.firstPanel = at.firstPanel;
      task.endPanel = at.endPanel;
      convolveBytes(task);
    });
  }

  void convolveBands(const Source& source, TensorList inputs, const LineValues& values, const Tensor& y) {
    const int64_t width = volume_.axes()[1].output;
    const conv::PaddedImage& image = volume_.image();
    tasks_.forBands(pool_, [&](const conv::DirectTasks::Band& band, size_t thread) {
      const int64_t plane = band.image * plan_.groups + band.group;  // of groups of all images
      uint8_t* rows = threadScratch(thread);
      auto* words = reinterpret_cast<int32_t*>(rows + rowBytes_ + sumsBytes_);
      const uint8_t* channels = source.images + plane * plan_.groupInputs * plan_.inputPositions();
      const int64_t begin = band.row * image.rowsPerOutput(), end = begin + image.rowsOf(band.rows);
      for (int64_t word = 0; word < words_; ++word)
        fillWords(source, channels, word, begin, end, reinterpret_cast<int32_t*>(rows),
                  words + word * tasks_.channelElements());
      const int64_t first = plane * plan_.groupOutputs * tasks_.positions() + band.row * width;
      ByteTask task = taskOf(band.group, first, inputs, values, y, thread);
      task.image = words;
      for (int64_t position = 0; position < band.rows * width; position += tasks_.positionsPerTask()) {
        task.firstPosition = position;
        task.endPosition = std::min(position + tasks_.positionsPerTask(), band.rows * width);
        convolveBytes(task);
      }
    });
  }

  conv::DirectTasks tasks_;
  int64_t words_ = 0;  // of a group's input channels
  bool isPlain_ = false;
  int64_t rowsTogether_ = 0;
  int64_t rowBytes_ = 0;     // of scratch, per thread: words without padding
  int64_t sumsBytes_ = 0;    // behind them
  int64_t threadBytes_ = 0;  // with the words of a band
  int64_t imageBytes_ = 0;   // of scratch: the words of one image
  std::vector<int64_t> offsets_;
  std::shared_ptr<const Tensor> packed_;
  int64_t matrixBytes_ = 0;  // of one group in packed_
};

/// Signed weights need no zero point, and unsigned ones 128.
bool isCentred(const Tensor* zeroPoint, DType weights) {
  const auto middle = static_cast<std::byte>(weights == DType::Int8 ? 0 : 128);
  return std::ranges::all_of(zeroPoint->bytes(), [&](std::byte value) { return value == middle; });
}

Status supportsDirect(const CreateArgs& args) {
  const integer_matmul::Roles& roles = integer_matmul::rolesOf(args.def.type);
  const auto a = static_cast<size_t>(roles.a), aZeroPoint = static_cast<size_t>(roles.aZeroPoint);
  const TensorDesc& weights = args.input(a);
  const int64_t outputs = weights.shape[0] / args.params<conv::ConvParams>().group;
  const int64_t depth = elementCount(weights.shape, 1, weights.shape.size());
  if (bytes::usesTiles() && depth >= kTileDepth)
    return Status::unsupported("{}: AMX multiplies gathered images of a depth from {} on", args.def.type, kTileDepth);
  if (!args.constant(a)) return Status::unsupported("{}: direct needs constant weights", args.def.type);
  if (!args.hasInput(aZeroPoint) ? weights.dtype != DType::Int8
                                 : !args.constant(aZeroPoint) || !isCentred(args.constant(aZeroPoint), weights.dtype))
    return Status::unsupported("{}: direct needs weights with a constant zero point, 0 if i8 and 128 if u8",
                               args.def.type);
  if (4 * outputs < 3 * byteTile().lanes)
    return Status::unsupported("{}: direct needs outputs that fill vectors, got {} per group", args.def.type, outputs);
  return Status::ok();
}

}  // namespace

Creator directCpuCreator() {
  return {.supports = supportsDirect,
          .create = DirectCpu::create,
          .dtypes = DTypeSet{DType::Int8, DType::UInt8},
          .kernel = "direct"};
}

}  // namespace opkit::ops::integer_conv
