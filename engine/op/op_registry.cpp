#include "engine/op/op_registry.h"

#include "engine/backend/extra_creators.h"
#include "engine/backend/loop_lowering.h"
#include "engine/graph/pass.h"
#include "engine/op/internal_operators.h"
#include "engine/op/takes_kernels.h"

namespace opkit {

namespace {

void require(const Status& status) {
  if (!status.isOk()) fmt::print(stderr, "{}\n", status.message());
  OPKIT_CHECK(status.isOk());
}

}  // namespace

void OpRegistry::add(OpDef def) { require(tryAdd(std::move(def))); }

Status OpRegistry::tryAdd(OpDef def) {
  if (def.type.empty()) return Status::invalidArgument("operator: expected a type, got an empty one");
  if (!def.inferShapes && !def.control)
    return Status::invalidArgument("operator {}: expected a shape rule, got none", def.type);
  if (def.decompose && !def.oracle)
    return Status::invalidArgument("operator {}: a composite operator needs an oracle", def.type);
  if (defs_.contains(def.type) || findInternalOperator(def.type))
    return Status::invalidArgument("operator {}: the type is taken", def.type);
  def.folder = folder_;
  std::string type = def.type;
  defs_.emplace(std::move(type), std::move(def));
  return Status::ok();
}

void OpRegistry::replace(OpDef def) {
  OPKIT_CHECK(defs_.contains(def.type) && def.inferShapes);
  std::string type = def.type;
  defs_[std::move(type)] = std::move(def);
}

void OpRegistry::addCreator(const std::string& backend, const std::string& type, Creator creator) {
  require(tryAddCreator(backend, type, std::move(creator)));
}

void OpRegistry::addFirstCreator(const std::string& backend, const std::string& type, Creator creator) {
  require(tryAddCreator(backend, type, std::move(creator), Place::First));
}

std::string_view takesNoKernels(const OpDef& def) {
  if (def.lower) return "it only moves data, which each backend does with one kernel for all such operators";
  if (def.decompose) return "it is made of other operators";
  if (def.control) return "it is control flow";
  if (def.shapeOnly) return "it is computed from shapes alone";
  return {};
}

Status OpRegistry::tryAddCreator(const std::string& backend, const std::string& type, Creator creator, Place place) {
  const OpDef* def = find(type);
  if (!def) def = findInternalOperator(type);
  if (!def) return Status::invalidArgument("kernel ({}, {}): unknown operator '{}'", backend, creator.provider, type);
  if (const std::string_view why = takesNoKernels(*def); !why.empty())
    return Status::invalidArgument("kernel ({}, {}) of {}: the operator takes no kernels: {}", backend,
                                   creator.provider, type, why);
  std::vector<Creator>& table = creators_[{backend, type}];
  OPKIT_TRY(checkNewCreator(table, creator, backend, type));
  table.insert(place == Place::First ? table.begin() : table.end(), std::move(creator));
  return Status::ok();
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

std::set<std::string> OpRegistry::providers(std::string_view type) const {
  std::set<std::string> names;
  std::set<std::string> backends = {"cpu", "vulkan"};
  for (const auto& [key, table] : creators_) backends.insert(key.first);
  if (const OpDef* internal = findInternalOperator(type)) {
    names = {"opkit", "reference"};
    for (const std::string& backend : backends)
      for (const Creator& creator : creatorTable(*this, backend, *internal)) names.insert(creator.provider);
    return names;
  }
  for (const auto& [name, def] : defs_) {
    if (!type.empty() && name != type) continue;
    if (def.oracle) names.insert("reference");
    if (def.loop) names.insert(kLoopProvider);
    for (const std::string& backend : backends)
      for (const Creator& creator : creatorTable(*this, backend, def)) names.insert(creator.provider);
  }
  return names;
}

std::vector<const OpDef*> OpRegistry::all() const {
  std::vector<const OpDef*> list;
  for (const auto& [type, def] : defs_) list.push_back(&def);
  return list;
}

bool OpRegistry::hasOwner(const std::weak_ptr<const void>& owner) const {
  return std::ranges::any_of(owners_, [&](const std::weak_ptr<const void>& known) {
    return !known.owner_before(owner) && !owner.owner_before(known);
  });
}

Result<std::vector<std::shared_ptr<const void>>> OpRegistry::holdOwners() const {
  std::vector<std::shared_ptr<const void>> held;
  for (const std::weak_ptr<const void>& owner : owners_) {
    held.push_back(owner.lock());
    if (!held.back()) return Status::invalidArgument("the operator registry refers to a plugin that was unloaded");
  }
  return held;
}

}  // namespace opkit
