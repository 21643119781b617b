// The JSON of Google Benchmark and hyperfine: one file is one night.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/history/foreign_table.h"

namespace opkit::reports {

enum class ForeignForm { GoogleBenchmark, Hyperfine, Csv };

/// "Google Benchmark", "hyperfine", "CSV".
const char* nameOf(ForeignForm form);

/// A file of JSON, not yet read.
struct ForeignDocument {
  ForeignForm form = ForeignForm::GoogleBenchmark;
  std::string path;
  nlohmann::json json;
  std::optional<int64_t> date;  // seconds since 1970
};

/// Corrupt names the line where the text stops being JSON; InvalidArgument if it is JSON of another program. Google
/// Benchmark writes NaN and Infinity, which JSON does not have; they are read as null.
Result<ForeignDocument> parseForeignJson(std::string_view text);

/// Adds the file's values as the night `document.path`. Errors name the entry, not the file.
Status addForeignJson(const ForeignDocument& document, ForeignTable& table);

}  // namespace opkit::reports
