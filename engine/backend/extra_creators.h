// Extra Creators: kernels for registered operators, offered at run time by functions that sessions call. Use them if a
// kernel cannot be put into an OpRegistry beforehand: a library found at run time, an application's own kernel for one
// operator.
//
//   const ExtraCreators mine = ExtraCreators::add(ExtraCreators::Order::First, [](auto backend, auto& def) {
//     return backend == "cpu" && def.type == "Softmax" ? std::vector{mySoftmax()} : std::vector<Creator>();
//   });
//
// Process-wide and thread-safe: sources may be added and removed while sessions run. A Backend asks once per operator,
// at first use, and keeps the Creators for its lifetime. So a source added later serves new sessions only, and the code
// of its Creators must outlive the sessions that used them. A source with an owner serves only registries that name
// this owner; sessions hold the owners of their registry.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/backend/creator.h"

namespace opkit {

/// The Creators for an operator on a backend, fastest first; empty for none. Called from any thread, and must
/// neither add nor remove sources.
using CreatorSource = std::function<std::vector<Creator>(std::string_view backend, const OpDef& def)>;

/// One source, registered as long as the object lives. The destructor waits for calls that are under way.
class ExtraCreators {
 public:
  enum class Order {
    First,      // before the registry's Creators
    WhenEmpty,  // called only if the registry has none; on the CPU, still before the oracle
  };
  /// `owner`: see OpRegistry::addOwner; without one the source serves every registry.
  [[nodiscard]] static ExtraCreators add(Order order, CreatorSource source,
                                         std::optional<std::weak_ptr<const void>> owner = std::nullopt);
  ~ExtraCreators();
  ExtraCreators(ExtraCreators&& other) noexcept;
  ExtraCreators& operator=(ExtraCreators&&) = delete;

 private:
  explicit ExtraCreators(uint64_t id) : id_(id) {}
  uint64_t id_;  // 0: moved from
};

/// The full table of an operator on a backend: the extra Creators of order First, the registry's, and the other extra
/// ones if the registry has none. An extra Creator whose key is taken refuses every node with that reason.
std::vector<Creator> creatorTable(const OpRegistry& registry, std::string_view backend, const OpDef& def);

/// The tables of one Backend, made on demand. Not thread-safe, like the Backend that owns it.
class CreatorTables {
 public:
  /// `last` gets a new table and gives the Creators that close it (the oracle, on the CPU).
  std::span<const Creator> of(const OpRegistry& registry, std::string_view backend, const OpDef& def,
                              const std::function<std::vector<Creator>(std::span<const Creator>)>& last);

 private:
  std::map<std::string, std::vector<Creator>> tables_;
};

}  // namespace opkit
