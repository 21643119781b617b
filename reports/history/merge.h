// Merging result files: the runs of all, each once.
#pragma once

#include <string>
#include <vector>

#include "engine/base/status.h"
#include "reports/results/reader.h"

namespace opkit::reports {

/// Reads result files with their lines; an unfinished line, another schema or a damaged file is an error that names it.
/// The files come back by the start of their first run.
Result<std::vector<Results>> readFiles(const std::vector<std::string>& paths);

struct Merged {
  std::string text;  // of one result file
  size_t runs = 0, known = 0;
};
/// Runs that several files hold come once, in their longest form. InvalidArgument if two runs of one id differ.
Result<Merged> mergeResults(const std::vector<Results>& files);

}  // namespace opkit::reports
