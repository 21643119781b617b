// Numbers as text and back.
#include <charconv>
#include <cmath>

#include "ops/text/number_generated.h"
#include "ops/text/text.h"

namespace opkit::ops::text {
namespace {

std::string textOf(double value, DType dtype) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-INF" : "INF";
  return dtype == DType::Float64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

template <class Number>
Result<Number> parsed(const std::string& text) {
  std::string_view rest = trimmed(text);
  if (rest.starts_with('+') && !rest.starts_with("+-")) rest.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error == std::errc() && end == rest.data() + rest.size()) return number;
  return Status::invalidArgument("'{}' is no number{}", text,
                                 error == std::errc::result_out_of_range ? " of this type" : "");
}

/// Whole numbers exactly; other numbers lose their fraction.
Result<int64_t> wholeFrom(const std::string& text, bool isUnsigned) {
  if (isUnsigned) {
    if (const auto whole = parsed<uint64_t>(text)) return static_cast<int64_t>(*whole);
  } else if (const auto whole = parsed<int64_t>(text)) {
    return *whole;
  }
  OPKIT_ASSIGN(const double number, numberFrom(text));
  if (std::fabs(number) < 0x1p63) return static_cast<int64_t>(number);
  return Status::invalidArgument("'{}' is no number of this type", text);
}

}  // namespace

Result<double> numberFrom(const std::string& text) { return parsed<double>(text); }

Result<std::vector<Tensor>> runToString(const ControlArgs& args) {
  const Tensor& x = args.inputs[0];
  std::vector<std::string> texts;
  if (isFloat(x.desc.dtype)) {
    OPKIT_ASSIGN(const Tensor wide, Tensor::onHost({DType::Float64, x.desc.shape}));
    convertElements(x, wide);
    for (const double value : wide.data<double>()) texts.push_back(textOf(value, x.desc.dtype));
  } else if (x.desc.dtype == DType::UInt64) {
    for (const uint64_t value : x.data<uint64_t>()) texts.push_back(std::to_string(value));
  } else {
    for (const int64_t value : toInt64(x)) texts.push_back(std::to_string(value));
  }
  return std::vector{stringTensor(x.desc.shape, std::move(texts))};
}

Result<std::vector<Tensor>> runFromString(const ControlArgs& args) {
  const std::vector<std::string>& texts = stringsOf(args.inputs[0]);
  const int number = args.params<NumberParams>().to;
  constexpr DTypeSet kTargets = kNumbers | kBool | DTypeSet(DType::BFloat16);
  if (!isValidDType(number) || !kTargets.contains(static_cast<DType>(number)))
    return Status::invalidArgument("to must be one of {}, got the number {}", kTargets.toString(), number);
  const auto to = static_cast<DType>(number);
  const Shape& shape = args.inputs[0].desc.shape;
  OPKIT_ASSIGN(const Tensor wide, Tensor::onHost({isFloat(to) ? DType::Float64 : DType::Int64, shape}));
  for (size_t i = 0; i < texts.size(); ++i) {
    if (isFloat(to)) {
      OPKIT_ASSIGN(wide.data<double>()[i], numberFrom(texts[i]));
    } else {
      OPKIT_ASSIGN(wide.data<int64_t>()[i], wholeFrom(texts[i], to == DType::UInt64));
    }
  }
  OPKIT_ASSIGN(Tensor result, Tensor::onHost({to, shape}));
  convertElements(wide, result);
  return std::vector{std::move(result)};
}

}  // namespace opkit::ops::text
