// FoldedConstants: what nodes of a model that read nothing but constants give, computed once for all sessions. Sharing
// the very tensors lets a device's ConstantStore find them, so that they are uploaded and packed once, too.
// Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "engine/tensor/tensor.h"

namespace opkit {

class FoldedConstants {
 public:
  /// By index in the model.
  std::optional<Tensor> find(int tensor) const {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(tensor);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  /// The value to use from now on: this one, or the one that another session was faster with.
  Tensor add(int tensor, const Tensor& value) {
    const std::lock_guard lock(mutex_);
    return values_.try_emplace(tensor, value).first->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<int, Tensor> values_;
};

}  // namespace opkit
