#include "harness/guest/show_parts.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <string_view>

#include "engine/op/oracle.h"

namespace opkit::harness::show {
namespace {

/// Of a float or double as the language has it, "" for finite values.
std::string specialLiteral(double value, Language language) {
  const bool isCpp = language == Language::Cpp;
  if (std::isnan(value)) return isCpp ? "NAN" : "NaN";
  if (!std::isinf(value)) return "";
  return std::string(value < 0 ? "-" : "") + (isCpp ? "INFINITY" : "Infinity");
}

/// The shortest text that reads back as the same value of the type.
std::string realLiteral(double value, bool isDouble, Language language) {
  std::string text = specialLiteral(value, language);
  if (!text.empty()) return text;
  text = isDouble ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  if (language == Language::JavaScript) return text;
  constexpr double kMostAsInteger = 1e6;  // which C++ converts exactly
  const bool isPoint = text.find_first_of(".e") != std::string::npos;
  if (!isPoint && std::fabs(value) <= kMostAsInteger && text != "-0") return text;
  return text + (isPoint ? "" : ".") + (isDouble ? "" : "f");
}

std::string integerLiteral(int64_t value, DType dtype, Language language) {
  const bool isUnsigned = dtype == DType::UInt64, isCpp = language == Language::Cpp;
  if (dtype == DType::Bool && isCpp) return value != 0 ? "true" : "false";
  std::string text = isUnsigned ? fmt::format("{}", static_cast<uint64_t>(value)) : fmt::format("{}", value);
  if (!isCpp) return isUnsigned || dtype == DType::Int64 ? text + "n" : text;
  if (isUnsigned) return text + "u";
  return value == std::numeric_limits<int64_t>::min() ? "INT64_MIN" : text;
}

}  // namespace

std::vector<std::string> literalsOf(const Tensor& tensor, Language language) {
  const DType dtype = tensor.desc.dtype;
  std::vector<std::string> literals;
  if (dtype == DType::Float16 && language == Language::JavaScript) {
    for (const uint16_t code : tensor.data<uint16_t>()) literals.push_back(fmt::format("0x{:04x}", code));
    return literals;
  }
  const OracleTensor values = OracleTensor::fromTensor(tensor);
  for (const double value : values.real) literals.push_back(realLiteral(value, dtype == DType::Float64, language));
  for (const int64_t value : values.integer) literals.push_back(integerLiteral(value, dtype, language));
  return literals;
}

std::string quoted(const std::string& text, Language language) {
  const char quote = language == Language::Cpp ? '"' : '\'';
  std::string all(1, quote);
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') all += '\\';
    if (code >= ' ' && code != 127) all += c;  // what prints; others are in no name that a model or a user gives
  }
  return all + quote;
}

std::vector<std::string> linesOf(const std::vector<std::string>& pieces, size_t most, const std::string& indent) {
  std::vector<std::string> lines;
  for (size_t width = kMostColumns; lines.empty() || lines.size() > most; width += 20) {
    lines.clear();
    for (const std::string& piece : pieces) {
      const bool fits = !lines.empty() && lines.back().size() + 1 + piece.size() <= width;
      if (fits)
        lines.back() += " " + piece;
      else
        lines.push_back(indent + piece);
    }
    if (lines.size() <= 1) break;
  }
  return lines;
}

void addLines(std::vector<std::string>& lines, std::string_view text) {
  for (size_t end = 0; !text.empty(); text.remove_prefix(std::min(end + 1, text.size()))) {
    end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
  }
}

std::string joined(const std::vector<std::string>& lines) { return fmt::format("{}\n", fmt::join(lines, "\n")); }

std::string plainProvider(const std::string& provider) {
  std::string plain;
  for (const char c : provider) plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::string_view kSuffix = "executionprovider";
  if (plain.size() > kSuffix.size() && plain.ends_with(kSuffix)) plain.resize(plain.size() - kSuffix.size());
  return plain;
}

}  // namespace opkit::harness::show
