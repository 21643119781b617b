// FourierTransform on Vulkan: f32, f16 in f32, and f64. Rows that fit into shared memory take one dispatch, longer ones
// several, with the numbers between them in scratch memory. A length with a prime factor above 13 is convolved with a
// chirp, in two transforms. Real rows of an even length that fit are transforms of half as many numbers.
#include <bit>

#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/dft/dft.h"
#include "ops/dft/fourier_tables.h"
#include "shaders/dft/fourier_pass.h"

namespace opkit::ops::dft {
namespace {

using Shader = shaders::FourierPass;

// Of the shader.
enum Source : uint32_t { kFromScratch, kComplex, kReal, kRealPairs, kMirrored, kHalfSpectrum };
enum Reach : uint32_t { kToScratch, kToComplex, kToReal, kToRealPairs, kToHalfSpectrum };
enum Step : uint32_t {
  kSwapsIn = 1,
  kMultipliesIn = 2,
  kSwapsResults = 4,
  kMultipliesOut = 8,
  kSwapsOut = 16,
  kHasWindow = 32
};
constexpr int64_t kLow = 1024;

constexpr int64_t kLeastColumns = 4;  // neighbouring lines of a pass, so that sectors are read whole
constexpr int64_t kMostColumns = 16;
constexpr int64_t kGroupNumbers = 1024;  // that short rows fill together
constexpr uint32_t kSoftwareGroup = 16;
constexpr uint32_t kMostGroup = 256;
constexpr size_t kMostRadices = 8;  // of one pass: 32 bits
constexpr int64_t kMostRadix = 15;  // four bits
constexpr int64_t kMostSums = 4;    // radices from 7 on in a tile: 7^5 numbers do not fit

/// A table of complex numbers as words of the device.
class NumberTable {
 public:
  explicit NumberTable(bool isDouble) : isDouble_(isDouble) {}

  int64_t size() const { return static_cast<int64_t>(words_.size()) / (isDouble_ ? 4 : 2); }
  void add(std::complex<double> value) {
    for (const double part : {value.real(), value.imag()}) {
      if (!isDouble_) {
        words_.push_back(std::bit_cast<uint32_t>(static_cast<float>(part)));
        continue;
      }
      const auto bits = std::bit_cast<uint64_t>(part);
      words_.push_back(static_cast<uint32_t>(bits));
      words_.push_back(static_cast<uint32_t>(bits >> 32));
    }
  }
  const std::vector<uint32_t>& words() const { return words_; }

 private:
  bool isDouble_;
  std::vector<uint32_t> words_;
};

/// One dispatch.
struct Pass {
  int64_t points = 1;
  int64_t before = 1;
  int64_t rest = 1;
  uint32_t radices = 0;
};

/// Numbers that half a tile holds.
int64_t capacityOf(const DeviceCaps& caps, bool isDouble) {
  return int64_t{caps.sharedBytes} / (isDouble ? 32 : 16) - kMostColumns;
}

/// Splits `size`, which is smooth, into passes of at most `most` points; one if it fits into `whole`. `most` is at
/// least kMostRadix.
std::vector<Pass> passesOf(int64_t size, int64_t whole, int64_t most) {
  const std::vector<int> radices = radicesOf(size);
  const size_t least = size <= whole ? 1 : 2;
  for (size_t count = least;; ++count) {
    std::vector<std::vector<int>> parts(count);
    std::vector<Pass> passes(count);
    for (const int radix : radices) {
      const auto smallest = std::ranges::min_element(passes, {}, &Pass::points);
      smallest->points *= radix;
      parts[static_cast<size_t>(smallest - passes.begin())].push_back(radix);
    }
    const bool fits =
        std::ranges::all_of(passes, [&](const Pass& pass) { return pass.points <= (count == 1 ? whole : most); });
    const bool isShort = std::ranges::all_of(parts, [](const auto& part) { return part.size() <= kMostRadices; });
    if (!fits || !isShort) continue;
    int64_t before = 1;
    for (size_t i = 0; i < count; ++i) {
      passes[i].before = before;
      before *= passes[i].points;
      passes[i].rest = size / before;
      for (size_t k = parts[i].size(); k-- > 0;)
        passes[i].radices = passes[i].radices << 4 | static_cast<uint32_t>(parts[i][k]);
    }
    return passes;
  }
}

/// Of at least `numbers`: sizes of which there are few, since each makes a pipeline.
uint32_t tileSize(int64_t numbers, int64_t capacity, bool isSoftware) {
  if (isSoftware) return static_cast<uint32_t>(capacity);
  const int64_t step = std::max<int64_t>(static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(numbers))) / 4, 64);
  return static_cast<uint32_t>(std::min((numbers + step - 1) / step * step, capacity));
}

