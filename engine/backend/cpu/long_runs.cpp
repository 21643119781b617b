#include "engine/backend/cpu/long_runs.h"

#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

namespace opkit::cpu {
namespace {

// Runs from here on are long enough: where tiles are written once, and where each run needs its own.
constexpr int64_t kLongRun = 128, kLongRunOfOwn = 40;
constexpr int64_t kFewRuns = 6;  // are done before a tile is written

/// Tiles are written in pieces of 16 bytes. The last piece may reach into the slack.
using Piece = std::array<uint64_t, 2>;
constexpr int64_t kPieceBytes = sizeof(Piece);
static_assert(TiledOperand::kSlackBytes >= kPieceBytes);

/// As many copies of the element as fit.
template <class T>
Piece pieceOf(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  const uint64_t word = ~uint64_t{0} / std::numeric_limits<T>::max() * value;
  return {word, word};
}

/// Element after element, `step` bytes apart, each of them until `bytes` are full: so many pieces, if they are known.
template <class T, size_t... kPieces>
void repeatEach(const std::byte* from, int64_t step, int64_t elements, int64_t bytes, std::byte* to,
                std::index_sequence<kPieces...> known) {
  for (int64_t i = 0; i < elements; ++i, to += bytes) {
    const Piece piece = pieceOf<T>(from + i * step);
    (std::memcpy(to + kPieces * kPieceBytes, piece.data(), kPieceBytes), ...);
    if (known.size() == 0)
      for (int64_t k = 0; k < bytes; k += kPieceBytes) std::memcpy(to + k, piece.data(), kPieceBytes);
  }
}
template <class T>
void repeatEach(const std::byte* from, int64_t step, int64_t elements, int64_t bytes, std::byte* to) {
  const auto run = [&](auto known) { repeatEach<T>(from, step, elements, bytes, to, known); };
  switch ((bytes + kPieceBytes - 1) / kPieceBytes) {
    case 1: return run(std::make_index_sequence<1>());
    case 2: return run(std::make_index_sequence<2>());
    case 3: return run(std::make_index_sequence<3>());
    case 4: return run(std::make_index_sequence<4>());
    default: return run(std::index_sequence<>());
  }
}

/// Repeats the first `period` bytes `times` times in all. What was just stored is slow to load: a short period is kept.
void repeatBytes(std::byte* to, int64_t period, int64_t times) {
  const int64_t all = period * times;
  if (period <= kPieceBytes) {
    const auto store = [to](int64_t begin, int64_t end, int64_t step) {
      Piece piece;
      std::memcpy(piece.data(), to, kPieceBytes);
      for (int64_t i = begin; i < end; i += step) std::memcpy(to + i, piece.data(), kPieceBytes);
    };
    const int64_t several = kPieceBytes / period * period;
    store(period, std::min(several, all), period);
    return store(several, all, several);
  }
  for (int64_t done = period; done < all; done *= 2)
    std::memcpy(to + done, to, static_cast<size_t>(std::min(done, all - done)));
}

/// At most `most`; whole vectors of every kind if that does not shorten the run by much.
int64_t evenBlocks(int64_t most, int64_t block) {
  for (int64_t elements = 64; elements > 1; elements /= 2) {
    const int64_t step = elements / std::gcd(elements, block), even = most / step * step;
    if (4 * even >= 3 * most) return even;
  }
  return most;
}

/// The first loop from which on the elements of an operand follow each other.
size_t wholeFrom(const Loops& loops, const DimVector& strides) {
  size_t from = loops.size.size();
  for (int64_t inside = 1; from > 0 && strides[from - 1] == inside; --from) inside *= loops.size[from - 1];
  return from;
}

/// The first loop from which on an operand is one element.
size_t oneFrom(const DimVector& strides) {
  size_t from = strides.size();
  while (from > 0 && strides[from - 1] == 0) --from;
  return from;
}

}  // namespace

RunCut cutShortRuns(const Loops& loops, int64_t elements, int64_t elementBytes) {
  constexpr RunCut kNone{.blocks = 0};
  const size_t rank = loops.size.size();
  if (rank < 2) return kNone;
  const int64_t inner = loops.size[rank - 1];
  if (inner >= kLongRun || elements <= kFewRuns * inner) return kNone;
  for (const DimVector& strides : loops.strides)
    if (strides[rank - 1] != 0 && strides[rank - 1] != 1) return kNone;
  const int64_t most = std::min(TiledOperand::kTileBytes / elementBytes, elements);
  RunCut cut{rank - 2, inner};
  while (cut.loop > 0 && cut.block * loops.size[cut.loop] <= most) cut.block *= loops.size[cut.loop--];
  if (inner >= kLongRunOfOwn)
    for (const DimVector& strides : loops.strides)
      if (strides[cut.loop] != 0 && wholeFrom(loops, strides) > cut.loop) return kNone;
  const int64_t blocks = most / cut.block;
  cut.blocks = blocks < loops.size[cut.loop] ? evenBlocks(blocks, cut.block) : loops.size[cut.loop];
  return cut;
}

void TiledOperand::begin(const Loops& loops, size_t index, const RunCut& cut, const Operand& operand) {
  loops_ = &loops;
  operand_ = operand;
  index_ = index;
  loop_ = cut.loop;
  wholeFrom_ = wholeFrom(loops, loops.strides[index]);
  oneFrom_ = oneFrom(loops.strides[index]);
  int64_t inside = 1;
  for (size_t d = loops.size.size(); d-- > loop_; inside *= loops.size[d]) inside_[d] = inside;
  form_ = wholeFrom_ <= loop_ ? Form::Whole : oneFrom_ <= loop_ ? Form::One : Form::Tile;
}

RunElements TiledOperand::take(int64_t offset, int64_t blocks, int64_t skipped) {
  const std::byte* from = operand_.elements + offset * operand_.elementBytes;
  const int64_t skippedBytes = skipped * operand_.elementBytes;
  if (form_ == Form::Whole) return {from + skippedBytes, 1};
  if (form_ == Form::One) return {from, 0};
  if (offset != offset_ || blocks > blocks_) {
    fill(loop_, blocks, from, tile_.data());
    offset_ = offset;
    blocks_ = blocks;
  }
  return {tile_.data() + skippedBytes, 1};
}

void TiledOperand::fill(size_t loop, int64_t extent, const std::byte* from, std::byte* to) const {
  const int64_t each = inside_[loop] * operand_.elementBytes, all = each * extent;
  if (loop >= wholeFrom_) {
    std::memcpy(to, from, static_cast<size_t>(all));
    return;
  }
  if (loop >= oneFrom_) return repeatFrom(from, 0, 1, all, to);
  const int64_t step = loops_->strides[index_][loop] * operand_.elementBytes;
  if (step == 0) {
    fill(loop + 1, loops_->size[loop + 1], from, to);
    return repeatBytes(to, each, extent);
  }
  if (loop + 1 >= oneFrom_) return repeatFrom(from, step, extent, each, to);
  for (int64_t i = 0; i < extent; ++i) fill(loop + 1, loops_->size[loop + 1], from + i * step, to + i * each);
}

void TiledOperand::repeatFrom(const std::byte* from, int64_t step, int64_t elements, int64_t bytes,
                              std::byte* to) const {
  switch (operand_.elementBytes) {
    case 1: return repeatEach<uint8_t>(from, step, elements, bytes, to);
    case 2: return repeatEach<uint16_t>(from, step, elements, bytes, to);
    case 4: return repeatEach<uint32_t>(from, step, elements, bytes, to);
    default: return repeatEach<uint64_t>(from, step, elements, bytes, to);
  }
}

}  // namespace opkit::cpu
