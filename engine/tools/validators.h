// CLI11 validators for the options of OpKit's programs, each with one clear message.
//
//   command.add_option("--jobs", jobs, "Worker processes")->check(cli::wholeNumber(1, 1024));
//   command.add_option("--json", json, "Write the list as JSON")->check(cli::outputFile());
//
// Files and folders are checked before anything runs: an unwritable path is reported at once.
#pragma once

#include <CLI/CLI.hpp>
#include <cfloat>
#include <cstdint>
#include <string>

#include "engine/base/status.h"

namespace opkit::cli {

/// A whole number in decimal digits. CLI11 itself would take -1 for 2^64 - 1.
CLI::Validator wholeNumber(uint64_t least = 0, uint64_t most = UINT64_MAX);
/// A number, neither NaN nor infinite.
CLI::Validator finiteNumber(double least = -DBL_MAX, double most = DBL_MAX);
/// A time limit: a millisecond to a year.
CLI::Validator seconds();
/// "64MB", "1.5GB" or plain bytes; becomes a number of bytes. k, m, g and t are powers of 1024.
CLI::Validator sizeValue();
/// The name of the three validators below: no other option may name the same file (refuseClashes, file_clash.h).
inline constexpr const char* kOutputName = "output";
/// A file that is written as a whole: its folder must exist and be writable. No history is replaced: it would be lost.
CLI::Validator outputFile();
/// A file to which lines of JSON are appended: as above; an existing file must be writable, and begin as such a file
/// does.
CLI::Validator appendedFile();
/// A file that is read and written again: as outputFile, of any kind.
CLI::Validator changedFile();
/// The same, which may be an input too: it keeps what it holds.
CLI::Validator completedFile();
/// A folder that is created if missing: the nearest existing parent must be writable.
CLI::Validator outputFolder();
/// For an option of a command without operands that takes all words up to the next option: `--series FILE...`.
CLI::Validator severalValues();
/// A file that can be read; a command that reads it once takes a pipe, too.
CLI::Validator existingFile();
CLI::Validator existingFolder();

/// Gives every option of the program and its commands the check of its type: whole numbers, finite numbers, a non-empty
/// text. Options with a narrower range have their own check. An option that may be repeated takes one value each
/// time, but for severalValues().
void checkValues(CLI::App& app);

/// For options that commands set themselves, outside CLI11: InvalidArgument unless `path` can be written.
Status checkOutputFile(const std::string& path);

}  // namespace opkit::cli
