#include "harness/cases/data.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/base/json_text.h"
#include "engine/tensor/float_format.h"
#include "harness/cases/edge_values.h"
#include "harness/cases/rng.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

/// Stores value(i) in every element, rounded once to the dtype. Integers take whole numbers as they are.
template <class Value>
void fill(const Tensor& tensor, Value&& value) {
  if (isCoded(tensor.desc.dtype)) {
    const auto count = static_cast<size_t>(tensor.desc.elements());
    for (size_t i = 0; i < count; ++i) writeCoded(tensor, i, static_cast<double>(value(i)));
    return;
  }
  visitDType(tensor.desc.dtype, [&](auto tag) {
    using T = decltype(tag);
    const std::span<T> elements = tensor.data<T>();
    for (size_t i = 0; i < elements.size(); ++i) {
      const auto v = value(i);
      if constexpr (std::is_same_v<T, Half>)
        elements[i] = toHalf(static_cast<double>(v));
      else if (tensor.desc.dtype == DType::Bool)
        elements[i] = static_cast<T>(v != 0);
      else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<std::decay_t<decltype(v)>>)
        elements[i] = static_cast<T>(static_cast<int64_t>(v));
      else
        elements[i] = static_cast<T>(v);
    }
  });
}

/// Floats of [low, high]. An interval without zero whose ends are kMagnitudes apart is drawn by magnitude: drawn
/// uniformly, nearly all of its numbers have the size of the larger end. First the power of two, then a place up to the
/// next one: exact, whereas the last bit of a library's exp2 depends on the machine.
double drawReal(Rng& rng, double low, double high) {
  constexpr double kMagnitudes = 1e4;
  if (low < 0 && high < 0) return -drawReal(rng, -high, -low);
  if (!(low > 0) || high / low < kMagnitudes) return rng.uniform(low, high);
  while (true) {
    const auto power = static_cast<int>(rng.integer(std::ilogb(low), std::ilogb(high)));
    const double drawn = std::ldexp(1 + rng.uniform(), power);
    if (drawn >= low && drawn <= high) return drawn;
  }
}

bool isUnsigned(DType dtype) {
  return dtype == DType::UInt8 || dtype == DType::UInt16 || dtype == DType::UInt32 || dtype == DType::UInt64 ||
         dtype == DType::UInt4 || dtype == DType::UInt2;
}

void fillNormal(const Tensor& tensor, Rng& rng, const Domain& domain) {
  const DType dtype = tensor.desc.dtype;
  const Domain standard;
  const bool stated = domain.low != standard.low || domain.high != standard.high;
  if (dtype == DType::Bool) {
    fill(tensor, [&](size_t) { return rng.integer(0, 1); });
  } else if (isFloat(dtype)) {
    fill(tensor, [&](size_t) { return drawReal(rng, domain.low, domain.high); });
  } else if (isUnsigned(dtype)) {
    const int64_t low = stated ? std::max<int64_t>(0, std::llround(std::ceil(domain.low))) : 0;
    const int64_t high = stated ? std::max<int64_t>(low, std::llround(std::floor(domain.high))) : 20;
    fill(tensor, [&](size_t) { return rng.integer(low, high); });
  } else {
    const int64_t low = stated ? std::llround(std::ceil(domain.low)) : -10;
    const int64_t high = stated ? std::max<int64_t>(low, std::llround(std::floor(domain.high))) : 10;
    fill(tensor, [&](size_t) { return rng.integer(low, high); });
  }
}

