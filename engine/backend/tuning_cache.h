// TuningCache: measurements of a device, kept on disk: the fastest choice of each kernel and the cost of running
// operators (engine/backend/cost.h).
//
// The key of an entry contains everything that speed depends on (shader or kernel, dtype, shapes, number of
// candidates). A file serves one device, driver and set of kernels; any other file reads as empty. Processes that tune
// at the same time add to each other's entries. Owned by the Runtime; thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit {

class TuningCache {
 public:
  struct Entry {
    size_t choice = 0;
    std::vector<double> ns;  // per candidate, in order; negative if it cannot run
  };

  /// `path` may be empty: nothing is read or written. A damaged file counts as empty, with a warning if `warns`.
  TuningCache(std::filesystem::path path, std::string key, bool warns = true);

  std::optional<Entry> find(const std::string& name) const;
  void put(const std::string& name, Entry entry);
  size_t size() const;
  std::vector<std::string> names() const;
  /// Writes the file if there are new entries.
  Status save();

 private:
  std::map<std::string, Entry> read(bool warn) const;
  bool isDirty() const;

  std::filesystem::path path_;
  std::string key_;
  std::mutex saving_;         // of the file; locked before the next
  mutable std::mutex mutex_;  // of what follows, never held for long
  std::map<std::string, Entry> entries_;
  bool dirty_ = false;
};

}  // namespace opkit
