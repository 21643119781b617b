// ExpectationWriter: adds the failures of a run to the expectation files of its devices.
#pragma once

#include <map>

#include "harness/run/expectations.h"

namespace opkit::harness {

class ExpectationWriter {
 public:
  /// Reads what the folder holds; it need not exist. Errors as of Expectations::read.
  static Result<ExpectationWriter> open(const std::string& folder, const std::vector<DeviceInfo>& devices,
                                        const std::vector<std::string>& backends);

  /// Takes a failure that no line of the folder names: as a flake if it passed when it ran again.
  void add(const CaseRecord& record);

  /// Writes the files with new lines, each as a whole, and returns a note per file. Lines that were there stay as they
  /// are, with the comments above them. All lines of a file are ordered by pattern and range.
  Result<std::vector<std::string>> write() const;

 private:
  struct Target {
    std::string stem;                                         // "vulkan-llvmpipe"
    std::string drivers;                                      // " | driver 22.3.6", or empty
    std::array<std::map<std::string, std::string>, 2> lines;  // of .fails and .flakes: reasons by pattern
  };
  std::string folder_;
  Expectations known_;
  std::map<std::string, Target> targets_;  // by backend
};

/// The text of a file with further lines (by their key, Expectation::key). Comments at the top, up to the first blank
/// line, stay there.
Result<std::string> mergedExpectations(const std::string& path, const std::string& text,
                                       const std::map<std::string, std::string>& lines);

}  // namespace opkit::harness
