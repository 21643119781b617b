// MelWeightMatrix: computed at resize, because its extents are the values of inputs.
#include <cmath>

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/mel_weight_matrix/mel_weight_matrix_parts.h"

namespace opkit::ops::mel_weight_matrix {
namespace {

constexpr DTypeSet kTypes = kNumbers | DTypeSet(DType::BFloat16);
enum Input : size_t { kBands, kLength, kRate, kLower, kUpper, kInputs };
constexpr const char* kNames[kInputs] = {"num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz",
                                         "upper_edge_hertz"};

Result<int64_t> integerOf(const ShapeArgs& args, Input input, int64_t least) {
  const int64_t value = args.integers(input)[0];
  if (value >= least && value <= kMaxElements) return value;
  return Status::invalidArgument("{} must be in [{}, {}], got {}", kNames[input], least, kMaxElements, value);
}

Status checkEdges(const ShapeArgs& args) {
  const double lower = args.reals(kLower)[0], upper = args.reals(kUpper)[0];
  if (lower >= 0 && lower < upper && std::isfinite(upper)) return Status::ok();
  return Status::invalidArgument("the edges must be 0 <= lower_edge_hertz < upper_edge_hertz, got {} and {}", lower,
                                 upper);
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const auto params = args.params<MelParams>();
  if (!isValidDType(params.dtype) || !kTypes.contains(static_cast<DType>(params.dtype)))
    return Status::invalidArgument(
        "dtype must be one of {}, got {}", kTypes.toString(),
        isValidDType(params.dtype) ? nameOf(static_cast<DType>(params.dtype)) : std::to_string(params.dtype));
  for (size_t i = 0; i < kInputs; ++i) OPKIT_TRY(requireScalar(args, i, kNames[i]));
  OPKIT_ASSIGN(const int64_t bands, integerOf(args, kBands, 0));
  OPKIT_ASSIGN(const int64_t length, integerOf(args, kLength, 1));
  OPKIT_TRY(integerOf(args, kRate, 1).error());
  OPKIT_TRY(checkEdges(args));
  const Shape shape{length / 2 + 1, bands};
  OPKIT_TRY(checkShape(shape));
  return std::vector{TensorDesc{static_cast<DType>(params.dtype), shape}};
}

double melOf(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double hertzOf(double mel) { return 700 * (std::pow(10.0, mel / 2595) - 1); }

/// The rows of the spectrum at which the triangles begin and end: two more than there are bands. ONNX divides the range
/// by their number, so the last one lies below the upper edge.
std::vector<int64_t> cornersOf(const OracleArgs& args) {
  const auto corners = static_cast<size_t>(args.input(kBands).integer[0] + 2);
  const double low = melOf(args.input(kLower).real[0]), high = melOf(args.input(kUpper).real[0]);
  const double step = (high - low) / static_cast<double>(corners);
  const auto length = static_cast<double>(args.input(kLength).integer[0] + 1);
  const auto rate = static_cast<double>(args.input(kRate).integer[0]);
  std::vector<int64_t> rows;
  for (size_t i = 0; i < corners; ++i)
    rows.push_back(static_cast<int64_t>(std::floor(length * hertzOf(static_cast<double>(i) * step + low) / rate)));
  return rows;
}

/// One column of the matrix: a ramp up to `peak`, where it is 1, and one down. What lies behind the spectrum is left
/// out.
void setBand(OracleTensor& y, int64_t band, int64_t first, int64_t peak, int64_t last) {
  const int64_t rows = y.shape()[0], bands = y.shape()[1];
  const auto set = [&](int64_t row, double value) {
    const auto at = static_cast<size_t>(row * bands + band);
    if (y.isReal())
      y.real[at] = value;
    else
      y.integer[at] = static_cast<int64_t>(value);
  };
  for (int64_t row = first; row < std::min(peak, rows); ++row)
    set(row, static_cast<double>(row - first) / static_cast<double>(peak - first));
  for (int64_t row = peak; row < std::min(last, rows); ++row)
    set(row, static_cast<double>(last - row) / static_cast<double>(last - peak));
  if (peak < rows) set(peak, 1);
}

Status fold(const OracleArgs& args) {
  const std::vector<int64_t> corners = cornersOf(args);
  for (int64_t band = 0; band < args.output().shape()[1]; ++band) {
    const auto i = static_cast<size_t>(band);
    setBand(args.output(), band, corners[i], corners[i + 1], corners[i + 2]);
  }
  return Status::ok();
}

}  // namespace

void define(OpRegistry& registry) {
  const DTypeSet edges = kFloats | DTypeSet(DType::BFloat16);
  const auto scalar = [](Input input, DTypeSet types) {
    return Port{kNames[input], types, Port::Kind::Required, true};
  };
  registry.add({.type = "MelWeightMatrix",
                .summary = "triangles over a spectrum that add it up in bands of the mel scale",
                .params = paramsSchema<MelParams>(kMelWeightMatrixSchema),
                .inputs = {scalar(kBands, kIndexTypes), scalar(kLength, kIndexTypes), scalar(kRate, kIndexTypes),
                           scalar(kLower, edges), scalar(kUpper, edges)},
                .outputs = {{"y", kTypes}},
                .numeric = NumericClass::OneRounding,
                .inferShapes = shapeRule,
                .oracle = reference,
                .fold = fold});
}

}  // namespace opkit::ops::mel_weight_matrix