class TransformVulkan final : public vulkan::VulkanExecution {
 public:
  TransformVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<FourierTransformParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    OPKIT_ASSIGN(plan_, planFourier(params_, inputs));
    if (plan_.rows() == 0) return Status::ok();
    planNumbers(inputs[0]->desc.dtype, encoder.caps());
    const std::vector<Pass> passes = passesOf(size_, capacity_, capacity_ / kLeastColumns);
    const bool needsScratch = usesChirp() || passes.size() > 1;
    const TensorDesc scratch{isDouble_ ? DType::Float64 : DType::Float32,
                             {needsScratch ? plan_.rows() * size_ * 2 : 2}};
    for (const Tensor*& tensor : scratch_) {
      OPKIT_ASSIGN(tensor, encoder.scratch(scratch));
    }
    turn_ = 0;
    for (int phase = 0; phase < (usesChirp() ? 2 : 1); ++phase)
      for (size_t i = 0; i < passes.size(); ++i)
        OPKIT_TRY(encode(passes[i],
                         {phase == 0 && i == 0, phase == 1 && i == 0, phase == 0 && i + 1 == passes.size(),
                          i + 1 == passes.size() && (phase == 1 || !usesChirp())},
                         inputs, outputs, encoder));
    return Status::ok();
  }

 private:
  /// Which pass of the node it is.
  struct Role {
    bool isFirst;        // reads x
    bool isFirstBack;    // of the inverse transform of a convolution
    bool isLastForward;  // of the first transform
    bool isLast;         // writes y
  };

  bool usesChirp() const { return size_ != points_; }

  void planNumbers(DType dtype, const DeviceCaps& caps) {
    isDouble_ = dtype == DType::Float64;
    capacity_ = capacityOf(caps, isDouble_);
    const bool even = plan_.length % 2 == 0;
    const bool fits = even && convolutionSize(plan_.length / 2) <= capacity_;
    halvesIn_ = fits && plan_.isRealIn() && !plan_.inverse;
    halvesOut_ = fits && plan_.isRealOut();
    points_ = halvesIn_ || halvesOut_ ? plan_.length / 2 : plan_.length;
    size_ = convolutionSize(points_);
  }

  Source source() const {
    if (halvesOut_) return kHalfSpectrum;
    if (halvesIn_) return kRealPairs;
    if (plan_.isRealOut()) return kMirrored;
    return plan_.isRealIn() ? kReal : kComplex;
  }
  Reach reach() const {
    if (halvesOut_) return kToRealPairs;
    if (halvesIn_) return kToHalfSpectrum;
    return plan_.isRealOut() ? kToReal : kToComplex;
  }
  uint32_t stepsOf(const Role& role, bool hasWindow) const {
    uint32_t steps = 0;
    if (role.isFirst && hasWindow) steps |= kHasWindow;
    if ((role.isFirst && plan_.inverse) || role.isFirstBack) steps |= kSwapsIn;
    if (role.isFirst && usesChirp()) steps |= kMultipliesIn;
    if (usesChirp() && (role.isLast || role.isLastForward)) steps |= kMultipliesOut;
    if (usesChirp() && role.isLast) steps |= kSwapsResults;
    if (role.isLast && plan_.inverse) steps |= kSwapsOut;
    return steps;
  }

  /// Where the parts of a pass's table begin.
  struct Tables {
    const Tensor* numbers = nullptr;
    int64_t low = 0, high = 0, halfRoots = 0, factorsIn = 0, factorsOut = 0;
  };
  Result<Tables> tablesOf(const Pass& pass, const Role& role, vulkan::Encoder& encoder) const {
    NumberTable table(isDouble_);
    Tables tables;
    for (int64_t k = 0; k < pass.points; ++k) table.add(rootOfUnity(k, pass.points));
    if (const int64_t turns = pass.points * pass.rest; pass.rest > 1) {
      tables.low = table.size();
      for (int64_t k = 0; k < kLow; ++k) table.add(rootOfUnity(k, turns));
      tables.high = table.size();
      for (int64_t k = 0; k < turns; k += kLow) table.add(rootOfUnity(k, turns));
    }
    tables.halfRoots = table.size();
    if ((halvesIn_ && role.isLast) || (halvesOut_ && role.isFirst))
      for (int64_t k = 0; k <= points_; ++k) table.add(rootOfUnity(k, plan_.length));
    tables.factorsIn = table.size();
    if (usesChirp() && (role.isFirst || role.isLast))
      for (int64_t j = 0; j < size_; ++j) table.add(j < points_ ? chirpAt(j, points_) : 0);
    tables.factorsOut = role.isLast ? tables.factorsIn : table.size();
    if (usesChirp() && role.isLastForward)
      for (const std::complex<double>& value : chirpSpectrum(points_, size_)) table.add(value);
    OPKIT_ASSIGN(tables.numbers, encoder.table(table.words()));
    return tables;
  }

  bool rowsAreAcross() const { return plan_.innerRows > 1 && plan_.x.step > plan_.x.inner; }

  /// Lines of a work group: of lines across as many as fit, so that sectors are read whole; of short rows enough to
  /// fill it, but no fewer groups than fill the device.
  int64_t columnsOf(const Pass& pass, int64_t lines, const DeviceCaps& caps) const {
    const bool isPart = pass.before * pass.rest > 1, isAcross = isPart || rowsAreAcross();
    const int64_t room = (isAcross ? capacity_ : std::min(capacity_, kGroupNumbers)) / pass.points;
    const int64_t most = isPart ? kMostColumns : 4 * kMostColumns, least = isAcross ? kLeastColumns : 1;
    auto columns = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::clamp<int64_t>(room, 1, most))));
    while (columns > least && lines / columns < caps.deviceClass->groupsToFill) columns /= 2;
    // Of lines across, each number takes a slot more.
    while (columns > 1 && pass.points * (columns | 1) > capacity_) columns /= 2;
    return columns;
  }

  Status encode(const Pass& pass, const Role& role, TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) {
    OPKIT_ASSIGN(const Tables tables, tablesOf(pass, role, encoder));
    const int64_t lines = plan_.rows() * pass.before * pass.rest, columns = columnsOf(pass, lines, encoder.caps());
    const bool isPart = pass.before * pass.rest > 1, readsAcross = isPart || rowsAreAcross();
    const int64_t tileNumbers = pass.points * (readsAcross ? columns | 1 : columns);
    const bool isSoftware = encoder.caps().deviceClass->largestProductTile == 0;
    const auto butterflies = std::bit_ceil(static_cast<uint64_t>(pass.points * columns + 3) / 4);
    const auto group = isSoftware ? kSoftwareGroup
                                  : static_cast<uint32_t>(std::clamp<uint64_t>(
                                        butterflies, 32, std::min(kMostGroup, encoder.caps().workGroup)));
    const bool hasWindow = has(inputs, 1);
    turn_ = 1 - turn_;
    return encoder.dispatch<Shader>({*Shader::storageOf(inputs[0]->desc.dtype)},
                                    {.x = inputs[0],
                                     .window = hasWindow ? inputs[1] : inputs[0],
                                     .numbers = tables.numbers,
                                     .from = scratch_[1 - turn_],
                                     .to = scratch_[turn_],
                                     .y = outputs[0]},
                                    {.lines = lines,
                                     .points = pass.points,
                                     .radices = pass.radices,
                                     .columns = columns,
                                     .before = pass.before,
                                     .rest = pass.rest,
                                     .whole = plan_.length,
                                     .rowPoints = points_,
                                     .given = plan_.given,
                                     .results = plan_.results,
                                     .innerRows = plan_.innerRows,
                                     .xOuter = plan_.x.outer,
                                     .xInner = plan_.x.inner,
                                     .xStep = plan_.x.step,
                                     .yOuter = plan_.y.outer,
                                     .yInner = plan_.y.inner,
                                     .yStep = plan_.y.step,
                                     .lowAt = tables.low,
                                     .highAt = tables.high,
                                     .halfRootsAt = tables.halfRoots,
                                     .factorsInAt = tables.factorsIn,
                                     .factorsOutAt = tables.factorsOut},
                                    vulkan::Items{(lines + columns - 1) / columns, group},
                                    {.localSizeX = group,
                                     .tileNumbers = tileSize(tileNumbers, capacity_, isSoftware),
                                     .source = role.isFirst ? source() : kFromScratch,
                                     .reach = role.isLast ? reach() : kToScratch,
                                     .readsAcross = readsAcross,
                                     .writesAcross = isPart ? pass.before > 1 : rowsAreAcross(),
                                     .steps = stepsOf(role, hasWindow)});
  }

  FourierTransformParamsT params_;
  FourierPlan plan_;
  bool isDouble_ = false;
  bool halvesIn_ = false, halvesOut_ = false;  // a real row of x or y is one of half as many complex numbers
  int64_t capacity_ = 0;                       // numbers of half a tile
  int64_t points_ = 1, size_ = 1;              // of a row, and of its convolution
  const Tensor* scratch_[2] = {};
  int turn_ = 0;  // the scratch tensor that a pass writes
};

Status supports(const CreateArgs& args) {
  OPKIT_TRY(vulkan::requireStorage<Shader>(args, args.input(0).dtype));
  if (capacityOf(args.device, args.input(0).dtype == DType::Float64) < kMostRadix * kLeastColumns)
    return Status::unsupportedByDevice("vulkan: FourierTransform needs more than the {} bytes that a work group shares",
                                       args.device.sharedBytes);
  // Loading, passes and storing: each a walk over the tile.
  const int64_t walk = int64_t{args.device.sharedBytes} / 16 / kSoftwareGroup;
  const int64_t sums = walk * kMostSums * (kMostRadix + 1);
  return vulkan::requireLoops(args, vulkan::loopPasses({walk}) * static_cast<int64_t>(kMostRadices + 2) + sums);
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "FourierTransform", vulkan::creatorOf<TransformVulkan>(supports));
}

}  // namespace opkit::ops::dft
