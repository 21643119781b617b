#include "engine/op/op_registry.h"

#include "engine/graph/pass.h"

namespace opkit {

void OpRegistry::add(OpDef def) {
  OPKIT_CHECK(!def.type.empty() && (def.inferShapes || def.control));
  OPKIT_CHECK(!def.decompose || def.oracle);
  OPKIT_CHECK(!defs_.contains(def.type));
  def.folder = folder_;
  std::string type = def.type;
  defs_.emplace(std::move(type), std::move(def));
}

void OpRegistry::replace(OpDef def) {
  OPKIT_CHECK(defs_.contains(def.type) && def.inferShapes);
  std::string type = def.type;
  defs_[std::move(type)] = std::move(def);
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

void OpRegistry::addPass(GraphPass pass) {
  for (const auto& known : passes_) OPKIT_CHECK(known->name != pass.name);
  OPKIT_CHECK(static_cast<bool>(pass.rewriteModel) == (pass.position == GraphPass::Position::BeforeLowering));
  OPKIT_CHECK(static_cast<bool>(pass.rewriteGraph) != static_cast<bool>(pass.rewriteModel));
  passes_.push_back(std::make_shared<const GraphPass>(std::move(pass)));
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
