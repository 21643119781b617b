#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/conv_transpose/conv_transpose.h"

namespace opkit::ops::conv_transpose {
namespace {

/// The value of a list along an axis; a default where the list is empty.
int64_t valueOf(const std::vector<int64_t>& list, size_t d, int64_t fallback) {
  return list.empty() ? fallback : list[d];
}

/// Along one axis, where the blocks begin in the image.
struct Placing {
  int64_t stride, dilation, before;
};

/// Calls body(image coordinates of the tap) for each tap of the block at `position` that lies on the image.
template <class Body>
void forEachTap(const std::vector<Placing>& placings, const Shape& kernel, const Shape& image,
                std::span<const int64_t> position, Body&& body) {
  forEachCoordinates(kernel, [&](size_t tap, Coordinates& at) {
    bool isInside = true;
    for (size_t d = 0; d < at.size(); ++d) {
      at[d] = placings[d].stride * position[d] + placings[d].dilation * at[d] - placings[d].before;
      isInside = isInside && at[d] >= 0 && at[d] < image[d];
    }
    if (isInside) body(tap, at);
  });
}

Shape spatial(const Shape& shape) { return Shape(shape.begin() + 2, shape.end()); }

/// Sums with their magnitudes and numbers of terms, for floats and integers.
class Sums {
 public:
  Sums(const OracleArgs& args, size_t bias) : y_(args.output()), terms_(static_cast<size_t>(y_.elements()), 0) {
    if (args.wantMagnitude && y_.isReal()) y_.magnitude.assign(y_.real.size(), 0.0);
    if (!args.hasInput(bias)) return;
    const int64_t plane = elementCount(y_.shape(), 2, y_.shape().size());
    for (size_t i = 0; i < terms_.size(); ++i) {
      const auto channel = static_cast<size_t>(static_cast<int64_t>(i) / plane % y_.shape()[1]);
      if (y_.isReal())
        add(i, args.input(bias).real[channel]);
      else
        addInteger(i, args.input(bias).integer[channel]);
    }
  }
  void add(size_t i, double value) {
    y_.real[i] += value;
    if (!y_.magnitude.empty()) y_.magnitude[i] += std::fabs(value);
    y_.terms = std::max(y_.terms, ++terms_[i]);
  }
  /// Wraps around.
  void addInteger(size_t i, int64_t value) {
    y_.integer[i] = static_cast<int64_t>(static_cast<uint64_t>(y_.integer[i]) + static_cast<uint64_t>(value));
  }

 private:
  OracleTensor& y_;
  std::vector<int64_t> terms_;
};

void addBlocks(const OracleArgs& args, const std::vector<Placing>& placings, const Shape& kernel,
               const Shape& positions, Sums sums) {
  const OracleTensor& columns = args.input(0);
  const Shape& shape = args.output().shape();
  const int64_t taps = elementCount(kernel);
  forEachCoordinates({shape[0], shape[1]}, [&](size_t plane, const Coordinates& which) {
    forEachCoordinates(positions, [&](size_t column, const Coordinates& position) {
      forEachTap(placings, kernel, spatial(shape), position, [&](size_t tap, const Coordinates& at) {
        Coordinates to = which;
        to.insert(to.end(), at.begin(), at.end());
        const auto row = static_cast<int64_t>(plane) * taps + static_cast<int64_t>(tap);
        const size_t from = static_cast<size_t>(row * columns.shape()[2]) + column;
        if (columns.isReal())
          sums.add(elementAt(shape, to), columns.real[from]);
        else
          sums.addInteger(elementAt(shape, to), columns.integer[from]);
      });
    });
  });
}

}  // namespace

Status foldReference(const OracleArgs& args) {
  const auto params = args.params<FoldParams>();
  std::vector<Placing> placings;
  for (size_t d = 0; d < params.image.size(); ++d)
    placings.push_back({params.strides[d], params.dilations[d], params.pads[d]});
  addBlocks(args, placings, params.kernel, params.positions, Sums(args, 1));
  return Status::ok();
}

Status col2ImReference(const OracleArgs& args) {
  const auto params = args.params<Col2ImParams>();
  const std::vector<int64_t>&image = args.input(1).integer, &block = args.input(2).integer;
  const size_t axes = image.size();
  std::vector<Placing> placings;
  Shape positions;
  for (size_t d = 0; d < axes; ++d) {
    const Placing placing{valueOf(params.strides, d, 1), valueOf(params.dilations, d, 1), valueOf(params.pads, d, 0)};
    placings.push_back(placing);
    const int64_t end = image[d] + valueOf(params.pads, d + axes, 0);
    int64_t count = 0;  // blocks that end within the padded image
    while (count * placing.stride - placing.before + placing.dilation * (block[d] - 1) < end) ++count;
    positions.push_back(count);
  }
  addBlocks(args, placings, block, positions, Sums(args, 9));
  return Status::ok();
}

/// Each product of an input and a weight, added to the output that it belongs to.
Status convTransposeReference(const OracleArgs& args) {
  const auto params = args.params<ConvTransposeParams>();
  const OracleTensor &x = args.input(0), &w = args.input(1);
  const Shape &from = x.shape(), &to = args.output().shape();
  const Shape kernel = spatial(w.shape());
  std::vector<Placing> placings;
  for (size_t d = 0; d < kernel.size(); ++d) {
    Placing placing{valueOf(params.strides, d, 1), valueOf(params.dilations, d, 1), valueOf(params.pads, d, 0)};
    if (params.auto_pad == AutoPad::Valid) placing.before = 0;
    const bool same = params.auto_pad == AutoPad::SameUpper || params.auto_pad == AutoPad::SameLower;
    if (same || !params.output_shape.empty()) {
      const int64_t steps = std::max<int64_t>(from[d + 2] - 1, 0);
      const double total = static_cast<double>(placing.stride * steps + valueOf(params.output_padding, d, 0) +
                                               (kernel[d] - 1) * placing.dilation + 1 - to[d + 2]);
      placing.before =
          static_cast<int64_t>(params.auto_pad == AutoPad::SameUpper ? std::floor(total / 2) : std::ceil(total / 2));
    }
    placings.push_back(placing);
  }
  Sums sums(args, 2);
  const int64_t inner = from[1] / params.group, outer = w.shape()[1];
  forEachCoordinates(from, [&](size_t i, const Coordinates& at) {
    forEachTap(placings, kernel, spatial(to), std::span(at).subspan(2), [&](size_t tap, const Coordinates& place) {
      for (int64_t m = 0; m < outer; ++m) {
        Coordinates output{at[0], at[1] / inner * outer + m};
        output.insert(output.end(), place.begin(), place.end());
        const auto weight = static_cast<size_t>((at[1] * outer + m) * elementCount(kernel)) + tap;
        sums.add(elementAt(to, output), x.real[i] * w.real[weight]);
      }
    });
  });
  return Status::ok();
}

}  // namespace opkit::ops::conv_transpose
