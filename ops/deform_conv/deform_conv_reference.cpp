#include "ops/deform_conv/deform_conv_oracles.h"

#include <cmath>

#include "engine/op/oracle_windows.h"
#include "ops/deform_conv/deform_conv_parts.h"

namespace opkit::ops::deform_conv {
namespace {

struct Sample {
  double value = 0;
  double magnitude = 0;
};

/// The node by coordinates; `offset` and `mask` are indices of inputs.
class Images {
 public:
  Images(const OracleArgs& args, size_t offset, size_t mask, std::vector<int64_t> kernel, Shape outputs)
      : args_(args),
        params_(args.params<DeformConvParams>()),
        offset_(offset),
        mask_(mask),
        kernel_(std::move(kernel)) {
    for (size_t d = 0; d < kernel_.size(); ++d) {
      const auto given = [&](const std::vector<int64_t>& list, int64_t usual) {
        return list.empty() ? usual : list[d];
      };
      axes_.push_back({x().shape()[d + 2], outputs[d], kernel_[d], given(params_.strides, 1),
                       given(params_.dilations, 1), given(params_.pads, 0), 0});
    }
  }

  int64_t taps() const { return elementCount(kernel_); }
  int64_t corners() const { return int64_t{1} << axes_.size(); }

  /// The sample of a channel for the output at `at` and a tap. Taps are counted row-major.
  Sample at(int64_t image, int64_t channel, int64_t tap, const Coordinates& at) const {
    const int64_t group = channel / (x().shape()[1] / params_.offset_group);
    const auto rank = static_cast<int64_t>(axes_.size());
    std::vector<double> places;
    int64_t rest = tap;
    for (size_t d = axes_.size(); d-- > 0; rest /= kernel_[d]) {
      const int64_t base = tapPosition(axes_[d], at[d], rest % kernel_[d]);
      const int64_t value = (group * taps() + tap) * rank + static_cast<int64_t>(d);
      places.insert(places.begin(), placeOf(base, valueAt(offset_, image, value, at)));
    }
    Sample sample = between(image, channel, places);
    if (args_.hasInput(mask_)) {
      const double factor = valueAt(mask_, image, group * taps() + tap, at);
      sample = {sample.value * factor, std::fabs(sample.magnitude * factor)};
    }
    return sample;
  }

 private:
  const OracleTensor& x() const { return args_.input(0); }
  double valueAt(size_t input, int64_t image, int64_t channel, const Coordinates& at) const {
    Coordinates from{image, channel};
    from.insert(from.end(), at.begin(), at.end());
    return args_.input(input).real[elementAt(args_.input(input).shape(), from)];
  }
  /// In the precision of the offsets, so that roundings do not decide which elements count.
  double placeOf(int64_t base, double offset) const {
    if (x().desc.dtype == DType::Float64) return static_cast<double>(base) + offset;
    return static_cast<double>(static_cast<float>(base) + static_cast<float>(offset));
  }
  /// Between the elements around the places; those outside count as 0.
  Sample between(int64_t image, int64_t channel, const std::vector<double>& places) const {
    Sample sample;
    for (const double place : places)
      if (std::isnan(place) || std::fabs(place) > 0x1p40) return sample;
    for (int64_t corner = 0; corner < corners(); ++corner) {
      Coordinates from{image, channel};
      double weight = 1;
      bool isInside = true;
      for (size_t d = 0; d < places.size(); ++d) {
        const double below = std::floor(places[d]), part = places[d] - below;
        const bool isAbove = (corner >> d) & 1;
        const int64_t element = static_cast<int64_t>(below) + (isAbove ? 1 : 0);
        weight *= isAbove ? part : 1 - part;
        isInside = isInside && element >= 0 && element < axes_[d].input;
        from.push_back(element);
      }
      if (!isInside || weight == 0) continue;
      const double value = x().real[elementAt(x().shape(), from)];
      sample.value += weight * value;
      sample.magnitude += weight * std::fabs(value);
    }
    return sample;
  }

  const OracleArgs& args_;
  DeformConvParamsT params_;
  size_t offset_, mask_;
  std::vector<int64_t> kernel_;
  std::vector<WindowAxis> axes_;
};

}  // namespace

Status deformColumnsReference(const OracleArgs& args) {
  const Shape& offset = args.input(1).shape();
  const Shape outputs(offset.begin() + 2, offset.end());
  const Images images(args, 1, 2, args.params<DeformConvParams>().kernel_shape, outputs);
  OracleTensor& y = args.output();
  y.magnitude.assign(y.real.size(), 0.0);
  y.terms = images.corners() + 1;
  forEachCoordinates(outputs, [&](size_t position, const Coordinates& at) {
    for (int64_t image = 0; image < y.shape()[0]; ++image)
      for (int64_t row = 0; row < y.shape()[1]; ++row) {
        const Sample sample = images.at(image, row / images.taps(), row % images.taps(), at);
        const size_t i = elementAt(y.shape(), {image, row, static_cast<int64_t>(position)});
        y.real[i] = sample.value;
        y.magnitude[i] = sample.magnitude;
      }
  });
  return Status::ok();
}

Status deformConvReference(const OracleArgs& args) {
  const OracleTensor& w = args.input(1);
  OracleTensor& y = args.output();
  const Shape outputs(y.shape().begin() + 2, y.shape().end());
  const Images images(args, 2, 4, {w.shape().begin() + 2, w.shape().end()}, outputs);
  const int64_t perGroup = w.shape()[0] / std::max<int64_t>(args.params<DeformConvParams>().group, 1);
  y.magnitude.assign(y.real.size(), 0.0);
  y.terms = w.shape()[1] * images.taps() + images.corners() + 2;
  const int64_t positions = elementCount(outputs), channels = args.input(0).shape()[1];
  std::vector<Sample> samples(static_cast<size_t>(channels * images.taps()));
  forEachCoordinates(outputs, [&](size_t position, const Coordinates& at) {
    for (int64_t image = 0; image < y.shape()[0]; ++image) {
      for (size_t i = 0; i < samples.size(); ++i)
        samples[i] =
            images.at(image, static_cast<int64_t>(i) / images.taps(), static_cast<int64_t>(i) % images.taps(), at);
      for (int64_t output = 0; output < w.shape()[0]; ++output) {
        const double bias = args.hasInput(3) ? args.input(3).real[static_cast<size_t>(output)] : 0;
        double sum = bias, magnitude = std::fabs(bias);
        const int64_t depth = w.shape()[1] * images.taps(), first = output / perGroup * depth;
        for (int64_t k = 0; k < depth; ++k) {
          const Sample& sample = samples[static_cast<size_t>(first + k)];
          const double weight = w.real[static_cast<size_t>(output * depth + k)];
          sum += weight * sample.value;
          magnitude += std::fabs(weight) * sample.magnitude;
        }
        const auto i = static_cast<size_t>((image * w.shape()[0] + output) * positions) + position;
        y.real[i] = sum;
        y.magnitude[i] = magnitude;
      }
    }
  });
  return Status::ok();
}

}  // namespace opkit::ops::deform_conv
