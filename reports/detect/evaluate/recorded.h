// Recorded noise: values of process runs of unchanged series, in the order in which they were measured.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::reports::detect {

struct Recorded {
  std::string name;          // case id, backend, figure
  std::vector<double> runs;  // one value per process run, > 0
};

/// Appends the series of a file: JSON lines of `op-harness bench --json` (a run's value is its least sample), or, if
/// the name ends in .csv, lines of a quoted name and the runs. Corrupt names file and line.
Status readRecorded(const std::string& path, std::vector<Recorded>& recorded);

/// Appends the series of the CSV form; `name` stands in messages.
Status readRecordedCsv(std::istream& stream, const std::string& name, std::vector<Recorded>& recorded);
/// The series of recorded.csv, which is part of the program.
Result<std::vector<Recorded>> builtInNoise();

/// The CSV form, four significant digits.
std::string toCsv(const std::vector<Recorded>& recorded);

}  // namespace opkit::reports::detect
