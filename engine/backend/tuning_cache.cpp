#include "engine/backend/tuning_cache.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/backend/cache_file.h"
#include "engine/base/json_text.h"

namespace opkit {
namespace {

using Json = nlohmann::json;

std::optional<TuningCache::Entry> parseEntry(const Json& json) {
  if (!json.is_object() || !json.contains("choice") || !json["choice"].is_number_unsigned()) return std::nullopt;
  TuningCache::Entry entry{json["choice"].get<size_t>(), {}};
  for (const Json& ns : json.value("ns", Json::array()))
    if (ns.is_number()) entry.ns.push_back(ns.get<double>());
  return entry.choice < entry.ns.size() ? std::optional(entry) : std::nullopt;
}

}  // namespace

TuningCache::TuningCache(std::filesystem::path path, std::string key, bool warns)
    : path_(std::move(path)), key_(std::move(key)), entries_(read(warns)) {}

std::map<std::string, TuningCache::Entry> TuningCache::read(bool warn) const {
  std::map<std::string, Entry> entries;
  if (path_.empty()) return entries;
  const CacheRead file = readCacheFile(path_, key_);
  if (warn && !file.warning.empty()) warnAboutCache(file.warning);
  if (!file.payload) return entries;
  const Json json = parseJson(*file.payload);
  if (json.is_object())
    for (const auto& [name, value] : json.items())
      if (auto entry = parseEntry(value)) entries[name] = *std::move(entry);
  return entries;
}

std::optional<TuningCache::Entry> TuningCache::find(const std::string& name) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = entries_.find(name);
  return found == entries_.end() ? std::nullopt : std::optional(found->second);
}

void TuningCache::put(const std::string& name, Entry entry) {
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_[name] = std::move(entry);
  dirty_ = true;
}

size_t TuningCache::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return entries_.size();
}

std::vector<std::string> TuningCache::names() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

bool TuningCache::isDirty() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return dirty_;
}

Status TuningCache::save() {
  const std::lock_guard<std::mutex> saving(saving_);
  if (path_.empty() || !isDirty()) return Status::ok();
  std::map<std::string, Entry> others = read(false), entries;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_.merge(others);
    entries = entries_;
    dirty_ = false;
  }
  Json json = Json::object();
  for (const auto& [name, entry] : entries) json[name] = {{"choice", entry.choice}, {"ns", entry.ns}};
  const std::string text = json.dump(1);
  const Status status = writeCacheFile(path_, key_, std::as_bytes(std::span(text)));
  const std::lock_guard<std::mutex> lock(mutex_);
  dirty_ = dirty_ || !status.isOk();
  return status;
}

}  // namespace opkit
