// ForeignSeries: numbers of other programs in the form of a history's series, for the detector.
//
// Three forms are read, known by their content:
// - the JSON of Google Benchmark (version 1.5 or later), a file for each night. `real_time` of every repetition counts;
//   aggregates, errors and skipped benchmarks are left out. Nights are in the order of `context.date` if all files have
//   one, else in the order given. `context.commit`, which --benchmark_context=commit=ID writes, is the commit.
// - the JSON of hyperfine 1 (--export-json), a file for each night, in the order given. Each of `times` is a process
// run.
// - CSV with the columns name, run and value, and optionally commit, date and unit, in any order; others are ignored.
// Rows
//   of one name and run are the process runs of the night `run`; nights are in the order of their first rows.
#pragma once

#include <string>
#include <vector>

#include "reports/history/store.h"

namespace opkit::reports {

/// In the types of Store. Of the keys, caseId is the name, op the part of it before '/', provider the form, and metric
/// "time" (in ns), "value" (in the unit of the file), or "rate" if higher is better; other fields are empty.
struct ForeignSeries {
  std::vector<Night> nights;              // `commit` is empty and `at` 0 where unknown
  std::vector<Environment> environments;  // one per night; of Google Benchmark the cores and caches, as `host`
  std::vector<Series> series;             // in the order of their names
  std::vector<std::string> notes;         // what was left out, and doubts about the order
};

/// InvalidArgument or Corrupt names the file and the line or entry: it cannot be read, has no known form or another one
/// than the first file, a value is no number above 0 (0 itself is left out), a row lacks a cell, a series has two
/// units, a night two commits, two files have the same content.
Result<ForeignSeries> readForeignSeries(const std::vector<std::string>& paths, bool higherIsBetter);

}  // namespace opkit::reports