/// Small: sums of 2^20 products of two of them stay below 2^24 + 2^24, exact in fp32. One in eight is zero, of either
/// sign where the dtype has two: a kernel that takes zero for padding or an end is wrong there.
void fillExact(const Tensor& tensor, Rng& rng) {
  const DType dtype = tensor.desc.dtype;
  if (dtype == DType::Bool) return fill(tensor, [&](size_t) { return rng.integer(0, 1); });
  const auto draw = [&] {
    const int64_t magnitude = rng.integer(0, 7) == 0 ? 0 : rng.integer(1, 4);
    return std::pair(magnitude, !isUnsigned(dtype) && rng.integer(0, 1) == 1);
  };
  if (!isFloat(dtype))
    return fill(tensor, [&](size_t) {
      const auto [magnitude, isNegative] = draw();
      return isNegative ? -magnitude : magnitude;
    });
  fill(tensor, [&](size_t) {
    const auto [magnitude, isNegative] = draw();
    return isNegative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
  });
}

template <class T>
std::vector<double> specialValues() {
  const double infinity = std::numeric_limits<double>::infinity();
  if constexpr (std::is_same_v<T, Half>)
    return {0.0, -0.0, 0x1p-24, -0x1p-24, 0x1p-14, 65504, -65504, infinity, -infinity, std::nan(""), 1, -1, 0.5, -2.75};
  else if constexpr (std::is_floating_point_v<T>)
    return {0.0,
            -0.0,
            std::numeric_limits<T>::denorm_min(),
            -std::numeric_limits<T>::denorm_min(),
            std::numeric_limits<T>::min(),
            std::numeric_limits<T>::max(),
            std::numeric_limits<T>::lowest(),
            infinity,
            -infinity,
            std::nan(""),
            1,
            -1,
            0.5,
            -2.75};
  else
    return {};
}

/// As above, of a float that is stored as codes; what the format does not hold becomes another of these values.
std::vector<double> specialValues(const FloatFormat& format) {
  const double infinity = std::numeric_limits<double>::infinity(), largest = decode(format, format.largestCode());
  std::vector<double> values = {0.0,   -0.0,    decode(format, 1), -decode(format, 1), 1,         -1,          0.5,
                                -2.75, largest, -largest,          infinity,           -infinity, std::nan("")};
  if (format.fractionBits > 0) values.push_back(decode(format, 1u << format.fractionBits));  // the least normal one
  return values;
}

/// Largest values of f64 become small enough for sums of a trillion: whether a sum overflows midway depends on its
/// order. Kernels add f32 and f16 in a wider type.
void makeSummable(std::vector<double>& values) {
  for (double& value : values)
    if (std::isfinite(value) && std::fabs(value) > 0x1p1000) value *= 0x1p-40;
}

/// Element i holds the bits of a drawn start + i, so that 256 (65,536) elements hold each value of 8 (16) bits.
void fillCodes(const Tensor& tensor, Rng& rng) {
  const size_t start = rng.next() % 65536;
  if (isPacked(tensor.desc.dtype)) {
    for (size_t i = 0; i < static_cast<size_t>(tensor.desc.elements()); ++i)
      writeCode(tensor, i, static_cast<uint32_t>(start + i));
    return;
  }
  const size_t size = sizeOf(tensor.desc.dtype);
  const std::span<std::byte> bytes = tensor.bytes();
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>((start + i / size) >> (8 * (i % size)));
}

void fillSpecials(const Tensor& tensor, Rng& rng, const OpDef& def) {
  const Domain& domain = def.domain;
  const bool sums = def.numeric == NumericClass::Sum || def.numeric == NumericClass::Products;
  const auto fillFloats = [&](const std::vector<double>& specials) {
    fill(tensor, [&](size_t i) {
      if (i < specials.size()) return specials[i];
      return rng.integer(0, 2) == 0 ? specials[rng.next() % specials.size()] : drawReal(rng, domain.low, domain.high);
    });
  };
  if (isCodedFloat(tensor.desc.dtype)) return fillFloats(specialValues(formatOf(tensor.desc.dtype)));
  if (isPacked(tensor.desc.dtype)) return fillCodes(tensor, rng);
  visitDType(tensor.desc.dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (std::is_same_v<T, Half> || std::is_floating_point_v<T>) {
      std::vector<double> specials = specialValues<T>();
      if (std::is_same_v<T, double> && sums) makeSummable(specials);
      fillFloats(specials);
    } else if (tensor.desc.dtype == DType::Bool) {
      fillNormal(tensor, rng, domain);
    } else {
      const std::array<T, 5> limits = {0, 1, std::numeric_limits<T>::max(), std::numeric_limits<T>::min(),
                                       static_cast<T>(std::numeric_limits<T>::max() - 1)};
      fill(tensor, [&](size_t) { return limits[rng.next() % limits.size()]; });
    }
  });
}

