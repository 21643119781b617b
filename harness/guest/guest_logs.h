// GuestLogs: what a guest prints, apart from the output of the program: a file per job in a folder of its own. While it
// exists, that folder is also where a guest finds room for temporary files (TMPDIR): some libraries leave theirs
// behind.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "engine/base/status.h"

namespace opkit::harness {

class GuestLogs {
 public:
  /// Makes a temporary folder, which goes with this object, unless a fork destroys it.
  static Result<GuestLogs> create();
  GuestLogs(GuestLogs&& other) noexcept;
  GuestLogs& operator=(GuestLogs&& other) = delete;
  ~GuestLogs();

  std::filesystem::path of(size_t job) const { return folder_ / (std::to_string(job) + ".log"); }
  /// The last lines that a job printed, each "  printed  ..." and a line end; empty if it printed nothing.
  std::string lastLines(size_t job) const;
  void remove(size_t job) const;

 private:
  explicit GuestLogs(std::filesystem::path folder);
  std::filesystem::path folder_;
  std::optional<std::string> before_;  // TMPDIR
  int owner_;
};

}  // namespace opkit::harness
