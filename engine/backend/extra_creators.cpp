#include "engine/backend/extra_creators.h"

#include <mutex>
#include <shared_mutex>

#include "engine/op/op_registry.h"

namespace opkit {
namespace {

struct Sources {
  struct Entry {
    uint64_t id;
    ExtraCreators::Order order;
    CreatorSource source;
    std::optional<std::weak_ptr<const void>> owner;
  };
  std::shared_mutex mutex;
  std::vector<Entry> entries;
  uint64_t nextId = 1;
};

Sources& sources() {
  static Sources all;
  return all;
}

/// Appends Creators that do not collide; a collision becomes an entry that refuses with the reason.
void append(std::vector<Creator>& table, std::vector<Creator> extra, std::string_view backend, std::string_view type) {
  for (Creator& creator : extra) {
    const Status status = checkNewCreator(table, creator, backend, type);
    if (!status.isOk()) {
      creator.dtypes = kAnyDType;
      creator.supports = [status](const CreateArgs&) { return status; };
    }
    table.push_back(std::move(creator));
  }
}

/// The Creators that the sources of one order offer for the registry, in the order of their registration.
std::vector<Creator> search(ExtraCreators::Order order, const OpRegistry& registry, std::string_view backend,
                            const OpDef& def) {
  Sources& all = sources();
  const std::shared_lock lock(all.mutex);
  std::vector<Creator> found;
  for (const Sources::Entry& entry : all.entries) {
    if (entry.order != order || (entry.owner && !registry.hasOwner(*entry.owner))) continue;
    std::vector<Creator> offered = entry.source(backend, def);
    std::move(offered.begin(), offered.end(), std::back_inserter(found));
  }
  return found;
}

}  // namespace

ExtraCreators ExtraCreators::add(Order order, CreatorSource source, std::optional<std::weak_ptr<const void>> owner) {
  Sources& all = sources();
  const std::unique_lock lock(all.mutex);
  all.entries.push_back({all.nextId, order, std::move(source), std::move(owner)});
  return ExtraCreators(all.nextId++);
}

ExtraCreators::ExtraCreators(ExtraCreators&& other) noexcept : id_(std::exchange(other.id_, 0)) {}

ExtraCreators::~ExtraCreators() {
  if (id_ == 0) return;
  Sources& all = sources();
  const std::unique_lock lock(all.mutex);
  std::erase_if(all.entries, [&](const Sources::Entry& entry) { return entry.id == id_; });
}

std::vector<Creator> creatorTable(const OpRegistry& registry, std::string_view backend, const OpDef& def) {
  const std::span<const Creator> own = registry.creators(backend, def.type);
  std::vector<Creator> table(own.begin(), own.end());
  const size_t ownCount = table.size();
  append(table, search(ExtraCreators::Order::First, registry, backend, def), backend, def.type);
  std::rotate(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(ownCount), table.end());
  if (ownCount == 0) append(table, search(ExtraCreators::Order::WhenEmpty, registry, backend, def), backend, def.type);
  return table;
}

std::span<const Creator> CreatorTables::of(const OpRegistry& registry, std::string_view backend, const OpDef& def,
                                           const std::function<std::vector<Creator>(std::span<const Creator>)>& last) {
  if (const auto known = tables_.find(def.type); known != tables_.end()) return known->second;
  std::vector<Creator> table = creatorTable(registry, backend, def);
  std::vector<Creator> closing = last(table);
  std::move(closing.begin(), closing.end(), std::back_inserter(table));
  return tables_.emplace(def.type, std::move(table)).first->second;  // whole or not at all
}

}  // namespace opkit
