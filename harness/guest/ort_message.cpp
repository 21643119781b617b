#include "harness/guest/ort_message.h"

#include <cctype>
#include <cstddef>

#include "engine/base/printable.h"

namespace opkit::harness::ort {
namespace {

std::string withSingleSpaces(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool isSpace = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!isSpace) line += c;
    if (isSpace && !line.empty() && line.back() != ' ') line += ' ';
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

/// Whether a word is "/folder/file.cc:123", perhaps in brackets or with a colon behind it.
bool isPlace(std::string_view word) {
  for (const std::string_view ending : {".cc:", ".h:", ".cpp:", ".cu:", ".hpp:"}) {
    const size_t found = word.rfind(ending);
    const size_t digit = found + ending.size();
    if (found != word.npos && digit < word.size() && std::isdigit(static_cast<unsigned char>(word[digit]))) return true;
  }
  return false;
}

/// The length of the signature at the start: up to the space behind the brackets of its parameters. 0 if the text
/// starts with none: the word in front of the first bracket names a scope.
size_t signatureLength(std::string_view text) {
  const size_t first = text.find('(');
  if (first == text.npos) return 0;
  const std::string_view before = text.substr(0, first);
  const size_t word = before.rfind(' ') + 1;  // 0 if there is one word
  if (before.substr(word).find("::") == before.npos) return 0;
  int depth = 0;
  size_t end = first;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (c == '(' || c == '<' || c == '[') ++depth;
    if (c == ')' || c == '>' || c == ']') --depth;
    if (depth == 0 && c == ' ') break;
  }
  if (depth != 0) return 0;
  if (text.substr(end).starts_with(" const ")) end += 6;
  if (text.substr(end).starts_with(" [with ")) {
    const size_t closed = text.find("] ", end);
    if (closed != text.npos) end = closed + 1;
  }
  return end;
}

std::string withoutPlaces(std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    const size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(space == text.npos ? text.size() : space + 1);
    if (!isPlace(word)) {
      kept += kept.empty() ? "" : " ";
      kept += word;
      continue;
    }
    text.remove_prefix(signatureLength(text));
    if (text.starts_with(' ')) text.remove_prefix(1);
  }
  return kept;
}

}  // namespace

std::string meaningOf(std::string_view message) {
  const std::string meaning = withoutPlaces(withSingleSpaces(message));
  return meaning.empty() ? "no reason given" : printable(meaning);
}

}  // namespace opkit::harness::ort
