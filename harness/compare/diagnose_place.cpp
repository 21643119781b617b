#include "harness/compare/diagnose_place.h"

#include <functional>

namespace opkit::harness {
namespace {

constexpr double kCoverage = 0.8;  // share of a place that must be wrong: some errors are too small to be seen
constexpr int64_t kWidths[] = {64, 32, 16, 8, 4, 2};

class Places {
 public:
  Places(const Shape& shape, const std::vector<bool>& wrong) : shape_(shape), wrong_(wrong) {
    for (const bool w : wrong) total_ += w;
    size_t i = 0;
    forEachIndex(shape, [&](const DimVector& at) {
      if (wrong[i++] && first_.empty()) first_ = at;
    });
    first_.resize(shape.size());
  }

  std::optional<Diagnosis> find() const {
    if (total_ < 2 || wrong_.size() < 3) return std::nullopt;  // one element is in many places
    if (auto found = edges()) return found;
    if (auto found = slices()) return found;
    if (auto found = tails()) return found;
    if (auto found = lanes()) return found;
    if (auto found = border()) return found;
    if (auto found = laterBlocks()) return found;
    return suffix();
  }

 private:
  using Inside = std::function<bool(const DimVector&)>;

  /// True if all wrong elements are inside, most of the inside is wrong, and there is an outside.
  bool fits(const Inside& inside, double coverage = kCoverage) const {
    int64_t within = 0, covered = 0;
    size_t i = 0;
    forEachIndex(shape_, [&](const DimVector& at) {
      const bool in = inside(at);
      within += in;
      covered += in && wrong_[i];
      ++i;
    });
    return covered == total_ && within < static_cast<int64_t>(wrong_.size()) &&
           static_cast<double>(covered) >= coverage * static_cast<double>(within);
  }

  std::optional<Diagnosis> edges() const {
    for (size_t d = shape_.size(); d-- > 0;) {
      const int64_t last = shape_[d] - 1;
      if (last < 2) continue;
      if (fits([&](const auto& at) { return at[d] == last; }))
        return Diagnosis{"edge",
                         fmt::format("only the last index of axis {} is wrong (an edge: its bound, its padding)", d)};
      if (fits([&](const auto& at) { return at[d] == 0; }))
        return Diagnosis{"edge", fmt::format("only index 0 of axis {} is wrong (an edge: the first step)", d)};
    }
    return std::nullopt;
  }

  std::optional<Diagnosis> slices() const {
    for (size_t d = 0; d < shape_.size(); ++d) {
      if (shape_[d] < 3) continue;
      const int64_t k = first_[d];
      if (fits([&](const auto& at) { return at[d] == k; }))
        return Diagnosis{"slice", fmt::format("only index {} of axis {} is wrong", k, d)};
    }
    return std::nullopt;
  }

  std::optional<Diagnosis> tails() const {
    for (size_t d = shape_.size(); d-- > 0;)
      for (const int64_t width : kWidths) {
        const int64_t tail = shape_[d] % width;
        if (tail < 2 || tail == shape_[d]) continue;
        if (fits([&](const auto& at) { return at[d] >= shape_[d] - tail; }))
          return Diagnosis{"tail", fmt::format("only the last {} of axis {} are wrong: the tail after blocks of {}",
                                               tail, d, width)};
      }
    return std::nullopt;
  }

  std::optional<Diagnosis> lanes() const {
    for (size_t d = shape_.size(); d-- > 0;)
      for (const int64_t width : kWidths) {
        if (shape_[d] < 2 * width) continue;
        const int64_t lane = first_[d] % width;
        if (fits([&](const auto& at) { return at[d] % width == lane; }))
          return Diagnosis{
              "lane", fmt::format("all errors have index % {} == {} along axis {} (one vector lane)", width, lane, d)};
      }
    return std::nullopt;
  }

