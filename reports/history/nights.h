// Nights: the nights of a history and what changed in the newest, for the report page.
#pragma once

#include <string>
#include <vector>

#include "engine/base/status.h"
#include "reports/history/vanished.h"

namespace opkit::reports {

struct NightRow {
  std::string name, commit;
  bool dirty = false;
  size_t runs = 0;
  size_t recorded = 0;  // lines of cases and mutants
  size_t failed = 0;    // cases; two of one id in a run count once
  size_t cut = 0;       // runs without their end or without lines that they planned

  /// "complete", "cut off: 1 of 5 runs did not reach its end"
  std::string end() const;
};

/// A case whose status is not that of the night before.
struct StatusChange {
  std::string caseId, kind, backend, before, after, reason, repro;
  bool worse = false;
};

struct Nights {
  std::vector<NightRow> rows;  // the newest first
  std::vector<StatusChange> changes;
  std::vector<Vanished> vanished;
};

/// Reads the last nights. Errors are those of Store::open.
Result<Nights> readNights(const std::string& path);

}  // namespace opkit::reports