/// Element i is edge i of the first input; of the others the next one after each round of the inputs before, so that
/// every edge meets every other.
void fillEdges(const Tensor& tensor, const Case& c, const OpDef& def, size_t index) {
  size_t stride = 1;
  for (size_t i = 0; i < index; ++i) stride *= std::max<size_t>(edgeCount(c, def, i), 1);
  const std::vector<double> points = edgePoints(def, c.params);
  const auto fillFrom = [&](const auto& values) {
    fill(tensor, [&](size_t i) { return values[i / stride % values.size()]; });
  };
  if (isFloat(tensor.desc.dtype)) return fillFrom(edgeReals(tensor.desc.dtype, points));
  fillFrom(edgeIntegers(tensor.desc.dtype, points));
}

double numberOf(const Json& value) {
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  if (value == "nan") return std::nan("");
  if (value == "-nan") return -std::nan("");
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  return value.get<double>();
}

/// The nearest 64-bit integer towards 0; 0 for NaN. A form may hold any number.
int64_t wholeOf(double value) {
  constexpr double kLimit = 0x1p63;
  if (std::isnan(value)) return 0;
  if (value >= kLimit) return std::numeric_limits<int64_t>::max();
  return value < -kLimit ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(value);
}

void fillParsed(const Tensor& tensor, const Json& form) {
  const std::vector<Json> values = form.contains("values") ? form["values"] : Json::array({form["value"]});
  if (values.empty()) return;
  if (isFloat(tensor.desc.dtype)) return fill(tensor, [&](size_t i) { return numberOf(values[i % values.size()]); });
  fill(tensor, [&](size_t i) -> int64_t {  // not through double: 64-bit limits must survive
    const Json& value = values[i % values.size()];
    return value.is_number_integer() ? value.get<int64_t>() : wholeOf(numberOf(value));
  });
}

/// Integers: a quarter are any value, the rest have one of few words in each half, so that values meet that differ in
/// one half only. Floats of [-1, 1].
void fillBits(const Tensor& tensor, Rng& rng) {
  if (isFloat(tensor.desc.dtype)) return fill(tensor, [&](size_t) { return rng.uniform(-1, 1); });
  constexpr std::array<uint64_t, 4> kWords = {0, 1, 0x80000000, 0xFFFFFFFF};
  fill(tensor, [&](size_t) {
    const uint64_t bits = rng.next();
    const uint64_t words = kWords[bits % 4] << 32 | kWords[bits / 4 % 2 * 3];
    return static_cast<int64_t>(bits >> 62 == 0 ? rng.next() : words);
  });
}

/// The first half of each row is what a mask hides: -Inf, false or 0.
void fillMasked(const Tensor& tensor, Rng& rng) {
  const size_t row =
      tensor.desc.shape.empty() ? 1 : static_cast<size_t>(std::max<int64_t>(tensor.desc.shape.back(), 1));
  const auto isHidden = [row](size_t i) { return i % row < row / 2; };
  const double infinity = std::numeric_limits<double>::infinity();
  if (isFloat(tensor.desc.dtype))
    return fill(tensor, [&](size_t i) { return isHidden(i) ? -infinity : rng.uniform(-4, 4); });
  fill(tensor, [&](size_t i) { return isHidden(i) ? int64_t{0} : rng.integer(1, 9); });
}

