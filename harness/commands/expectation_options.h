// Expectation files of a command: the options, reading before the first case, and the lines printed at the end.
#pragma once

#include "harness/commands/commands.h"
#include "harness/run/expectation_writer.h"

namespace opkit::harness {

struct ExpectationOptions {
  std::string folder, emitFolder;

  void add(CLI::App& command);
  /// Reads the files of the devices.
  Result<Expectations> read(const std::vector<DescribedDevice>& devices) const;
  /// Nothing without --emit-expectations.
  Result<std::optional<ExpectationWriter>> openWriter(const std::vector<DescribedDevice>& devices) const;
};

/// Writes the files and prints a line for each.
Status printWritten(const ExpectationWriter& writer);

}  // namespace opkit::harness
