// No program writes a file that it also reads, or that it writes for another purpose.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/status.h"

namespace opkit::cli {

/// Whether two paths name one regular file, also through links; files that do not exist yet are compared by their
/// paths.
bool isSameFile(const std::string& a, const std::string& b);

/// After parsing: InvalidArgument if an option that writes a file (outputFile, appendedFile, changedFile) names a file
/// that another option names too, alone or as NAME=FILE.
Status refuseClashes(const CLI::App& app);

/// The files of a model's outputs in a folder: DIR/NAME.npy, or DIR/step_K/NAME.npy when several shapes are run; .pb
/// for sequences and strings. Characters that file names may not hold become '_'; names that then are alike get a
/// number.
class OutputFiles {
 public:
  /// InvalidArgument if a file of `read` would be replaced.
  static Result<OutputFiles> plan(const std::string& folder, const std::vector<std::string>& outputs, size_t steps,
                                  const std::vector<std::string>& read);

  /// Without its ending; makes the folder.
  Result<std::string> place(size_t step, const std::string& output) const;
  /// Names that changed, and the files that they got.
  std::vector<std::pair<std::string, std::string>> renamed() const;

 private:
  std::string folderOf(size_t step) const;

  std::string folder_;
  size_t steps_ = 1;
  std::map<std::string, std::string> stems_;  // by output
};

}  // namespace opkit::cli