void fillPattern(const Tensor& tensor, Rng& rng, const std::string& pattern) {
  const auto count = static_cast<uint64_t>(tensor.desc.elements());
  if (pattern == "bits") {
    fillBits(tensor, rng);
  } else if (pattern == "negative") {
    fill(tensor, [&](size_t) { return rng.uniform(-9, -1); });
  } else if (pattern == "spike") {
    const uint64_t at = count == 0 ? 0 : rng.next() % count;
    fill(tensor, [&](size_t i) { return i == at ? 10000.0 : rng.uniform(0.005, 0.015); });
  } else if (pattern == "alternating") {
    fill(tensor, [&](size_t i) { return (i % 2 ? -1 : 1) * rng.uniform(999, 1001); });
  } else if (pattern == "zeros") {
    fill(tensor, [&](size_t) { return rng.next() % 2 == 0 ? int64_t{0} : rng.integer(1, 9); });
  } else if (pattern == "rows") {
    const int64_t row = tensor.desc.shape.empty() ? 1 : std::max<int64_t>(tensor.desc.shape.back(), 1);
    double value = 0;
    fill(tensor, [&](size_t i) {
      if (static_cast<int64_t>(i) % row == 0) value = rng.uniform(-4, 4);
      return value;
    });
  } else if (pattern == "codes") {
    fillCodes(tensor, rng);
  } else if (pattern == "masked") {
    fillMasked(tensor, rng);
  } else {  // ramp
    fill(tensor, [](size_t i) { return static_cast<int64_t>(i); });
  }
}

void fillForm(const Tensor& tensor, Rng& rng, const Json& form) {
  const std::string key = form.begin().key();
  const Json& value = form.begin().value();
  if (key == "range" && isFloat(tensor.desc.dtype)) {
    fill(tensor, [&](size_t) { return drawReal(rng, value[0].get<double>(), value[1].get<double>()); });
  } else if (key == "range") {
    const auto low = wholeOf(std::ceil(value[0].get<double>()));
    const auto high = std::max(low, wholeOf(std::floor(value[1].get<double>())));
    fill(tensor, [&](size_t) { return rng.integer(low, high); });
  } else if (key == "values" || key == "value") {
    fillParsed(tensor, form);
  } else {
    fillPattern(tensor, rng, value.get<std::string>());
  }
}

/// The seed leaves the other inputs out, so a constant is the same at every stop of a resize walk.
uint64_t seedOf(const Case& c, size_t index) {
  return hashText(
      fmt::format("{}{}/{}/{}/{}={}", c.op, c.params, nameOf(c.lane), c.seed, index, c.inputs[index]->toString()));
}

}  // namespace

void fillValues(const Tensor& tensor, const std::string& form) { fillParsed(tensor, parseJson(form)); }

void fillUniform(const Tensor& tensor, uint64_t seed, double low, double high) {
  Rng rng(seed);
  fillNormal(tensor, rng, {low, high});
}

Result<Tensor> makeInput(const Case& c, const OpDef& def, size_t index) {
  OPKIT_ASSIGN(Tensor tensor, Tensor::onHost(*c.inputs[index]));
  Rng rng(seedOf(c, index));
  if (index < c.data.size() && !c.data[index].empty())
    fillForm(tensor, rng, parseJson(c.data[index]));
  else if (c.lane == Lane::Exact)
    fillExact(tensor, rng);
  else if (c.lane == Lane::Specials)
    fillSpecials(tensor, rng, def);
  else if (c.lane == Lane::Edges)
    fillEdges(tensor, c, def, index);
  else
    fillNormal(tensor, rng, def.domain);
  return tensor;
}

Result<std::vector<std::optional<Tensor>>> makeInputs(const Case& c, const OpDef& def) {
  std::vector<std::optional<Tensor>> tensors(c.inputs.size());
  for (size_t i = 0; i < c.inputs.size(); ++i)
    if (c.inputs[i]) {
      OPKIT_ASSIGN(tensors[i], makeInput(c, def, i));
    }
  return tensors;
}

}  // namespace opkit::harness
