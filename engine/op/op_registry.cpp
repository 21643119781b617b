#include "engine/op/op_registry.h"

namespace opkit {

void OpRegistry::add(OpDef def) {
  OPKIT_CHECK(!def.type.empty() && def.inferShapes);
  OPKIT_CHECK(!defs_.contains(def.type));
  def.folder = folder_;
  std::string type = def.type;
  defs_.emplace(std::move(type), std::move(def));
}

void OpRegistry::addCreator(const std::string& backend, const std::string& type, Creator creator) {
  OPKIT_CHECK(defs_.contains(type));
  creators_[{backend, type}].push_back(std::move(creator));
}

void OpRegistry::addFirstCreator(const std::string& backend, const std::string& type, Creator creator) {
  OPKIT_CHECK(defs_.contains(type));
  std::vector<Creator>& table = creators_[{backend, type}];
  table.insert(table.begin(), std::move(creator));
}

const OpDef* OpRegistry::find(std::string_view type) const {
  const auto found = defs_.find(type);
  return found == defs_.end() ? nullptr : &found->second;
}

std::span<const Creator> OpRegistry::creators(std::string_view backend, std::string_view type) const {
  const auto found = creators_.find(Key(backend, type));
  return found == creators_.end() ? std::span<const Creator>() : std::span<const Creator>(found->second);
}

std::vector<const OpDef*> OpRegistry::all() const {
  std::vector<const OpDef*> list;
  for (const auto& [type, def] : defs_) list.push_back(&def);
  return list;
}

}  // namespace opkit
