// Upper and lower case of UTF-8.
#include <clocale>
#include <cwctype>

#include "ops/text/text.h"

namespace opkit::ops::text {
namespace {

locale_t unicode() {
  static const locale_t locale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return locale;
}

/// Bytes of the character that begins with `lead`; 1 if it begins none.
size_t lengthOf(unsigned char lead) {
  if (lead < 0xC2 || lead > 0xF4) return 1;
  return lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

void append(wint_t code, std::string& text) {
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr unsigned kLeads[] = {0, 0xC0, 0xE0, 0xF0};
  text += static_cast<char>(kLeads[more] | code >> (6 * more));
  for (int k = more; k-- > 0;) text += static_cast<char>(0x80 | (code >> (6 * k) & 0x3F));
}

template <class Change>
std::string changed(const std::string& text, const Change& change) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lengthOf(lead);
    wint_t code = length == 1 ? lead : lead & (0x7Fu >> length);
    bool isWhole = i + length <= text.size() && (length > 1 || lead < 0x80);
    for (size_t k = 1; isWhole && k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      isWhole = (next & 0xC0) == 0x80;
      code = code << 6 | (next & 0x3F);
    }
    if (isWhole)
      append(change(code), result);
    else
      result += text[i];
    i += isWhole ? length : 1;
  }
  return result;
}

}  // namespace

std::string inLowerCase(const std::string& text) {
  return changed(text, [](wint_t code) { return ::towlower_l(code, unicode()); });
}
std::string inUpperCase(const std::string& text) {
  return changed(text, [](wint_t code) { return ::towupper_l(code, unicode()); });
}

}  // namespace opkit::ops::text
