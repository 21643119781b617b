// Checked files: every write and close is checked; a failure is an error with the system's cause.
#pragma once

#include <cstdint>
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
