// Checked files: every write and close is looked at, and what could not be written is an error with the system's cause.
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
  /// Closes now and says whether that went well: delayed write errors show up here. errno says why not.
  bool close();

 private:
  int value_ = -1;
};

/// Writes all of it; else false, and errno says why. `written`, where given, counts the bytes that arrived.
bool writeAll(int descriptor, std::span<const uint8_t> bytes, size_t* written = nullptr);

/// Lines appended to a file that others may append to as well: each is one write. Used by one thread.
class LineFile {
 public:
  /// Opens for appending; InvalidArgument names a path that cannot be written. A line that an earlier writer left
  /// unfinished is ended first, so that it spoils no other.
  static Result<LineFile> open(const std::string& path);

  /// Adds `line` and a newline. InvalidArgument names the path and the cause ("No space left on device"); what arrived
  /// of such a line is taken back, so that the file ends with a whole one.
  Status append(std::string_view line);
  Status close();

 private:
  LineFile(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}
  Status failure() const;

  std::string path_;
  Descriptor file_;
};

}  // namespace opkit