  /// The frame of the last two axes, as wide as needed.
  std::optional<Diagnosis> border() const {
    const size_t rank = shape_.size();
    if (rank < 2) return std::nullopt;
    const int64_t rows = shape_[rank - 2], columns = shape_[rank - 1];
    // Of a plane that is nearly all border, any errors lie there.
    const auto isBorder = [&](int64_t width) {
      return 2 * width < std::min(rows, columns) && 4 * (rows - 2 * width) * (columns - 2 * width) >= rows * columns;
    };
    for (int64_t width = 1; isBorder(width); ++width)
      if (fits([&](const auto& at) {
            const int64_t r = at[rank - 2], c = at[rank - 1];
            return r < width || c < width || r >= rows - width || c >= columns - width;
          }))
        return Diagnosis{"padding", fmt::format("only the outer {} rows and columns of the last two axes are wrong: "
                                                "what padding contributes is wrong",
                                                width)};
    return std::nullopt;
  }

  /// All rows from a multiple of eight on. Results that are right by chance, as clamped ones, are many there.
  std::optional<Diagnosis> laterBlocks() const {
    constexpr double kSeen = 0.6;
    for (size_t d = shape_.size(); d-- > 0;) {
      int64_t first = shape_[d];
      size_t i = 0;
      forEachIndex(shape_, [&](const DimVector& at) {
        if (wrong_[i++]) first = std::min(first, at[d]);
      });
      if (first < 8 || first % 8 != 0 || !fits([&](const auto& at) { return at[d] >= first; }, kSeen)) continue;
      int64_t block = 8;
      while (first % (2 * block) == 0) block *= 2;
      return Diagnosis{"suffix",
                       fmt::format("only elements from index {} of axis {} on are wrong, a multiple of {}: what "
                                   "comes behind the first blocks",
                                   first, d, block)};
    }
    return std::nullopt;
  }

  std::optional<Diagnosis> suffix() const {
    const auto first = std::find(wrong_.begin(), wrong_.end(), true) - wrong_.begin();
    const int64_t length = static_cast<int64_t>(wrong_.size()) - first;
    // A few right elements at the start mean nothing.
    if (8 * first < static_cast<int64_t>(wrong_.size()) ||
        static_cast<double>(total_) < kCoverage * static_cast<double>(length))
      return std::nullopt;
    const auto outer = std::ranges::find_if(shape_, [](int64_t extent) { return extent > 1; }) - shape_.begin();
    const int64_t stride = static_cast<int64_t>(wrong_.size()) / shape_[static_cast<size_t>(outer)];
    if (stride > 1 && first % stride == 0)
      return Diagnosis{"suffix",
                       fmt::format("everything from index {} of axis {} on is wrong: the stride of that axis is "
                                   "wrong, or work groups are missing",
                                   first / stride, outer)};
    std::string blocks;
    for (const int64_t width : {1024, 256, 128, 64, 32, 16, 8, 4})
      if (blocks.empty() && first % width == 0) blocks = fmt::format(", a multiple of {}", width);
    return Diagnosis{"suffix",
                     fmt::format("everything from element {} on is wrong{}: work groups or a thread's share are "
                                 "missing",
                                 first, blocks)};
  }

  const Shape& shape_;
  const std::vector<bool>& wrong_;
  int64_t total_ = 0;
  DimVector first_;  // coordinates of the first wrong element
};

}  // namespace

std::optional<Diagnosis> diagnosePlace(const Shape& shape, const std::vector<bool>& wrong) {
  return Places(shape, wrong).find();
}

std::string errorMap(const Shape& shape, const std::vector<bool>& wrong) {
  if (wrong.empty()) return "";
  constexpr size_t kRows = 16, kColumns = 64;
  const size_t columns = shape.empty() ? 1 : static_cast<size_t>(shape.back());
  const size_t rows = wrong.size() / columns;
  const size_t height = std::min(rows, kRows), width = std::min(columns, kColumns);
  std::vector<int64_t> bad(height * width, 0), all(height * width, 0);
  for (size_t i = 0; i < wrong.size(); ++i) {
    const size_t cell = (i / columns) * height / rows * width + (i % columns) * width / columns;
    ++all[cell];
    bad[cell] += wrong[i];
  }
  std::string text;
  for (size_t r = 0; r < height; ++r) {
    for (size_t c = 0; c < width; ++c) {
      const size_t cell = r * width + c;
      text += bad[cell] == 0 ? '.' : bad[cell] == all[cell] ? '#' : '+';
    }
    if (r + 1 < height) text += '\n';
  }
  return text;
}

}  // namespace opkit::harness
