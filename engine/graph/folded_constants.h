// FoldedConstants: results of the nodes of a model that read only constants, computed once for all sessions. Since the
// tensors themselves are shared, a device's ConstantStore finds them and uploads and packs them only once. Thread-safe.
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
  /// The value to use from now on: this one, or one that another session stored first.
  Tensor add(int tensor, const Tensor& value) {
    const std::lock_guard lock(mutex_);
    return values_.try_emplace(tensor, value).first->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<int, Tensor> values_;
};

}  // namespace opkit
