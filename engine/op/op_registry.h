// OpRegistry: the operators of a process and, per backend, the ordered Creators that can run them.
//
// The built-in registry is assembled from one list that the build generates from the folders of ops/ (see
// ops/builtin_ops.h); tests and plugins copy it and add to the copy. Not thread-safe while being filled,
// freely shared afterwards. Interpreters keep a pointer to it, so it must outlive them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/backend/creator.h"
#include "engine/op/op_def.h"

namespace opkit {

struct GraphPass;  // engine/graph/pass.h

class OpRegistry {
 public:
  /// Adds a card; aborts if tryAdd fails (a programmer's mistake).
  void add(OpDef def);
  /// Replaces the card of a known operator: harnesses break cards, in copies of a registry, on purpose.
  void replace(OpDef def);
  /// Appends a Creator to the table of (backend, op): fastest first. Aborts if tryAddCreator fails.
  void addCreator(const std::string& backend, const std::string& type, Creator creator);
  /// Puts a Creator in front of the table, as providers added at run time do.
  void addFirstCreator(const std::string& backend, const std::string& type, Creator creator);

  /// Adds a graph pass after those of its position; aborts on a duplicate name.
  void addPass(GraphPass pass);
  const std::vector<std::shared_ptr<const GraphPass>>& passes() const { return passes_; }

  /// As above for cards and Creators from outside (plugins). InvalidArgument for a card without type or shape
  /// rule, a type that is taken, an unknown operator, or a Creator whose key is taken.
  Status tryAdd(OpDef def);
  enum class Place { Last, First };
  Status tryAddCreator(const std::string& backend, const std::string& type, Creator creator, Place place = Place::Last);

  /// Null when unknown.
  const OpDef* find(std::string_view type) const;
  /// Empty if the backend has no kernel for the operator.
  std::span<const Creator> creators(std::string_view backend, std::string_view type) const;
  /// The providers that have a kernel for the operator on any backend, "reference" if there is an oracle, "loop" if
  /// there is a loop, and those of extra Creators; of every operator if `type` is empty.
  std::set<std::string> providers(std::string_view type = {}) const;
  /// All cards, sorted by type.
  std::vector<const OpDef*> all() const;

  /// Code in the registry belongs to a library that is loaded only while this is alive (a plugin).
  void addOwner(std::weak_ptr<const void> owner) { owners_.push_back(std::move(owner)); }
  bool hasOwner(const std::weak_ptr<const void>& owner) const;
  /// Keeps every such library loaded; InvalidArgument when one is gone already.
  Result<std::vector<std::shared_ptr<const void>>> holdOwners() const;

  /// How a value becomes another dtype in a decomposition (OpDef::computesAs); set by the operator that converts.
  using ConvertFn = std::function<int(Decomposition&, int value, DType to)>;
  void setConversion(ConvertFn convert) { convert_ = std::move(convert); }
  const ConvertFn& conversion() const { return convert_; }

  /// Cards added until the next call carry this folder name; used by the generated list.
  void setFolder(std::string folder) { folder_ = std::move(folder); }

 private:
  using Key = std::pair<std::string, std::string>;  // backend, type
  std::map<std::string, OpDef, std::less<>> defs_;
  std::map<Key, std::vector<Creator>, std::less<>> creators_;
  std::vector<std::shared_ptr<const GraphPass>> passes_;  // shared: copies of a registry hold the same passes
  std::vector<std::weak_ptr<const void>> owners_;
  std::string folder_;
  ConvertFn convert_;
};

}  // namespace opkit
