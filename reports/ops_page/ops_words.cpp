#include "reports/ops_page/ops_words.h"

namespace opkit::reports::words {
namespace {

/// Dtypes that the page names by one word where all of them are there, in the order of the page.
struct Group {
  std::string name;
  std::vector<std::string> dtypes;
};

const std::vector<Group>& groups() {
  static const std::vector<Group> all = {{"floats", {"f32", "f16", "f64"}},
                                         {"integers", {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}},
                                         {"f8", {"f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0"}}};
  return all;
}

size_t placeOf(const std::string& dtype) {
  static const std::vector<std::string> all = order();
  return static_cast<size_t>(std::ranges::find(all, dtype) - all.begin());
}

}  // namespace

std::vector<std::string> order() {
  return split("floats, bool, integers, bf16, f8, f4e2m1, i4, i2, u4, u2, string, sequence, optional");
}

std::vector<std::string> sorted(std::vector<std::string> dtypes) {
  std::ranges::sort(dtypes, {}, placeOf);
  return dtypes;
}

std::string join(const std::vector<std::string>& dtypes) {
  std::vector<std::string> shown = dtypes;
  for (const Group& group : groups()) {
    const auto first = std::search(shown.begin(), shown.end(), group.dtypes.begin(), group.dtypes.end());
    if (first == shown.end()) continue;
    *first = group.name;
    shown.erase(first + 1, first + static_cast<std::ptrdiff_t>(group.dtypes.size()));
  }
  return fmt::format("{}", fmt::join(shown, ", "));
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(", ", begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const auto group = std::ranges::find(groups(), part, &Group::name);
    if (group != groups().end())
      std::ranges::copy(group->dtypes, std::back_inserter(parts));
    else
      parts.push_back(part);
    begin = end + 2;
  }
  return parts;
}

}  // namespace opkit::reports::words
