#include "engine/backend/constant_store.h"

namespace opkit {

std::shared_ptr<ConstantStore::Entry> ConstantStore::find(const Key& key, const Tensor& source) {
  const std::lock_guard lock(mutex_);
  if (const auto known = entries_.find(key); known != entries_.end()) return known->second;
  const auto entry = std::make_shared<Entry>();
  entry->source = source.buffer;
  entries_.emplace(key, entry);
  return entry;
}

void ConstantStore::dropUnused(bool alsoReachable) {
  const std::lock_guard lock(mutex_);
  // One buffer may be the source of several entries.
  std::map<const Buffer*, long> ours;
  for (const auto& [key, entry] : entries_) ++ours[key.buffer];
  std::erase_if(entries_, [&](const auto& item) {
    const std::shared_ptr<Entry>& entry = item.second;  // erased after the lock on it is gone
    // The thread that makes an entry holds the entry and the source.
    const bool reachable = entry->source.use_count() > ours[item.first.buffer];
    if (entry.use_count() > 1 || (reachable && !alsoReachable)) return false;
    const std::lock_guard made(entry->making);  // free, but the writes of its last holder must become visible
    if (entry->value.use_count() > 1 || entry->memory.use_count() > 2) return false;
    bytes_ -= entry->bytes;
    return true;
  });
}

}  // namespace opkit
