#include "fuzz/mutate_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "engine/base/json_text.h"
#include "fuzz/mutate_tree.h"

namespace opkit::fuzz {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kNumbers[] = {"0"sv,
                                         "1"sv,
                                         "-1"sv,
                                         "65536"sv,
                                         "2147483647"sv,
                                         "2147483648"sv,
                                         "-2147483649"sv,
                                         "4294967296"sv,
                                         "9007199254740993"sv,
                                         "9223372036854775807"sv,
                                         "9223372036854775808"sv,
                                         "-9223372036854775808"sv,
                                         "18446744073709551615"sv,
                                         "18446744073709551616"sv,
                                         "0.5"sv,
                                         "-0.0"sv,
                                         "1e308"sv,
                                         "-1e308"sv,
                                         "1e-320"sv,
                                         "1e999"sv,
                                         "NaN"sv,
                                         "inf"sv,
                                         "-inf"sv,
                                         "0x10"sv,
                                         "007"sv};

constexpr std::string_view kWords[] = {""sv,
                                       " "sv,
                                       "\x1b[31m"sv,
                                       "\\u001b[31m"sv,
                                       "\0"sv,
                                       "\\u0000"sv,
                                       "\xff\xfe"sv,
                                       "\xc2\x9b"
                                       "31m"sv,
                                       "\xed\xa0\x80"sv,
                                       "\\ud800"sv,
                                       "\\n"sv,
                                       "a\nb"sv,
                                       "\r"sv,
                                       "\t"sv,
                                       "*"sv,
                                       "****************x"sv,
                                       "{}"sv,
                                       "{0}"sv,
                                       "%s%n"sv,
                                       "'"sv,
                                       "\""sv,
                                       "\\"sv,
                                       "/"sv,
                                       ".."sv,
                                       "../../x"sv,
                                       "|"sv,
                                       "[-1]"sv,
                                       "[9223372036854775807,2]"sv,
                                       "nan"sv,
                                       "inf"sv,
                                       "</script>"sv};

std::string textOf(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

Mutant mutantOf(std::string what, std::string_view text) { return {std::move(what), {text.begin(), text.end()}}; }

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text)
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  return lines;
}

Mutant damageLines(const std::string& text, std::mt19937_64& random) {
  std::vector<std::string> lines = linesOf(text);
  const size_t at = below(lines.size(), random), other = below(lines.size(), random);
  const auto place = lines.begin() + static_cast<ptrdiff_t>(at);
  std::string what;
  const char* ending = "\n";
  switch (random() % 7) {
    case 0:
      what = fmt::format("drop line {}", at + 1);
      lines.erase(place);
      break;
    case 1:
      what = fmt::format("repeat line {} at {}", other + 1, at + 1);
      lines.insert(place, std::string(lines[other]));
      break;
    case 2:
      what = fmt::format("swap lines {} and {}", at + 1, other + 1);
      std::swap(lines[at], lines[other]);
      break;
    case 3:
      what = fmt::format("empty line at {}", at + 1);
      lines.insert(place, "");
      break;
    case 4:
      what = fmt::format("cut line {}", at + 1);
      lines[at].resize(lines[at].empty() ? 0 : below(lines[at].size(), random));
      break;
    case 5:
      what = fmt::format("end after line {}", at + 1);
      lines.resize(at + 1);
      break;
    default: what = "carriage returns", ending = "\r\n";
  }
  return mutantOf(what, fmt::format("{}", fmt::join(lines, ending)));
}

/// Where a number or a word stands.
struct Token {
  size_t begin = 0, size = 0;
  bool isNumber = false;
};

bool isPartOfNumber(char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+'; }
bool isSeparator(char c) { return std::string_view(" \t\n\",:;|[]{}()=").find(c) != std::string_view::npos; }

std::vector<Token> tokensOf(const std::string& text) {
  std::vector<Token> tokens;
  for (size_t at = 0; at < text.size();) {
    if (isSeparator(text[at])) {
      ++at;
      continue;
    }
    Token token{at, 0, true};
    for (; at < text.size() && !isSeparator(text[at]); ++at)
      token.isNumber = token.isNumber && (isPartOfNumber(text[at]) || text[at] == 'e');
    token.size = at - token.begin;
    tokens.push_back(token);
  }
  return tokens;
}

Mutant damageToken(const std::string& text, std::mt19937_64& random) {
  const std::vector<Token> tokens = tokensOf(text);
  if (tokens.empty()) return mutantOf("only a hostile word", hostileWord(random));
  const Token& token = tokens[below(tokens.size(), random)];
  std::string by;
  if (random() % 4 == 0) {
    const Token& other = tokens[below(tokens.size(), random)];
    by = text.substr(other.begin, other.size);
  } else {
    by = token.isNumber == (random() % 8 != 0) ? hostileNumber(random) : hostileWord(random);
  }
  std::string mutant = text;
  mutant.replace(token.begin, token.size, by);
  return mutantOf(
      fmt::format("'{}' at byte {} becomes '{}'", text.substr(token.begin, token.size).substr(0, kLongestQuote),
                  token.begin, by.substr(0, kLongestQuote)),
      mutant);
}

std::string dumped(const nlohmann::json& tree, int indent) {
  return tree.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Damages the tree of the whole text, or of one of its lines; damages a token if neither is JSON.
Mutant damageTree(const std::string& text, std::mt19937_64& random) {
  nlohmann::json whole = parseJson(text);
  if (whole.is_structured()) {
    const std::string what = mutateTree(whole, random);
    return mutantOf(what, dumped(whole, 2) + "\n");
  }
  std::vector<std::string> lines = linesOf(text);
  const size_t at = below(lines.size(), random);
  nlohmann::json tree = parseJson(lines[at]);
  if (!tree.is_structured()) return damageToken(text, random);
  const std::string what = fmt::format("line {}: {}", at + 1, mutateTree(tree, random));
  lines[at] = dumped(tree, -1);
  return mutantOf(what, fmt::format("{}", fmt::join(lines, "\n")));
}

}  // namespace

std::string hostileWord(std::mt19937_64& random) {
  if (random() % 8 == 0) return std::string(size_t{1} << (10 + random() % 7), 'x');
  return std::string(kWords[below(std::size(kWords), random)]);
}

std::string hostileNumber(std::mt19937_64& random) { return std::string(kNumbers[below(std::size(kNumbers), random)]); }

Mutant mutateText(const std::vector<uint8_t>& original, std::mt19937_64& random) {
  switch (random() % 8) {
    case 0: return mutate(original, random);
    case 1: return damageLines(textOf(original), random);
    case 2:
    case 3: return damageToken(textOf(original), random);
    default: return damageTree(textOf(original), random);
  }
}

}  // namespace opkit::fuzz
