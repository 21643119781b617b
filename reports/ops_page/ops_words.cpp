#include "reports/ops_page/ops_words.h"

namespace opkit::reports::words {
namespace {

size_t placeOf(const std::string& dtype) {
  const std::vector<std::string> all = order();
  return static_cast<size_t>(std::ranges::find(all, dtype) - all.begin());
}

}  // namespace

std::vector<std::string> integers() { return {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}; }

std::vector<std::string> order() {
  std::vector<std::string> all = {"f32", "f16", "f64", "bool"};
  for (const std::string& integer : integers()) all.push_back(integer);
  return all;
}

std::vector<std::string> sorted(std::vector<std::string> dtypes) {
  std::ranges::sort(dtypes, {}, placeOf);
  return dtypes;
}

std::string join(const std::vector<std::string>& dtypes) {
  const std::vector<std::string> whole = integers();
  const auto first = std::search(dtypes.begin(), dtypes.end(), whole.begin(), whole.end());
  std::vector<std::string> shown(dtypes.begin(), first);
  if (first != dtypes.end()) {
    shown.emplace_back(kAllIntegers);
    shown.insert(shown.end(), first + static_cast<std::ptrdiff_t>(whole.size()), dtypes.end());
  }
  return fmt::format("{}", fmt::join(shown, ", "));
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(", ", begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    if (part == kAllIntegers)
      std::ranges::copy(integers(), std::back_inserter(parts));
    else
      parts.push_back(part);
    begin = end + 2;
  }
  return parts;
}

}  // namespace opkit::reports::words
