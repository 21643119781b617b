// The fields that reports/schema.md documents. For tests.
#pragma once

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace opkit::reports {

/// By kind of line: names in backquotes in the first column of its table; for `size` and `diagnosis` also those in the
/// text beside them, "size.rank".
inline std::map<std::string, std::set<std::string>> documentedFields(const std::string& sourceFolder) {
  std::map<std::string, std::set<std::string>> fields;
  std::ifstream page(sourceFolder + "/reports/schema.md");
  const std::regex heading("^## `([a-z]+)`.*"), name("`([A-Za-z0-9.]+)`"), nested("`((size|diagnosis)\\.[A-Za-z]+)`");
  std::string kind;
  for (std::string line; std::getline(page, line);) {
    std::smatch match;
    if (std::regex_match(line, match, heading)) kind = match[1];
    if (!line.starts_with("| `")) continue;
    const std::string column = line.substr(0, line.find('|', 1));
    for (std::sregex_iterator i(column.begin(), column.end(), name), end; i != end; ++i) fields[kind].insert((*i)[1]);
    for (std::sregex_iterator i(line.begin(), line.end(), nested), end; i != end; ++i) fields[kind].insert((*i)[1]);
  }
  return fields;
}

}  // namespace opkit::reports
