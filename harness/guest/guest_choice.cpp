#include <cctype>
#include <string_view>

#include "harness/guest/guest.h"

namespace opkit::harness {

std::string GuestChoice::name() const {
  std::string text;
  for (const char c : provider) text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::string_view kSuffix = "executionprovider";
  if (text.size() > kSuffix.size() && text.ends_with(kSuffix)) text.resize(text.size() - kSuffix.size());
  std::string hyphened = "onnxruntime";
  bool isNewWord = true;
  for (const char c : text) {
    const bool isPart = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (isPart && isNewWord) hyphened += '-';
    if (isPart) hyphened += c;
    isNewWord = !isPart;
  }
  return hyphened;
}

}  // namespace opkit::harness
