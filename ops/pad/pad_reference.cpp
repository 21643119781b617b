#include "engine/op/oracle_elements.h"
#include "ops/pad/pad_parts.h"

namespace opkit::ops::pad {
namespace {

constexpr int64_t kFill = -1;

/// The positions that follow when one leaves [0, extent) at an end, one after the other.
class Outward {
 public:
  Outward(Mode mode, int64_t extent, bool upwards)
      : mode_(mode), extent_(extent), at_(upwards ? extent - 1 : 0), step_(upwards ? 1 : -1) {}

  int64_t next() {
    if (mode_ == Mode::Constant) return kFill;
    if (mode_ == Mode::Edge || extent_ == 1) return at_;
    if (isInside(at_ + step_)) return at_ += step_;
    if (mode_ == Mode::Wrap) return at_ = step_ > 0 ? 0 : extent_ - 1;
    step_ = -step_;  // the mirror
    return at_ += step_;
  }

 private:
  bool isInside(int64_t at) const { return at >= 0 && at < extent_; }

  Mode mode_;
  int64_t extent_;
  int64_t at_;
  int64_t step_;
};

/// The input position of each output position along one axis, or kFill. Negative padding crops.
std::vector<int64_t> positionsOf(Mode mode, int64_t extent, int64_t before, int64_t after) {
  std::vector<int64_t> positions;
  if (mode == Mode::Wrap && std::min(before, after) < 0) {  // what is left comes again
    const int64_t first = std::max<int64_t>(0, -before), left = extent - first - std::max<int64_t>(0, -after);
    if (left > 0) positions = positionsOf(mode, left, std::max<int64_t>(0, before), std::max<int64_t>(0, after));
    for (int64_t& position : positions) position += first;
    return positions;
  }
  Outward down(mode, extent, false), up(mode, extent, true);
  for (int64_t i = 0; i < before; ++i) positions.insert(positions.begin(), down.next());
  for (int64_t i = std::max<int64_t>(0, -before); i < extent; ++i) positions.push_back(i);
  for (int64_t i = 0; i < after; ++i) positions.push_back(up.next());
  for (int64_t i = 0; i > after && !positions.empty(); --i) positions.pop_back();
  return positions;
}

}  // namespace

Status reference(const OracleArgs& args) {
  const OracleTensor& x = args.input(0);
  OracleTensor& y = args.output();
  const Mode mode = args.params<PadParams>().mode;
  const std::vector<int64_t>& pads = args.input(1).integer;
  const size_t listed = pads.size() / 2;
  std::vector<std::vector<int64_t>> positions;
  for (const int64_t extent : x.shape()) positions.push_back(positionsOf(mode, extent, 0, 0));
  for (size_t i = 0; i < listed; ++i) {
    const size_t axis = args.hasInput(3) ? axisFromFront(args.input(3).integer[i], positions.size()) : i;
    positions[axis] = positionsOf(mode, x.shape()[axis], pads[i], pads[i + listed]);
  }
  OPKIT_TRY(requireExtents(y.shape(), positions));
  forEachCoordinates(y.shape(), [&](size_t i, Coordinates& at) {
    bool isFill = false;
    for (size_t d = 0; d < at.size(); ++d) {
      at[d] = positions[d][static_cast<size_t>(at[d])];
      isFill |= at[d] == kFill;
    }
    if (!isFill)
      copyElement(x, at, y, i);
    else if (args.hasInput(2))
      copyElement(args.input(2), 0, y, i);
  });
  return Status::ok();
}

}  // namespace opkit::ops::pad
