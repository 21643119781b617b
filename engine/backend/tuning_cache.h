// TuningCache: what was measured on a device, once, and is kept on disk: which of a kernel's choices was fastest, and
// what running an operator costs (engine/backend/cost.h).
//
// Entries are found by a key made of everything a speed depends on (shader or kernel, dtype, shapes, number of
// candidates). A file serves one device, driver and set of kernels; anything else reads as nothing. Processes that
// tune at the same time add to each other's entries. Owned by the Runtime; thread-safe.
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
    std::vector<double> ns;  // per candidate, in order; negative where one cannot run
  };

  /// `path` may be empty: nothing is read or written.
  TuningCache(std::filesystem::path path, std::string key);

  std::optional<Entry> find(const std::string& name) const;
  void put(const std::string& name, Entry entry);
  size_t size() const;
  /// Writes what is new, if anything is.
  Status save();

 private:
  std::map<std::string, Entry> read(bool warn) const;

  std::filesystem::path path_;
  std::string key_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  bool dirty_ = false;
};

}  // namespace opkit
