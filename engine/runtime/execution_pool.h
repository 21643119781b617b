// ExecutionPool: the Executions of a session's plans, found by what they were made from.
//
// A plan leases one Execution per step. When the plan is dropped, its Executions return to the pool, and the next plan
// takes those that the same Creator made from the same parameters, types, constants and regions. Positions in the graph
// play no part: the parts of a composite node move with its shapes. Used by the session's thread.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/backend/creator.h"

namespace opkit {

/// All that an Execution may depend on besides shapes. Equal keys: each may stand for the other.
class ExecutionKey {
 public:
  ExecutionKey(const Creator& creator, const CreateArgs& args);

  uint64_t hash() const { return hash_; }
  bool operator==(const ExecutionKey& other) const;
  bool isOf(const Creator& creator) const { return creator_ == &creator; }
  /// The part in which it differs from another key of its Creator: "parameters".
  const char* differenceFrom(const ExecutionKey& other) const;

 private:
  /// A large constant, by the memory that holds it.
  struct Held {
    size_t input;
    std::weak_ptr<Buffer> buffer;  // no address: memory may be used again
    size_t offsetBytes;
    bool operator==(const Held& other) const;
  };
  const Creator* creator_;      // of one backend's table, so it identifies the backend too
  std::vector<uint8_t> bytes_;  // parameters, types, layouts, regions; planned values and small constants by value
  std::vector<Held> constants_;
  std::array<size_t, 4> ends_{};  // of the parts of the bytes: parameters, inputs, outputs, regions
  uint64_t hash_ = 0;
};

class ExecutionPool {
  struct Entry {
    ExecutionKey key;
    std::unique_ptr<Execution> execution;
    uint64_t returned = 0;  // order of the returns
  };
  using Entries = std::multimap<uint64_t, Entry>;  // by hash; a node moves without allocation

 public:
  /// The right to use one Execution; the destructor returns it. REQUIRES that the pool outlives it.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&&) = default;
    Lease& operator=(Lease&& other) noexcept {
      std::swap(pool_, other.pool_);
      std::swap(node_, other.node_);
      return *this;
    }
    ~Lease() {
      if (node_) pool_->putBack(std::move(node_));
    }

    Execution* operator->() const { return node_.mapped().execution.get(); }
    Execution& operator*() const { return *node_.mapped().execution; }
    explicit operator bool() const { return !node_.empty(); }
    /// Destroys the Execution: nobody shall keep the constants that a refused kernel packed.
    void discard() {
      ++pool_->discarded_;
      node_ = {};
    }

   private:
    friend class ExecutionPool;
    Lease(ExecutionPool& pool, Entries::node_type node) : pool_(&pool), node_(std::move(node)) {}
    ExecutionPool* pool_ = nullptr;
    Entries::node_type node_;
  };

  ExecutionPool() = default;
  ExecutionPool(const ExecutionPool&) = delete;
  ExecutionPool& operator=(const ExecutionPool&) = delete;

  /// A returned Execution of this key, else a new one, which counts as one of `backend`.
  Result<Lease> take(const Creator& creator, const CreateArgs& args, Backend& backend);
  /// Destroys the Executions that were returned first, until `keep` are left.
  void trim(size_t keep);
  /// Executions made over the life of the pool.
  size_t created() const { return created_; }
  /// Those that Lease::discard destroyed.
  size_t discarded() const { return discarded_; }
  /// The operator of the Execution that was made last, and why none that had returned could stand for it.
  /// Empty if none was made.
  std::string lastMade() const;

 private:
  void putBack(Entries::node_type node) noexcept;
  const char* differenceFromKept(const Creator& creator, const ExecutionKey& key) const;

  Entries returned_;
  uint64_t returns_ = 0;
  size_t created_ = 0;
  size_t discarded_ = 0;
  struct Made {
    const Creator* creator = nullptr;  // null: none was made
    const OpDef* def = nullptr;
    const char* difference = nullptr;  // from the one that returned last; null: there was none
  };
  Made lastMade_;
};

}  // namespace opkit
