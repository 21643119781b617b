// Results: the JSON lines that op-harness writes (reports/schema.md), read back and grouped by record.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::reports {

struct Results {
  std::vector<nlohmann::json> runs;
  std::vector<nlohmann::json> devices;
  std::vector<nlohmann::json> cases;

  /// Cases of one kind: "check", "bench", "conformance", "model".
  std::vector<const nlohmann::json*> ofKind(const std::string& kind) const;
};

/// Appends the records of a file. Corrupt names file and line; Unsupported for another schema version.
Status readResults(const std::string& path, Results& results);

/// Reading helpers for fields that may be absent, or numbers written as "nan", "inf", "-inf".
std::string textOf(const nlohmann::json& record, const std::string& field);
double numberOf(const nlohmann::json& record, const std::string& field, double fallback = 0);

}  // namespace opkit::reports
