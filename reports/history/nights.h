// Nights: the nights of a history and what changed in the newest, for the report page.
#pragma once

#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::reports {

struct NightRow {
  std::string name, commit;
  bool dirty = false;
  size_t runs = 0;
  size_t recorded = 0;  // lines of cases and mutants
  size_t failed = 0;    // cases; two of one id in a run count once
};

/// A case whose status is not that of the night before.
struct StatusChange {
  std::string caseId, kind, backend, before, after, reason, repro;
  bool worse = false;
};

struct Nights {
  std::vector<NightRow> rows;  // the newest first
  std::vector<StatusChange> changes;
};

/// Reads the last nights. Errors are those of Store::open.
Result<Nights> readNights(const std::string& path);

}  // namespace opkit::reports
