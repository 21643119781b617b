// Checked files: every read, write and close is checked; a failure is an error with the system's cause. A loop over
// std::getline takes a read error for the end of the file: LineReader does not.
#pragma once

#include <cstdint>
#include <fstream>
#include <istream>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/status.h"

namespace opkit {

/// Owns a POSIX descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;

  int get() const { return value_; }
  bool isOpen() const { return value_ >= 0; }
  /// Closes now; false on failure, with errno set. Delayed write errors appear here.
  bool close();

 private:
  int value_ = -1;
};

/// Opens a file for reading. InvalidArgument names a path that cannot be read or is no regular file: a pipe or a device
/// may never end, or never begin.
Result<Descriptor> openToRead(const std::string& path);

/// Why nothing can be read from `path`: "it is a folder, not a file", or the system's cause; "" if something can. A
/// pipe or a device can be read once, as a stream, although openToRead takes none.
std::string whyUnreadable(const std::string& path);

/// Whether the path is that of an open descriptor of a process: /dev/stdout, /dev/fd/3. What it leads to is written in
/// place, behind what is there: a file in its place would not be the one that is open.
bool namesDescriptor(const std::string& path);
/// The file that a path leads to, through symbolic links; the file need not exist. InvalidArgument for links in a
/// circle.
Result<std::string> placeOf(const std::string& path);

/// The whole of a regular file; errors name the path and the cause.
Result<std::string> readText(const std::string& path);

/// A file, or a pipe, of lines for a LineReader. InvalidArgument names the path, the cause and what was `expected`.
Result<std::ifstream> openLines(const std::string& path, std::string_view expected);

/// The lines of a stream, one after another:
///   LineReader lines(file, path);
///   while (lines.next()) use(lines.line());
///   OPKIT_TRY(lines.status());
class LineReader {
 public:
  /// `name` names the stream in errors.
  LineReader(std::istream& stream, std::string name) : stream_(stream), name_(std::move(name)) {}

  /// Reads the next line; false behind the last one, or if it cannot be read.
  bool next();
  const std::string& line() const { return line_; }
  /// "NAME:NUMBER", from 1 on.
  std::string where() const { return fmt::format("{}:{}", name_, number_); }
  /// InvalidArgument if a read failed, or memory for a line was refused: what follows was not read.
  Status status() const;

 private:
  std::istream& stream_;
  std::string name_;
  std::string line_;
  size_t number_ = 0;
};

/// Writes everything; false on failure, with errno set. `written`, if given, counts the bytes written.
bool writeAll(int descriptor, std::span<const uint8_t> bytes, size_t* written = nullptr);

/// Lines appended to a file that others may append to as well: each is one write. Used by one thread.
class LineFile {
 public:
  /// Opens for appending; InvalidArgument names a path that cannot be written. An unfinished line of an earlier writer
  /// is ended first, so that it does not corrupt the next one.
  static Result<LineFile> open(const std::string& path);

  /// Adds `line` and a newline. InvalidArgument names the path and the cause ("No space left on device"); a partly
  /// written line is removed, so that the file ends with a whole line.
  Status append(std::string_view line);
  Status close();

 private:
  LineFile(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}
  Status failure() const;

  std::string path_;
  Descriptor file_;
};

}  // namespace opkit
