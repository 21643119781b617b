#include "engine/runtime/session_share.h"

#include <set>

namespace opkit {

MemoryBudget::Sum MemoryBudget::sumWith(const MemoryHolder& part, size_t arenaBytes, const Stores& stores) const {
  Sum sum{arenaBytes, 0};
  std::set<const ConstantStore*> all(stores.begin(), stores.end());  // several parts may use one
  for (const auto& [other, held] : parts_) {
    if (other == &part) continue;
    sum.arenas += held.arenaBytes;
    all.insert(held.stores.begin(), held.stores.end());
  }
  for (const ConstantStore* store : all) sum.constants += store->bytes();
  return sum;
}

Status MemoryBudget::hold(const MemoryHolder& part, size_t arenaBytes, const Stores& stores) {
  if (limitBytes_ == 0) return Status::ok();
  const std::lock_guard lock(mutex_);
  const auto fits = [&](const Sum& sum) { return sum.arenas + sum.constants <= limitBytes_; };
  Sum sum = sumWith(part, arenaBytes, stores);
  const auto known = parts_.find(&part);
  const bool mayAsk = known != parts_.end() && known->second.holder;  // else another thread than the others' asks
  for (auto& [other, held] : parts_) {
    if (fits(sum) || !mayAsk) break;
    if (other == &part || !held.holder || held.arenaBytes == 0 || !held.holder->giveUpMemory()) continue;
    held.arenaBytes = 0;
    sum = sumWith(part, arenaBytes, stores);
  }
  if (!fits(sum))
    return Status::outOfMemory("these shapes need {} bytes of tensors and {} of constants, the limit is {}", sum.arenas,
                               sum.constants, limitBytes_);
  Held& own = parts_[&part];
  own.stores = stores;
  own.arenaBytes = arenaBytes;
  return Status::ok();
}

void MemoryBudget::freed(const MemoryHolder& part) {
  const std::lock_guard lock(mutex_);
  if (const auto found = parts_.find(&part); found != parts_.end()) found->second.arenaBytes = 0;
}

void MemoryBudget::leave(const MemoryHolder& part) {
  const std::lock_guard lock(mutex_);
  parts_.erase(&part);
}

void MemoryBudget::add(MemoryHolder& part) {
  const std::lock_guard lock(mutex_);
  parts_[&part].holder = &part;
}

}  // namespace opkit
